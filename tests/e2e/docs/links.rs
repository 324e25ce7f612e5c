//! Links between pages.

use std::fs;
use std::path::Path;

/// Returns the link targets of a page, except those on other hosts.
pub(super) fn targets(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.trim_start().starts_with("```");
        let links = line.split("](").skip(1).filter_map(|it| it.split_once(')'));
        let inside = links.map(|(target, _)| target).filter(|it| !is_code && !it.contains("://"));
        out.extend(inside.map(str::to_owned));
    }
    out
}

/// Returns the broken links of a page.
pub(super) fn broken(page: &Path) -> Vec<String> {
    let text = fs::read_to_string(page).expect("a page");
    let leads = |target: &str| {
        let (file, anchor) =
            target.split_once('#').map_or((target, None), |(file, at)| (file, Some(at)));
        let path = match file {
            "" => page.to_owned(),
            file => page.parent().expect("a folder").join(file),
        };
        let has = |anchor: &str| {
            fs::read_to_string(&path).is_ok_and(|text| anchors(&text).iter().any(|it| it == anchor))
        };
        path.exists() && anchor.is_none_or(has)
    };
    let broken = targets(&text).into_iter().filter(|it| !leads(it));
    broken.map(|it| format!("{}: {it}", page.display())).collect()
}

/// Returns the anchors of headings, in the style of repository hosts and mdBook.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter_map(|it| it.strip_prefix('#'));
    headings
        .map(|it| {
            let title = it.trim_start_matches('#').trim().to_lowercase();
            let kept =
                title.chars().filter(|it| it.is_alphanumeric() || matches!(it, ' ' | '-' | '_'));
            kept.map(|it| if it == ' ' { '-' } else { it }).collect()
        })
        .collect()
}
