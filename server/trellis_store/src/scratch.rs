//! Temporary files and folders. Each is named after its process, so that others can tell those of a
//! killed process from those in use, and remove them.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::{Builder, NamedTempFile, TempDir};
use trellis_os::process::is_alive;

use crate::error::StoreError;

static LAST: AtomicU64 = AtomicU64::new(0);
/// Maximum number of folders of one process.
const MOST: u64 = 100_000;

const PREFIX: &str = "trellis-scratch-";
const HIDDEN: &str = ".trellis-scratch-";

/// A scratch folder, removed when dropped.
#[derive(Debug)]
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub fn new() -> Result<ScratchFolder, StoreError> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        // One process may have several at once; each is removed when its own work ends.
        loop {
            let number = LAST.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            // The name can be guessed: an existing folder may be another user's, or a link.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(ScratchFolder(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST => {}
                Err(source) => return Err(StoreError::ScratchFolder { path, source }),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

/// Creates a hidden folder inside `parent`, for files to be moved into place there.
pub fn beside(parent: &Path) -> io::Result<TempDir> {
    hidden(parent, |builder| builder.tempdir_in(parent))
}

/// Creates a hidden file inside `parent`, to be moved into place.
pub(crate) fn file_in(parent: &Path) -> io::Result<NamedTempFile> {
    hidden(parent, |builder| builder.tempfile_in(parent))
}

fn hidden<T>(parent: &Path, create: impl FnOnce(&Builder) -> io::Result<T>) -> io::Result<T> {
    sweep_of(parent, HIDDEN);
    let prefix = format!("{HIDDEN}{}-", std::process::id());
    create(Builder::new().prefix(&prefix))
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // The next start sweeps remaining files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sweep(parent: &Path) {
    sweep_of(parent, PREFIX);
}

/// Removes files and folders of processes that have ended.
fn sweep_of(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
        let dead = |pid: &str| pid.parse().is_ok_and(|it| !is_alive(it));
        if owner.is_some_and(dead) {
            let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
            let path = entry.path();
            // Those of another user cannot be removed here; their user sweeps them.
            let _ = if is_folder { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}
