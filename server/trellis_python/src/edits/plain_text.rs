//! Texts in which `\n` is the only line break, and the way back to the file's line breaks.

use std::ops::Range;

use super::text_edits::TextEdit;
use crate::syntax::{line_break, line_content_end, line_start};

/// A text with `\n` as its only line break.
pub(super) struct Plain<'s> {
    source: &'s str,
    pub(super) text: String,
    /// Offsets of the `\n` before which a `\r` was removed.
    dropped: Vec<usize>,
    /// True if not all line breaks of the source are `\n`. To find that of a place takes time in
    /// proportion to its line.
    has_others: bool,
}

impl<'s> Plain<'s> {
    pub(super) fn of(source: &'s str) -> Self {
        let pairs = source.match_indices("\r\n").enumerate();
        let dropped = pairs.map(|(before, (at, _))| at - before).collect();
        let text = source.replace("\r\n", "\n");
        Plain { source, text, dropped, has_others: source.contains('\r') }
    }

    /// Returns the edit of the source that replaces a range of the text.
    pub(super) fn edit(&self, range: &Range<usize>, new: &str) -> TextEdit {
        let range = self.to_source(range.start)..self.to_source(range.end);
        let text = match self.has_others && new.contains('\n') {
            true => new.replace('\n', near_break(self.source, &range)),
            false => new.to_owned(),
        };
        TextEdit { range, text }
    }

    fn to_source(&self, offset: usize) -> usize {
        offset + self.dropped.partition_point(|it| *it < offset)
    }
}

/// Returns the line break for a new text: the first one that it replaces, else that of the line
/// above.
fn near_break<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let old = line_break(&text[line_content_end(text, range.start)..]);
    let above = || {
        let start = line_start(text, range.start);
        line_break(&text[text[..start].trim_end_matches(['\n', '\r']).len()..])
    };
    [old, above(), "\n"].into_iter().find(|it| !it.is_empty()).unwrap_or("\n")
}
