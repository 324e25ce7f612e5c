//! Files and index entries that a move of the checked-out branch changes: whether they are a
//! person's, and their rollback.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::stale_locks;
use super::worktree_state::Merging;
use crate::error::GitError;
use crate::git::Git;
use crate::raw_diff::{Change, changes, is_none, names, path_list, set_entries};
use trellis_store::fault_point;
use trellis_store::journal::Journal;

/// Returns the repository with commands run at its top, since git names paths relative to the top.
pub(crate) fn top(git: &Git) -> Result<Git, GitError> {
    let top = git.run(&["rev-parse", "--show-toplevel"])?;
    Ok(git.at(Path::new(top.trim_end())))
}

/// Returns the files that a move would change and that differ from the old commit, in the folder or
/// in the index.
pub(crate) fn changed(git: &Git, old: &str, new: &str) -> Result<Vec<PathBuf>, GitError> {
    let git = top(git)?;
    let staged = names(&git, &["--cached", old])?;
    let skipped = skipped(&git)?;
    let mut out = Vec::new();
    let moved = changes(&git, &[old, new])?;
    let removed: HashSet<PathBuf> =
        moved.iter().filter(|it| is_none(&it.after)).map(|it| it.path.clone()).collect();
    for change in moved {
        let Change { path, before, .. } = &change;
        if no_folder_above(git.root(), path, &removed).is_some() || staged.contains(path) {
            out.push(change.path);
            continue;
        }
        let is_submodule = change.is_submodule();
        let is_as_before = match fs::symlink_metadata(git.root().join(path)) {
            Err(_) => is_none(before) || is_submodule || skipped.contains(path),
            // git moves the commit of a submodule, and none of its files. It checks the files of a
            // folder that the move replaces.
            Ok(it) if it.is_dir() => {
                is_submodule || removed.iter().any(|it| it != path && it.starts_with(path))
            }
            Ok(it) if it.is_file() => is_as_stored(&git, path, before)?,
            // git checks links itself.
            Ok(it) => it.is_symlink() && !is_none(before),
        };
        if !is_as_before {
            out.push(change.path);
        }
    }
    Ok(out)
}

/// Returns the files that a person's sparse checkout leaves out.
pub(crate) fn skipped(git: &Git) -> Result<HashSet<PathBuf>, GitError> {
    let said = git.bytes(&["ls-files", "-t", "-z"], b"")?;
    let lines = said.split(|byte| *byte == 0).filter_map(|it| it.strip_prefix(b"S "));
    Ok(lines.map(|it| PathBuf::from(OsStr::from_bytes(it))).collect())
}

/// Returns the non-folder on the way to a file that the move does not remove. A person may have put
/// it there, unknown to git.
pub(crate) fn no_folder_above(
    top: &Path,
    path: &Path,
    removed: &HashSet<PathBuf>,
) -> Option<PathBuf> {
    let folders = path.ancestors().skip(1).filter(|it| !it.as_os_str().is_empty());
    folders
        .filter(|it| !removed.contains(*it))
        .map(|it| top.join(it))
        .find(|it| fs::symlink_metadata(it).is_ok_and(|it| !it.is_dir()))
}

/// Rolls back the files and the index of an interrupted move, but for what a person has committed
/// since. At the start all files and entries of the move were as in the old commit ([`changed`]). So
/// files that are new, missing or truncated come from the move, and so do entries of the index with
/// its blobs: git writes the index after the files and before the branch.
pub(crate) fn roll_back(
    git: &Git,
    killed: Option<&Journal>,
    merging: &Merging,
    into: &str,
) -> Result<(), GitError> {
    if let Some(journal) = killed {
        stale_locks::locks(git, journal, &["index.lock", "HEAD.lock", &format!("{into}.lock")])?;
    }
    // What a person has committed since is theirs.
    let committed = names(git, &[&merging.old, into])?;
    let mut moved = changes(git, &[&merging.old, &merging.last])?;
    moved.retain(|it| !committed.contains(&it.path));
    let skipped = skipped(git)?;
    let entries = moved_entries(git, &moved)?;
    if !entries.is_empty() {
        set_entries(git, &entries)?;
        let again = path_list(moved.iter().map(|it| &*it.path).filter(|it| skipped.contains(*it)));
        git.bytes(&["update-index", "--skip-worktree", "-z", "--stdin"], &again)?;
    }
    moved.retain(|it| !skipped.contains(&it.path));
    let (mut back, mut folders) = (Vec::new(), Vec::new());
    for Change { path: name, before, after, .. } in &moved {
        let path = git.root().join(name);
        match write_state(git, name, before, after)? {
            PartialWrite::No => {}
            PartialWrite::Restore => back.push(name.as_path()),
            PartialWrite::Folder => folders.push((name, path)),
            PartialWrite::Remove => {
                let removed = fault_point::reach().and_then(|()| fs::remove_file(&path));
                removed.map_err(GitError::io_at("remove", &path))?;
            }
        }
    }
    for (name, path) in folders {
        if remove_empty(&path).map_err(GitError::io_at("remove", &path))?.is_none() {
            back.push(name);
        }
    }
    if !back.is_empty() {
        git.bytes(&["checkout-index", "--force", "-z", "--stdin"], &path_list(back))?;
    }
    Ok(())
}

