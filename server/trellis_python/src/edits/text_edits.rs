//! Text edits as values: checked for overlaps, applied, inverted and computed from two texts.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One replacement of a range of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Byte range in the text before any edit; empty for an insertion.
    pub range: Range<usize>,
    /// Text that replaces the range.
    pub text: String,
}

/// Edits of one text: disjoint, in source order, on character boundaries. Insertions at one place
/// keep the order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEdits {
    edits: Vec<TextEdit>,
}

/// The reason why edits cannot be applied together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEdits {
    /// Two edits change the same bytes.
    #[error("two edits overlap, at bytes {}..{} and {}..{}; give one edit for both", first.start, first.end, second.start, second.end)]
    Overlap {
        /// Range of the earlier edit.
        first: Range<usize>,
        /// Range of the later edit.
        second: Range<usize>,
    },
    /// A range is outside the text or not on character boundaries.
    #[error("bytes {}..{} are not whole characters of the text of {length} bytes; read the file \
         again and give its positions", range.start, range.end)]
    NoSuchRange {
        /// The range as given.
        range: Range<usize>,
        /// Length of the text in bytes.
        length: usize,
    },
}

/// Largest product of the two line counts for which lines are compared. Above it, one edit replaces
/// everything between the first and the last difference.
const COMPARED: usize = 25_000_000;

impl TextEdits {
    /// Checks and sorts edits of `source`, given in any order.
    pub fn new(
        source: &str,
        edits: impl IntoIterator<Item = TextEdit>,
    ) -> Result<TextEdits, BadEdits> {
        let mut edits: Vec<TextEdit> = edits.into_iter().collect();
        if let Some(bad) = edits.iter().find(|it| source.get(it.range.clone()).is_none()) {
            let (range, length) = (bad.range.clone(), source.len());
            return Err(BadEdits::NoSuchRange { range, length });
        }
        edits.sort_by_key(|it| (it.range.start, it.range.end));
        match edits.windows(2).find(|pair| pair[0].range.end > pair[1].range.start) {
            Some(pair) => Err(BadEdits::Overlap {
                first: pair[0].range.clone(),
                second: pair[1].range.clone(),
            }),
            None => Ok(TextEdits { edits }),
        }
    }

    /// Returns the edits that turn `old` into `new`, as replacements of whole lines.
    pub fn between(old: &str, new: &str) -> TextEdits {
        let (a, b) = (lines(old), lines(new));
        let same = |(x, y): &(&&str, &&str)| x == y;
        let head = a.iter().zip(&b).take_while(same).count();
        let tail = a[head..].iter().rev().zip(b[head..].iter().rev()).take_while(same).count();
        let (a_end, b_end) = (a.len() - tail, b.len() - tail);
        let ops = if (a_end - head).saturating_mul(b_end - head) > COMPARED {
            vec![(head..a_end, head..b_end)]
        } else {
            let ops = capture_diff_slices(Algorithm::Myers, &a[head..a_end], &b[head..b_end]);
            let moved = |it: Range<usize>| it.start + head..it.end + head;
            (ops.iter().filter(|it| !matches!(it, DiffOp::Equal { .. })))
                .map(|it| (moved(it.old_range()), moved(it.new_range())))
                .collect()
        };
        let (starts, text) = (offsets(&a), |range: Range<usize>| b[range].concat());
        let edit = |(old, new): (Range<usize>, Range<usize>)| TextEdit {
            range: starts[old.start]..starts[old.end],
            text: text(new),
        };
        let edits = ops.into_iter().filter(|(old, new)| !old.is_empty() || !new.is_empty());
        TextEdits { edits: edits.map(edit).collect() }
    }

    /// Returns the text after the edits.
    ///
    /// # Panics
    ///
    /// Panics if `source` is not the text that the edits were made for.
    pub fn apply(&self, source: &str) -> String {
        let mut out = String::with_capacity(source.len());
        let mut done = 0;
        for edit in &self.edits {
            out.push_str(&source[done..edit.range.start]);
            out.push_str(&edit.text);
            done = edit.range.end;
        }
        out.push_str(&source[done..]);
        out
    }

    /// Returns the edits that turn the edited text back into `source`.
    pub fn inverse(&self, source: &str) -> TextEdits {
        let mut moved = Shift::default();
        let back = |edit: &TextEdit| {
            let start = moved.to_new(edit.range.start);
            moved.pass(edit);
            TextEdit {
                range: start..start + edit.text.len(),
                text: source[edit.range.clone()].to_owned(),
            }
        };
        TextEdits { edits: self.edits.iter().map(back).collect() }
    }

    /// Returns the edits in source order.
    pub fn as_slice(&self) -> &[TextEdit] {
        &self.edits
    }

    /// Returns whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Returns whether an offset in the new text is in text that an edit inserts.
    pub(super) fn is_new(&self, offset: usize) -> bool {
        let mut moved = Shift::default();
        self.edits.iter().any(|edit| {
            let start = moved.to_new(edit.range.start);
            moved.pass(edit);
            (start..start + edit.text.len()).contains(&offset)
        })
    }

    /// Maps an offset in the old text to the new one; `None` for a removed byte.
    pub(super) fn moved(&self, offset: usize) -> Option<usize> {
        let mut moved = Shift::default();
        for edit in self.edits.iter().take_while(|it| it.range.start <= offset) {
            if offset < edit.range.end {
                return None;
            }
            moved.pass(edit);
        }
        Some(moved.to_new(offset))
    }
}

/// Number of bytes added and removed so far.
#[derive(Default)]
struct Shift {
    added: usize,
    removed: usize,
}

impl Shift {
    fn pass(&mut self, edit: &TextEdit) {
        self.added += edit.text.len();
        self.removed += edit.range.len();
    }

    fn to_new(&self, offset: usize) -> usize {
        offset + self.added - self.removed
    }
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Returns the start of each line and the end of the last.
fn offsets(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let ends = lines.iter().map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(ends).collect()
}
