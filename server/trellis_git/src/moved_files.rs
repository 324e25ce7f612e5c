//! Files and index entries that a move of the checked-out branch changes: whether they are a
//! person's, and their rollback.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::Path;

use super::stale_locks;
use super::worktree_state::Merging;
use crate::error::GitError;
use crate::git::Git;
use trellis_store::fault_point;
use trellis_store::journal::Journal;

/// Returns the repository with commands run at its top, since git names paths relative to the top.
pub(crate) fn top(git: &Git) -> Result<Git, GitError> {
    let top = git.run(&["rev-parse", "--show-toplevel"])?;
    Ok(git.at(Path::new(top.trim_end())))
}

/// A file that a move changes: its path from the top, and its blobs before and after; all zeros
/// mean no file.
struct Change {
    path: String,
    /// Before the move, in octal digits; zeros mean no file.
    mode: String,
    mode_after: String,
    before: String,
    after: String,
}

/// Mode of a submodule.
const SUBMODULE: &str = "160000";

fn changes(git: &Git, old: &str, new: &str) -> Result<Vec<Change>, GitError> {
    let said = git.run(&["diff", "--raw", "-z", "--no-abbrev", "--no-renames", old, new]);
    let said = said?;
    let words: Vec<&str> = said.split('\0').filter(|it| !it.is_empty()).collect();
    let change = |pair: &[&str]| {
        let fields: Vec<&str> = pair[0].split(' ').collect();
        let mode = fields.first()?.trim_start_matches(':').to_owned();
        let mode_after = fields.get(1)?.to_string();
        let (before, after) = (fields.get(2)?.to_string(), fields.get(3)?.to_string());
        Some(Change { path: pair[1].to_owned(), mode, mode_after, before, after })
    };
    Ok(words.chunks_exact(2).filter_map(change).collect())
}

/// Returns the files that a move would change and that differ from the old commit, in the folder or
/// in the index.
pub(crate) fn changed(git: &Git, old: &str, new: &str) -> Result<Vec<String>, GitError> {
    let git = top(git)?;
    let staged = git.run(&["diff", "--cached", "--name-only", "-z", "--no-renames", old])?;
    let staged: HashSet<&str> = staged.split('\0').collect();
    let skipped = skipped(&git)?;
    let mut out = Vec::new();
    let changes = changes(&git, old, new)?;
    let removed: HashSet<String> =
        changes.iter().filter(|it| is_none(&it.after)).map(|it| it.path.clone()).collect();
    for Change { path, mode, mode_after, before, .. } in changes {
        let place = git.root().join(&path);
        if is_below_no_folder(git.root(), &path, &removed) || staged.contains(path.as_str()) {
            out.push(path);
            continue;
        }
        let is_submodule = [&mode, &mode_after].iter().any(|it| *it == SUBMODULE);
        let is_as_before = match fs::symlink_metadata(&place) {
            Err(_) => is_none(&before) || is_submodule || skipped.contains(&path),
            // git moves the commit of a submodule, and none of its files. It checks the files of a
            // folder that the move replaces.
            Ok(it) if it.is_dir() => {
                let inside = format!("{path}/");
                is_submodule || removed.iter().any(|it| it.starts_with(&inside))
            }
            Ok(it) if it.is_file() => is_as_stored(&git, &path, &before)?,
            // git checks links itself.
            Ok(it) => it.is_symlink() && !is_none(&before),
        };
        if !is_as_before {
            out.push(path);
        }
    }
    Ok(out)
}

/// Returns the files that a person's sparse checkout leaves out.
pub(crate) fn skipped(git: &Git) -> Result<HashSet<String>, GitError> {
    let said = git.run(&["ls-files", "-t", "-z"])?;
    Ok(said.split('\0').filter_map(|it| it.strip_prefix("S ")).map(str::to_owned).collect())
}

/// Returns whether a non-folder that the move does not remove stands on the way to a file. A person
/// may have put it there, unknown to git.
fn is_below_no_folder(top: &Path, path: &str, removed: &HashSet<String>) -> bool {
    let folders = path.match_indices('/').map(|(end, _)| &path[..end]);
    folders
        .filter(|it| !removed.contains(*it))
        .any(|it| fs::symlink_metadata(top.join(it)).is_ok_and(|it| !it.is_dir()))
}

