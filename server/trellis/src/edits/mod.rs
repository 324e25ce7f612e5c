//! Edits of files on disk: against the versions they were made for, all of them or none, and undoable.
//!
//! What was there before is kept under `.trellis/edits/<number>/`. While files are being replaced that folder
//! is called `<number>.pending`; its renaming is the moment the edit is made. Whoever comes next and finds a
//! pending one takes back what a crash left half done.

use std::path::{Path, PathBuf};

use trellis_python::TextEdits;

use crate::error::Fault;
use crate::workspace::disk;

mod files;
mod transaction;
mod undo_log;

pub(crate) use files::read;
pub(crate) use transaction::{apply, recover};
pub(crate) use undo_log::{find, undo};

/// What is to become of one file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// The text that the edits were made for; a file that holds another is not touched.
    pub(crate) source: String,
    pub(crate) edits: TextEdits,
}

impl Change {
    /// The text after the edits.
    pub(crate) fn text(&self) -> String {
        self.edits.apply(&self.source)
    }
}

/// An edit that was made.
#[derive(Debug)]
pub(crate) struct AppliedEdit {
    /// Its number, by which it can be undone.
    pub(crate) id: u64,
    pub(crate) changes: Vec<Change>,
}

/// The folder with the edits of a project; made, and kept out of git, if it is not there.
fn folder(root: &Path) -> Result<PathBuf, Fault> {
    disk::create(root, "edits").map_err(|e| {
        let folder = root.join(".trellis/edits");
        Fault::internal(format!("cannot save edits in {}: {e}", folder.display()))
            .hint("nothing was changed; make the folder writable so that edits can be undone")
    })
}
