//! Proposed fixes that wait for a person: stored as files, decided hunk by hunk, tested before they
//! stay, and undoable.
//!
//! A [`Proposal`] is in `.trellis/proposals/<id>.json`, so that it survives a restart. It contains
//! the text of each file that it was made for, and is written only if the disk and the editor still
//! have that text. [`store`] reads and writes proposals, one process at a time.
//! [`decide`](decide()) and [`undo`](undo()) are the actions of a person. [`verify`] runs tests on
//! a copy of the tree with a change, [`confidence`](mod@confidence) rates a fix, [`facts`] has what
//! its tests showed, and [`pending`]
//! lets a run present its draft to a person. `crate::repair` makes proposals for failing tests.

mod confidence;
mod decide;
mod facts;
mod pending;
mod proposal;
mod rebase;
mod store;
#[cfg(test)]
mod tests;
mod undo;
mod verify;

pub use confidence::{
    ConfidenceInputs, ConfidenceReport, PartsReport, changes_top_level, confidence, uncovered_hunks,
};
pub use decide::{Choice, Decided, DecisionRequest, OpenDocuments, OpenTexts, VerifyMode, decide};
pub use facts::FixFacts;
pub use pending::{DecidedDraft, PendingProposals};
pub use proposal::{
    FailingTest, FoundBy, HistoryEntry, NumberedHunk, Proposal, ProposedFile, State,
};
pub use store::{LOOK, Store};
pub use undo::undo;
pub use verify::{Changed, Times, Verification, VerifiedTest, Verifier, breaks};
