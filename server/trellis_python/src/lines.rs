//! Converts between byte offsets of a text and its lines and columns.

use std::ops::Range;
use std::sync::Arc;

/// Unit in which columns are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// UTF-8 bytes.
    Utf8,
    /// UTF-16 code units: two for characters beyond the basic plane.
    Utf16,
    /// Characters.
    Char,
}

/// The lines of a text. Lines end at `\n`, `\r\n` and `\r`, as in editors, and nowhere else; a form
/// feed is part of its line. A byte order mark comes before the first line, because editors do not
/// show it.
pub struct Lines<'a> {
    text: &'a str,
    starts: Arc<[usize]>,
}

impl<'a> Lines<'a> {
    /// Computes the lines of `text`.
    pub fn of(text: &'a str) -> Lines<'a> {
        Lines { text, starts: Lines::starts(text) }
    }

    /// Returns the lines of a text whose line starts are known.
    pub(crate) fn with(text: &'a str, starts: Arc<[usize]>) -> Lines<'a> {
        Lines { text, starts }
    }

    /// Returns the line starts.
    pub(crate) fn starts(text: &str) -> Arc<[usize]> {
        let first = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        std::iter::once(first).chain(ends(text).map(|at| at + 1)).collect()
    }

    /// Returns the 0-based line and column of an offset. An offset inside a character counts as
    /// that character's start.
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

    /// Returns the offset of a 0-based line and column. A column after the end of a line means the
    /// end of the line, a line after the last means the end of the text.
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

    /// Returns the byte range of a line, without its line end.
    pub fn line(&self, line: usize) -> Range<usize> {
        let start = self.starts[line];
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        start..start + self.text[start..end].trim_end_matches(['\n', '\r']).len()
    }
}

/// Returns the number of line ends in a text.
pub(crate) fn count_ends(text: &str) -> usize {
    ends(text).count()
}

/// Returns the offset of the last byte of each line end.
fn ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'))
}
