//! Events and actions that a node's state machine and its driver exchange.

use crate::debug_context::DebugContext;
use crate::draft::Draft;
use crate::observation::TestRun;
use crate::strategy::Attempt;
use crate::vocabulary::{
    Decision, Localization, ModelRequest, Note, Outcome, Query, Reply, RunMode,
};

/// Inputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Work on the node begins.
    Started,
    Reply(Reply),
    /// Result of each request of a vote, in order: the reply's text, or the error.
    Votes(Vec<Result<String, String>>),
    Tests(TestRun),
    Localized(Localization),
    /// All attempts were used up without finding a suspect (L6).
    Exhausted(Vec<Attempt>),
    /// No other node is in work, and none will be until this one ends.
    Exclusive,
    Decided(Decision),
}

impl Event {
    pub(super) fn phrase(&self) -> &'static str {
        match self {
            Event::Started => "a beginning",
            Event::Reply(Reply::Text(_)) => "a reply",
            Event::Reply(Reply::Edited(_)) => "edited files",
            Event::Reply(Reply::Unusable { .. }) => "an unusable reply",
            Event::Reply(Reply::Failed { .. }) => "no reply",
            Event::Votes(_) => "a vote",
            Event::Tests(_) => "a test run",
            Event::Localized(_) | Event::Exhausted(_) => "a localization",
            Event::Exclusive => "its turn",
            Event::Decided(_) => "a decision",
        }
    }
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Complete(ModelRequest),
    /// Sends several requests at once.
    Vote(Vec<ModelRequest>),
    /// Replaces the node's draft in the buffer.
    Apply(Draft),
    /// Runs the node's tests on the tree plus the draft.
    RunTests(RunMode),
    Localize(Query),
    /// Waits until no other node is in work, because the next change touches code that others build
    /// on.
    AwaitExclusive,
    /// Runs the tests of the items that the draft amends and of all items that build on them (V1).
    RunRegressionTests,
    /// Writes a page for the person who has to decide.
    Explain(Box<DebugContext>),
    /// Asks whether a passing fix may be accepted (R4); the decision may take days.
    Review,
    /// Discards the draft.
    Revert,
    Note(Note),
    /// Ends the work; a passed draft is accepted.
    Finish(Outcome),
}
