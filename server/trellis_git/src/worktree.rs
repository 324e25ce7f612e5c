//! A git worktree for one piece of work, on a branch of its own, created and removed by Trellis
//! alone.
//!
//! `.trellis/worktrees/NAME` holds the files, `trellis/NAME` is the branch, and
//! `.trellis/worktrees/NAME.json` records that both belong to Trellis: a branch or folder of that
//! name without a record belongs to someone else, and is left alone. Each step is recorded before
//! it happens, so that after a crash the next start knows the state of the work:
//!
//! ```text
//! record ──> branch and folder ──> commits ──> record: merging ──> target moves (`merge`) ──>
//!   folder, branch, record are removed
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Addition, GitError, GuardError, WorktreeError};
use crate::git::Git;
use crate::moved_files::is_partial;
use crate::repo_config_guard::place;
use crate::stale_locks;
use crate::trees;
use crate::worktree_metadata::{self, Metadata};
use crate::worktree_state::{WorktreeState, branch, create, full, known, record_path, remove};
use trellis_store::disk;
use trellis_store::fault_point;
use trellis_store::journal::Journal;
use trellis_store::lock::{Lock, LockError};

/// Folders that tools create and can create again.
const MADE: [&str; 6] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", ".venv"];

/// A worktree on the disk, locked by this process.
#[derive(Debug)]
pub struct Worktree {
    pub(crate) name: String,
    /// The project's repository.
    pub(crate) git: Git,
    /// The same repository with commands run in the worktree.
    pub(crate) inner: Git,
    /// The project's folder, which has `.trellis`.
    pub(crate) home: PathBuf,
    folder: PathBuf,
    /// The project's folder inside the worktree, without links.
    pub root: PathBuf,
    pub record: WorktreeState,
    /// The last commit before a person's edits that were committed since the work was opened.
    pub edited_from: Option<String>,
    _lock: Lock,
}

/// State of a piece of work when opened.
#[derive(Debug)]
pub enum Opened {
    /// The work begins.
    Fresh(Worktree),
    /// The work continues.
    Resumed(Worktree),
    /// The work was already merged as this commit; its remains are removed.
    Merged(String),
}

impl Worktree {
    /// Resumes the work of this name, a plain file name, or begins it at the checked-out commit.
    ///
    /// # Errors
    ///
    /// No repository, no branch checked out, a branch or folder of that name that Trellis did not
    /// create, or another process at work.
    pub fn open(home: &Path, name: &str, journal: &Journal) -> Result<Opened, GitError> {
        Worktree::open_for(home, name, None, journal)
    }

    /// Opens work for the branch `into` instead of the checked-out one.
    pub fn open_for(
        home: &Path,
        name: &str,
        into: Option<&str>,
        journal: &Journal,
    ) -> Result<Opened, GitError> {
        let git = repository(home)?;
        let places = places(home).map_err(GitError::io("create .trellis/worktrees"))?;
        let lock = lock(&places.join(format!("{name}.lock")), name)?;
        stale_locks::wait_for_orphaned_git(&git)?;
        let prefix = git.run(&["rev-parse", "--show-prefix"])?;
        let folder = places.join(name);
        let known = known(&record_path(home, name))?;
        let is_fresh = known.is_none();
        let record = match known {
            Some(record) => record,
            None => create(&git, name, into, &folder, home)?,
        };
        let mut work = Worktree {
            name: name.to_owned(),
            inner: git.at(&folder.join(prefix.trim_end())),
            git,
            home: home.to_owned(),
            root: folder.join(prefix.trim_end()),
            folder,
            record,
            edited_from: None,
            _lock: lock,
        };
        if is_fresh {
            work.save_state()?;
        }
        // Index and HEAD of the project's own checkout belong to the person.
        stale_locks::locks(&work.git, journal, &[&format!("{}.lock", full(&work.branch()))])?;
        if let Some(commit) = work.recover(Some(journal))? {
            work.clear(journal)?;
            return Ok(Opened::Merged(commit));
        }
        work.create(journal)?;
        work.is_on_its_branch()?;
        work.root = work.root.canonicalize().unwrap_or(work.root);
        Ok(if is_fresh { Opened::Fresh(work) } else { Opened::Resumed(work) })
    }

