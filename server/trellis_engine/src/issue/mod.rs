//! Implementation of an issue or task described in prose: tests first, then code in as many files
//! as necessary.
//!
//! The crate's main state machine does this for a planned repository, one function at a time; this
//! one works on an existing repository. The gates are the same, and only the results of runs count.

mod ask;
mod conflict;
mod context;
mod machine;
mod files;
mod gates;
mod removed_definitions;
mod shown;

pub use ask::{IssueFacts, ask_code, ask_fix, ask_merge, ask_scaffold, ask_together};
pub use conflict::{Conflict, settled};
pub use context::{Context, repeated};
pub use machine::{PromptKind, IssueMachine, Outcome, OutcomeKind, Limits, Action, Review, Event};
pub use files::{Changes, UnusableReply, changes, is_known};
pub use gates::{GateResult, ProjectBaseline, green, check_no_regressions, red};
pub use removed_definitions::{RemovedDefinitions, losses};
pub use shown::{ShownPart, ShownFile, shown};
