//! Parameters and results of the `trellis/*` methods, with their handlers. The command line prints
//! the same results.
//!
//! Symbol queries take an index, so that an editor can pass one with its unsaved texts; [`folder`]
//! opens an index from disk, and [`symbol_query`] resolves the requested symbol. Edits are planned
//! from known texts and written only if the disk has the same. Lines and columns count from 1,
//! columns in characters; paths in results are relative to the queried folder.

pub mod affected_tests;
pub mod code;
pub mod confirm;
pub mod doctor;
pub mod edits;
pub mod environment;
pub mod files;
pub mod find_tests;
pub mod folder;
pub mod generate;
pub mod implement;
pub mod jobs;
pub mod keep_tests;
pub mod list_models;
pub mod localize;
pub mod log;
pub mod node;
pub mod parse_file;
pub mod plan;
pub mod plan_change;
pub mod plan_diagnostics;
pub mod plan_diff;
pub mod plan_draft;
pub mod plan_edit;
pub mod plan_estimate;
pub mod plan_from_code;
pub mod plan_node;
pub mod plan_search;
pub mod plan_trace;
pub mod plan_vs_code;
pub mod proposals;
pub mod refactorings;
pub mod repair;
pub mod reviews;
pub mod rollback;
pub mod run_limits;
pub mod run_tests;
pub mod runs;
pub mod stacks;
pub mod status;
pub mod symbol_query;
pub mod symbols;
pub mod tasks;
pub mod tasks_status;
pub mod unsearched;
pub mod write_tests;
