//! Fixes that wait for a person: kept as files, decided hunk by hunk, tested before they stay, undoable.
//!
//! A [`Proposal`] lies in `.trellis/proposals/<id>.json`, so that it survives a restart. It states the text of each file
//! that it was made for, and is written only where the disk and the editor still have that text. [`store`] reads and
//! writes them, one process at a time; [`decide`](decide()) and [`undo`](undo()) are what a person does; [`trial`] runs
//! tests on a copy of the tree with a change; [`measure`] says how sure one can be of one; [`waiting`] is how a run puts a
//! draft of its own before a person. `crate::repair` makes proposals of failing tests.

mod decide;
mod confidence;
mod proposal;
mod store;
#[cfg(test)]
mod tests;
mod verify;
mod undo;
mod pending;

pub(crate) use decide::{Choice, Decided, OpenDocuments, OpenTexts, DecisionRequest, Testing, decide};
pub(crate) use confidence::{ConfidenceInputs, changes_top_level, confidence};
pub(crate) use proposal::{FailingTest, NumberedHunk, Proposal, ProposedFile, State, HistoryEntry};
pub(crate) use store::{LOOK, Store};
pub(crate) use verify::{Verifier, Changed, Times, Verification, VerifiedTest};
pub(crate) use undo::undo;
pub(crate) use pending::{Decision, PendingProposals};
