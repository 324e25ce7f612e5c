//! Implementation of an issue or task described in prose: tests first, then code in as many files
//! as necessary.
//!
//! The crate's main state machine does this for a planned repository, one function at a time; this
//! one works on an existing repository. The gates are the same, and only the results of runs count.

mod ask;
mod conflict;
mod context;
mod files;
mod gates;
mod machine;
mod removed_definitions;
mod shown;

pub use ask::{IssueFacts, MergeFacts, ask_code, ask_fix, ask_merge, ask_scaffold, ask_together};
pub use conflict::{Conflict, parse_resolution};
pub use context::{Context, duplicate_definitions};
pub use files::{Changes, changes, is_known};
pub use gates::{GateResult, ProjectBaseline, check_no_regressions, green, lost, red};
pub use machine::{Action, Event, IssueMachine, Limits, PromptKind};
pub use removed_definitions::{RemovedDefinitions, losses};
pub use shown::{ShownFile, ShownPart, shown};
