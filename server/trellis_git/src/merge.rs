//! Merges the work of a worktree into its target branch: one commit, made beside the branch, and
//! one move of the branch.
//!
//! The record shows what a crash interrupted: either the target has the commit, or the files of the
//! move are rolled back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::conflict::MergeConflict;
use super::stale_locks;
use super::worktree::Worktree;
use super::worktree_state::{Merging, full};
use crate::error::{GitError, WorktreeError};
use crate::git::Git;
use trellis_store::fault_point;
use trellis_store::journal::Journal;
use trellis_store::lock::Lock;
use trellis_store::scratch::ScratchFolder;

/// The work as one commit on top of its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergeCommit {
    /// The target commit below it.
    old: String,
    pub commit: String,
    /// True if the target has moved since the work began, so that the merged result is untested.
    pub is_untested: bool,
}

impl MergeCommit {
    /// Returns the target commit below it.
    pub fn target(&self) -> &str {
        &self.old
    }
}

/// A merge commit, or the conflict that prevents one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merge {
    Clean(MergeCommit),
    Conflict(MergeConflict),
}

/// Outcome of moving the target branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    Merged,
    /// The target moved meanwhile: a new candidate is needed.
    TargetMoved,
    /// Nothing has changed; the text says what blocked the move.
    Blocked(String),
}

impl Worktree {
    /// Computes a merge. Only git's object store changes.
    pub fn candidate(&self, message: &str) -> Result<Merge, GitError> {
        self.candidate_on(self.target()?, message)
    }

    /// Computes a merge on top of `old`, a commit that will be on the target by then.
    pub fn candidate_on(&self, old: String, message: &str) -> Result<Merge, GitError> {
        let merged = self.git.answer(&[
            "merge-tree",
            "--write-tree",
            "--no-messages",
            "-z",
            &old,
            &self.branch(),
        ]);
        let (code, said) = merged?;
        let mut words = said.split('\0').filter(|it| !it.is_empty());
        let tree = words.next().unwrap_or_default().to_owned();
        match code {
            0 => {}
            1 => return Ok(Merge::Conflict(MergeConflict::read(old, tree, words))),
            _ => return Err(WorktreeError::MergeUnsupported.into()),
        }
        let commit = self.commit_on(&old, &tree, message)?;
        Ok(Merge::Clean(MergeCommit { is_untested: old != self.record.base, old, commit }))
    }

    /// Commits a tree on top of a commit; no branch moves.
    fn commit_on(&self, old: &str, tree: &str, message: &str) -> Result<String, GitError> {
        let commit = self.git.run(&["commit-tree", tree, "-p", old, "-m", message]);
        Ok(commit?.trim().to_owned())
    }

    /// Returns a merge whose files in conflict have these texts, by path.
    pub fn settled(
        &self,
        conflict: &MergeConflict,
        texts: &BTreeMap<String, String>,
        message: &str,
    ) -> Result<MergeCommit, GitError> {
        let tree = self.tree_with(&conflict.tree, texts)?;
        let commit = self.commit_on(&conflict.old, &tree, message)?;
        Ok(MergeCommit { is_untested: true, old: conflict.old.clone(), commit })
    }

    /// Checks out a commit in a folder of its own.
    pub fn checkout<'j>(
        &self,
        journal: &'j Journal,
        commit: &str,
    ) -> Result<Checkout<'j>, GitError> {
        Checkout::of(&self.git, journal, commit)
    }

    /// Returns the commit that the target is at.
    pub fn target(&self) -> Result<String, GitError> {
        let into = full(&self.record.into);
        let tip = self.git.run(&["rev-parse", "--verify", "--quiet", &into]).map_err(|_| {
            WorktreeError::TargetGone { into: self.record.into.clone(), branch: self.branch() }
        })?;
        Ok(tip.trim().to_owned())
    }

    /// Finishes an interrupted merge: returns its commit if the target has it, else rolls back the
    /// moved files. `killed` is the journal of a start that finds an earlier one's remains, git's
    /// locks among them.
    pub(crate) fn recover(&mut self, killed: Option<&Journal>) -> Result<Option<String>, GitError> {
        let Some(merging) = self.record.merging.clone() else { return Ok(None) };
        let has_it = ["merge-base", "--is-ancestor", &merging.new, &self.target()?];
        if self.git.answer(&has_it)?.0 == 0 {
            return Ok(Some(merging.new));
        }
        let into = full(&self.record.into);
        if let Some(git) = checked_out(&self.git, &into)? {
            roll_back(&top(&git)?, killed, &merging, &into)?;
        }
        self.record.merging = None;
        self.save_state()?;
        Ok(None)
    }
}

