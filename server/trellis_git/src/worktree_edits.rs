//! A person's changes of files in a worktree of Trellis.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::{GitError, WorktreeError};
use crate::git::paths_of;
use crate::moved_files::is_partial;
use crate::raw_diff::{Change, changes, set_entries};
use crate::trees::changed_tree;
use crate::working_tree;
use crate::worktree::Worktree;
use crate::worktree_state::full;
use trellis_store::journal::Journal;

impl Worktree {
    /// Reads the current files, ignored ones left out.
    pub fn current_files(&self) -> Result<CurrentFiles, GitError> {
        let tree = working_tree::write(&self.top())?;
        let mut edited = self.differing(self.tip(), &tree)?;
        if let Some(next) = &self.record.next {
            let unwritten = self.differing(next, &tree)?;
            edited.retain(|it| unwritten.contains(it));
            let mut failed = None;
            edited.retain(|it| {
                let is = self.is_half_written(it, next);
                !is.unwrap_or_else(|error| failed.replace(error).is_some())
            });
            failed.map_or(Ok(()), Err)?;
        }
        Ok(CurrentFiles { tree, edited })
    }

    /// Returns the files that differ between two trees, relative to the top.
    fn differing(&self, from: &str, to: &str) -> Result<BTreeSet<PathBuf>, GitError> {
        let diff = ["diff", "--name-only", "--no-renames", "-z", from, to];
        Ok(paths_of(&self.top().bytes(&diff, b"")?).collect())
    }

    /// Returns whether a file was being written when Trellis was killed; the path is relative to
    /// the top.
    fn is_half_written(&self, path: &Path, next: &str) -> Result<bool, GitError> {
        let file = self.folder.join(path);
        if file.symlink_metadata().is_err() {
            return Ok(true);
        }
        let top = self.top();
        match top.resolve(&format!("{next}:{}", path.display()))? {
            Some(blob) if file.is_file() && !file.is_symlink() => is_partial(&top, path, &blob),
            _ => Ok(false),
        }
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
        if !self.top().run(&["ls-files", "--unmerged"])?.is_empty() {
            return Err(WorktreeError::Unmerged { folder: self.folder.clone() }.into());
        }
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        let before = self.tip().to_owned();
        self.edited_from = Some(before.clone());
        // A merge that a person has not committed yet is part of their edits.
        let merged = self.inner.resolve("MERGE_HEAD")?;
        let mut commit = vec!["commit-tree", &files.tree, "-m", "edited by hand", "-p", "HEAD"];
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
