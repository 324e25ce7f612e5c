//! Bounded reads of files, the wording of system errors, and the environment of child processes.

pub mod environment;
pub mod files;
pub mod wording;