/// Removes a folder without files and links. Else one of them is returned, or a folder that this
/// process may not read.
pub(crate) fn remove_empty(folder: &Path) -> io::Result<Option<PathBuf>> {
    match first_file(folder)? {
        None => remove_folders(folder).map(|()| None),
        found => Ok(found),
    }
}

fn first_file(folder: &Path) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Ok(Some(folder.to_owned()));
        }
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let found = match entry.file_type()?.is_dir() {
            true => first_file(&entry.path())?,
            false => Some(entry.path()),
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Removes a folder with the folders in it; fails for a file.
fn remove_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        remove_folders(&entry?.path())?;
    }
    fault_point::reach()?;
    fs::remove_dir(folder)
}

/// Returns the former entries of the files whose entries in the index are those of a move.
fn moved_entries(git: &Git, moved: &[Change]) -> Result<Vec<u8>, GitError> {
    let said = git.bytes(&["ls-files", "--stage", "-z"], b"")?;
    let entry = |line: &[u8]| {
        let tab = line.iter().position(|byte| *byte == b'\t')?;
        let blob = String::from_utf8_lossy(&line[..tab]).split(' ').nth(1)?.to_owned();
        Some((PathBuf::from(OsStr::from_bytes(&line[tab + 1..])), blob))
    };
    let staged: HashMap<PathBuf, String> =
        said.split(|byte| *byte == 0).filter_map(entry).collect();
    let is_moved =
        |it: &&Change| staged.get(&it.path).map_or(is_none(&it.after), |blob| *blob == it.after);
    Ok(moved.iter().filter(is_moved).flat_map(Change::entry_before).collect())
}

/// Returns whether a file holds a prefix of what git would write for a blob, as after its writer was
/// killed. `name` is relative to the top, where the commands of `git` run.
pub(crate) fn is_partial(git: &Git, name: &Path, blob: &str) -> Result<bool, GitError> {
    Ok(written(git, name, blob)?.starts_with(&bytes_at(git, name)?))
}

/// Returns whether a plain file holds what git would write for a blob, the bytes of the blob, or what
/// git would store as the blob: line ends differ between them.
fn is_as_stored(git: &Git, name: &Path, blob: &str) -> Result<bool, GitError> {
    if is_none(blob) {
        return Ok(false);
    }
    let is_blob = |options: &[&str]| {
        let command = [&["hash-object"], options, &["--"]].concat();
        let command: Vec<&OsStr> =
            command.iter().map(OsStr::new).chain([name.as_os_str()]).collect();
        Ok::<_, GitError>(git.bytes(&command, b"")?.trim_ascii() == blob.as_bytes())
    };
    Ok(is_blob(&["--no-filters"])? || is_blob(&[])? || is_as_written(git, name, blob)?)
}

/// Returns whether a plain file holds what git would write for a blob, if that has other line ends.
pub(crate) fn is_as_written(git: &Git, name: &Path, blob: &str) -> Result<bool, GitError> {
    let found = bytes_at(git, name)?;
    Ok(found.contains(&b'\r') && written(git, name, blob)? == found)
}

fn bytes_at(git: &Git, name: &Path) -> Result<Vec<u8>, GitError> {
    let path = git.root().join(name);
    fs::read(&path).map_err(GitError::io_at("read", &path))
}

/// Returns what git would write for a blob, by the attributes of the file.
fn written(git: &Git, name: &Path, blob: &str) -> Result<Vec<u8>, GitError> {
    let mut path = OsString::from("--path=");
    path.push(name);
    Ok(git.bytes(&["cat-file".as_ref(), "--filters".as_ref(), &*path, blob.as_ref()], b"")?)
}

enum PartialWrite {
    No,
    Restore,
    Remove,
    /// A folder is in the place of the file.
    Folder,
}

/// Classifies a file that a move changes from one blob to another; all zeros mean no file.
fn write_state(
    git: &Git,
    name: &Path,
    before: &str,
    after: &str,
) -> Result<PartialWrite, GitError> {
    let path = git.root().join(name);
    match fs::symlink_metadata(&path) {
        Ok(it) if it.is_file() => {}
        Ok(it) if it.is_dir() && !is_none(before) => return Ok(PartialWrite::Folder),
        Ok(it) if it.is_symlink() => return link_state(git, &path, before, after),
        Err(_) if !is_none(before) => return Ok(PartialWrite::Restore),
        _ => return Ok(PartialWrite::No),
    }
    let is_before = is_as_stored(git, name, before)?;
    // Only the mode changes.
    if is_before && before == after {
        return Ok(PartialWrite::Restore);
    }
    if is_before || is_none(after) {
        return Ok(PartialWrite::No);
    }
    match is_as_stored(git, name, after)? || is_partial(git, name, after)? {
        false => Ok(PartialWrite::No),
        true if is_none(before) => Ok(PartialWrite::Remove),
        true => Ok(PartialWrite::Restore),
    }
}

/// Classifies a link that a move may have put there; the blob of a link is its target.
fn link_state(git: &Git, path: &Path, before: &str, after: &str) -> Result<PartialWrite, GitError> {
    let target = fs::read_link(path).map_err(GitError::io_at("read", path))?;
    let is = git.bytes(&["hash-object", "--stdin"], target.as_os_str().as_bytes())?;
    Ok(match is.trim_ascii() == after.as_bytes() {
        false => PartialWrite::No,
        true if is_none(before) => PartialWrite::Remove,
        true => PartialWrite::Restore,
    })
}

#[cfg(test)]
mod tests;
