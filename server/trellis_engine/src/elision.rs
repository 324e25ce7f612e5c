//! Lines of a model's text that stand for code which it left out.

/// Marks of comments before and after such words.
const COMMENTS: [&str; 8] = ["#", "//", "<!--", "-->", "/*", "*/", "--", ";"];

/// Words about code that is left out.
const LEFT_OUT: [&str; 8] =
    ["rest", "remaining", "remainder", "unchanged", "existing", "same", "omitted", "previous"];

/// Refuses a new text of a file in which a comment such as `# ... rest unchanged` stands for code.
///
/// # Errors
///
/// A reason for the model.
pub(crate) fn refuse_elision(path: &str, before: &str, after: &str) -> Result<(), String> {
    let is_new = |it: &&str| before.lines().all(|old| old.trim() != it.trim());
    match after.lines().filter(|it| is_elision(it)).find(is_new) {
        Some(line) => Err(format!(
            "`{}` in {path} takes the place of lines that would be lost: give all lines, or change only \
             those that differ by search/replace blocks",
            line.trim()
        )),
        None => Ok(()),
    }
}

/// Returns whether a line is a comment of nothing but dots, or of dots and words about code that is
/// left out.
fn is_elision(line: &str) -> bool {
    let line = line.trim();
    let Some(mark) = COMMENTS.iter().find(|it| line.starts_with(**it)) else { return false };
    let text = line[mark.len()..].trim_end_matches("-->").trim_end_matches("*/").trim();
    let text = text.trim_start_matches(mark).trim();
    let dots = |it: &str| it.starts_with("...") || it.starts_with('\u{2026}');
    let ends = text.ends_with("...") || text.ends_with('\u{2026}');
    let bare = text.trim_matches(['.', '\u{2026}', ' ', '(', ')', '[', ']']);
    let words = bare.to_lowercase();
    let mut words = words.split(|c: char| !c.is_alphabetic());
    (dots(text) || ends) && (bare.is_empty() || words.any(|it| LEFT_OUT.contains(&it)))
}
