//! What the editor has open.

use std::ops::Range;
use std::sync::Arc;

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::from_lsp;
use code::{Lines, Unit};

/// One open document.
#[derive(Clone)]
pub(super) struct Document {
    /// As the client writes it.
    pub(super) uri: Uri,
    pub(super) version: i32,
    pub(super) text: Arc<str>,
    /// Number of the part of the state that it belongs to, and its name there.
    pub(super) part: u64,
    pub(super) name: String,
}

impl Document {
    /// Applies changes in their order; the ranges of each count in the text that those before it left.
    pub(super) fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, unit: Unit) {
        for change in changes {
            self.text = match change.range {
                Some(range) => {
                    let range = from_lsp::range(&Lines::of(&self.text), range, unit);
                    replaced(&self.text, range, &change.text)
                }
                None => change.text.into(),
            };
        }
    }
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> Arc<str> {
    [&text[..range.start], by, &text[range.end..]].concat().into()
}
