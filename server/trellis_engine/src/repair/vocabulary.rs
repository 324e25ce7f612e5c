//! Events and actions that the repair loop's state machine and its driver exchange.

use super::fix_score::FixScore;
use super::groups::Group;
use crate::vocabulary::Decision;

/// The work on one group, with the driver's own data. It travels with the actions and comes back
/// with their events, so that neither side keeps a copy.
pub trait GroupWork {
    fn group(&self) -> &Group;
}

/// Inputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<W> {
    Started,
    /// The failing tests that a change of the code could fix.
    RanAll(Vec<Group>),
    /// The group was diagnosed by measuring.
    Diagnosed {
        work: W,
        /// True if a trial of small edits found a fix.
        is_proven: bool,
    },
    /// A model was asked for its opinion, and suggests this number of fixes that can be tried.
    Suggested {
        work: W,
        suggestions: usize,
    },
    Tried {
        work: W,
        result: AttemptResult,
    },
    Decided {
        work: W,
        decision: Decision,
    },
    /// The fix is in the tree.
    Written,
    /// The tree has changed since the model saw it, or since the fix was made.
    Stale {
        work: W,
        why: String,
    },
    ProposalsChecked(ProposalCheck<W>),
}

impl<W> Event<W> {
    pub(super) fn phrase(&self) -> &'static str {
        match self {
            Event::Started => "a beginning",
            Event::RanAll(_) => "a run of all tests",
            Event::Diagnosed { .. } => "a diagnosis",
            Event::Suggested { .. } => "a model's diagnosis",
            Event::Tried { .. } => "a tried fix",
            Event::Decided { .. } => "a decision",
            Event::Written | Event::Stale { .. } => "a write",
            Event::ProposalsChecked(_) => "a check of proposals",
        }
    }
}

/// Result of an attempt at a fix.
#[derive(Clone, Debug, PartialEq)]
pub enum AttemptResult {
    /// The change makes a failing test pass and breaks none.
    Passed(FixScore),
    Failed,
    /// The answer was unusable, for this reason.
    Unusable(String),
    /// The request failed for good.
    NoReply(String),
}

/// Work whose fix waits for a decision on its proposal.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting<W> {
    /// Id of the proposal.
    pub proposal: String,
    pub work: W,
}

/// Result of a check of proposals.
#[derive(Clone, Debug, PartialEq)]
pub struct ProposalCheck<W> {
    /// Work that still waits.
    pub waiting: Vec<Waiting<W>>,
    /// Work whose proposal was decided, if one was.
    pub decided: Option<(W, ProposalDecision)>,
}

/// Decision on a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProposalDecision {
    /// The fix is in the tree.
    Accepted,
    /// Another fix may be made.
    Rejected,
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Action<W> {
    /// Runs the tests, and groups the failing ones.
    RunAllTests,
    /// Diagnoses the group, and tries small edits of suspicious lines.
    Diagnose {
        group: Group,
        /// Work on the group whose fix a person rejected.
        earlier: Option<W>,
    },
    /// Tries the fix that a trial of small edits found.
    TryProven {
        work: W,
    },
    /// Asks a model for its opinion, unless that was done.
    RequestDiagnosis {
        work: W,
    },
    /// Tries a fix that the diagnosis suggests.
    TrySuggestion {
        work: W,
        /// Index of the suggestion, the likeliest first.
        suggestion: usize,
    },
    /// Requests a fix and tries it.
    RequestFix {
        work: W,
        /// Number of the request within the group, from 0.
        attempt: u32,
        /// Reason why the last answer was unusable, if it was.
        complaint: Option<String>,
    },
    /// Asks whether a fix may be accepted.
    Review {
        work: W,
        /// Index among the passing fixes of the group, in the order of their attempts.
        candidate: usize,
        /// Number of the iteration, from 1.
        iteration: u32,
    },
    /// Looks for decisions on proposals.
    CheckProposals {
        waiting: Vec<Waiting<W>>,
        /// True if the loop has to wait for a decision because it has no other work.
        wait: bool,
    },
    /// Writes the fix to the tree.
    Write {
        work: W,
        candidate: usize,
    },
    Finish(RepairSummary),
}

/// Final outcome of the loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RepairSummary {
    /// Number of accepted fixes.
    pub kept: usize,
    /// Groups that still fail, each with the reason.
    pub given_up: Vec<(Group, String)>,
    /// Groups with a proposal, each with its id.
    pub waiting: Vec<(Group, String)>,
    /// True if a person stopped the loop.
    pub is_stopped: bool,
}
