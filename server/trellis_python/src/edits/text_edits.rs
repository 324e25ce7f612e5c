//! Edits as values.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// One piece of text in the place of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// Bytes of the text before any edit; empty to insert.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

/// Edits of one text: disjoint, in its order, on borders of characters. Insertions at one place keep the
/// order in which they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextEdits {
    edits: Vec<TextEdit>,
}

/// Edits that cannot be made together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEdits {
    /// Two edits change the same bytes.
    #[error("two edits overlap, at bytes {}..{} and {}..{}; give one edit for both", first.start, first.end, second.start, second.end)]
    Overlap {
        /// The earlier one.
        first: Range<usize>,
        /// The later one.
        second: Range<usize>,
    },
    /// A range that is not made of whole characters of the text.
    #[error("bytes {}..{} are not whole characters of the text of {length} bytes; read the file \
         again and give its positions", range.start, range.end)]
    NoSuchRange {
        /// As it was given.
        range: Range<usize>,
        /// Bytes of the text.
        length: usize,
    },
}

/// Lines of one side times lines of the other that are still compared; above it one edit replaces all
/// between the first and the last difference.
const COMPARED: usize = 25_000_000;

impl TextEdits {
    /// Edits of `source`, in any order.
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

    /// The edits that turn one text into another, by whole lines where lines differ.
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

    /// The text after the edits.
    ///
    /// # Panics
    ///
    /// If `source` is not the text that the edits were made for.
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

    /// The edits that lead from the edited text back to `source`.
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

    /// The edits, in the order of the text.
    pub fn as_slice(&self) -> &[TextEdit] {
        &self.edits
    }

    /// Whether nothing is edited.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }

    /// Where a byte of the old text stands in the new one; none for a byte that an edit takes away.
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

/// How much was added and taken away so far.
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

/// Where each line starts, and where the last ends.
fn offsets(lines: &[&str]) -> Vec<usize> {
    let mut at = 0;
    let ends = lines.iter().map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(ends).collect()
}