    /// Returns the project's folder.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the name of the work's branch.
    pub fn branch(&self) -> String {
        branch(&self.name)
    }

    /// Checks that the worktree is on its branch. A person may have switched to another branch, on
    /// which Trellis must not commit.
    fn is_on_its_branch(&self) -> Result<(), GitError> {
        let (branch, top) = (self.branch(), self.git.at(&self.folder));
        if top.lookup(&["symbolic-ref", "--quiet", "HEAD"])? == Some(full(&branch)) {
            return Ok(());
        }
        Err(WorktreeError::OtherBranch { folder: self.folder.clone(), branch }.into())
    }

    /// Creates branch and folder, as far as they do not exist.
    fn create(&mut self, journal: &Journal) -> Result<(), GitError> {
        let is_linked = self.folder.join(".git").exists();
        let metadata = worktree_metadata::metadata(&self.git, &self.name)?;
        if is_linked && metadata != Metadata::Incomplete {
            return self.reopen(metadata, journal);
        }
        // A folder that a crash left incomplete holds no work yet.
        if self.folder.exists() {
            let removed = fault_point::reach().and_then(|()| fs::remove_dir_all(&self.folder));
            removed.map_err(GitError::io("clear the worktree's folder"))?;
        }
        worktree_metadata::sweep(&self.git, Some(&self.name))?;
        let (folder, branch) = (self.folder.to_string_lossy().into_owned(), self.branch());
        let base = self.record.base.clone();
        let arguments = match self.git.resolve(&full(&branch))?.is_some() {
            true => vec!["worktree", "add", "--quiet", &folder, &branch],
            false => {
                vec!["worktree", "add", "--quiet", "--no-track", "-b", &branch, &folder, &base]
            }
        };
        self.git.step(journal, &arguments, "")?;
        Ok(())
    }

    /// Uses the folder that is there. A project that was moved is linked with it again.
    fn reopen(&self, metadata: Metadata, journal: &Journal) -> Result<(), GitError> {
        if metadata == Metadata::None {
            let (folder, branch) = (self.folder.clone(), self.branch());
            return Err(WorktreeError::Unlinked { folder, branch }.into());
        }
        if matches!(place(&self.folder), Err(GuardError::Unreachable { .. })) {
            let folder = self.folder.to_string_lossy();
            self.git.step(journal, &["worktree", "repair", &folder], "")?;
        }
        worktree_metadata::sweep(&self.git, Some(&self.name))?;
        let top = self.git.at(&self.folder);
        top.run(&["rev-parse", "HEAD"])?;
        stale_locks::locks(&top, journal, &["index.lock", "HEAD.lock"])
    }

    /// Makes the branch one commit on top of `from` with these texts, by path relative to
    /// [`Worktree::root`], and updates the files.
    pub fn write(
        &mut self,
        journal: &Journal,
        from: &str,
        texts: &BTreeMap<String, String>,
        message: &str,
    ) -> Result<(), GitError> {
        let tree = self.tree_with(from, texts)?;
        let commit = ["commit-tree", &tree, "-p", from, "-m", message];
        let commit = self.git.run(&commit)?;
        self.become_commit(journal, commit.trim(), "--hard")
    }

    /// Writes a tree: that of `from` with other texts.
    pub(crate) fn tree_with(
        &self,
        from: &str,
        texts: &BTreeMap<String, String>,
    ) -> Result<String, GitError> {
        let texts = texts.iter().map(|(path, text)| (path.clone(), Some(text.clone())));
        Ok(trees::tree_with(&self.inner, Some(from), &texts.collect())?)
    }

    /// Moves the branch to a commit. The record names the commit before and after, so that a crash
    /// in between does not look like a person's edit.
    pub(crate) fn become_commit(
        &mut self,
        journal: &Journal,
        commit: &str,
        how: &str,
    ) -> Result<(), GitError> {
        self.record.next = Some(commit.to_owned());
        self.save_state()?;
        self.inner.step(journal, &["reset", how, "--quiet", commit], "")?;
        self.record.tip = self.record.next.take();
        self.save_state()
    }

