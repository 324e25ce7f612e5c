//! Errors of the store.

use std::io;
use std::path::PathBuf;

use crate::lock::LockOwner;

/// Error of a lock, a scratch folder or a written file. Reads and appends report [`io::Error`].
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No variable says where the user's cache is.
    #[error("there is no folder for the test environment")]
    NoCacheFolder,
    #[error("cannot lock {}: {source}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    /// Another process works in the folder.
    #[error("{owner} is running in {}", root.display())]
    Busy { owner: LockOwner, root: PathBuf },
    #[error("cannot create a scratch folder at {}: {source}", path.display())]
    ScratchFolder { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}")]
    Write { path: String, source: io::Error },
    #[error("disk full while writing {path}")]
    DiskFull { path: String },
    /// Files with texts that Trellis did not write.
    #[error("{}", edited(paths))]
    UserEdits { paths: Vec<String> },
    #[error("{path} would be written through the symbolic link {}", link.display())]
    SymbolicLink { path: String, link: PathBuf },
    /// A Python text with a syntax error, as its parser words it.
    #[error("{path} would have a syntax error: {error}; it was not written")]
    Syntax { path: String, error: String },
}

fn edited(paths: &[String]) -> String {
    match paths {
        [one] => format!("{one} changed after Trellis wrote it, or Trellis did not write it"),
        many => format!(
            "these files changed after Trellis wrote them, or Trellis did not write them: {}",
            many.join(", ")
        ),
    }
}
