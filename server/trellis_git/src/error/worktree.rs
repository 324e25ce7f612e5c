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
    /// Another project of the repository has work of the same name.
    #[error("the branch {branch} belongs to the work in {}", folder.display())]
    BranchOfOther { branch: String, folder: PathBuf },
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
    #[error("{branch} is merged, but its worktree holds {what} now; it stays")]
    AddedTo { what: Addition, branch: String, folder: PathBuf },
    #[error("{} holds {what}", folder.display())]
    Uncommitted { what: Addition, folder: PathBuf },
    #[error("a merge in {} has conflicts", folder.display())]
    Unmerged { folder: PathBuf },
    /// A person has committed or begun a merge while Trellis read the files.
    #[error("the branch in {} changed while its files were read", folder.display())]
    MovedMeanwhile { folder: PathBuf },
    /// Something that git does not know is where a file of the work belongs.
    #[error("{} is in the way of a file of the work", path.display())]
    InTheWay { path: PathBuf },
    /// A person works on the target where git cannot move it.
    #[error("{into} cannot move now: {why}")]
    TargetInUse { into: String, why: TargetUse },
    /// The work was begun for another branch than the one that it is resumed for.
    #[error("{name} was begun for {into}, and {wanted} is checked out")]
    OtherTarget { name: String, into: String, wanted: String },
    /// The worktree is there, and its record is not, as after `git clean -fdx`.
    #[error("the record of the work in {} is gone", folder.display())]
    RecordGone { folder: PathBuf, branch: String },
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

/// Use of a branch that keeps Trellis from moving it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetUse {
    #[error("a rebase of it is in progress")]
    Rebase,
    #[error("a bisection that began from it is in progress")]
    Bisection,
    #[error("a merge, a revert or a cherry-pick is in progress where it is checked out")]
    Merge,
    #[error("it is checked out in {}, which is not there", folder.display())]
    AbsentFolder { folder: PathBuf },
}

/// Content that a person added to work and that no commit of it has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Addition {
    #[error("files that are not committed")]
    Files,
    #[error("commits")]
    Commits,
    #[error("a repository in {}", _0.display())]
    Repository(PathBuf),
    #[error("submodules with work of their own")]
    Submodules,
    #[error("locks (`git worktree unlock` removes them)")]
    Lock,
}
