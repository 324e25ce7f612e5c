//! Tests of the crate's public interface, without a project, a model or test runs.

mod approval;
mod assembly;
mod causes;
mod describe;
mod diagnosis;
mod failures;
mod issue;
mod localize;
mod localize_traces;
mod node;
mod plan_draft;
mod planned_cycles;
mod prompt_budget;
mod prompt_files;
mod repair;
mod snapshot;
mod strategy;
mod task_graph;
mod write_tests;
