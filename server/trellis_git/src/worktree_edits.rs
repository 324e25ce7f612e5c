//! A person's changes of files in a worktree of Trellis.

use std::collections::BTreeSet;
use std::mem::replace;
use std::path::{Path, PathBuf};

use crate::error::{GitError, WorktreeError};
use crate::moved_files::{is_partial, put_back};
use crate::raw_diff::{Change, changes, is_none, names, set_entries};
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
        let mut edited = names(&top, &[self.tip(), &tree])?;
        if let Some(next) = &self.record.next {
            let mut written = names(&top, &[self.tip(), next])?;
            for change in changes(&top, &[next, &tree])? {
                if written.contains(&change.path) && !self.is_half_written(&change)? {
                    written.remove(&change.path);
                }
            }
            edited.retain(|it| !written.contains(it));
        }
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

    /// Returns whether a file was being written when Trellis was killed, given the change from the
    /// file as Trellis would have written it.
    fn is_half_written(&self, change: &Change) -> Result<bool, GitError> {
        let file = self.folder.join(&change.path);
        let Ok(kind) = file.symlink_metadata() else { return Ok(true) };
        let may_be = kind.is_file() && !is_none(&change.before) && !change.is_submodule();
        Ok(may_be && is_partial(&self.top(), &change.path, &change.before)?)
    }

    /// Writes a tree: another one with a person's edits, given by the commits before and after them.
    pub(crate) fn with_edits(&self, tree: &str, edits: &Edits) -> Result<String, GitError> {
        let changes = changes(&self.top(), &[&edits.before, &edits.after])?;
        let entries: Vec<u8> = changes.iter().flat_map(Change::entry_after).collect();
        changed_tree(&self.top(), Some(tree), |own| Ok(set_entries(own, &entries)?))
    }

    /// Commits a person's edits; afterwards the branch is Trellis' own again. Commits that were
    /// merged into it from the target are not part of the work. Other files of an interrupted move
    /// are written first.
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
        self.is_resolved(&files.head)?;
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        let files = match self.record.next.clone() {
            Some(next) => self.finish_move(journal, &next, files)?,
            None => files.clone(),
        };
        let before = self.tip().to_owned();
        self.edited_from = Some(before.clone());
        let commit = self.commit_files(journal, &files)?;
        self.record.tip = Some(commit.clone());
        self.follow_target()?;
        self.save_state()?;
        Ok(Edits { before, after: commit })
    }

    fn is_resolved(&self, head: &Head) -> Result<(), GitError> {
        match head.is_unmerged {
            true => Err(WorktreeError::Unmerged { folder: self.folder.clone() }.into()),
            false => Ok(()),
        }
    }

    /// Moves the branch to a commit of the files. Until that is recorded, the files are still edits,
    /// and are committed by the next start.
    fn commit_files(&self, journal: &Journal, files: &CurrentFiles) -> Result<String, GitError> {
        let head = &files.head;
        self.is_resolved(head)?;
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

    /// Finishes the interrupted move to a commit, but for files that a person has edited since, and
    /// reads the files again.
    fn finish_move(
        &mut self,
        journal: &Journal,
        next: &str,
        files: &CurrentFiles,
    ) -> Result<CurrentFiles, GitError> {
        let top = self.top();
        let moved = names(&top, &[self.tip(), next])?;
        let mut unwritten = changes(&top, &[next, &files.tree])?;
        unwritten.retain(|it| moved.contains(&it.path) && !files.is_in_the_way_of(&it.path));
        put_back(&top, &unwritten)?;
        // A person's own commits stay on the branch.
        if files.head.commit == self.tip() {
            self.move_branch(journal, next, &files.head)?;
        }
        (self.record.tip, self.record.next) = (Some(next.to_owned()), None);
        self.save_state()?;
        self.current_files()
    }

    /// Moves the branch alone, unless it has moved since it was read.
    fn move_branch(&self, journal: &Journal, to: &str, head: &Head) -> Result<(), GitError> {
        let update = ["update-ref", &full(&self.branch()), to, &head.commit];
        Ok(self.inner.step(journal, &update, "").map(drop)?)
    }

    /// Completes the record of a move that ended before it was recorded: git moves the branch last.
    /// A commit that git does not have any more moves nothing.
    pub(crate) fn complete_move(&mut self) -> Result<(), GitError> {
        let Some(next) = self.record.next.clone() else { return Ok(()) };
        let is_known = self.inner.resolve(&format!("{next}^{{commit}}"))?.is_some();
        if is_known && !self.inner.is_ancestor(&next, "HEAD")? {
            return Ok(());
        }
        if is_known {
            self.record.tip = Some(next);
        }
        self.record.next = None;
        self.save_state()
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
struct Head {
    /// The whole name of the branch that is checked out.
    branch: Option<String>,
    commit: String,
    /// The commit of a merge that is not committed yet.
    merged: Option<String>,
    /// True if a merge has conflicts that are not resolved.
    is_unmerged: bool,
}

/// The files of a worktree as a person left them.
#[derive(Clone, Debug)]
pub struct CurrentFiles {
    /// The same before and after they were read.
    head: Head,
    tree: String,
    /// Those that a person changed or removed since Trellis wrote them, relative to the top of the
    /// worktree.
    pub edited: BTreeSet<PathBuf>,
}

impl CurrentFiles {
    pub fn is_edited(&self) -> bool {
        !self.edited.is_empty()
    }

    /// Returns whether a path, or a file above or below it, was edited.
    fn is_in_the_way_of(&self, path: &Path) -> bool {
        self.edited.iter().any(|it| path.starts_with(it) || it.starts_with(path))
    }
}

/// A person's edits, committed.
#[derive(Debug)]
pub struct Edits {
    /// The commit before them.
    before: String,
    after: String,
}
