//! Python projects on disk: a fresh index of their sources, transactional edits, symbols, and plans.

pub mod code_plan;
pub mod code_view;
pub mod edits;
pub mod error;
pub mod nested;
pub mod plan_file;
pub mod project;
pub mod sources;
pub mod symbols;
pub mod test_finder;
