//! Repair of an existing repository: grouping of failures, prompts, changes by answers, comparison
//! of fixes, and the loop.
//!
//! [`groups`] joins failing tests with one likely cause; [`ask_repair`] builds the request and
//! [`repaired`] applies the answer; [`diagnostic`] describes a group; [`FixScore`] compares passing
//! fixes; [`RepairMachine`] is the loop without its I/O.

mod answer;
mod ask;
mod captured_output;
mod diagnostic;
mod excerpt;
mod failure_text;
mod fix_score;
mod groups;
mod locals;
mod machine;
mod model_diagnosis;
mod vocabulary;

pub use answer::{explanation, repaired, replaces_definitions, suggested};
pub use ask::{FailedFix, RepairFacts, ask_repair, ask_report};
pub use diagnostic::{Affected, Diagnostic, IssueType, Severity, diagnostic};
pub use excerpt::Excerpt;
pub(crate) use excerpt::without_numbers;
pub use failure_text::failure_text;
pub use fix_score::{FixScore, Size, size};
pub use groups::{Group, SuspectedCause, groups};
pub use machine::{Limits, RepairMachine};
pub use model_diagnosis::{ModelDiagnosis, SuggestedChange, parse_diagnosis};
pub use vocabulary::{
    Action, AttemptResult, Event, GroupWork, ProposalCheck, ProposalDecision, RepairSummary,
    Waiting,
};
