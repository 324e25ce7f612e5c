//! git's own metadata of the worktrees of Trellis: whether it is complete, and the removal of what
//! a killed git left.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::GitError;
use crate::git::Git;
use trellis_os::process::is_alive;
use trellis_store::fault_point;

static LAST: AtomicU64 = AtomicU64::new(0);

const PREFIX: &str = "trellis-";

/// Returns a name for a checkout of this process, unique per call.
pub(crate) fn own_name() -> String {
    format!("{PREFIX}{}-{}", std::process::id(), LAST.fetch_add(1, Ordering::Relaxed))
}

/// Removes metadata of worktrees of Trellis that are incomplete or whose folder is gone: those of
/// `name`, whose lock the caller holds, and those of ended processes. `git worktree prune` would
/// also take a person's worktrees on a disk that is not there now.
pub(crate) fn sweep(git: &Git, name: Option<&str>) -> Result<(), GitError> {
    sweep_all(git, |id| name == Some(id))
}

/// Removes metadata like [`sweep`], of the worktrees selected by `is_mine` and of ended processes.
pub fn sweep_all(git: &Git, is_mine: impl Fn(&str) -> bool) -> Result<(), GitError> {
    for entry in fs::read_dir(all_metadata(git)?).into_iter().flatten().flatten() {
        let (id, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        let is_ours = is_mine(&id) || is_of_the_dead(&id);
        let is_gone = || !has_folder(git, &id, &path);
        let is_stale = match is_whole(&path) {
            true => (is_ours || id.starts_with(PREFIX)) && is_gone(),
            false => is_ours,
        };
        if is_stale {
            let removed = fault_point::reach().and_then(|()| fs::remove_dir_all(&path));
            removed.map_err(GitError::io_at("remove", &path))?;
        }
    }
    Ok(())
}

/// Returns the folder with the metadata of all worktrees of a repository.
fn all_metadata(git: &Git) -> Result<PathBuf, GitError> {
    let common = git.run(&["rev-parse", "--path-format=absolute", "--git-common-dir"])?;
    Ok(PathBuf::from(common.trim_end()).join("worktrees"))
}

/// State of the metadata of a worktree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Metadata {
    None,
    /// git was killed while it made the worktree.
    Incomplete,
    Whole,
}

/// Returns the state of the metadata of the worktree `name`.
pub(crate) fn metadata(git: &Git, name: &str) -> Result<Metadata, GitError> {
    let path = all_metadata(git)?.join(name);
    Ok(match (path.exists(), is_whole(&path)) {
        (false, _) => Metadata::None,
        (true, false) => Metadata::Incomplete,
        (true, true) => Metadata::Whole,
    })
}

/// Returns whether the folder of a worktree is there: at its known place, or at that of Trellis in a
/// project that was moved.
fn has_folder(git: &Git, id: &str, metadata: &Path) -> bool {
    let known = trellis_os::files::read_text(metadata.join("gitdir")).unwrap_or_default();
    let own = git.root().join(".trellis/worktrees").join(id);
    let is_locked = metadata.join("locked").exists();
    is_locked || metadata.join(known.trim_end()).exists() || own.join(".git").exists()
}

fn is_of_the_dead(id: &str) -> bool {
    let pid = id.strip_prefix(PREFIX).and_then(|it| it.split('-').next()?.parse().ok());
    pid.is_some_and(|it| !is_alive(it))
}

/// Returns whether a worktree's metadata is complete. Git locks a worktree while creating it.
fn is_whole(metadata: &Path) -> bool {
    let says = |file: &str| trellis_os::files::read_text(metadata.join(file)).unwrap_or_default();
    let is_there = |file: &str| !says(file).trim().is_empty();
    ["HEAD", "commondir", "gitdir"].into_iter().all(is_there)
        && !says("locked").starts_with("initializing")
}