/// Moves the target to the last of a chain of candidates, one per work and each on top of the one
/// before. Where the target is checked out, the files move too. Then removes what is left of the
/// works.
pub fn fast_forward(
    works: &mut [&mut Worktree],
    journal: &Journal,
    chain: &[MergeCommit],
) -> Result<MergeOutcome, GitError> {
    let (Some(lead), Some(first), Some(last)) = (works.first(), chain.first(), chain.last()) else {
        return Ok(MergeOutcome::Merged);
    };
    let place = lead.home.join(".trellis/worktrees/merge.lock");
    let _alone = Lock::wait_for(&place).map_err(GitError::io("wait for other merges"))?;
    if lead.target()? != first.old {
        return Ok(MergeOutcome::TargetMoved);
    }
    let (git, into) = (lead.git.at(lead.git.root()), full(&lead.record.into));
    let place = checked_out(&git, &into)?;
    // Uncommitted changes here belong to a person. Neither the move nor a rollback may touch them.
    if let Some(changed) =
        place.as_ref().map(|it| changed(it, &first.old, &last.commit)).transpose()?
        && !changed.is_empty()
    {
        let why =
            format!("{} would be overwritten, and have uncommitted changes", changed.join(", "));
        return Ok(MergeOutcome::Blocked(why));
    }
    for (work, candidate) in works.iter_mut().zip(chain) {
        let new = candidate.commit.clone();
        work.record.merging =
            Some(Merging { old: first.old.clone(), new, last: last.commit.clone() });
        work.save_state()?;
    }
    let ff =
        ["merge", "--ff-only", "--no-autostash", "--no-overwrite-ignore", "--quiet", &last.commit];
    let moved = match place {
        Some(git) => git.step(journal, &ff, ""),
        None => git.step(journal, &["update-ref", &into, &last.commit, &first.old], ""),
    };
    let Err(error) = moved else {
        works.iter().try_for_each(|it| it.clear(journal))?;
        return Ok(MergeOutcome::Merged);
    };
    for work in works.iter_mut() {
        work.recover(None)?;
    }
    Ok(MergeOutcome::Blocked(error.cause.to_string()))
}

/// A checkout of a commit in a temporary folder.
pub struct Checkout<'a> {
    git: Git,
    journal: &'a Journal,
    folder: PathBuf,
    /// The project's folder inside the checkout.
    pub root: PathBuf,
    _scratch: ScratchFolder,
}

impl<'a> Checkout<'a> {
    pub fn of(git: &Git, journal: &'a Journal, commit: &str) -> Result<Checkout<'a>, GitError> {
        let scratch = ScratchFolder::new()?;
        // Git names its metadata after this folder; the name identifies the owning process.
        let folder = scratch.path().join(stale_locks::own_name());
        let shown = folder.to_string_lossy().into_owned();
        stale_locks::sweep(git, None)?;
        git.step(journal, &["worktree", "add", "--quiet", "--detach", &shown, commit], "")?;
        let prefix = git.run(&["rev-parse", "--show-prefix"])?;
        let root = folder.join(prefix.trim_end());
        let root = root.canonicalize().unwrap_or(root);
        Ok(Checkout { git: git.at(git.root()), journal, folder, root, _scratch: scratch })
    }

    /// Returns paths of the project's files relative to [`Checkout::root`], sorted.
    pub fn tracked(&self) -> Result<Vec<String>, GitError> {
        Ok(self.git.at(&self.root).tracked()?)
    }
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        let shown = self.folder.to_string_lossy().into_owned();
        // The next start sweeps remaining files, and git forgets the checkout then.
        let _ = self.git.step(self.journal, &["worktree", "remove", "--force", &shown], "");
    }
}

/// Returns the repository at the folder where a branch is checked out, if any.
fn checked_out(git: &Git, branch: &str) -> Result<Option<Git>, GitError> {
    let said = git.run(&["worktree", "list", "--porcelain", "-z"])?;
    let mut folder = None;
    for line in said.split('\0') {
        if let Some(path) = line.strip_prefix("worktree ") {
            folder = Some(PathBuf::from(path));
        }
        if line.strip_prefix("branch ") == Some(branch) {
            return Ok(folder.filter(|it| it.is_dir()).map(|it| git.at(&files_of(git, it))));
        }
    }
    Ok(None)
}

/// Returns the folder of the files. For a repository whose git folder is apart from its files, git
/// lists the git folder instead.
fn files_of(git: &Git, folder: PathBuf) -> PathBuf {
    if folder.join(".git").exists() {
        return folder;
    }
    let said = git.run(&["config", "--get", "core.worktree"]).ok();
    let files = said.and_then(|it| folder.join(it.trim_end_matches('\n')).canonicalize().ok());
    files.unwrap_or(folder)
}

/// Returns the repository with commands run at its top, since git names paths relative to the top.
fn top(git: &Git) -> Result<Git, GitError> {
    let top = git.run(&["rev-parse", "--show-toplevel"])?;
    Ok(git.at(Path::new(top.trim_end())))
}

/// A file that a move changes: its path from the top, and its blobs before and after; all zeros
/// mean no file.
struct Change {
    path: String,
    before: String,
    after: String,
}