    /// Writes the tree of the current files; ignored files are left out unless they were committed.
    fn tree(&self) -> Result<String, GitError> {
        let scratch = tempfile::tempdir().map_err(GitError::io("create a scratch index"))?;
        let own = self.inner.with_index(&scratch.path().join("index"));
        own.run(&["read-tree", "HEAD"])?;
        own.run(&["add", "--all", "--", ":/"])?;
        Ok(own.run(&["write-tree"])?.trim().to_owned())
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
        let top = self.git.at(&self.folder);
        let blob = top.resolve(&format!("{next}:{path}"))?;
        blob.map_or(Ok(false), |blob| is_partial(&top, &file, &blob))
    }

    /// Returns the files that a person changed since the last commit of Trellis, by path relative
    /// to [`Worktree::root`].
    pub fn edits(&self) -> Result<BTreeMap<String, Vec<u8>>, GitError> {
        let options =
            ["diff", "--name-only", "--no-renames", "--relative", "-z", "--diff-filter=d"];
        let paths = self.paths(&[&options[..], &[self.tip(), &self.tree()?]].concat())?;
        let text = |path: String| match fs::read(self.root.join(&path)) {
            Ok(text) => Ok((path, text)),
            Err(error) => Err(GitError::io_at("read", Path::new(&path))(error)),
        };
        paths.into_iter().map(text).collect()
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
        let base = ["merge-base", &full(&self.record.into), "HEAD"];
        self.record.base = self.inner.run(&base)?.trim().to_owned();
        self.save_state()
    }

    /// Returns the last commit of the work, or its base if there is none.
    pub fn tip(&self) -> &str {
        self.record.tip.as_deref().unwrap_or(&self.record.base)
    }

    /// Returns the tree of a commit of this repository, or `None` for an unknown commit.
    pub fn tree_of(&self, commit: &str) -> Result<Option<String>, GitError> {
        let is_id = commit.len() >= 40 && commit.bytes().all(|it| it.is_ascii_hexdigit());
        match is_id {
            true => Ok(self.git.resolve(&format!("{commit}^{{tree}}"))?),
            false => Ok(None),
        }
    }

    /// Records that a person has sent this tree back.
    pub fn send_back(&mut self, tree: String, words: String) -> Result<(), GitError> {
        self.record.sent_back.push((tree, words));
        self.save_state()
    }

    /// Returns paths that differ from the base, relative to [`Worktree::root`]: existing ones and
    /// removed ones.
    pub fn changed(&self) -> Result<(BTreeSet<String>, BTreeSet<String>), GitError> {
        let range = [self.record.base.clone(), self.tip().to_owned()];
        let of = |filter: &str| {
            let options = ["diff", "--name-only", "--no-renames", "--relative", "-z", filter];
            self.paths(&[&options[..], &[&range[0], &range[1]]].concat())
        };
        Ok((of("--diff-filter=d")?, of("--diff-filter=D")?))
    }

