//! Removal of a worktree whose work is merged or archived; nothing of a person goes with it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Addition, GitError, WorktreeError};
use crate::git::{Git, paths_of};
use crate::worktree::Worktree;
use crate::worktree_edits::submodules;
use crate::worktree_state::{branch, full, record_path, remove};
use trellis_store::disk;
use trellis_store::fault_point;
use trellis_store::journal::Journal;

/// Folders that tools create and can create again.
const MADE: [&str; 6] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", ".venv"];

impl Worktree {
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
        if let Some(what) = work.uncommitted()? {
            return Err(WorktreeError::Uncommitted { what, folder: work.folder }.into());
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
            if let Some(what) = self.uncommitted()? {
                return Err(self.added_to(what));
            }
            self.keep_ignored()?;
            let folder = self.folder.to_string_lossy().into_owned();
            self.git.step(journal, &["worktree", "remove", "--force", &folder], "")?;
        } else if self.folder.exists() {
            // git was killed in the removal, or a person unlinked the folder.
            let to = self.kept_folder()?.join("worktree");
            moved(&self.folder, to)?;
        }
        self.sweep_metadata()?;
        if let Some(tip) = self.git.resolve(&full(&branch))? {
            if self.tip() != tip {
                return Err(self.added_to(Addition::Commits));
            }
            self.git.step(journal, &["branch", "-D", &branch], "")?;
        }
        remove(&record_path(&self.home, &self.name))
    }

    /// Returns what a person has put into the folder that is in no commit of this work, or what
    /// keeps the folder.
    pub(crate) fn uncommitted(&self) -> Result<Option<Addition>, GitError> {
        let top = self.top();
        let own = top.run(&["rev-parse", "--absolute-git-dir"])?;
        if Path::new(own.trim_end()).join("locked").exists() {
            return Ok(Some(Addition::Lock));
        }
        if Some(self.tree()?) != top.resolve("HEAD^{tree}")? {
            return Ok(Some(Addition::Files));
        }
        let submodules = submodules(&top)?;
        for path in &submodules {
            if has_own_work(&top, path)? {
                return Ok(Some(Addition::Submodules));
            }
        }
        let kept = self.ignored()?;
        let is_known = |it: &PathBuf| {
            [&submodules, &kept].iter().any(|all| all.iter().any(|of| it.starts_with(of)))
        };
        let mut inner = Vec::new();
        repositories(&self.folder, Path::new(""), &mut inner);
        Ok(inner.iter().any(|it| !is_known(it)).then_some(Addition::Repositories))
    }

    /// Moves ignored files out of a folder before its removal: no other copy exists.
    fn keep_ignored(&self) -> Result<(), GitError> {
        let kept = self.ignored()?;
        if kept.is_empty() {
            return Ok(());
        }
        let place = self.kept_folder()?;
        kept.iter().try_for_each(|path| moved(&self.folder.join(path), place.join(path)))
    }

    /// Returns the ignored files and repositories, except those that tools create.
    fn ignored(&self) -> Result<Vec<PathBuf>, GitError> {
        let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard"];
        let said = self.top().bytes(&list, b"")?;
        let is_made = |path: &Path| path.iter().any(|part| MADE.iter().any(|it| part == *it));
        Ok(paths_of(&said).filter(|it| !is_made(it)).collect())
    }

    /// Creates a folder for files that are about to go.
    pub(crate) fn kept_folder(&self) -> Result<PathBuf, GitError> {
        let since = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%3f").to_string();
        disk::create(&self.home, &format!("kept/{}-{since}", self.name))
            .map_err(GitError::io("create .trellis/kept"))
    }

    fn added_to(&self, what: Addition) -> GitError {
        let folder = self.folder.clone();
        WorktreeError::AddedTo { what, branch: self.branch(), folder }.into()
    }
}

fn moved(from: &Path, to: PathBuf) -> Result<(), GitError> {
    let moved = fault_point::reach()
        .and_then(|()| to.parent().map_or(Ok(()), fs::create_dir_all))
        .and_then(|()| fs::rename(from, &to));
    moved.map_err(|source| GitError::Move { from: from.to_owned(), to, source })
}

/// Collects the folders below `top` that are repositories, relative to it.
fn repositories(top: &Path, below: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top.join(below)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if name == ".git" && below != Path::new("") {
            out.push(below.to_owned());
        } else if is_folder && name != ".git" && !MADE.iter().any(|it| name == *it) {
            repositories(top, &below.join(name), out);
        }
    }
}

/// Returns whether a submodule has files, commits or stashes that no other repository has. They
/// are below the metadata of the worktree, and would go with it.
fn has_own_work(top: &Git, path: &Path) -> Result<bool, GitError> {
    let inside = top.at(&top.root().join(path));
    let all = ["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none"];
    let name = format!(":{}", path.to_string_lossy());
    let own = ["rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes"];
    Ok(inside.resolve("HEAD")? != top.resolve(&name)?
        || inside.resolve("refs/stash")?.is_some()
        || !inside.run(&all)?.is_empty()
        || !inside.run(&own)?.is_empty())
}
