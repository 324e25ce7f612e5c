//! Mending a repository that nobody planned: failures put into groups, what a model is asked about one, what its answer makes
//! of the files, which fix is the best, and what comes next.
//!
//! [`groups`] puts failing tests together that seem to have one cause; [`ask_repair`] asks and [`repaired`] reads the answer;
//! [`diagnostic`] says what is known of a group; [`Merit`] compares fixes that pass; [`Course`] is the loop without its I/O.

mod answer;
mod ask;
mod course;
mod diagnostic;
mod groups;
mod merit;
mod opinion;

pub use answer::{Sources, repaired, suggested};
pub use ask::{Repair, ask_repair, ask_report};
pub use course::{Answer, Course, Decision, End, Limits, Next, Seen, Try};
pub use diagnostic::{Affected, Diagnostic, IssueType, Severity, diagnostic};
pub use groups::{Cause, Group, groups};
pub use merit::{Merit, Size, size};
pub use opinion::{Idea, Opinion, opinion};
