//! Bounded reads of files, words for people, and other processes: their environment, and whether they
//! have ended.

pub mod environment;
pub mod files;
pub mod process;
pub mod terminal;
pub mod wording;

/// Stack size of worker threads; virtual memory only. Python from a model can be nested to any
/// depth, and the walks over its syntax tree are recursive.
pub const STACK_BYTES: usize = 256 << 20;
