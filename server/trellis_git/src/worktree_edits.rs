//! A person's changes of files in a worktree of Trellis.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::error::{GitError, WorktreeError};
use crate::git::paths_of;
use crate::moved_files::is_partial;
use crate::working_tree;
use crate::worktree::Worktree;
use crate::worktree_state::full;
use trellis_store::journal::Journal;

impl Worktree {
    /// Writes the tree of the current files.
    pub(crate) fn working_tree(&self) -> Result<String, GitError> {
        working_tree::write(&self.top())
    }

    /// Returns whether a person has changed files here, or committed.
    pub fn is_edited(&self) -> Result<bool, GitError> {
        let tree = self.working_tree()?;
        let ours = [self.record.tip.as_ref().unwrap_or(&self.record.base)];
        let ours = ours.into_iter().chain(&self.record.next);
        let mut differing: Option<BTreeSet<String>> = None;
        for commit in ours {
            let paths =
                self.paths(&["diff", "--name-only", "--no-renames", "-z", commit, &tree])?;
            differing = Some(match differing {
                None => paths,
                Some(all) => all.intersection(&paths).cloned().collect(),
            });
        }
        let differing = differing.unwrap_or_default();
        let Some(next) = &self.record.next else { return Ok(!differing.is_empty()) };
        for path in &differing {
            if !self.is_half_written(path, next)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a file was being written when Trellis was killed; the path is relative to
    /// the top.
    fn is_half_written(&self, path: &str, next: &str) -> Result<bool, GitError> {
        let file = self.folder.join(path);
        if file.symlink_metadata().is_err() {
            return Ok(true);
        }
        let top = self.top();
        match top.resolve(&format!("{next}:{path}"))? {
            Some(blob) if file.is_file() && !file.is_symlink() => is_partial(&top, path, &blob),
            _ => Ok(false),
        }
    }

    /// Returns the files that a person changed or removed since the last commit of Trellis, relative
    /// to the top of the worktree.
    pub fn edited(&self) -> Result<BTreeSet<PathBuf>, GitError> {
        let tree = self.working_tree()?;
        let diff = ["diff", "--name-only", "--no-renames", "-z", self.tip(), &tree];
        Ok(paths_of(&self.top().bytes(&diff, b"")?).collect())
    }

    /// Writes a tree: another one with a person's edits, given by the commits before and after them.
    pub(crate) fn with_edits(&self, tree: &str, edits: &Edits) -> Result<String, GitError> {
        let options = ["diff", "--raw", "-z", "--no-abbrev", "--no-renames"];
        let range = [edits.before.as_str(), &edits.after];
        let said = self.top().bytes(&[&options[..], &range].concat(), b"")?;
        let words: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
        let entry = |pair: &[&[u8]]| {
            let fields: Vec<&[u8]> = pair[0].split(|byte| *byte == b' ').collect();
            Some([*fields.get(1)?, b" ", *fields.get(3)?, b"\t", pair[1], b"\0"].concat())
        };
        let entries: Vec<u8> = words.chunks_exact(2).filter_map(entry).flatten().collect();
        let scratch = tempfile::tempdir().map_err(GitError::io("create a scratch index"))?;
        let own = self.top().with_index(&scratch.path().join("index"));
        own.run(&["read-tree", tree])?;
        own.bytes(&["update-index", "--add", "--replace", "-z", "--index-info"], &entries)?;
        Ok(own.run(&["write-tree"])?.trim().to_owned())
    }

    /// Commits a person's edits; afterwards the branch is Trellis' own again. Commits that were
    /// merged into it from the target are not part of the work.
    ///
    /// # Errors
    ///
    /// A merge in the worktree has conflicts that are not resolved.
    pub fn commit_user_edits(&mut self, journal: &Journal) -> Result<Edits, GitError> {
        if !self.top().run(&["ls-files", "--unmerged"])?.is_empty() {
            return Err(WorktreeError::Unmerged { folder: self.folder.clone() }.into());
        }
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        let before = self.tip().to_owned();
        self.edited_from = Some(before.clone());
        let tree = self.working_tree()?;
        // A merge that a person has not committed yet is part of their edits.
        let merged = self.inner.resolve("MERGE_HEAD")?;
        let mut commit = vec!["commit-tree", &tree, "-m", "edited by hand", "-p", "HEAD"];
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

/// A person's edits, committed.
#[derive(Debug)]
pub struct Edits {
    /// The commit before them.
    before: String,
    after: String,
}
