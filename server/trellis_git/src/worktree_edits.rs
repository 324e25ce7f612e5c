//! A person's changes of files in a worktree of Trellis.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::iter;
use std::path::{Path, PathBuf};

use crate::error::GitError;
use crate::git::{Git, paths_of};
use crate::moved_files::{is_as_stored, is_partial};
use crate::worktree::Worktree;
use crate::worktree_state::full;
use trellis_store::journal::Journal;

impl Worktree {
    /// Writes the tree of the current files. Ignored files are left out unless they were committed,
    /// and so are repositories inside the worktree: a commit of theirs is not part of this one.
    pub(crate) fn tree(&self) -> Result<String, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create a scratch index"))?;
        let top = self.top();
        let own = top.with_index(&scratch.path().join("index"));
        self.copy_index(&own, &scratch.path().join("index"))?;
        let from = ["--pathspec-from-file=-", "--pathspec-file-nul"];
        own.run_with(&["add", "--all", from[0], from[1]], &without_repositories(&own)?)?;
        restore_unchanged(&own)?;
        Ok(own.run(&["write-tree"])?.trim().to_owned())
    }

    /// Copies the worktree's index: git compares only files that were touched since, so that files
    /// stored with other line ends than git would store today are no edits.
    fn copy_index(&self, own: &Git, to: &Path) -> Result<(), GitError> {
        let path =
            self.top().run(&["rev-parse", "--path-format=absolute", "--git-path", "index"])?;
        match fs::copy(path.trim_end_matches('\n'), to) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                own.run(&["read-tree", "HEAD"])?;
                Ok(())
            }
            copied => copied.map(drop).map_err(GitError::io("copy the worktree's index")),
        }
    }

    /// Returns whether a person has changed files here, or committed.
    pub fn is_edited(&self) -> Result<bool, GitError> {
        let tree = self.tree()?;
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
        if !file.exists() {
            return Ok(true);
        }
        let top = self.top();
        match top.resolve(&format!("{next}:{path}"))? {
            Some(blob) => is_partial(&top, path, &blob),
            None => Ok(false),
        }
    }

    /// Returns the files that a person changed since the last commit of Trellis, by path relative
    /// to [`Worktree::root`].
    pub fn edits(&self) -> Result<BTreeMap<PathBuf, Vec<u8>>, GitError> {
        let options =
            ["diff", "--name-only", "--no-renames", "--relative", "-z", "--diff-filter=d"];
        let said = self.inner.bytes(&[&options[..], &[self.tip(), &self.tree()?]].concat(), "")?;
        let text = |path: PathBuf| match fs::read(self.root.join(&path)) {
            Ok(text) => Ok((path, text)),
            Err(error) => Err(GitError::io_at("read", &path)(error)),
        };
        paths_of(&said).map(text).collect()
    }

    /// Commits a person's edits; afterwards the branch is Trellis' own again. Commits that were
    /// merged into it from the target are not part of the work.
    pub fn commit_user_edits(&mut self, journal: &Journal) -> Result<(), GitError> {
        // Recorded first: after any crash the work is resumed, not begun again.
        (self.record.edited, self.record.ended) = (true, None);
        self.save_state()?;
        self.edited_from = Some(self.tip().to_owned());
        let tree = self.tree()?;
        let commit = ["commit-tree", &tree, "-p", "HEAD", "-m", "edited by hand"];
        let commit = self.inner.run(&commit)?;
        self.become_commit(journal, commit.trim(), "--mixed")?;
        self.follow_target()?;
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

/// Returns pathspecs of all files but the repositories among them, known to git or not.
fn without_repositories(git: &Git) -> Result<String, GitError> {
    let staged = git.run(&["ls-files", "--stage", "-z"])?;
    let submodule = |line: &str| Some(line.strip_prefix("160000 ")?.split_once('\t')?.1.to_owned());
    let known = staged.split('\0').filter_map(submodule);
    let excluded =
        known.chain(new_repositories(git)?).map(|it| format!(":(exclude,literal){it}\0"));
    Ok(iter::once(":/\0".to_owned()).chain(excluded).collect())
}

/// Returns the repositories below the folder of git's commands that are no submodules.
pub(crate) fn new_repositories(git: &Git) -> Result<Vec<String>, GitError> {
    let others = git.run(&["ls-files", "-z", "--others", "--exclude-standard"])?;
    // git lists a repository as a folder.
    Ok(others.split('\0').filter_map(|it| it.strip_suffix('/')).map(str::to_owned).collect())
}

/// Restores the entries of files that hold what git checked out, or the bytes of their blob. git
/// would store them with other line ends than they were stored.
fn restore_unchanged(git: &Git) -> Result<(), GitError> {
    let said =
        git.run(&["diff", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "HEAD"])?;
    let words: Vec<&str> = said.split('\0').collect();
    let mut entries = String::new();
    for pair in words.chunks_exact(2) {
        let fields: Vec<&str> = pair[0].trim_start_matches(':').split(' ').collect();
        let &[mode, mode_now, blob, ..] = &fields[..] else { continue };
        if mode == mode_now && is_as_stored(git, pair[1], blob)? {
            entries += &format!("{mode} {blob}\t{}\0", pair[1]);
        }
    }
    if !entries.is_empty() {
        git.run_with(&["update-index", "-z", "--index-info"], &entries)?;
    }
    Ok(())
}
