//! Marked lines of an open document, such as the line of a failed test.

use std::collections::BTreeMap;
use std::ops::Range;

/// Lines from 1 by id of the failure location; `None` for a deleted line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineMarkers(BTreeMap<u64, Option<u32>>);

impl LineMarkers {
    /// Returns the line as moved by edits: `Some(None)` if it was deleted, `None` if it was never
    /// set.
    pub fn line(&self, id: u64) -> Option<Option<u32>> {
        self.0.get(&id).copied()
    }

    /// Replaces all marked lines.
    pub fn set(&mut self, lines: impl IntoIterator<Item = (u64, Option<u32>)>) {
        self.0 = lines.into_iter().collect();
    }

    /// Moves lines after an edit of `text`; lines that the edit deletes entirely are gone.
    pub fn shift(&mut self, text: &str, edit: &Range<usize>, by: &str) {
        if self.0.is_empty() {
            return;
        }
        let first = breaks(&text[..edit.start]) + 1;
        let (gone, come) = (breaks(&text[edit.clone()]), breaks(by));
        let starts_line = text[..edit.start].ends_with('\n') || edit.start == 0;
        let last = first + gone;
        for mark in self.0.values_mut() {
            *mark = mark.and_then(|line| match () {
                () if line > last => Some(line - gone + come),
                () if starts_line && by.is_empty() && (first..last).contains(&line) => None,
                // Lines inserted before a line move it; a break after its start does not.
                () if line == last && starts_line && gone == 0 && by.ends_with('\n') => {
                    Some(line + come)
                }
                () if line == last && gone > 0 => Some(first + come),
                () => Some(line.min(first + come)),
            });
        }
    }
}

/// Counts line ends as editors do.
fn breaks(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
        .filter(|at| bytes[*at] == b'\n' || bytes.get(at + 1) != Some(&b'\n'));
    u32::try_from(ends.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_move_with_the_text_and_go_with_it() {
        let text = "one\ntwo\nthree\nfour\n";
        type Lines = [Option<u32>; 3];
        let cases: [(Range<usize>, &str, Lines); 7] = [
            (0..0, "zero\n", [Some(2), Some(3), Some(4)]),
            (3..3, "\nx", [Some(1), Some(3), Some(4)]),
            (4..7, "TWO", [Some(1), Some(2), Some(3)]),
            (4..8, "", [Some(1), None, Some(2)]),
            (3..7, "", [Some(1), Some(1), Some(2)]),
            (0..19, "", [None, None, None]),
            (5..6, "", [Some(1), Some(2), Some(3)]),
        ];
        for (edit, by, wanted) in cases {
            let mut marks = LineMarkers::default();
            marks.set([1, 2, 3].map(|it| (u64::from(it), Some(it))));
            marks.shift(text, &edit, by);
            assert_eq!([1, 2, 3].map(|it| marks.line(it)), wanted.map(Some), "{edit:?} {by:?}");
        }
    }
}
