//! Files that differ between two trees, or between a tree and the index.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::CommandError;
use crate::git::{Git, paths_of};

/// Mode of a submodule.
const SUBMODULE: &str = "160000";

/// A file that differs: its path from the top, and its modes and blobs on both sides. All zeros mean
/// no file.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    /// In octal digits.
    mode: String,
    mode_after: String,
    pub(crate) before: String,
    pub(crate) after: String,
}

impl Change {
    /// Returns the file before, as an entry for [`set_entries`].
    pub(crate) fn entry_before(&self) -> Vec<u8> {
        entry(&self.mode, &self.before, &self.path)
    }

    /// Returns the file after, as an entry for [`set_entries`].
    pub(crate) fn entry_after(&self) -> Vec<u8> {
        entry(&self.mode_after, &self.after, &self.path)
    }

    pub(crate) fn is_submodule(&self) -> bool {
        [&self.mode, &self.mode_after].iter().any(|it| *it == SUBMODULE)
    }

    pub(crate) fn is_same_mode(&self) -> bool {
        self.mode == self.mode_after
    }
}

fn entry(mode: &str, blob: &str, path: &Path) -> Vec<u8> {
    [mode.as_bytes(), b" ", blob.as_bytes(), b"\t", path.as_os_str().as_bytes(), b"\0"].concat()
}

/// Returns the files that differ between the sides, given as arguments of `git diff`.
pub(crate) fn changes(git: &Git, sides: &[&str]) -> Result<Vec<Change>, CommandError> {
    let options = ["diff", "--raw", "-z", "--no-abbrev", "--no-renames"];
    let said = git.bytes(&[&options[..], sides].concat(), b"")?;
    let words: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let change = |pair: &[&[u8]]| {
        let fields = String::from_utf8_lossy(pair[0]);
        let mut fields = fields.trim_start_matches(':').split(' ').map(str::to_owned);
        let path = PathBuf::from(OsStr::from_bytes(pair[1]));
        let (mode, mode_after) = (fields.next()?, fields.next()?);
        Some(Change { path, mode, mode_after, before: fields.next()?, after: fields.next()? })
    };
    Ok(words.chunks_exact(2).filter_map(change).collect())
}

/// Returns the paths that differ between the sides, given as options and arguments of `git diff`.
pub(crate) fn names(git: &Git, sides: &[&str]) -> Result<BTreeSet<PathBuf>, CommandError> {
    let options = ["diff", "--name-only", "-z", "--no-renames"];
    Ok(paths_of(&git.bytes(&[&options[..], sides].concat(), b"")?).collect())
}

/// Returns whether a blob or a mode means that there is no file.
pub(crate) fn is_none(id: &str) -> bool {
    id.bytes().all(|it| it == b'0')
}

/// Replaces entries of the index.
pub(crate) fn set_entries(git: &Git, entries: &[u8]) -> Result<(), CommandError> {
    git.bytes(&["update-index", "-z", "--index-info"], entries).map(drop)
}

/// Returns paths as git reads them from its input with `-z`.
pub(crate) fn path_list<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<u8> {
    let line = |it: &Path| [it.as_os_str().as_bytes(), b"\0"].concat();
    paths.into_iter().flat_map(line).collect()
}
