//! The test-driven cycle as a state machine, with the prompts for a model, the reading of its
//! replies and the assembly of the generated repository.
//!
//! This crate does no I/O and reads no clock. A driver performs the actions of a [`Machine`] and
//! feeds back events, so every path is testable by a table.

mod acceptance;
pub mod approval;
pub mod assembly;
mod complaint;
mod debug_context;
pub mod describe;
mod diagnosis;
mod draft;
mod editable_files;
mod edited_text;
mod elision;
pub mod failures;
mod import_resolution;
mod integration;
pub mod issue;
mod item;
pub mod localize;
mod missing_imports;
pub mod node;
mod normalize;
mod observation;
pub mod plan_draft;
mod policy;
mod prompt;
mod prompt_budget;
mod red_gate;
pub mod repair;
mod reply;
mod routing;
mod state_machine;
mod strategy;
pub mod task_graph;
mod test_draft;
mod vocabulary;
pub mod write_tests;

pub use acceptance::{
    AcceptanceTarget, acceptance_tests, ask_acceptance_tests, only_red, why_not_red,
};
pub use complaint::Complaint;
pub use debug_context::DebugContext;
pub use diagnosis::{
    Diagnosis, Finding, Flakiness, ProjectFacts, RerunHistory, VoteRule, VoteTally, Votes,
    diagnose, uses_nondeterminism,
};
pub use draft::{Draft, DraftError, NormalizedReply, stub};
pub use editable_files::EditableFiles;
pub use integration::{
    FlowItems, INTEGRATION_PERCENT, Integration, IntegrationTarget, LIBRARY, NO_FLOWS,
    ask_integration_tests, integration_tests,
};
pub use item::{Dependency, Dependent, Item, ItemKind};
pub use node::Cause;
pub use observation::{
    ComparedValues, Failure, Frame, LibraryFrames, RunOutcome, TestCase, TestRun,
};
pub use policy::{FixWith, Policy};
pub use prompt::{ItemContext, Prompt};
pub use prompt_budget::{Section, build, cut_middle};
pub use routing::Tier;
pub use state_machine::{Machine, OutOfTurn};
pub use strategy::{
    ATTEMPTS, Answer, Attempt, AttemptLog, HitRate, LocalizationExhausted, SUSPECTS, Tool,
    ToolStats, Tools, find_suspects, queries,
};
pub use vocabulary::{
    Decision, EditedFiles, Localization, Message, ModelRequest, Note, Outcome, Query, Reply, Role,
    RunMode, Stage, Suspect, Upstream,
};