fn is_none(blob: &str) -> bool {
    blob.bytes().all(|it| it == b'0')
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
    let committed = git.run(&["diff", "--name-only", "-z", "--no-renames", &merging.old, into])?;
    let committed: HashSet<&str> = committed.split('\0').collect();
    let mut changes = changes(git, &merging.old, &merging.last)?;
    changes.retain(|it| !committed.contains(it.path.as_str()));
    let skipped = skipped(git)?;
    let entries = moved_entries(git, &changes)?;
    if !entries.is_empty() {
        git.run_with(&["update-index", "-z", "--index-info"], &entries)?;
        let again: String = changes
            .iter()
            .filter(|it| skipped.contains(&it.path))
            .map(|it| it.path.clone() + "\0")
            .collect();
        git.run_with(&["update-index", "--skip-worktree", "-z", "--stdin"], &again)?;
    }
    changes.retain(|it| !skipped.contains(&it.path));
    let (mut back, mut folders) = (String::new(), Vec::new());
    for Change { path: name, before, after, .. } in changes {
        let path = git.root().join(&name);
        match write_state(git, &name, &before, &after)? {
            PartialWrite::No => {}
            PartialWrite::Restore => back += &format!("{name}\0"),
            PartialWrite::Folder => folders.push((name, path)),
            PartialWrite::Remove => {
                let removed = fault_point::reach().and_then(|()| fs::remove_file(&path));
                removed.map_err(GitError::io_at("remove", &path))?;
            }
        }
    }
    for (name, _) in folders.iter().filter(|(_, path)| remove_empty(path).is_ok()) {
        back += &format!("{name}\0");
    }
    if !back.is_empty() {
        git.run_with(&["checkout-index", "--force", "-z", "--stdin"], &back)?;
    }
    Ok(())
}

/// Removes a folder without files.
fn remove_empty(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Fails for a file.
        remove_empty(&entry.path())?;
    }
    fault_point::reach()?;
    fs::remove_dir(folder)
}

/// Returns the former entries, as lines for `update-index`, of the files whose entries in the index
/// are those of a move.
fn moved_entries(git: &Git, changes: &[Change]) -> Result<String, GitError> {
    let said = git.run(&["ls-files", "--stage", "-z"])?;
    let staged: HashMap<&str, &str> = said
        .split('\0')
        .filter_map(|it| it.split_once('\t').map(|(entry, path)| (path, entry)))
        .collect();
    let is_moved = |it: &&Change| {
        let entry = staged.get(it.path.as_str());
        entry.map_or(is_none(&it.after), |entry| entry.split(' ').nth(1) == Some(&it.after))
    };
    let line = |it: &Change| format!("{} {}\t{}\0", it.mode, it.before, it.path);
    Ok(changes.iter().filter(is_moved).map(line).collect())
}

/// Returns whether a file holds a prefix of what git would write for a blob, as after its writer was
/// killed. `name` is relative to the top, where the commands of `git` run.
pub(crate) fn is_partial(git: &Git, name: &str, blob: &str) -> Result<bool, GitError> {
    let path = git.root().join(name);
    let found = fs::read(&path).map_err(GitError::io_at("read", &path))?;
    Ok(written(git, name, blob)?.starts_with(&found))
}

/// Returns whether a plain file holds what git would write for a blob, the bytes of the blob, or what
/// git would store as the blob: line ends differ between them.
fn is_as_stored(git: &Git, name: &str, blob: &str) -> Result<bool, GitError> {
    let id = |how: &str| git.run(&["hash-object", how, "--", name]);
    Ok(!is_none(blob)
        && (id("--no-filters")?.trim() == blob
            || id(&format!("--path={name}"))?.trim() == blob
            || is_as_written(git, name, blob)?))
}

/// Returns whether a plain file holds what git would write for a blob, if that has other line ends.
pub(crate) fn is_as_written(git: &Git, name: &str, blob: &str) -> Result<bool, GitError> {
    let path = git.root().join(name);
    let found = fs::read(&path).map_err(GitError::io_at("read", &path))?;
    Ok(found.contains(&b'\r') && written(git, name, blob)? == found)
}

fn written(git: &Git, name: &str, blob: &str) -> Result<Vec<u8>, GitError> {
    Ok(git.bytes(&["cat-file", "--filters", &format!("--path={name}"), blob], b"")?)
}

enum PartialWrite {
    No,
    Restore,
    Remove,
    /// A folder is in the place of the file.
    Folder,
}

/// Classifies a file that a move changes from one blob to another; all zeros mean no file.
fn write_state(git: &Git, name: &str, before: &str, after: &str) -> Result<PartialWrite, GitError> {
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
    let is = git.run_with(&["hash-object", "--stdin"], &target.to_string_lossy())?;
    Ok(match is.trim() == after {
        false => PartialWrite::No,
        true if is_none(before) => PartialWrite::Remove,
        true => PartialWrite::Restore,
    })
}

#[cfg(test)]
mod tests;
