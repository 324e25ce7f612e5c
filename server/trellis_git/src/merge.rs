//! Merges the work of a worktree into its target branch: one commit, made beside the branch, and
//! one move of the branch.
//!
//! The record shows what a crash interrupted: either the target has the commit, or the files of the
//! move are rolled back.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::conflict::MergeConflict;
use super::moved_files::{changed, roll_back, top};
use super::worktree::Worktree;
use super::worktree_metadata;
use super::worktree_state::{Merging, full};
use crate::error::{CommandCause, GitError, TargetUse, WorktreeError};
use crate::git::Git;
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
        let (ours, theirs) = self.sides_on(&old)?;
        let command = ["merge-tree", "--write-tree", "--no-messages", "-z", &ours, &theirs];
        let (code, said) = self.git.answer(&command)?;
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

    /// Returns the two commits to merge. If a person has taken the base of the work away from the
    /// target, they are commits with the same files on top of the base alone: git would take an
    /// older base, and what was taken away would come back.
    fn sides_on(&self, old: &str) -> Result<(String, String), GitError> {
        let (base, branch) = (&self.record.base, self.branch());
        if self.git.is_ancestor(base, old)? {
            return Ok((old.to_owned(), branch));
        }
        let side = |it: &str| self.commit_on(base, &format!("{it}^{{tree}}"), "a side of a merge");
        Ok((side(old)?, side(&branch)?))
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
        let gone =
            || WorktreeError::TargetGone { into: self.record.into.clone(), branch: self.branch() };
        Ok(self.git.resolve(&full(&self.record.into))?.ok_or_else(gone)?)
    }

    /// Finishes an interrupted merge: returns its commit if the target has it, else rolls back the
    /// moved files. `killed` is the journal of a start that finds an earlier one's remains, git's
    /// locks among them.
    pub(crate) fn recover(&mut self, killed: Option<&Journal>) -> Result<Option<String>, GitError> {
        let Some(merging) = self.record.merging.clone() else { return Ok(None) };
        if self.git.is_ancestor(&merging.new, &self.target()?)? {
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
    let place = match checked_out(&git, &into) {
        Err(GitError::Worktree(why @ WorktreeError::TargetInUse { .. })) => {
            return Ok(MergeOutcome::Blocked(why.to_string()));
        }
        place => place?,
    };
    for work in works.iter() {
        if let Some(what) = work.uncommitted()? {
            let why = WorktreeError::Uncommitted { what, folder: work.folder.clone() };
            return Ok(MergeOutcome::Blocked(why.to_string()));
        }
    }
    // Uncommitted changes here belong to a person. Neither the move nor a rollback may touch them.
    if let Some(changed) =
        place.as_ref().map(|it| changed(it, &first.old, &last.commit)).transpose()?
        && !changed.is_empty()
    {
        let names: Vec<_> = changed.iter().map(|it| it.display().to_string()).collect();
        let why =
            format!("{} would be overwritten, and have uncommitted changes", names.join(", "));
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
    let mut is_made = false;
    for work in works.iter_mut() {
        is_made |= work.recover(None)?.is_some();
    }
    // Only the journal's line is missing: the next start finds the merge.
    if is_made {
        return Err(error.into());
    }
    if works.first().map(|it| it.target()).transpose()?.is_some_and(|it| it != first.old) {
        return Ok(MergeOutcome::TargetMoved);
    }
    match error.cause {
        // A file or a lock of the person is in the way.
        CommandCause::Stderr { code: 1, words } => Ok(MergeOutcome::Blocked(words)),
        _ => Err(error.into()),
    }
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
        let folder = scratch.path().join(worktree_metadata::own_name());
        let shown = folder.to_string_lossy().into_owned();
        worktree_metadata::sweep(git, |_| false)?;
        let add = ["worktree", "add", "--quiet", "--detach", &shown, commit];
        git.whole_at(git.root()).step(journal, &add, "")?;
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
///
/// # Errors
///
/// [`WorktreeError::TargetInUse`] if that folder is not there, if a rebase or a bisection will return
/// to the branch, or if a merge there is not committed yet.
fn checked_out(git: &Git, branch: &str) -> Result<Option<Git>, GitError> {
    let in_use = |why| {
        let into = branch.trim_start_matches("refs/heads/").to_owned();
        Err(GitError::from(WorktreeError::TargetInUse { into, why }))
    };
    if let Some(why) = worktree_metadata::use_of(git, branch)? {
        return in_use(why);
    }
    let Some(folder) = worktree_metadata::folder_of(git, branch)? else { return Ok(None) };
    if !folder.is_dir() {
        return in_use(TargetUse::AbsentFolder { folder });
    }
    let found = git.at(&files_of(git, folder));
    match is_merging(&found)? {
        true => in_use(TargetUse::Merge),
        false => Ok(Some(found)),
    }
}

/// Returns whether a person has begun a merge that is not committed yet.
fn is_merging(git: &Git) -> Result<bool, GitError> {
    for name in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
        if git.resolve(name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(!git.run(&["ls-files", "--unmerged"])?.is_empty())
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
