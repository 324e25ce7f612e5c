//! What is remembered of an item from one step to the next.

use super::{Cause, Phase};
use crate::diagnosis::{Repeats, Votes};
use crate::draft::Draft;
use crate::exchange::{Earlier, Localized, Query};

/// Where an item stands.
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
    pub(super) mends: u32,
    pub(super) asked_for_more: bool,
    pub(super) by_hand: bool,
    /// Test cases of the tests at hand.
    pub(super) cases: usize,
    /// Runs of the draft at hand, which did not change between them.
    pub(super) repeats: Repeats,
    /// Tests of the accepted draft that passed and failed.
    pub(super) flaky: Vec<String>,
    pub(super) failure: String,
    pub(super) reason: String,
    pub(super) earlier: Vec<Earlier>,
    /// Answers in a row that could not be run, or were no better than what was sent back.
    pub(super) unusable: usize,
    /// Implementations that were run, by their text.
    pub(super) tried: Vec<String>,
    /// Opinions on the failure of `judged`, the first test that failed.
    pub(super) votes: Votes,
    pub(super) judged: String,
    /// What a fix said in place of code: that a test is wrong.
    pub(super) claim: Option<String>,
    /// Claims that were put to a judge.
    pub(super) claims: u32,
    /// What the last fix changed, as a diff; empty for a first implementation.
    pub(super) change: String,
    pub(super) query: Query,
    pub(super) localized: Localized,
    /// Nothing else is under way.
    pub(super) alone: bool,
    /// Of a fix that amends other items: what stood before it.
    pub(super) before: Draft,
    /// The fix may stay.
    pub(super) approved: bool,
    /// The implementation is a person's.
    pub(super) rewritten: bool,
    /// Why it was given up, if it was.
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
            mends: 0,
            asked_for_more: false,
            by_hand: false,
            cases: 0,
            repeats: Repeats::default(),
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
            localized: Localized::default(),
            alone: false,
            before: Draft::default(),
            approved: false,
            rewritten: false,
            cause: None,
        }
    }
}

impl State {
    /// Fixes applied so far: the checkpoint's `retry_count`.
    pub fn fixes(&self) -> u32 {
        self.fixes
    }

    /// Tests that failed and then passed unchanged, and were let pass.
    pub fn flaky(&self) -> &[String] {
        &self.flaky
    }

    /// Why the item was given up; none where it was not.
    pub fn cause(&self) -> Option<Cause> {
        self.cause
    }

    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// For an item whose definition a person wrote: it stands in the tree already, so the red gate has
    /// nothing to see, no implementation is asked for, and a fix would overwrite the person's text.
    pub fn written_by_hand() -> State {
        let implementation = Some(code::Fragment::default());
        State {
            draft: Draft { implementation, ..Draft::default() },
            by_hand: true,
            ..State::default()
        }
    }
}
