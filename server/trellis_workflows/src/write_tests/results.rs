//! Results of a run of generated tests, in the form of the API.

use trellis_sandbox::{Outcome, Report, TestResult};

use super::report::{FailureReport, TestReport};
use crate::convert;
use crate::fault::{Exit, Fault};

/// Returns the outcome's name, and a reason where the name does not say it.
///
/// # Errors
///
/// There was no run.
pub(super) fn outcome(report: &Report) -> Result<(&'static str, Option<String>), Fault> {
    let name = match &report.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::CollectionError => "collectionError",
        Outcome::NoTests => "noTests",
        Outcome::TimedOut => "timedOut",
        Outcome::KilledForMemory => "killedForMemory",
        Outcome::Crashed { .. } => "crashed",
        Outcome::Tampered { what } => return Ok(("tampered", Some(what.clone()))),
        Outcome::SandboxLost { reason } | Outcome::SandboxUnavailable { reason } => {
            return Err(Fault::unavailable(format!("the sandbox cannot run the tests: {reason}"))
                .hint("`trellis doctor` shows what is missing; nothing was written"));
        }
        Outcome::Cancelled => return Err(cancelled()),
    };
    Ok((name, report.reason.clone()))
}

/// Returns the fault of a run that was cancelled.
pub(super) fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped: nothing was written")
}

pub(super) fn test(test: &TestResult) -> TestReport {
    TestReport {
        id: test.id.clone(),
        outcome: convert::test_outcome(test.outcome),
        duration_ms: test.duration.as_millis() as u64,
        line: test.line,
        failure: test.failure.as_ref().map(failure),
    }
}

pub(super) fn failure(failure: &trellis_sandbox::Failure) -> FailureReport {
    FailureReport {
        exception: failure.exception.clone(),
        message: failure.message.clone(),
        path: failure.path.clone(),
        line: failure.line,
        traceback: failure.traceback.clone(),
    }
}
