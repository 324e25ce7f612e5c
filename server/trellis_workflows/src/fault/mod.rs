//! Faults reported to people and programs, and the exit codes of the command line.
//!
//! Lower crates say with typed errors what happened. `table` decides the exit code, hint, kind and
//! remedy of each.

mod kind;
mod sandbox;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::process::ExitCode;

pub use kind::FaultKind;
pub use table::{cannot, explained, of_newer};

/// The documented, stable exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// Some node's tests still fail after the retries.
    TestsFailed = 1,
    /// A person must review the result.
    NeedsHuman = 2,
    /// Wrong usage of the command line.
    Usage = 64,
    /// The input is broken, contradictory or was changed by someone else.
    BadInput = 65,
    /// The model or the sandbox is unavailable.
    Unavailable = 69,
    /// A fault of Trellis or of the machine (a full disk among them).
    Internal = 70,
    /// Stopped by SIGINT or SIGTERM.
    Interrupted = 130,
}

impl Exit {
    /// Returns the exit code for the result of a workflow: done, not done, or a person is needed.
    pub fn of_result(code: u8) -> Exit {
        match code {
            0 => Exit::Done,
            2 => Exit::NeedsHuman,
            _ => Exit::TestsFailed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

/// An error for a person: the problem and its cause, and a remedy.
#[derive(Clone, Debug)]
pub struct Fault {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
    /// Detail for programs beyond the exit code.
    pub kind: Option<FaultKind>,
    /// Remedy that a program can offer, if known.
    pub remedy: Option<Remedy>,
}

/// Actions that a program can offer after a refused decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The proposal can be applied to the current texts: decide `rebase`.
    Rebase,
    /// The proposal changed after you saw it: review it again.
    Review,
}

impl Fault {
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        let message = trellis_os::wording::without_numbers(&message.to_string());
        Fault { exit, message, hint: None, kind: None, remedy: None }
    }

    pub fn input(message: impl fmt::Display) -> Self {
        Self::new(Exit::BadInput, message)
    }

    pub fn unavailable(message: impl fmt::Display) -> Self {
        Self::new(Exit::Unavailable, message)
    }

    pub fn internal(message: impl fmt::Display) -> Self {
        Self::new(Exit::Internal, message)
    }

    /// Sets the kind that programs can check.
    pub fn kind(mut self, kind: FaultKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Sets the remedy that programs can offer.
    pub fn remedy(mut self, remedy: Remedy) -> Self {
        self.remedy = Some(remedy);
        self
    }

    /// Sets the hint.
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.hint = Some(hint.to_string());
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<trellis_engine::OutOfTurn> for Fault {
    fn from(error: trellis_engine::OutOfTurn) -> Fault {
        Fault::internal(error)
    }
}
