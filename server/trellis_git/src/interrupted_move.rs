//! Moves of a worktree's branch and files that a kill or an error interrupted. They are finished
//! before anything else is done with the worktree.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{GitError, WorktreeError};
use crate::moved_files::{is_partial, no_folder_above, remove_empty};
use crate::raw_diff::{Change, changes, is_none, names, path_list, set_entries};
use crate::worktree::Worktree;
use crate::worktree_edits::CurrentFiles;
use trellis_store::fault_point;
use trellis_store::journal::Journal;

impl Worktree {
    /// Finishes an interrupted move, but for files that a person has edited since.
    ///
    /// # Errors
    ///
    /// A file or a link that git does not know is in the way, or a merge has conflicts.
    pub(crate) fn finish_move(&mut self, journal: &Journal) -> Result<(), GitError> {
        let Some(next) = self.record.next.clone() else { return Ok(()) };
        // A commit that git has cleaned away moves nothing.
        if self.inner.resolve(&format!("{next}^{{commit}}"))?.is_some() {
            // git moves the branch last.
            if !self.inner.is_ancestor(&next, "HEAD")? {
                self.write_rest(journal, &next)?;
            }
            self.record.tip = Some(next);
        }
        self.record.next = None;
        self.save_state()
    }

    /// Writes what a move to a commit has not written, and moves the branch, unless a person has
    /// committed something on it.
    fn write_rest(&self, journal: &Journal, next: &str) -> Result<(), GitError> {
        let (top, files) = (self.top(), self.current_files()?);
        files.head.is_resolved(self)?;
        let mut moved = changes(&top, &[next, self.tip()])?;
        let paths: BTreeSet<PathBuf> = moved.iter().map(|it| it.path.clone()).collect();
        let mut unwritten = changes(&top, &[next, &files.tree])?;
        unwritten.retain(|it| paths.contains(&it.path));
        let edited = self.edited_since(&files, paths, &unwritten)?;
        let is_free = |it: &Change| {
            edited.iter().all(|of| !it.path.starts_with(of) && !of.starts_with(&it.path))
        };
        for all in [&mut moved, &mut unwritten] {
            all.retain(|it| is_free(it) && !it.is_submodule());
        }
        self.is_way_free(&unwritten)?;
        set_entries(&top, &moved.iter().flat_map(Change::entry_before).collect::<Vec<_>>())?;
        self.put_back(&unwritten)?;
        match files.head.commit == self.tip() {
            true => self.move_branch(journal, next, &files.head),
            false => Ok(()),
        }
    }

    /// Returns the files that a person has edited: neither written by the move nor half-written.
    fn edited_since(
        &self,
        files: &CurrentFiles,
        mut moved: BTreeSet<PathBuf>,
        unwritten: &[Change],
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        for change in unwritten {
            if !self.is_half_written(change)? {
                moved.remove(&change.path);
            }
        }
        Ok(files.edited.difference(&moved).cloned().collect())
    }

    /// Returns whether a file was being written, given the change from the file as it is in the
    /// commit of the move.
    fn is_half_written(&self, change: &Change) -> Result<bool, GitError> {
        let file = self.folder.join(&change.path);
        let Ok(kind) = file.symlink_metadata() else { return Ok(true) };
        let may_be = kind.is_file() && !is_none(&change.before) && !change.is_submodule();
        Ok(may_be && is_partial(&self.top(), &change.path, &change.before)?)
    }

    /// Fails if an ignored file is where a file of the move belongs.
    fn is_way_free(&self, unwritten: &[Change]) -> Result<(), GitError> {
        let new = unwritten.iter().filter(|it| is_none(&it.after) && !is_none(&it.before));
        for change in new {
            let path = self.folder.join(&change.path);
            let is_file = path.symlink_metadata().is_ok_and(|it| !it.is_dir());
            if is_file && !self.is_half_written(change)? {
                return Err(WorktreeError::InTheWay { path }.into());
            }
        }
        Ok(())
    }

    /// Writes files as they were before changes.
    fn put_back(&self, changes: &[Change]) -> Result<(), GitError> {
        for change in changes.iter().filter(|it| is_none(&it.before)) {
            let path = self.folder.join(&change.path);
            remove_file(&path).map_err(GitError::io_at("remove", &path))?;
        }
        let names: Vec<&Path> =
            changes.iter().filter(|it| !is_none(&it.before)).map(|it| &*it.path).collect();
        for name in &names {
            self.make_room(name)?;
        }
        if !names.is_empty() {
            let checkout = ["checkout-index", "--force", "-z", "--stdin"];
            self.top().bytes(&checkout, &path_list(names))?;
        }
        Ok(())
    }

    /// Removes an empty folder at the path of a file.
    fn make_room(&self, name: &Path) -> Result<(), GitError> {
        let path = self.folder.join(name);
        let mut found = no_folder_above(&self.folder, name, &HashSet::new());
        if found.is_none() && path.symlink_metadata().is_ok_and(|it| it.is_dir()) {
            found = remove_empty(&path).map_err(GitError::io_at("remove", &path))?;
        }
        found.map_or(Ok(()), |path| Err(WorktreeError::InTheWay { path }.into()))
    }

    /// Fails if a move to a commit would replace a file that git does not know.
    pub(crate) fn is_free_for(&self, commit: &str) -> Result<(), GitError> {
        let of = |filter| names(&self.top(), &[filter, self.tip(), commit]);
        let (added, removed) = (of("--diff-filter=A")?, of("--diff-filter=D")?);
        let removed = removed.into_iter().collect();
        let found = added.iter().find_map(|it| {
            let path = self.folder.join(it);
            let is_file = path.symlink_metadata().is_ok_and(|it| !it.is_dir());
            no_folder_above(&self.folder, it, &removed).or(is_file.then_some(path))
        });
        found.map_or(Ok(()), |path| Err(WorktreeError::InTheWay { path }.into()))
    }
}

/// Removes a file that may be gone already.
fn remove_file(path: &Path) -> io::Result<()> {
    match fault_point::reach().and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
