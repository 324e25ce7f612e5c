//! Names of symbols as people and models type them.

use crate::outline::Symbol;

/// `name`, `Class/name` (the end of a path), `/Class/name` (the whole of it), `name[1]` (the second of
/// that name in its scope); `Class.name` means the same as `Class/name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamePath {
    parts: Vec<String>,
    absolute: bool,
    nth: Option<usize>,
}

/// A name path that names nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a name path: give `name`, `Class/name`, `/Class/name` for the whole path, \
     or `name[1]` for the second with that name"
)]
pub struct BadNamePath {
    /// As it was given.
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
    /// Reads one.
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

    /// The last part: every text with a match has this word in it.
    pub fn last(&self) -> &str {
        self.parts.last().map_or("", String::as_str)
    }

    /// Whether a symbol, given with those around it from the outermost on, is meant. With `substring`
    /// the last part may be any part of its name.
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
