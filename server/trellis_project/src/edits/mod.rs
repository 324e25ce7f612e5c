//! Edits of files on disk: checked against the versions they were made for, applied completely or
//! not at all, and undoable.
//!
//! Old texts are kept under `.trellis/edits/<number>/`. While files are being replaced that folder
//! is called `<number>.pending`; renaming it completes the edit. The next process that finds a
//! pending folder rolls back what a crash left half done.

use std::path::{Path, PathBuf};

use trellis_python::TextEdits;

use trellis_store::disk;

use crate::error::EditError;

mod files;
mod transaction;
mod undo_log;

pub use files::{create, read, replace};
pub use transaction::{apply, recover};
pub use undo_log::{find, undo, undo_as};

/// An edit of one file.
#[derive(Debug)]
pub struct Change {
    pub path: PathBuf,
    /// The text that the edits were made for; a file that holds another text is not touched.
    pub source: String,
    pub edits: TextEdits,
}

impl Change {
    /// Returns the text after the edits.
    pub fn text(&self) -> String {
        self.edits.apply(&self.source)
    }
}

/// An edit that was applied.
#[derive(Debug)]
pub struct AppliedEdit {
    /// Number of the edit, used to undo it.
    pub id: u64,
    pub changes: Vec<Change>,
}

/// Returns the folder with the edits of a project; creates it, hidden from git, if needed.
fn folder(root: &Path) -> Result<PathBuf, EditError> {
    disk::create(root, "edits")
        .map_err(|source| EditError::NoFolder { folder: root.join(".trellis/edits"), source })
}
