//! The interface of all state machines: events come in, actions come out, and no I/O happens.

/// A state machine of one workflow. A driver performs its actions and feeds back their results.
pub trait Machine {
    /// The start, or the result of an action.
    type Event;
    type Action;

    /// Returns the actions after an event, to be performed in order. The last one leads to the next
    /// event, or finishes the work.
    ///
    /// # Errors
    ///
    /// The machine does not wait for such an event. Its state is as before, since no gate may be
    /// passed without a check.
    fn step(&mut self, event: Self::Event) -> Result<Vec<Self::Action>, OutOfTurn>;
}

/// Error of an event that does not answer a running action: a fault of the program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{event} came while the cycle waited for {expected}")]
pub struct OutOfTurn {
    /// The event, as a phrase: "a reply".
    pub event: String,
    /// The expected events, as a phrase: "a test run".
    pub expected: String,
}

impl OutOfTurn {
    pub fn new(event: impl Into<String>, expected: impl Into<String>) -> OutOfTurn {
        OutOfTurn { event: event.into(), expected: expected.into() }
    }
}
