//! Byte offsets of a text as lines and columns, and back.

use std::ops::Range;
use std::sync::Arc;

/// What columns count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of UTF-8.
    Utf8,
    /// Units of UTF-16: two for characters beyond the basic plane.
    Utf16,
    /// Characters.
    Char,
}

/// The lines of a text. They end at `\n`, `\r\n` and `\r`, as editors have it, and nowhere else; a form
/// feed is a character of its line. A byte order mark is in front of the first line: no editor shows it.
pub struct Lines<'a> {
    text: &'a str,
    starts: Arc<[usize]>,
}

impl<'a> Lines<'a> {
    /// Finds the lines.
    pub fn of(text: &'a str) -> Lines<'a> {
        Lines { text, starts: Lines::starts(text) }
    }

    /// The lines of a text whose starts are known.
    pub(crate) fn with(text: &'a str, starts: Arc<[usize]>) -> Lines<'a> {
        Lines { text, starts }
    }

    /// Where lines start.
    pub(crate) fn starts(text: &str) -> Arc<[usize]> {
        let bytes = text.as_bytes();
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
        std::iter::once(first).chain(ends.map(|at| at + 1)).collect()
    }

    /// Line and column from 0 of an offset; one inside a character counts as its start.
    pub fn position(&self, offset: usize, unit: Unit) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts[line];
        let offset = self.text.floor_char_boundary(offset.max(start));
        let before = &self.text[start..offset];
        let column = match unit {
            Unit::Utf8 => before.len(),
            Unit::Utf16 => before.encode_utf16().count(),
            Unit::Char => before.chars().count(),
        };
        (line, column)
    }

    /// The offset of a line and column from 0. What lies behind the end of a line is its end, and what
    /// lies behind the last line the end of the text.
    pub fn offset(&self, line: usize, column: usize, unit: Unit) -> usize {
        if line >= self.starts.len() {
            return self.text.len();
        }
        let range = self.line(line);
        let width = |c: char| match unit {
            Unit::Utf8 => c.len_utf8(),
            Unit::Utf16 => c.len_utf16(),
            Unit::Char => 1,
        };
        let mut passed = 0;
        let inside = self.text[range.clone()].char_indices().find(|(_, c)| {
            passed += width(*c);
            passed > column
        });
        inside.map_or(range.end, |(at, _)| range.start + at)
    }

    /// The bytes of a line without its end.
    pub fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }
}
