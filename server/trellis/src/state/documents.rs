//! What the editor has open.

use std::ops::Range;
use std::sync::Arc;

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, Uri};

use super::positions;
use code::{Lines, Unit};

/// One open document.
#[derive(Clone)]
pub(crate) struct Document {
    /// As the client writes it.
    pub(crate) uri: Uri,
    pub(crate) version: i32,
    pub(crate) text: Arc<str>,
    /// Number of the part of the state that it belongs to, and its name there.
    pub(crate) part: u64,
    pub(crate) name: String,
}

impl Document {
    /// Applies changes in their order; the ranges of each count in the text that those before it left.
    pub(crate) fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, unit: Unit) {
        for change in changes {
            self.text = match change.range {
                Some(range) => {
                    let range = positions::bytes(&Lines::of(&self.text), range, unit);
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
