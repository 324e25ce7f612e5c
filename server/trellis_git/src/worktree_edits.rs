//! A person's changes of files in a worktree of Trellis.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::{GitError, WorktreeError};
use crate::moved_files::is_partial;
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
        // Read first: what a person does meanwhile makes the files differ from them.
        let head = top.run(&["rev-parse", "HEAD"])?.trim().to_owned();
        let is_unmerged = !top.run(&["ls-files", "--unmerged"])?.is_empty();
        let tree = working_tree::write(&top)?;
        let mut edited = names(&top, &[self.tip(), &tree])?;
        if let Some(next) = &self.record.next {
            let mut others = BTreeSet::new();
            for change in changes(&top, &[next, &tree])? {
                if edited.contains(&change.path) && !self.is_half_written(&change)? {
                    others.insert(change.path);
                }
            }
            edited = others;
        }
        Ok(CurrentFiles { head, is_unmerged, tree, edited })
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
    /// merged into it from the target are not part of the work.
    ///
    /// # Errors
    ///
    /// A merge in the worktree has conflicts that are not resolved.
    pub fn commit_user_edits(
        &mut self,
        journal: &Journal,
        files: &CurrentFiles,
    ) -> Result<Edits, GitError> {
        if files.is_unmerged {
            return Err(WorktreeError::Unmerged { folder: self.folder.clone() }.into());
        }
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        let before = self.tip().to_owned();
        self.edited_from = Some(before.clone());
        // A merge that a person has not committed yet is part of their edits.
        let merged = self.inner.resolve("MERGE_HEAD")?;
        let mut commit =
            vec!["commit-tree", &files.tree, "-m", "edited by hand", "-p", &files.head];
        commit.extend(merged.iter().flat_map(|it| ["-p", it]));
        let commit = self.inner.run(&commit)?;
        // Recorded last: until then, the files are still edits, and are committed by the next start.
        self.inner.step(journal, &["reset", "--mixed", "--quiet", commit.trim()], "")?;
        (self.record.tip, self.record.next) = (Some(commit.trim().to_owned()), None);
        self.follow_target()?;
        self.save_state()?;
        Ok(Edits { before, after: commit.trim().to_owned() })
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

/// The files of a worktree as a person left them.
#[derive(Debug)]
pub struct CurrentFiles {
    /// The commit that was checked out before they were read.
    head: String,
    /// True if a merge had conflicts then that were not resolved.
    is_unmerged: bool,
    tree: String,
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
