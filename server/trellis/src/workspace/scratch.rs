//! Where sandboxes put their folders: one folder a piece of work, named after its process, so that what a killed process
//! left can be told from what is in use, and goes at the next start.

use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::Fault;

static LAST: AtomicU64 = AtomicU64::new(0);
/// Folders of one process; who finds so many names taken gives up.
const MOST: u64 = 100_000;

const PREFIX: &str = "trellis-scratch-";
const HIDDEN: &str = ".trellis-scratch-";

/// Removed when dropped.
#[derive(Debug)]
pub(crate) struct ScratchFolder(PathBuf);

impl ScratchFolder {
    pub(crate) fn new() -> Result<ScratchFolder, Fault> {
        let parent = std::env::temp_dir();
        sweep(&parent);
        // The sidecar has several at once, and each goes when its own work ends.
        loop {
            let number = LAST.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            // The name can be guessed: what stands there already may be another person's, or lead elsewhere.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(ScratchFolder(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists && number < MOST => {}
                Err(error) => return Err(cannot_make(&path, &error)),
            }
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

fn cannot_make(path: &Path, error: &std::io::Error) -> Fault {
    let shown = path.display();
    Fault::unavailable(format!("cannot create a scratch folder at {shown}: {error}"))
        .hint("set TMPDIR to a folder that you can write to")
}

/// A hidden folder in another one, for what is to be moved into place there.
pub(crate) fn beside(parent: &Path) -> std::io::Result<tempfile::TempDir> {
    sweep_of(parent, HIDDEN);
    let prefix = format!("{HIDDEN}{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(parent)
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        // What stays is swept at the next start.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sweep(parent: &Path) {
    sweep_of(parent, PREFIX);
}

/// Removes folders of processes that are gone.
fn sweep_of(parent: &Path, prefix: &str) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(prefix)?.split('-').next());
        let dead = |pid: &str| pid.parse::<u32>().is_ok() && !Path::new("/proc").join(pid).exists();
        if owner.is_some_and(dead) {
            // Another person's folder refuses; it is theirs to sweep.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
