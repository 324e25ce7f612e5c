//! The output folder: journal, checkpoint, batched writes, git. One process at a time owns it.

mod append_log;
pub(crate) mod checkpoint;
pub(crate) mod conflict;
pub(crate) mod cost;
pub(crate) mod crash_point;
pub(crate) mod describe;
pub(crate) mod disk;
pub(crate) mod git;
pub(crate) mod hash_chain;
pub(crate) mod journal;
pub(crate) mod lock;
pub(crate) mod merge;
pub(crate) mod reader;
pub(crate) mod replay;
pub(crate) mod repo_config_guard;
pub(crate) mod scratch;
pub(crate) mod stale_locks;
#[cfg(test)]
mod tests;
pub(crate) mod trees;
pub(crate) mod worktree;
pub(crate) mod worktree_state;
mod writer;

pub(crate) use writer::{FlushError, Writer, symlink, user_edits};
