//! Open documents of JavaScript, TypeScript and Go. Python's have indexes instead.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use tower_lsp::ls_types::{TextDocumentContentChangeEvent, TextDocumentItem};
use trellis_outline::{Document, Language, TestOutline};
use trellis_python::{Lines, Unit};

use super::positions;

/// One open document, with its tree.
#[derive(Clone)]
pub struct OutlinedDocument {
    pub path: PathBuf,
    document: Document,
    /// Text of the document, once a snapshot has it.
    shared: OnceLock<Arc<str>>,
}

impl OutlinedDocument {
    /// Returns a document; `None` for other languages.
    pub fn of(item: &TextDocumentItem) -> Option<OutlinedDocument> {
        let path = positions::path(&item.uri)?;
        let document = Document::new(&item.text, Language::of(&path)?);
        Some(OutlinedDocument { path, document, shared: OnceLock::new() })
    }

    /// Applies changes in their order; each range refers to the text after the preceding changes.
    pub fn apply(&mut self, changes: Vec<TextDocumentContentChangeEvent>, unit: Unit) {
        for change in changes {
            let text = self.document.text();
            let range = match change.range {
                Some(range) => positions::bytes(&Lines::of(text), range, unit),
                None => 0..text.len(),
            };
            self.document.edit(range, &change.text);
        }
        self.document.parse();
        self.shared.take();
    }

    pub fn path_and_text(&self) -> (PathBuf, Arc<str>) {
        let text = self.shared.get_or_init(|| self.document.text().into());
        (self.path.clone(), text.clone())
    }

    pub fn text(&self) -> &str {
        self.document.text()
    }

    pub fn tests(&mut self) -> TestOutline {
        self.document.tests()
    }
}
