//! Splitting of identifiers into words.

use std::collections::BTreeSet;

/// Words without information about the code.
const EMPTY: [&str; 24] = [
    "test", "tests", "the", "and", "for", "self", "is", "in", "of", "to", "a", "not", "none",
    "true", "false", "assert", "error", "was", "with", "but", "got", "expected", "where", "py",
];

/// Returns the words of a text in lower case: `netTotal`, `net_total` and "net total" are equal. A
/// plural `s` is removed.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut word = String::new();
    let mut after_lower = false;
    for c in text.chars().chain([' ']) {
        let ends = !c.is_alphanumeric() || c.is_uppercase() && after_lower;
        if ends && !word.is_empty() {
            let whole = std::mem::take(&mut word);
            let stem = whole.strip_suffix('s').filter(|it| it.len() > 2).unwrap_or(&whole);
            if !EMPTY.contains(&whole.as_str()) && !stem.chars().all(|c| c.is_ascii_digit()) {
                found.insert(stem.to_owned());
            }
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        after_lower = c.is_lowercase();
    }
    found
}
