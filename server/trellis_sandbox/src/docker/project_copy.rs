//! The copy of the project that tests in a container may write to: whether there is one, and which
//! folders are not copied.
//!
//! The copy lies in memory, at the project's own path; the worker makes it equal to the project
//! before each run. The project itself is mounted read-only at [`ORIGINAL`].

use std::{
    ffi::OsStr,
    fs::{self, Metadata},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use super::store::STORE;
use crate::{
    error::{FileAction, FileError, ReadOnlyReason},
    request::Limits,
    tree::is_left_out,
};

/// The path of the project itself in a container whose tests get a copy.
pub(crate) const ORIGINAL: &str = "/run/project";

/// Maximum bytes of a copy, which the container's memory holds.
const MOST_BYTES: u64 = 256 << 20;

/// Fraction of the container's memory, as a divisor, that a copy takes at most.
const MEMORY_DIVISOR: u64 = 4;

/// Maximum number of files and folders, each of which is checked before each run.
const MOST_ENTRIES: u64 = 50_000;

/// Maximum nesting of folders.
const DEEPEST: usize = 100;

/// Bytes of a page; files in memory take whole pages.
const PAGE: u64 = 4096;

/// Folders that can be large and that no test rewrites.
const MOUNTED: [&str; 10] =
    [".git", ".hg", ".svn", ".venv", "venv", "env", "node_modules", ".tox", ".nox", ".mypy_cache"];

/// A folder directly below the project's that is mounted within the copy, read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mounted {
    pub(crate) name: &'static str,
    device: u64,
    inode: u64,
}

/// Returns the folders of [`MOUNTED`] that exist. A folder that was replaced counts as a different
/// one, since a container continues to show the old one.
pub(crate) fn mounted(tree: &Path) -> Vec<Mounted> {
    let Ok(top) = fs::metadata(tree) else { return Vec::new() };
    let found = MOUNTED.into_iter().filter_map(|name| {
        let status = fs::symlink_metadata(tree.join(name)).ok()?;
        let is_meant = name != "env" || tree.join(name).join("pyvenv.cfg").is_file();
        // As everywhere below the project, a folder that is itself a mount point is not shown.
        let is_folder = status.is_dir() && status.dev() == top.dev() && is_meant;
        is_folder.then(|| Mounted { name, device: status.dev(), inode: status.ino() })
    });
    found.collect()
}

/// A copy that fits into a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProjectCopy {
    /// Bytes for the project and for what tests write to it.
    pub(crate) bytes: u64,
    pub(crate) mounted: Vec<Mounted>,
    /// True if the files are sent to the engine; false if it mounts the project.
    pub(crate) sent: bool,
}

impl ProjectCopy {
    /// Measures the project in `tree`, under `limits`.
    pub(crate) fn of(tree: &Path, limits: &Limits) -> Result<ProjectCopy, ReadOnlyReason> {
        not_within(tree, ORIGINAL)?;
        let mounted = mounted(tree);
        let is_left_out =
            |name: &OsStr, depth, _| depth == 0 && mounted.iter().any(|it| name == it.name);
        let bytes = ProjectSize::measure(tree, limits, &is_left_out)?;
        Ok(ProjectCopy { bytes, mounted, sent: false })
    }

    /// Measures what is sent of the project in `tree`. `packages`: with the packages of Node.js.
    pub(crate) fn sent(
        tree: &Path,
        limits: &Limits,
        packages: bool,
    ) -> Result<ProjectCopy, ReadOnlyReason> {
        not_within(tree, STORE)?;
        let is_left_out = |name: &OsStr, _, is_folder| is_left_out(name, is_folder, packages);
        let bytes = ProjectSize::measure(tree, limits, &is_left_out)?;
        Ok(ProjectCopy { bytes, mounted: Vec::new(), sent: true })
    }
}

/// Refuses a project in a folder that containers need.
fn not_within(tree: &Path, place: &'static str) -> Result<(), ReadOnlyReason> {
    if tree.starts_with(place) || Path::new(place).starts_with(tree) {
        return Err(ReadOnlyReason::Reserved { place });
    }
    Ok(())
}

/// The size of a project, as long as it is within the limits.
struct ProjectSize {
    most: u64,
    largest: u64,
    bytes: u64,
    entries: u64,
}

/// Returns whether an entry is not part of the copy, from its name, the number of folders above it
/// and whether it is a folder.
type IsLeftOut<'a> = &'a dyn Fn(&OsStr, usize, bool) -> bool;

impl ProjectSize {
    /// Returns the bytes for the copy and for what tests write to it.
    fn measure(
        tree: &Path,
        limits: &Limits,
        is_left_out: IsLeftOut<'_>,
    ) -> Result<u64, ReadOnlyReason> {
        let most = MOST_BYTES.min(limits.memory_bytes / MEMORY_DIVISOR);
        let mut measure = ProjectSize { most, largest: limits.file_bytes, bytes: 0, entries: 0 };
        measure.tree(tree, is_left_out)?;
        Ok(measure.bytes.saturating_add(limits.file_bytes))
    }

    fn tree(&mut self, tree: &Path, is_left_out: IsLeftOut<'_>) -> Result<(), ReadOnlyReason> {
        let status = fs::symlink_metadata(tree);
        let device = status.map_err(FileError::of(FileAction::Read, tree))?.dev();
        let mut waiting = vec![(tree.to_owned(), 0)];
        while let Some((folder, depth)) = waiting.pop() {
            // Entries that cannot be read or have just been removed are not copied.
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let Ok(status) = entry.metadata() else { continue };
                if status.dev() != device || is_left_out(&entry.file_name(), depth, status.is_dir())
                {
                    continue;
                }
                self.add(&entry.path(), &status)?;
                if status.is_dir() {
                    waiting.push((within(entry.path(), depth)?, depth + 1));
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, path: &Path, status: &Metadata) -> Result<(), ReadOnlyReason> {
        let size = if status.is_file() { status.len() } else { 0 };
        if size > self.largest {
            let (path, most) = (path.to_owned(), self.largest);
            return Err(ReadOnlyReason::LargeFile { path, size, most });
        }
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(size.next_multiple_of(PAGE));
        if self.entries > MOST_ENTRIES {
            return Err(ReadOnlyReason::ManyFiles { most: MOST_ENTRIES });
        }
        if self.bytes > self.most {
            return Err(ReadOnlyReason::Large { most: self.most });
        }
        Ok(())
    }
}

fn within(folder: PathBuf, depth: usize) -> Result<PathBuf, ReadOnlyReason> {
    if depth < DEEPEST {
        return Ok(folder);
    }
    Err(ReadOnlyReason::Deep { most: DEEPEST })
}
