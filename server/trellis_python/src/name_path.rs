//! Parses name paths, the names of symbols as people and models type them.

use crate::outline::Symbol;

/// A parsed name path: `name`, `Class/name` (the end of a path), `/Class/name` (a whole path) or
/// `name[1]` (the second symbol of that name in its scope). `Class.name` equals `Class/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePath {
    parts: Vec<String>,
    absolute: bool,
    nth: Option<usize>,
}

/// The error for a text that is not a name path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a name path: give `name`, `Class/name`, `/Class/name` for the whole path, \
     or `name[1]` for the second with that name"
)]
pub struct BadNamePath {
    /// The text as given.
    pub text: String,
}

impl std::fmt::Display for NamePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let root = if self.absolute { "/" } else { "" };
        let number = self.nth.map_or_else(String::new, |nth| format!("[{nth}]"));
        write!(f, "{root}{}{number}", self.parts.join("/"))
    }
}

impl NamePath {
    /// Parses a name path.
    pub fn parse(text: &str) -> Result<NamePath, BadNamePath> {
        let bad = || BadNamePath { text: text.to_owned() };
        let (path, absolute) = match text.strip_prefix('/') {
            Some(rest) => (rest, true),
            None => (text, false),
        };
        let (path, nth) = match path.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
            Some((path, number)) => (path, Some(number.parse().map_err(|_| bad())?)),
            None => (path, None),
        };
        let parts: Vec<String> = path.split(['/', '.']).map(str::to_owned).collect();
        let is_name =
            |it: &String| !it.is_empty() && it.chars().all(|c| c == '_' || c.is_alphanumeric());
        if parts.iter().all(is_name) { Ok(NamePath { parts, absolute, nth }) } else { Err(bad()) }
    }

    /// Returns the last component. Every text with a match contains this word.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// Returns whether the path matches a symbol, given with its enclosing symbols from the
    /// outermost inward. With `substring`, the last component may be any part of the symbol's name.
    pub fn matches(&self, path: &[&Symbol], substring: bool) -> bool {
        let Some((symbol, around)) = path.split_last() else { return false };
        let Some((last, outer)) = self.parts.split_last() else { return false };
        let named =
            if substring { symbol.name.contains(last.as_str()) } else { symbol.name == *last };
        let numbered = self.nth.is_none_or(|nth| symbol.nth == nth);
        let fits =
            if self.absolute { around.len() == outer.len() } else { around.len() >= outer.len() };
        let same = |(part, symbol): (&String, &&Symbol)| symbol.name == *part;
        named && numbered && fits && outer.iter().rev().zip(around.iter().rev()).all(same)
    }
}
