//! The output folder: journal, checkpoint, batched writes, git. One process at a time owns it.

pub(crate) mod conflict;
pub(crate) mod git;
pub(crate) mod merge;
pub(crate) mod repo_config_guard;
pub(crate) mod stale_locks;
pub(crate) mod trees;
pub(crate) mod worktree;
pub(crate) mod worktree_state;
