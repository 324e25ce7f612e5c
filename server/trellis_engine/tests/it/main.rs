//! Tests of the crate's public interface, without a project, a model or test runs.

mod approval;
mod assembly;
mod campaign;
mod causes;
mod context;
mod diagnosis;
mod failures;
mod feature;
mod localize;
mod machine;
mod planned_cycles;
mod prompt_files;
mod repair;
mod snapshot;
mod strategy;
mod write_tests;