fn changes(git: &Git, old: &str, new: &str) -> Result<Vec<Change>, GitError> {
    let said = git.run(&["diff", "--raw", "-z", "--no-abbrev", "--no-renames", old, new]);
    let said = said?;
    let words: Vec<&str> = said.split('\0').filter(|it| !it.is_empty()).collect();
    let change = |pair: &[&str]| {
        let fields: Vec<&str> = pair[0].split(' ').collect();
        let (before, after) = (fields.get(2)?.to_string(), fields.get(3)?.to_string());
        Some(Change { path: pair[1].to_owned(), before, after })
    };
    Ok(words.chunks_exact(2).filter_map(change).collect())
}

/// Returns the files that a move would change and that differ from the old commit.
fn changed(git: &Git, old: &str, new: &str) -> Result<Vec<String>, GitError> {
    let git = top(git)?;
    let mut out = Vec::new();
    for Change { path, before, .. } in changes(&git, old, new)? {
        let place = git.root().join(&path);
        if is_below_no_folder(git.root(), &path) {
            out.push(path);
            continue;
        }
        let is_as_before = match fs::symlink_metadata(&place) {
            Err(_) => is_none(&before),
            Ok(it) if it.is_file() => {
                let shown = place.to_string_lossy().into_owned();
                git.run(&["hash-object", "--", &shown])?.trim() == before
            }
            // git checks links itself.
            Ok(it) => it.is_symlink() && !is_none(&before),
        };
        if !is_as_before {
            out.push(path);
        }
    }
    Ok(out)
}

/// Returns whether a non-folder stands on the way to a file. A person may have put it there,
/// unknown to git.
fn is_below_no_folder(top: &Path, path: &str) -> bool {
    let mut at = top.to_owned();
    let folders = path.rsplit_once('/').map_or("", |it| it.0);
    folders.split('/').filter(|it| !it.is_empty()).any(|part| {
        at.push(part);
        fs::symlink_metadata(&at).is_ok_and(|it| !it.is_dir())
    })
}

fn is_none(blob: &str) -> bool {
    blob.bytes().all(|it| it == b'0')
}

/// Rolls back the files of an interrupted move. The branch and the index still have the old commit,
/// and at the start all files of the move were as in that commit ([`changed`]). So files that are
/// new, missing or truncated come from the move.
fn roll_back(
    git: &Git,
    killed: Option<&Journal>,
    merging: &Merging,
    into: &str,
) -> Result<(), GitError> {
    if let Some(journal) = killed {
        stale_locks::locks(git, journal, &["index.lock", "HEAD.lock", &format!("{into}.lock")])?;
    }
    let mut back = String::new();
    for Change { path: name, before, after } in changes(git, &merging.old, &merging.last)? {
        let path = git.root().join(&name);
        match write_state(git, &path, &before, &after)? {
            PartialWrite::No => {}
            PartialWrite::Restore => back += &format!("{name}\0"),
            PartialWrite::Remove => {
                let removed = fault_point::reach().and_then(|()| fs::remove_file(&path));
                removed.map_err(GitError::io_at("remove", &path))?;
            }
        }
    }
    if !back.is_empty() {
        git.run_with(&["checkout-index", "--force", "-z", "--stdin"], &back)?;
    }
    Ok(())
}

/// Returns whether a file holds a prefix of a blob, as after its writer was killed.
pub(crate) fn is_partial(git: &Git, path: &Path, blob: &str) -> Result<bool, GitError> {
    let whole = git.run(&["cat-file", "blob", blob])?;
    let found = fs::read(path).map_err(GitError::io_at("read", path))?;
    Ok(whole.as_bytes().starts_with(&found))
}

enum PartialWrite {
    No,
    Restore,
    Remove,
}

/// Classifies a file that a move changes from one blob to another; all zeros mean no file.
fn write_state(
    git: &Git,
    path: &Path,
    before: &str,
    after: &str,
) -> Result<PartialWrite, GitError> {
    let there = match fs::symlink_metadata(path) {
        Ok(it) if it.is_file() => true,
        // git would have to remove a link or a folder first, and does not.
        Ok(_) => return Ok(PartialWrite::No),
        Err(_) => false,
    };
    if !there {
        return Ok(if is_none(before) { PartialWrite::No } else { PartialWrite::Restore });
    }
    let shown = path.to_string_lossy().into_owned();
    let is = git.run(&["hash-object", "--", &shown])?;
    if is.trim() == before && before == after {
        // Only the mode changes.
        return Ok(PartialWrite::Restore);
    }
    if is.trim() == before || is_none(after) {
        return Ok(PartialWrite::No);
    }
    match is.trim() == after || is_partial(git, path, after)? {
        false => Ok(PartialWrite::No),
        true if is_none(before) => Ok(PartialWrite::Remove),
        true => Ok(PartialWrite::Restore),
    }
}
