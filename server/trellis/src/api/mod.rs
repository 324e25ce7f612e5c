//! Parameters and results of the `trellis/*` methods, with their handlers. The command line prints
//! the same results.
//!
//! Symbol queries take an index, so that an editor can pass one with its unsaved texts; [`folder`]
//! opens an index from disk, and [`symbol_query`] resolves the requested symbol. Edits are planned
//! from known texts and written only if the disk has the same. Lines and columns count from 1,
//! columns in characters; paths in results are relative to the queried folder.

pub(crate) mod code;
pub(crate) mod confirm;
pub(crate) mod doctor;
pub(crate) mod edits;
pub(crate) mod environment;
pub(crate) mod files;
pub(crate) mod folder;
pub(crate) mod generate;
pub(crate) mod implement;
pub(crate) mod jobs;
pub(crate) mod localize;
pub(crate) mod log;
pub(crate) mod plan;
pub(crate) mod plan_search;
pub(crate) mod plan_vs_code;
pub(crate) mod proposals;
pub(crate) mod refactorings;
pub(crate) mod repair;
pub(crate) mod rollback;
pub(crate) mod run_limits;
pub(crate) mod run_tests;
pub(crate) mod runs;
pub(crate) mod stacks;
pub(crate) mod status;
pub(crate) mod symbol_query;
pub(crate) mod symbols;
pub(crate) mod tasks;
pub(crate) mod tasks_status;
pub(crate) mod write_tests;
