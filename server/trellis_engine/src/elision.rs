//! Lines of a model's text that stand for code which it left out.

use std::collections::HashMap;

/// Marks of comments before and after such words.
const COMMENTS: [&str; 8] = ["#", "//", "<!--", "-->", "/*", "*/", "--", ";"];

/// Words about code that is left out.
const LEFT_OUT: [&str; 8] =
    ["rest", "remaining", "remainder", "unchanged", "existing", "same", "omitted", "previous"];

/// Refuses a new text of a file in which a comment such as `# ... rest unchanged` stands for code.
/// In a new file, and where no line is lost, a comment of dots alone is part of the text.
///
/// # Errors
///
/// A reason for the model.
pub(crate) fn refuse_elision(path: &str, before: &str, after: &str) -> Result<(), String> {
    let [old, new] = [before, after].map(counts);
    let loses_lines = old.iter().any(|(line, count)| new.get(line).is_none_or(|it| it < count));
    let is_elision = |it: &&str| match elision(it) {
        Some(Elision::Words) => true,
        Some(Elision::Dots) => loses_lines,
        None => false,
    };
    match after.lines().find(|it| is_elision(it) && !old.contains_key(it.trim())) {
        Some(line) => Err(format!(
            "`{}` in {path} takes the place of lines that would be lost: give all lines, or change only \
             those that differ by search/replace blocks",
            line.trim()
        )),
        None => Ok(()),
    }
}

/// Returns how often a text has each line, without indentation.
fn counts(text: &str) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    text.lines().for_each(|it| *counts.entry(it.trim()).or_default() += 1);
    counts
}

/// The words of a comment about code that is left out.
enum Elision {
    /// Nothing but dots.
    Dots,
    /// Dots and words such as `rest unchanged`.
    Words,
}

/// Returns the elision that a line consists of.
fn elision(line: &str) -> Option<Elision> {
    let line = line.trim();
    let mark = COMMENTS.iter().find(|it| line.starts_with(**it))?;
    let text = line[mark.len()..].trim_end_matches("-->").trim_end_matches("*/").trim();
    let text = text.trim_start_matches(mark).trim();
    let dots = |it: &str| it.starts_with("...") || it.starts_with('\u{2026}');
    let ends = text.ends_with("...") || text.ends_with('\u{2026}');
    let bare = text.trim_matches(['.', '\u{2026}', ' ', '(', ')', '[', ']']);
    let words = bare.to_lowercase();
    let mut words = words.split(|c: char| !c.is_alphabetic());
    let has_dots = dots(text) || ends;
    let says_so = words.any(|it| LEFT_OUT.contains(&it));
    match (has_dots, bare.is_empty()) {
        (true, true) => Some(Elision::Dots),
        (true, false) if says_so => Some(Elision::Words),
        _ => None,
    }
}
