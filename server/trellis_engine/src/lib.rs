//! The test-driven cycle as a state machine, with the prompts for a model, the reading of its
//! replies and the assembly of the generated repository.
//!
//! This crate does no I/O and reads no clock. The binary performs [`Action`]s and feeds back
//! [`Observation`]s, so every path is testable by a table.

pub mod approval;
pub mod assembly;
pub mod task_graph;
mod prompt_budget;
mod debug_context;
mod diagnosis;
mod draft;
mod vocabulary;
pub mod failures;
pub mod issue;
mod red_gate;
mod integration;
mod item;
pub mod localize;
mod machine;
mod missing_imports;
mod observation;
mod import_resolution;
mod policy;
mod prompt;
pub mod repair;
mod reply;
mod routing;
mod normalize;
mod strategy;
mod test_draft;
pub mod write_tests;

pub use prompt_budget::{Section, build};
pub use debug_context::DebugContext;
pub use diagnosis::{
    ProjectFacts, Diagnosis, Finding, RerunHistory, VoteTally, Flakiness, VoteRule, Votes, diagnose,
    uses_nondeterminism,
};
pub use draft::{Draft, DraftError, NormalizedReply, stub};
pub use vocabulary::{
    Action, ModelRequest, Localized, Message, Note, Observation, Query, Role, RunMode, Stage, Suspect, Upstream,
    Outcome,
};
pub use integration::{
    FlowItems, INTEGRATION_PERCENT, Integration, LIBRARY, NO_FLOWS, ask_integration_tests,
    integration_tests,
};
pub use item::{Dependency, Dependent, Item, ItemKind};
pub use machine::{Cause, State, step};
pub use observation::{TestCase, RunOutcome, Failure, Frame, TestRun};
pub use policy::{FixWith, Policy};
pub use prompt::{Prompt, ItemContext};
pub use routing::Tier;
pub use strategy::{
    ATTEMPTS, Answer, Attempt, LocalizationExhausted, SUSPECTS, HitRate, Tool, ToolStats, Tools,
    AttemptLog, find_suspects, queries,
};
