//! The output folder: journal, checkpoint, batched writes, git. One process at a time owns it.

mod appended;
pub(crate) mod chain;
pub(crate) mod checkpoint;
pub(crate) mod clash;
pub(crate) mod cost;
pub(crate) mod crash_point;
pub(crate) mod disk;
pub(crate) mod failures;
pub(crate) mod git;
pub(crate) mod guard;
pub(crate) mod journal;
pub(crate) mod landing;
pub(crate) mod leftovers;
pub(crate) mod lock;
pub(crate) mod past;
pub(crate) mod readback;
pub(crate) mod record;
pub(crate) mod retold;
pub(crate) mod scratch;
#[cfg(test)]
mod tests;
pub(crate) mod trees;
pub(crate) mod worktree;
mod writer;

pub(crate) use writer::{FlushError, Writer, symlink, user_edits};
