//! A person's changes of files in a worktree of Trellis.

use std::collections::BTreeSet;
use std::mem::replace;
use std::path::PathBuf;

use crate::error::{GitError, WorktreeError};
use crate::raw_diff::{Change, changes, names, set_entries};
use crate::trees::changed_tree;
use crate::working_tree;
use crate::worktree::Worktree;
use crate::worktree_state::full;
use trellis_store::journal::Journal;

impl Worktree {
    /// Reads the current files, ignored ones left out.
    pub fn current_files(&self) -> Result<CurrentFiles, GitError> {
        let top = self.top();
        let mut head = self.head()?;
        // A merge that a person begins meanwhile would be read in part.
        let tree = loop {
            let tree = working_tree::write(&top)?;
            let before = replace(&mut head, self.head()?);
            if before == head {
                break tree;
            }
        };
        let edited = names(&top, &[self.tip(), &tree])?;
        Ok(CurrentFiles { head, tree, edited })
    }

    fn head(&self) -> Result<Head, GitError> {
        Ok(Head {
            branch: self.inner.lookup(&["symbolic-ref", "--quiet", "HEAD"])?,
            commit: self.inner.run(&["rev-parse", "HEAD"])?.trim().to_owned(),
            merged: self.inner.resolve("MERGE_HEAD")?,
            is_unmerged: !self.top().run(&["ls-files", "--unmerged"])?.is_empty(),
        })
    }

    /// Writes a tree: another one with a person's edits, given by the commits before and after them.
    pub(crate) fn with_edits(&self, tree: &str, edits: &Edits) -> Result<String, GitError> {
        let changes = changes(&self.top(), &[&edits.before, &edits.after])?;
        let entries: Vec<u8> = changes.iter().flat_map(Change::entry_after).collect();
        changed_tree(&self.top(), Some(tree), |own| Ok(set_entries(own, &entries)?))
    }

    /// Commits a person's edits; afterwards the branch is Trellis' own again. Commits that were
    /// merged into it from the target are not part of the work.
    ///
    /// # Errors
    ///
    /// A merge in the worktree has conflicts that are not resolved, or a person has switched to
    /// another branch, or has committed or merged there since the files were read.
    pub fn commit_user_edits(
        &mut self,
        journal: &Journal,
        files: &CurrentFiles,
    ) -> Result<Edits, GitError> {
        self.is_on_its_branch()?;
        files.head.is_resolved(self)?;
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        let before = self.tip().to_owned();
        self.edited_from = Some(before.clone());
        let commit = self.commit_files(journal, files)?;
        self.record.tip = Some(commit.clone());
        self.follow_target()?;
        self.save_state()?;
        Ok(Edits { before, after: commit })
    }

    /// Moves the branch to a commit of the files. Until that is recorded, the files are still edits,
    /// and are committed by the next start.
    fn commit_files(&self, journal: &Journal, files: &CurrentFiles) -> Result<String, GitError> {
        let head = &files.head;
        let mut commit = vec!["commit-tree", &files.tree, "-m", "edited by hand"];
        // A merge that a person has not committed yet is part of their edits.
        let parents = [&head.commit].into_iter().chain(&head.merged);
        commit.extend(parents.flat_map(|it| ["-p", it]));
        let commit = self.inner.run(&commit)?.trim().to_owned();
        if self.head()? != *head {
            return Err(WorktreeError::MovedMeanwhile { folder: self.folder.clone() }.into());
        }
        self.move_branch(journal, &commit, head)?;
        self.inner.step(journal, &["reset", "--mixed", "--quiet"], "")?;
        Ok(commit)
    }

    /// Moves the branch alone, unless it has moved since it was read.
    pub(crate) fn move_branch(
        &self,
        journal: &Journal,
        to: &str,
        head: &Head,
    ) -> Result<(), GitError> {
        let update = ["update-ref", &full(&self.branch()), to, &head.commit];
        Ok(self.inner.step(journal, &update, "").map(drop)?)
    }

    /// Moves the base of the work to the last commit that a person merged from the target. An older
    /// one is left: a person has taken commits away from the target, and they are not part of the
    /// work.
    fn follow_target(&mut self) -> Result<(), GitError> {
        let both = ["merge-base", &full(&self.record.into), "HEAD"];
        if let Some(base) = self.inner.lookup(&both)?
            && self.git.is_ancestor(&self.record.base, &base)?
        {
            self.record.base = base;
        }
        Ok(())
    }
}

/// State of a worktree that a person's git commands change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// The whole name of the branch that is checked out.
    branch: Option<String>,
    pub(crate) commit: String,
    /// The commit of a merge that is not committed yet.
    merged: Option<String>,
    /// True if a merge has conflicts that are not resolved.
    is_unmerged: bool,
}

impl Head {
    /// Fails if a merge has conflicts that are not resolved.
    pub(crate) fn is_resolved(&self, work: &Worktree) -> Result<(), GitError> {
        match self.is_unmerged {
            true => Err(WorktreeError::Unmerged { folder: work.folder.clone() }.into()),
            false => Ok(()),
        }
    }
}

/// The files of a worktree as a person left them.
#[derive(Debug)]
pub struct CurrentFiles {
    /// The same before and after they were read.
    pub(crate) head: Head,
    pub(crate) tree: String,
    /// Those that a person changed or removed since Trellis wrote them, relative to the top of the
    /// worktree.
    pub edited: BTreeSet<PathBuf>,
}

impl CurrentFiles {
    pub fn is_edited(&self) -> bool {
        !self.edited.is_empty()
    }
}

/// A person's edits, committed.
#[derive(Debug)]
pub struct Edits {
    /// The commit before them.
    before: String,
    after: String,
}
