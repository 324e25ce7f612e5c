//! Errors of git, of worktrees, and of remotes.

mod command;
mod remote;
mod worktree;

use std::io;
use std::path::{Path, PathBuf};

use trellis_store::error::StoreError;

pub use command::{CommandCause, CommandError, GuardError};
pub use remote::{AddressError, RemoteError};
pub use worktree::{Addition, TargetUse, WorktreeError};

/// Error of work with a repository.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error(transparent)]
    Command(CommandError),
    /// git was not started: the repository failed its check.
    #[error("git was not started: {0}")]
    Refused(GuardError),
    #[error("git is not installed")]
    NotInstalled,
    #[error("{} is not in a git repository with a commit", home.display())]
    NoRepository { home: PathBuf },
    #[error("no branch is checked out, so nothing can be merged into it")]
    NoBranch,
    /// A git that outlives the Trellis process that started it.
    #[error("git (process {process}) is still finishing the work of a killed start")]
    Orphaned { process: String },
    #[error("another git process is running: {} is its lock", lock.display())]
    LockHeld { lock: PathBuf },
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Remote(#[from] RemoteError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot {action}: {source}")]
    Io { action: &'static str, source: io::Error },
    #[error("cannot {action} {}: {source}", path.display())]
    IoAt { action: &'static str, path: PathBuf, source: io::Error },
    #[error("cannot move {} to {}: {source}", from.display(), to.display())]
    Move { from: PathBuf, to: PathBuf, source: io::Error },
}

impl GitError {
    /// Returns a function that makes an error of a failed read or write.
    pub(crate) fn io(action: &'static str) -> impl FnOnce(io::Error) -> GitError {
        move |source| GitError::Io { action, source }
    }

    /// Returns a function that makes an error of a failed read or write at a path.
    pub(crate) fn io_at(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
        let path = path.to_owned();
        move |source| GitError::IoAt { action, path, source }
    }
}

impl From<CommandError> for GitError {
    fn from(error: CommandError) -> GitError {
        match error.cause {
            CommandCause::Refused(why) => GitError::Refused(why),
            _ => GitError::Command(error),
        }
    }
}
