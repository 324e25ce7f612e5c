//! Checks names against Python's rules, as far as a plan needs them.

/// Words that cannot be the name of a definition or module (Python 3.12; soft keywords are
/// allowed).
const KEYWORDS: &[&str] = &[
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Returns whether `name` is a Python identifier and not a keyword.
///
/// Beyond ASCII every alphabetic character is accepted, which is Python's rule except for a few
/// marks and digits.
pub fn is_identifier(name: &str) -> bool {
    let mut chars = name.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || c.is_alphabetic());
    starts
        && chars.all(|c| c == '_' || c.is_ascii_digit() || c.is_alphabetic())
        && !is_keyword(name)
}

pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}
