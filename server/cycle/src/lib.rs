//! The test-driven cycle as data: what to do next, what to ask a model, what its answer means, and the
//! repository that comes out.
//!
//! No I/O and no clock. The binary performs [`Action`]s and feeds back [`Observation`]s; so every path
//! is a table-driven test.

pub mod approval;
pub mod assembly;
pub mod campaign;
mod context;
mod debug_context;
mod diagnosis;
mod draft;
mod exchange;
pub mod failures;
pub mod feature;
mod gate;
mod integration;
mod item;
pub mod localize;
mod machine;
mod mend;
mod observation;
mod origin;
mod policy;
mod prompt;
pub mod repair;
mod reply;
mod routing;
mod steady;
mod strategy;
mod test_draft;
pub mod write_tests;

pub use context::{Section, build};
pub use debug_context::DebugContext;
pub use diagnosis::{
    Circumstances, Diagnosis, Finding, Repeats, Standing, Steadiness, VoteRule, Votes, diagnose,
    is_doubtful,
};
pub use draft::{Draft, DraftError, Normalised, stub};
pub use exchange::{
    Action, Ask, Localized, Message, Note, Observation, Query, Role, Run, Stage, Suspect, Upstream,
    Verdict,
};
pub use integration::{
    FlowItems, INTEGRATION_PERCENT, Integration, LIBRARY, NO_FLOWS, ask_integration_tests,
    integration_tests,
};
pub use item::{Dependency, Dependent, Item, ItemKind};
pub use machine::{Cause, State, step};
pub use observation::{Case, Ending, Failure, Frame, TestRun};
pub use policy::{FixWith, Policy};
pub use prompt::{Prompt, Surroundings};
pub use routing::Tier;
pub use strategy::{
    ATTEMPTS, Answer, Attempt, LocalizationExhausted, SUSPECTS, Tally, Tool, ToolRecord, Tools,
    Trail, find_suspects, queries,
};
