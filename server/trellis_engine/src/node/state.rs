//! State of an item between two steps.

use super::{Cause, Phase};
use crate::diagnosis::{RerunHistory, Votes};
use crate::draft::Draft;
use crate::vocabulary::{FailedAttempt, Localization, Query};

/// Progress of an item.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub(super) phase: Phase,
    pub(super) draft: Draft,
    pub(super) red_output: String,
    pub(super) complaint: String,
    pub(super) tests_asked: u32,
    pub(super) implementation_asked: u32,
    pub(super) fixes_asked: u32,
    pub(super) fixes: u32,
    pub(super) red_reasks: u32,
    pub(super) regenerations: u32,
    pub(super) malformed: u32,
    pub(super) import_fixes: u32,
    pub(super) asked_for_more: bool,
    pub(super) by_hand: bool,
    /// True while the draft is that of an earlier start, which a dependency's change made doubtful.
    pub(super) rechecks: bool,
    /// Number of test cases in the current tests.
    pub(super) cases: usize,
    /// Runs of the current draft, which did not change between them.
    pub(super) repeats: RerunHistory,
    /// Tests of the accepted draft that both passed and failed.
    pub(super) flaky: Vec<String>,
    pub(super) failure: String,
    pub(super) reason: String,
    pub(super) earlier: Vec<FailedAttempt>,
    /// Number of answers in a row that could not be run or repeated a fault that was sent back.
    pub(super) unusable: usize,
    /// Texts of the implementations that were run.
    pub(super) tried: Vec<String>,
    /// Votes on the failure of `judged`, the first failing test.
    pub(super) votes: Votes,
    pub(super) judged: String,
    /// A fix's claim, in place of code, that a test is wrong.
    pub(super) claim: Option<String>,
    /// Number of claims that were put to a vote.
    pub(super) claims: u32,
    /// Diff of the last fix; empty for a first implementation.
    pub(super) change: String,
    pub(super) query: Query,
    pub(super) localized: Localization,
    /// True if no other item is in work.
    pub(super) alone: bool,
    /// The draft before the last change; restored if a fix that amends other items breaks their
    /// dependents.
    pub(super) before: Draft,
    /// True if the fix is approved.
    pub(super) approved: bool,
    /// True if a person edited the fix.
    pub(super) rewritten: bool,
    /// Reason for giving the item up, if it was.
    pub(super) cause: Option<Cause>,
}

impl Default for State {
    fn default() -> Self {
        State {
            phase: Phase::Idle,
            draft: Draft::default(),
            red_output: String::new(),
            complaint: String::new(),
            tests_asked: 0,
            implementation_asked: 0,
            fixes_asked: 0,
            fixes: 0,
            red_reasks: 0,
            regenerations: 0,
            malformed: 0,
            import_fixes: 0,
            asked_for_more: false,
            by_hand: false,
            rechecks: false,
            cases: 0,
            repeats: RerunHistory::default(),
            flaky: Vec::new(),
            failure: String::new(),
            reason: String::new(),
            earlier: Vec::new(),
            change: String::new(),
            unusable: 0,
            tried: Vec::new(),
            votes: Votes::default(),
            judged: String::new(),
            claim: None,
            claims: 0,
            query: Query { failures: Vec::new(), stack: Vec::new() },
            localized: Localization::default(),
            alone: false,
            before: Draft::default(),
            approved: false,
            rewritten: false,
            cause: None,
        }
    }
}

impl State {
    /// Returns the number of fixes applied so far: the checkpoint's `retry_count`.
    pub fn fixes(&self) -> u32 {
        self.fixes
    }

    /// Returns the tests that failed, then passed unchanged, and were accepted.
    pub fn flaky(&self) -> &[String] {
        &self.flaky
    }

    /// Returns the reason for giving the item up; `None` if it was not.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Starts with the draft that an earlier start accepted. Its tests run first; nothing is
    /// requested if they pass.
    #[must_use]
    pub fn rechecking(self, accepted: Draft) -> State {
        State { draft: accepted, rechecks: true, ..self }
    }

    /// Returns whether the draft is still that of an earlier start.
    pub fn is_kept(&self) -> bool {
        self.rechecks
    }

    /// Creates the state of an item whose definition a person wrote. The definition is in the tree
    /// already: the red gate is skipped, no implementation is requested, and no fix may overwrite
    /// it.
    pub fn written_by_hand() -> State {
        let implementation = Some(trellis_python::Fragment::default());
        State {
            draft: Draft { implementation, ..Draft::default() },
            by_hand: true,
            ..State::default()
        }
    }
}
