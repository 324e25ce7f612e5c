//! Names that the settings of pytest make tests: `python_functions` and `python_classes`.

use super::{DocumentKind, Index};

const KEYS: [&str; 2] = ["python_functions", "python_classes"];

/// Patterns of the names of tests, beside `test` and `Test`.
pub(super) struct TestPatterns(Vec<String>);

impl TestPatterns {
    /// Reads the patterns in all settings of a workspace.
    pub(super) fn of(index: &Index) -> TestPatterns {
        let is_settings = |it: &super::FileId| {
            index.document(*it) == Some(DocumentKind::Settings)
                && KEYS.iter().any(|key| index.words(*it).may_hold(key))
        };
        let texts = index.documents().filter(is_settings).filter_map(|it| index.text(it));
        TestPatterns(texts.flat_map(|it| patterns(&it)).collect())
    }

    /// Returns whether a name is one of a test: a pattern without wildcards is its beginning.
    pub(super) fn fit(&self, name: &str) -> bool {
        self.0.iter().any(|it| match it.contains(['*', '?']) {
            true => is_like(name, it),
            false => name.starts_with(&**it),
        })
    }
}

fn patterns(text: &str) -> Vec<String> {
    let of_key = |key: &&str| {
        let at = text.find(key)? + key.len();
        let value = text[at..].trim_start().strip_prefix('=')?;
        let is_list = value.trim_start().starts_with('[');
        let end = if is_list { value.find(']') } else { end_of_lines(value) };
        Some(value[..end.unwrap_or(value.len())].to_owned())
    };
    let is_edge = |c: char| c.is_whitespace() || "[],\"'".contains(c);
    let values = KEYS.iter().filter_map(of_key);
    let words = values.flat_map(|it| it.split(is_edge).map(str::to_owned).collect::<Vec<_>>());
    words.filter(|it| !it.is_empty()).collect()
}

/// Returns the end of a value that goes on in indented lines.
fn end_of_lines(value: &str) -> Option<usize> {
    let mut ends = value.match_indices('\n').map(|(at, _)| at);
    ends.find(|at| !value[at + 1..].starts_with([' ', '\t']))
}

/// Returns whether a name fits a pattern with `*` and `?`.
fn is_like(name: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => name.is_empty(),
        Some('*') => {
            let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
            ends.into_iter().any(|at| is_like(&name[at..], rest.as_str()))
        }
        Some(wanted) => {
            let mut chars = name.chars();
            chars.next().is_some_and(|it| wanted == '?' || it == wanted)
                && is_like(chars.as_str(), rest.as_str())
        }
    }
}
