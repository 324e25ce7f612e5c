//! The current files of a worktree as a tree, to be compared with a commit.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::Git;
use crate::moved_files::{is_as_written, skipped};
use crate::raw_diff::{Change, changes, is_none, names, set_entries};
use crate::trees::changed_tree;

/// Writes the tree of the current files. Ignored files are left out unless a person has added
/// them, and so are repositories inside the worktree: a commit of theirs is not part of this
/// one.
pub(crate) fn write(top: &Git) -> Result<String, GitError> {
    // Marks in the worktree's own index would hide edits.
    changed_tree(top, Some("HEAD"), |own| {
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        own.bytes(&["add", "--all", from[0], from[1]], &without_repositories(own)?)?;
        let mut added = names(top, &["--cached", "--diff-filter=A", "HEAD"])?;
        added.retain(|it| is_there(top, it));
        let inner = submodules(top)?;
        added.retain(|it| !inner.contains(it));
        if !added.is_empty() {
            own.bytes(&["add", "--force", from[0], from[1]], &literal(added.iter()))?;
        }
        restore_unchanged(own, &skipped(top)?)
    })
}

/// Returns pathspecs of all files but the repositories among them, known to git or not.
fn without_repositories(git: &Git) -> Result<Vec<u8>, GitError> {
    let mut out = b":/\0".to_vec();
    for path in submodules(git)?.into_iter().chain(new_repositories(git)?) {
        out.extend_from_slice(b":(exclude,literal)");
        out.extend_from_slice(path.as_os_str().as_bytes());
        out.push(0);
    }
    Ok(out)
}

/// Returns the paths of the initialised submodules in the index, relative to the top, where the
/// commands of `git` run.
pub(crate) fn submodules(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let staged = git.bytes(&["ls-files", "--stage", "-z"], b"")?;
    let lines = staged.split(|byte| *byte == 0).filter_map(|it| it.strip_prefix(b"160000 "));
    let paths = lines.filter_map(|it| it.splitn(2, |byte| *byte == b'\t').nth(1));
    let paths = paths.map(|it| PathBuf::from(OsStr::from_bytes(it)));
    Ok(paths.filter(|it| git.root().join(it).join(".git").symlink_metadata().is_ok()).collect())
}

/// Returns the repositories that git does not know, relative to the top, where the commands of
/// `git` run.
fn new_repositories(git: &Git) -> Result<Vec<PathBuf>, GitError> {
    let others = git.bytes(&["ls-files", "-z", "--others", "--exclude-standard"], b"")?;
    // git lists a repository as a folder.
    let folders = others.split(|byte| *byte == 0).filter_map(|it| it.strip_suffix(b"/"));
    Ok(folders.map(|it| PathBuf::from(OsStr::from_bytes(it))).collect())
}

/// Returns whether there is a file or a link at a path of git's.
fn is_there(git: &Git, path: &Path) -> bool {
    let is_link = |path: &Path| git.root().join(path).is_symlink();
    let is_folder = git.root().join(path).symlink_metadata().map(|it| it.is_dir());
    is_folder.is_ok_and(|it| !it) && !path.ancestors().skip(1).any(is_link)
}

fn literal<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<u8> {
    paths.flat_map(|it| [b":(literal)", it.as_os_str().as_bytes(), b"\0"].concat()).collect()
}

/// Restores the entries of files that hold what git checked out, or the bytes of their blob: git
/// would store them with other line ends than they were stored. Files in `skipped` are not there,
/// by a person's sparse checkout.
fn restore_unchanged(git: &Git, skipped: &HashSet<PathBuf>) -> Result<(), GitError> {
    let mut entries = Vec::new();
    let mut stored = Vec::new();
    for change in changes(git, &["--cached", "HEAD"])? {
        let is_plain = || {
            let kind = git.root().join(&change.path).symlink_metadata();
            // A list of paths has one a line.
            let is_one_line =
                !change.path.as_os_str().as_bytes().iter().any(|it| matches!(it, b'\n' | b'\r'));
            is_one_line && kind.is_ok_and(|it| it.is_file())
        };
        if change.is_same_mode() && is_plain() {
            stored.push(change);
        } else if is_none(&change.after) && skipped.contains(&change.path) {
            entries.extend(change.entry_before());
        }
    }
    entries.extend(are_as_stored(git, stored)?.iter().flat_map(Change::entry_before));
    match entries.is_empty() {
        true => Ok(()),
        false => Ok(set_entries(git, &entries)?),
    }
}

/// Returns those of changed plain files that hold the bytes of the blob before, or what git would
/// write for it.
fn are_as_stored(git: &Git, files: Vec<Change>) -> Result<Vec<Change>, GitError> {
    if files.is_empty() {
        return Ok(files);
    }
    let line = |it: &Change| [b"./", it.path.as_os_str().as_bytes(), b"\n"].concat();
    let paths: Vec<u8> = files.iter().flat_map(line).collect();
    let bytes = git.bytes(&["hash-object", "--no-filters", "--stdin-paths"], &paths)?;
    let bytes = String::from_utf8_lossy(&bytes);
    let mut out = Vec::new();
    for (file, raw) in files.into_iter().zip(bytes.lines()) {
        if raw == file.before || is_as_written(git, &file.path, &file.before)? {
            out.push(file);
        }
    }
    Ok(out)
}
