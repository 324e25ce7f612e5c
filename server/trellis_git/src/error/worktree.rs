//! Errors of worktrees and their merges.

use std::path::PathBuf;

use trellis_store::lock::LockOwner;

/// Error of a piece of work in a worktree of its own.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// Another process has the work.
    #[error("{owner} is working on {name}")]
    Busy { owner: LockOwner, name: String },
    #[error("the branch {branch} exists, and Trellis did not create it")]
    BranchTaken { branch: String },
    #[error("{} exists, and Trellis did not create it", folder.display())]
    FolderTaken { folder: PathBuf },
    /// A person has switched to another branch.
    #[error("in {} a branch other than {branch} is checked out", folder.display())]
    OtherBranch { folder: PathBuf, branch: String },
    /// git has forgotten the folder, as after `git worktree prune` in a project that was moved.
    #[error("git does not know the worktree {} any more", folder.display())]
    Unlinked { folder: PathBuf, branch: String },
    #[error("the branch {into} no longer exists")]
    TargetGone { into: String, branch: String },
    #[error("{branch} is merged, but {what} were added since then; it stays")]
    AddedTo { what: Addition, branch: String, folder: PathBuf },
    /// A git that does not know the command.
    #[error("git cannot merge without a worktree")]
    MergeUnsupported,
    #[error("the record of a worktree cannot be written as JSON: {0}")]
    NoJson(serde_json::Error),
    #[error("cannot understand {}: {source}", path.display())]
    DamagedRecord { path: PathBuf, source: serde_json::Error },
    #[error("{} has version {version}; this Trellis reads {known}", path.display())]
    RecordVersion { path: PathBuf, version: u32, known: u32 },
    #[error(
        "{} was not written by Trellis: {name:?} is neither a commit nor a branch",
        path.display()
    )]
    ForeignRecord { path: PathBuf, name: String },
}

/// Content that a person added to merged work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Addition {
    #[error("files that are not committed")]
    Files,
    #[error("commits")]
    Commits,
}