    /// Returns the work's changes as one patch.
    pub fn diff(&self) -> Result<String, GitError> {
        let options = ["diff", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let range = [self.record.base.as_str(), self.tip()];
        Ok(self.inner.run(&[&options[..], &range].concat())?)
    }

    /// Records that the work waits for a review, after this number of fix requests.
    pub fn wait(&mut self, fixes: u32) -> Result<(), GitError> {
        self.record.waits = Some(fixes);
        self.save_state()
    }

    /// Records how the work ended. Its branch and folder stay.
    pub fn mark_finished(&mut self, how: &str) -> Result<(), GitError> {
        self.record.ended = Some(how.to_owned());
        self.save_state()
    }

    /// Archives ended work so that it can begin again: its branch stays under another name, which
    /// is returned.
    pub fn archive(self, journal: &Journal) -> Result<String, GitError> {
        let taken =
            self.git.run(&["for-each-ref", "--format=%(refname:short)", "refs/heads/trellis"]);
        let taken = taken?;
        // No work has such a name.
        let prefix = branch(&format!("aside/{}-", self.name));
        let numbers = taken.lines().filter_map(|it| it.strip_prefix(&prefix)?.parse::<u32>().ok());
        let aside = format!("{prefix}{}", numbers.max().unwrap_or(0) + 1);
        let folder = self.folder.to_string_lossy().into_owned();
        // Uncommitted changes go to the branch as well.
        let mut work = self;
        if work.is_edited()? {
            work.commit_user_edits(journal)?;
        }
        work.keep_ignored()?;
        work.git.step(journal, &["worktree", "remove", "--force", &folder], "")?;
        work.git.step(journal, &["branch", "--move", &work.branch(), &aside], "")?;
        remove(&record_path(&work.home, &work.name))?;
        Ok(aside)
    }

    /// Removes folder, branch and record of merged work. Later additions by a person stay.
    pub fn clear(&self, journal: &Journal) -> Result<(), GitError> {
        let branch = self.branch();
        if self.folder.join(".git").exists() {
            if !self.inner.run(&["status", "--porcelain"])?.trim().is_empty() {
                return Err(self.added_to(Addition::Files));
            }
            self.keep_ignored()?;
            let folder = self.folder.to_string_lossy().into_owned();
            let removed = self.git.step(journal, &["worktree", "remove", "--force", &folder], "");
            removed?;
        }
        worktree_metadata::sweep(&self.git, Some(&self.name))?;
        if let Some(tip) = self.git.resolve(&full(&branch))? {
            if self.tip() != tip {
                return Err(self.added_to(Addition::Commits));
            }
            self.git.step(journal, &["branch", "-D", &branch], "")?;
        }
        remove(&record_path(&self.home, &self.name))
    }

    /// Moves ignored files out of a folder before its removal: no other copy exists.
    fn keep_ignored(&self) -> Result<(), GitError> {
        let top = self.git.at(&self.folder);
        let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        let said = top.run(&list)?;
        let is_made = |path: &str| path.split('/').any(|part| MADE.contains(&part));
        let kept: Vec<&str> =
            said.split('\0').filter(|it| !it.is_empty() && !is_made(it)).collect();
        if kept.is_empty() {
            return Ok(());
        }
        let place = self.kept_folder()?;
        for path in kept {
            let (from, to) = (self.folder.join(path), place.join(path));
            fault_point::reach()
                .and_then(|()| fs::create_dir_all(to.parent().unwrap_or(&place)))
                .and_then(|()| fs::rename(&from, &to))
                .map_err(|source| GitError::Move { from, to, source })?;
        }
        Ok(())
    }

    /// Creates a folder for files that are about to go.
    pub(crate) fn kept_folder(&self) -> Result<PathBuf, GitError> {
        let since = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3f").to_string();
        disk::create(&self.home, &format!("kept/{}-{since}", self.name))
            .map_err(GitError::io("create .trellis/kept"))
    }

    /// Returns the paths that git lists, with the command run in the project's folder.
    fn paths(&self, arguments: &[&str]) -> Result<BTreeSet<String>, GitError> {
        let said = self.inner.run(arguments)?;
        Ok(said.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
    }

    fn added_to(&self, what: Addition) -> GitError {
        let folder = self.folder.clone();
        WorktreeError::AddedTo { what, branch: self.branch(), folder }.into()
    }

    pub(crate) fn save_state(&self) -> Result<(), GitError> {
        let text = serde_json::to_string_pretty(&self.record).map_err(WorktreeError::NoJson)?;
        let path = format!(".trellis/worktrees/{}.json", self.name);
        disk::write(&self.home, &path, &text).map_err(GitError::io_at("write", Path::new(&path)))
    }
}

/// Returns the repository around a project.
pub fn repository(home: &Path) -> Result<Git, GitError> {
    Git::around(home)?.ok_or_else(|| GitError::NoRepository { home: home.to_owned() })
}

fn lock(path: &Path, name: &str) -> Result<Lock, GitError> {
    Lock::of_file(path).map_err(|why| match why {
        LockError::Failed(error) => GitError::io_at("lock", path)(error),
        LockError::Held(owner) => WorktreeError::Busy { owner, name: name.to_owned() }.into(),
    })
}

/// Returns the folder of all worktrees.
fn places(home: &Path) -> std::io::Result<PathBuf> {
    disk::create(home, "worktrees")
}
