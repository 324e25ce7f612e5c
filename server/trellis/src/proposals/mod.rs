//! Fixes that wait for a person: kept as files, decided hunk by hunk, tested before they stay, undoable.
//!
//! A [`Proposal`] lies in `.trellis/proposals/<id>.json`, so that it survives a restart. It states the text of each file
//! that it was made for, and is written only where the disk and the editor still have that text. [`store`] reads and
//! writes them, one process at a time; [`decide`](decide()) and [`undo`](undo()) are what a person does; [`trial`] runs
//! tests on a copy of the tree with a change; [`measure`] says how sure one can be of one; [`waiting`] is how a run puts a
//! draft of its own before a person. `crate::repair` makes proposals of failing tests.

mod confidence;
mod decide;
mod pending;
mod proposal;
mod store;
#[cfg(test)]
mod tests;
mod undo;
mod verify;

pub(crate) use confidence::{ConfidenceInputs, changes_top_level, confidence};
pub(crate) use decide::{
    Choice, Decided, DecisionRequest, OpenDocuments, OpenTexts, VerifyMode, decide,
};
pub(crate) use pending::{Decision, PendingProposals};
pub(crate) use proposal::{FailingTest, HistoryEntry, NumberedHunk, Proposal, ProposedFile, State};
pub(crate) use store::{LOOK, Store};
pub(crate) use undo::undo;
pub(crate) use verify::{Changed, Times, Verification, VerifiedTest, Verifier};
