//! Removal of a worktree whose work is merged or archived; nothing of a person goes with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Addition, GitError, WorktreeError};
use crate::git::{Git, paths_of};
use crate::working_tree::{self, submodules};
use crate::worktree::Worktree;
use crate::worktree_state::{branch, full, record_path, remove};
use trellis_store::disk;
use trellis_store::fault_point;
use trellis_store::journal::{Event, Journal};

/// Folders that tools create and can create again.
const MADE: [&str; 6] =
    ["__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "node_modules", ".venv"];

impl Worktree {
    /// Archives ended work so that it can begin again: its branch stays under another name, which
    /// is returned.
    pub fn archive(self, journal: &Journal) -> Result<String, GitError> {
        let aside = next_aside(&self.git, &self.name)?;
        // Uncommitted changes go to the branch as well.
        let mut work = self;
        let files = work.current_files()?;
        if files.is_edited() {
            work.commit_user_edits(journal, &files)?;
        }
        if let Some(what) = work.uncommitted()? {
            return Err(WorktreeError::Uncommitted { what, folder: work.folder }.into());
        }
        work.keep_ignored()?;
        work.remove_folder(journal)?;
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
        } else if self.folder.exists() {
            // A person unlinked the folder.
            moved(&self.folder, self.kept_folder()?.join("worktree"))?;
        }
        self.remove_folder(journal)?;
        if let Some(tip) = self.git.resolve(&full(&branch))? {
            if self.tip() != tip {
                return Err(self.added_to(Addition::Commits));
            }
            self.git.step(journal, &["branch", "-D", &branch], "")?;
        }
        remove(&record_path(&self.home, &self.name))
    }

    /// Removes the folder and git's metadata of it. The folder leaves its place in one step: after a
    /// crash, files that are gone already would look like a person's edits. `git worktree remove`
    /// removes them one by one.
    fn remove_folder(&self, journal: &Journal) -> Result<(), GitError> {
        self.remove_remains()?;
        if self.folder.exists() {
            moved(&self.folder, self.removed())?;
            let arguments = vec![format!("(remove worktree {})", self.name)];
            let logged = journal.log(Event::Git { arguments, outcome: "done".to_owned() });
            logged.map_err(GitError::io("write the journal"))?;
        }
        self.remove_remains()?;
        self.sweep_metadata()
    }

    /// Removes what a crash left of a removed folder.
    pub(crate) fn remove_remains(&self) -> Result<(), GitError> {
        let left = self.removed();
        if !left.exists() {
            return Ok(());
        }
        match fault_point::reach().and_then(|()| fs::remove_dir_all(&left)) {
            // A container may have left files of another user.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                moved(&left, self.kept_folder()?.join("worktree"))
            }
            removed => removed.map_err(GitError::io_at("remove", &left)),
        }
    }

    /// Returns the place of the folder during its removal; no work has such a name.
    fn removed(&self) -> PathBuf {
        self.folder.with_file_name(format!(".removed-{}", self.name))
    }

    /// Returns what a person has put into the folder that is in no commit of this work, or what
    /// keeps the folder.
    pub(crate) fn uncommitted(&self) -> Result<Option<Addition>, GitError> {
        let top = self.top();
        let own = top.run(&["rev-parse", "--absolute-git-dir"])?;
        if Path::new(own.trim_end()).join("locked").exists() {
            return Ok(Some(Addition::Lock));
        }
        if Some(working_tree::write(&top)?) != top.resolve("HEAD^{tree}")? {
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
        Ok(inner.into_iter().find(|it| !is_known(it)).map(Addition::Repository))
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

fn is_made(path: &Path) -> bool {
    path.iter().any(|part| MADE.iter().any(|it| part == *it))
}

fn moved(from: &Path, to: PathBuf) -> Result<(), GitError> {
    let moved = fault_point::reach()
        .and_then(|()| to.parent().map_or(Ok(()), fs::create_dir_all))
        .and_then(|()| fs::rename(from, &to));
    moved.map_err(|source| GitError::Move { from: from.to_owned(), to, source })
}

/// Returns the next unused name for the branch of archived work.
fn next_aside(git: &Git, name: &str) -> Result<String, GitError> {
    let taken = git.run(&["for-each-ref", "--format=%(refname:short)", "refs/heads/trellis"])?;
    // No work has such a name.
    let prefix = branch(&format!("aside/{name}-"));
    let numbers = taken.lines().filter_map(|it| it.strip_prefix(&prefix)?.parse::<u32>().ok());
    Ok(format!("{prefix}{}", numbers.max().unwrap_or(0) + 1))
}

/// Finishes the archiving of work that has neither branch nor folder any more: a crash came before
/// the removal of its record, or in git's renaming of the branch.
pub(crate) fn finish_archive(
    git: &Git,
    home: &Path,
    name: &str,
    tip: Option<&str>,
    journal: &Journal,
) -> Result<(), GitError> {
    if let Some(tip) = tip
        && git.resolve(&format!("{tip}^{{commit}}"))?.is_some()
    {
        let named = format!("--contains={tip}");
        if git.run(&["for-each-ref", &named, "refs/heads"])?.is_empty() {
            git.step(journal, &["branch", "--no-track", &next_aside(git, name)?, tip], "")?;
        }
    }
    remove(&record_path(home, name))
}

/// Collects the folders below `top` that are repositories, relative to it.
fn repositories(top: &Path, below: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top.join(below)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_folder = entry.file_type().is_ok_and(|it| it.is_dir());
        if name == ".git" && below != Path::new("") && is_repository(&entry.path()) {
            out.push(below.to_owned());
        } else if is_folder && name != ".git" && !MADE.iter().any(|it| name == *it) {
            repositories(top, &below.join(name), out);
        }
    }
}

/// Returns whether a path named `.git` is that of a repository.
fn is_repository(path: &Path) -> bool {
    let of_file = || {
        let text = trellis_os::files::read_text(path).ok()?;
        Some(path.with_file_name(text.trim_end().strip_prefix("gitdir: ")?))
    };
    match path.is_dir() {
        true => fs::read_dir(path).is_ok_and(|mut it| it.next().is_some()),
        false => of_file().is_some_and(|it| it.exists()),
    }
}

/// Returns whether a submodule has files, commits or stashes that no other repository has. They
/// are below the metadata of the worktree, and would go with it.
fn has_own_work(top: &Git, path: &Path) -> Result<bool, GitError> {
    let inside = top.at(&top.root().join(path));
    let all = ["-z", "--untracked-files=all", "--ignored", "--ignore-submodules=none"];
    let status = inside.run(&[&["status", "--porcelain"], &all[..]].concat())?;
    let is_kept = |it: &str| it.strip_prefix("!! ").is_none_or(|path| !is_made(Path::new(path)));
    // Marks in the index hide edits.
    let marks = inside.run(&["ls-files", "-v", "-z"])?;
    let name = format!(":{}", path.to_string_lossy());
    let own = ["rev-list", "--max-count=1", "HEAD", "--branches", "--not", "--remotes"];
    Ok(inside.resolve("HEAD")? != top.resolve(&name)?
        || inside.resolve("refs/stash")?.is_some()
        || status.split('\0').any(|it| !it.is_empty() && is_kept(it))
        || marks.split('\0').any(|it| !it.is_empty() && !it.starts_with("H "))
        || !inside.run(&own)?.is_empty())
}
