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

use crate::error::{GitError, WorktreeError};
use crate::git::Git;
use crate::stale_locks;
use crate::trees;
use crate::worktree_edits::Edits;
use crate::worktree_metadata::{self, Link, Metadata};
use crate::worktree_removal::finish_archive;
use crate::worktree_state::{WorktreeState, branch, create, full, known, record_path};
use trellis_store::disk;
use trellis_store::fault_point;
use trellis_store::journal::Journal;
use trellis_store::lock::{Lock, LockError};

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
    pub(crate) folder: PathBuf,
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
        let known = match known(&record_path(home, name))? {
            // A crash came while it was archived, or a person has removed it.
            Some(record) if record.has_branch() && is_gone(&git, name, &folder)? => {
                finish_archive(&git, home, name, record.tip.as_deref(), journal)?;
                None
            }
            known => known,
        };
        let is_fresh = known.is_none();
        let record = match known {
            Some(record) => record.for_target(name, into)?,
            None => create(&git, name, into, &folder, home)?,
        };
        let mut work = Worktree {
            name: name.to_owned(),
            inner: git.whole_at(&folder.join(prefix.trim_end())),
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
        work.finish_move(journal)?;
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

    /// Returns the repository with commands run at the top of the worktree.
    pub(crate) fn top(&self) -> Git {
        self.inner.at(&self.folder)
    }

    /// Checks that the worktree is on its branch. A person may have switched to another branch, on
    /// which Trellis must not commit.
    pub(crate) fn is_on_its_branch(&self) -> Result<(), GitError> {
        let (branch, top) = (self.branch(), self.top());
        if top.lookup(&["symbolic-ref", "--quiet", "HEAD"])? == Some(full(&branch)) {
            return Ok(());
        }
        if let Some(why) = worktree_metadata::use_of(&self.git, &full(&branch))? {
            return Err(WorktreeError::TargetInUse { into: branch, why }.into());
        }
        Err(WorktreeError::OtherBranch { folder: self.folder.clone(), branch }.into())
    }

    /// Creates branch and folder, as far as they do not exist.
    fn create(&mut self, journal: &Journal) -> Result<(), GitError> {
        let is_linked = self.folder.join(".git").exists();
        self.remove_remains()?;
        let has_work = self.record.tip.is_some();
        match worktree_metadata::metadata(&self.git, &self.name)? {
            Metadata::Whole(link) if is_linked => return self.reopen(&link, journal),
            // A folder that a crash left incomplete holds no work yet.
            Metadata::Incomplete => {}
            _ if is_linked || (has_work && self.folder.exists()) => {
                let (folder, branch) = (self.folder.clone(), self.branch());
                return Err(WorktreeError::Unlinked { folder, branch }.into());
            }
            _ => {}
        }
        if self.folder.exists() {
            let removed = fault_point::reach().and_then(|()| fs::remove_dir_all(&self.folder));
            removed.map_err(GitError::io("clear the worktree's folder"))?;
        }
        self.sweep_metadata()?;
        let (folder, branch) = (self.folder.to_string_lossy().into_owned(), self.branch());
        let base = self.record.base.clone();
        let arguments = match self.git.resolve(&full(&branch))?.is_some() {
            true => vec!["worktree", "add", "--quiet", &folder, &branch],
            false => {
                vec!["worktree", "add", "--quiet", "--no-track", "-b", &branch, &folder, &base]
            }
        };
        self.git.whole_at(self.git.root()).step(journal, &arguments, "")?;
        Ok(())
    }

    /// Uses the folder that is there. A project that was moved or copied is linked with it again.
    fn reopen(&self, link: &Link, journal: &Journal) -> Result<(), GitError> {
        if !link.holds() {
            let restored = link.restore(&self.home, &self.name);
            restored.map_err(GitError::io_at("link", &self.folder))?;
        }
        self.sweep_metadata()?;
        let top = self.top();
        top.run(&["rev-parse", "HEAD"])?;
        stale_locks::locks(&top, journal, &["index.lock", "HEAD.lock"])
    }

    pub(crate) fn sweep_metadata(&self) -> Result<(), GitError> {
        worktree_metadata::sweep(&self.git, |it| it == self.name)
    }

    /// Makes the branch one commit on top of `from` with these texts, by path relative to
    /// [`Worktree::root`], and updates the files. A person's edits stay in it.
    pub fn write(
        &mut self,
        journal: &Journal,
        from: &str,
        texts: &BTreeMap<String, String>,
        edits: Option<&Edits>,
        message: &str,
    ) -> Result<(), GitError> {
        let tree = self.tree_with(from, texts)?;
        let tree = edits.map_or(Ok(tree.clone()), |it| self.with_edits(&tree, it))?;
        let commit = ["commit-tree", &tree, "-p", from, "-m", message];
        let commit = self.git.run(&commit)?;
        self.become_commit(journal, commit.trim())
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

    /// Moves the branch and the files to a commit. The record names the commit before and after, so
    /// that a crash in between does not look like a person's edit.
    pub(crate) fn become_commit(
        &mut self,
        journal: &Journal,
        commit: &str,
    ) -> Result<(), GitError> {
        self.is_on_its_branch()?;
        self.finish_move(journal)?;
        self.is_free_for(commit)?;
        self.record.next = Some(commit.to_owned());
        self.save_state()?;
        self.inner.step(journal, &["reset", "--hard", "--quiet", commit], "")?;
        self.record.tip = self.record.next.take();
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

    /// Returns the paths that git lists, with the command run in the project's folder.
    pub(crate) fn paths(&self, arguments: &[&str]) -> Result<BTreeSet<String>, GitError> {
        let said = self.inner.run(arguments)?;
        Ok(said.split('\0').filter(|it| !it.is_empty()).map(str::to_owned).collect())
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

/// Returns whether work has neither branch nor folder.
fn is_gone(git: &Git, name: &str, folder: &Path) -> Result<bool, GitError> {
    Ok(!folder.exists() && git.resolve(&full(&branch(name)))?.is_none())
}

/// Returns the folder of all worktrees.
fn places(home: &Path) -> std::io::Result<PathBuf> {
    disk::create(home, "worktrees")
}
