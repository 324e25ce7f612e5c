//! Failures of a worker while it prepares for runs.

use std::{io, time::Duration};

use super::EndError;

/// A worker that did not get ready.
#[derive(Debug, thiserror::Error)]
#[error("{}", sentence(.cause, .stderr, .end.as_deref()))]
pub struct WorkerError {
    /// The reason.
    #[source]
    pub cause: WorkerFailure,
    /// The last lines of the process's standard error.
    pub stderr: String,
    /// The reason the sandbox could not be ended.
    pub end: Option<Box<EndError>>,
}

/// The reason a worker did not get ready.
#[derive(Debug, thiserror::Error)]
pub enum WorkerFailure {
    /// Its output cannot be read.
    #[error(transparent)]
    Output(io::Error),
    /// It cannot work.
    #[error("{message}")]
    Refused {
        /// The worker's message.
        message: String,
    },
    /// It sent another message than the expected one.
    #[error("it sent an unexpected message")]
    Unexpected,
    /// It ended before its message.
    #[error("it ended immediately")]
    Ended,
    /// Its message did not come in time.
    #[error("it was not ready within {} s", .limit.as_secs())]
    TooSlow {
        /// The time limit.
        limit: Duration,
    },
}

/// Joins everything known about a worker that did not get ready.
fn sentence(cause: &WorkerFailure, stderr: &str, end: Option<&EndError>) -> String {
    let parts =
        [cause.to_string(), stderr.to_owned(), end.map(ToString::to_string).unwrap_or_default()];
    parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ")
}

impl WorkerError {
    /// Returns whether bubblewrap itself failed: it writes its name before its messages.
    pub(crate) fn is_from_bubblewrap(&self) -> bool {
        self.stderr.contains("bwrap: ")
    }
}
