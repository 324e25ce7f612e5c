//! Git: commands, worktrees, merges as one move, and pushes to a forge.

pub mod conflict;
pub mod error;
pub mod forge;
pub mod git;
mod interrupted_move;
pub mod left_out;
pub mod merge;
mod moved_files;
mod raw_diff;
pub mod repo_config_guard;
mod stale_locks;
pub mod trees;
mod working_tree;
pub mod worktree;
pub mod worktree_edits;
pub mod worktree_metadata;
mod worktree_removal;
pub mod worktree_state;
