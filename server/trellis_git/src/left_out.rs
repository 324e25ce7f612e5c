//! The files of a work one by one: their changed lines, their texts before it, and the work without
//! some of them.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::Git;
use crate::raw_diff::{Change, changes, set_entries};
use crate::trees::changed_tree;
use crate::worktree::{Worktree, repository};
use trellis_store::journal::Journal;

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Path relative to [`Worktree::root`].
    pub path: String,
    /// Added and removed lines; `None` for a file that is not text.
    pub lines: Option<(usize, usize)>,
}

impl Worktree {
    /// Returns the files that differ from the base, sorted by path.
    pub fn changed_files(&self) -> Result<Vec<ChangedFile>, GitError> {
        let options = ["diff", "--numstat", "--no-renames", "--no-ext-diff", "--relative", "-z"];
        let said = self.inner.run(&[&options[..], &[&self.record.base, self.tip()]].concat())?;
        let file = |line: &str| {
            let mut fields = line.splitn(3, '\t');
            let (added, removed) = (fields.next()?, fields.next()?);
            let lines = added.parse().ok().zip(removed.parse().ok());
            Some(ChangedFile { path: fields.next()?.to_owned(), lines })
        };
        Ok(said.split('\0').filter_map(file).collect())
    }

    /// Commits the work with the base's texts of these files; neither branch nor folder changes.
    /// No other changed file may be above or below one of them.
    pub fn without(&self, paths: &BTreeSet<String>) -> Result<String, GitError> {
        let left_out = self.called(paths)?;
        let entries: Vec<u8> = left_out.iter().flat_map(|it| it.1.entry_before()).collect();
        let tree = changed_tree(&self.inner, Some(self.tip()), |own| set_entries(own, &entries))?;
        let commit = ["commit-tree", &tree, "-p", self.tip(), "-m", "files left out"];
        Ok(self.inner.run(&commit)?.trim().to_owned())
    }

    /// Moves branch and folder to a commit of [`Worktree::without`]. Returns the folder below the
    /// project that keeps the texts left out; `None` if all of them are deleted files.
    pub fn leave_out(
        &mut self,
        journal: &Journal,
        commit: &str,
        paths: &BTreeSet<String>,
    ) -> Result<Option<PathBuf>, GitError> {
        let kept = self.keep(paths)?;
        self.become_commit(journal, commit)?;
        Ok(kept)
    }

    /// Returns the changed files of these paths, which name files as they are shown, each with its
    /// path relative to [`Worktree::root`].
    fn called(&self, paths: &BTreeSet<String>) -> Result<Vec<(PathBuf, Change)>, GitError> {
        let prefix = self.inner.run(&["rev-parse", "--show-prefix"])?;
        let named = |it: Change| {
            let path = it.path.strip_prefix(prefix.trim_end()).ok()?.to_owned();
            paths.contains(&*path.to_string_lossy()).then_some((path, it))
        };
        let changed = changes(&self.top(), &[&self.record.base, self.tip()])?;
        Ok(changed.into_iter().filter_map(named).collect())
    }

    /// Copies files before they are replaced.
    fn keep(&self, paths: &BTreeSet<String>) -> Result<Option<PathBuf>, GitError> {
        let is_there = |it: &Path| it.symlink_metadata().is_ok_and(|it| !it.is_dir());
        let mut there = self.called(paths)?;
        there.retain(|it| is_there(&self.root.join(&it.0)));
        if there.is_empty() {
            return Ok(None);
        }
        let place = self.kept_folder()?;
        for (path, _) in &there {
            let to = place.join(path);
            fs::create_dir_all(to.parent().unwrap_or(&place))
                .and_then(|()| copy(&self.root.join(path), &to))
                .map_err(GitError::io_at("write", &to))?;
        }
        Ok(Some(place.strip_prefix(self.home()).map(Path::to_owned).unwrap_or(place)))
    }
}

/// Copies a file, or a link itself.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    match from.is_symlink() {
        true => symlink(fs::read_link(from)?, to),
        false => fs::copy(from, to).map(drop),
    }
}

/// Returns the text of a project's file in a commit; `None` without such a file.
///
/// # Errors
///
/// The commit is unknown, or the file is not text.
pub fn text_at(home: &Path, commit: &str, path: &str) -> Result<Option<String>, GitError> {
    let git: Git = repository(home)?;
    let prefix = git.run(&["rev-parse", "--show-prefix"])?;
    let name = format!("{}{path}", prefix.trim_end());
    let list = ["ls-tree", "-z", "--full-tree", "--format=%(objecttype) %(objectname)"];
    let entry = git.run(&[&list[..], &[commit, "--", &format!(":(literal){name}")]].concat())?;
    let blob = entry.split('\0').find_map(|it| it.strip_prefix("blob "));
    Ok(blob.map(|it| git.run(&["cat-file", "blob", it])).transpose()?)
}
