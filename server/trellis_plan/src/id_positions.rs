//! Places of node ids in the text of a plan.

use std::collections::HashMap;
use std::iter;
use std::ops::Range;

/// Places of ids, by id and in the order of the text.
#[derive(Clone, Debug, Default)]
pub struct IdPositions<'t> {
    by_id: HashMap<String, Vec<Range<usize>>>,
    /// Other values, by text.
    mentions: HashMap<String, Vec<Range<usize>>>,
    text: &'t str,
    /// Starts of the lines.
    lines: Vec<usize>,
}

/// A place in a text, from line and column 1, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    pub line: usize,
    pub column: usize,
    /// Column behind the last character on the same line.
    pub end_column: usize,
}

impl<'t> IdPositions<'t> {
    /// Finds the values of all `id` fields, and the names of all fields, which are ids in dialects
    /// that list nodes by id. The text need not be valid JSON.
    pub fn of(text: &'t str) -> IdPositions<'t> {
        let mut by_id: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let mut mentions: HashMap<String, Vec<Range<usize>>> = HashMap::new();
        let mut names: Vec<(String, Range<usize>)> = Vec::new();
        let mut is_id = false;
        for token in strings(text) {
            let Ok(value) = serde_json::from_str::<String>(&text[token.clone()]) else { continue };
            let is_name = text[token.end..].trim_start().starts_with(':');
            if is_name {
                is_id = value == "id";
                names.push((value, token));
            } else if std::mem::take(&mut is_id) {
                by_id.entry(value).or_default().push(token);
            } else {
                mentions.entry(value).or_default().push(token);
            }
        }
        for (name, token) in names {
            by_id.entry(name).or_insert_with(|| vec![token]);
        }
        let lines = iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        IdPositions { by_id, mentions, text, lines }
    }

    /// Returns the place of the id's occurrence with this number, from 0, or of the last one before.
    pub fn find(&self, id: &str, number: usize) -> Option<TextPosition> {
        let all = self.by_id.get(id)?;
        all.get(number).or_else(|| all.last()).map(|it| self.position(it))
    }

    /// Returns the first place after the node `id` that names `other`, or the first one at all.
    pub fn find_mention(&self, id: &str, other: &str) -> Option<TextPosition> {
        let all = self.mentions.get(other)?;
        let start = self.by_id.get(id).and_then(|it| it.first()).map_or(0, |it| it.start);
        let after = all.iter().find(|it| it.start > start);
        after.or_else(|| all.first()).map(|it| self.position(it))
    }

    fn position(&self, token: &Range<usize>) -> TextPosition {
        let line = self.lines.partition_point(|it| *it <= token.start);
        let start = self.lines[line - 1];
        let column = 1 + self.text[start..token.start].chars().count();
        TextPosition { line, column, end_column: column + self.text[token.clone()].chars().count() }
    }
}

/// Returns the ranges of all string literals, with their quotes.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + bytes[at..].iter().position(|it| *it == b'"')?;
        let mut end = start + 1;
        while *bytes.get(end)? != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        at = end + 1;
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_found_where_they_are_defined_and_not_where_they_are_named() {
        let text = "{\n  \"nodes\": [\n    {\"needs\": [\"b\"], \"id\": \"ä\"},\n    {\"id\" : \"b\"}, {\"id\": \"b\"}\n]}";
        let positions = IdPositions::of(text);
        let found =
            |id, number| positions.find(id, number).map(|it| (it.line, it.column, it.end_column));
        assert_eq!(found("ä", 0), Some((3, 28, 31)));
        assert_eq!(found("b", 0), Some((4, 13, 16)));
        assert_eq!(found("b", 1), Some((4, 26, 29)));
        assert_eq!(found("c", 0), None);
        let named = positions.find_mention("ä", "b").map(|it| (it.line, it.column));
        assert_eq!((named, positions.find_mention("ä", "c")), (Some((3, 16)), None));
    }

    #[test]
    fn broken_text_has_the_places_before_the_fault() {
        let positions = IdPositions::of("{\"nodes\": [{\"id\": \"a\\\"b\"}, {\"id\": \"half");
        assert!(positions.find("a\"b", 0).is_some());
        assert!(positions.find("half", 0).is_none());
    }
}
