//! Results of a run of generated tests, in the form of the API.

use trellis_os::wording::counted;
use trellis_sandbox::{Outcome, Report, TestOutcome, TestResult};

use super::report::{FailureReport, TestReport};
use crate::convert;
use crate::fault::{Exit, Fault};

/// Returns the outcome's name, and a reason where the name does not say it. A test that fails as a
/// mark or a hook expects it to has failed: what it asserts does not hold.
///
/// # Errors
///
/// There was no run.
pub(super) fn outcome(report: &Report) -> Result<(&'static str, Option<String>), Fault> {
    let name = match &report.outcome {
        Outcome::Passed | Outcome::NoTests if let Some(why) = expected_failures(report) => {
            return Ok(("failed", Some(why)));
        }
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

/// Returns the reason that tests which fail as expected prove nothing; `None` if there are none.
fn expected_failures(report: &Report) -> Option<String> {
    let is_expected = |it: &&TestResult| it.outcome == TestOutcome::XFailed;
    let count = report.tests.iter().filter(is_expected).count();
    let what = counted(
        count,
        "test fails, and a mark or a hook expects it to (xfail), so it proves",
        "tests fail, and a mark or a hook expects them to (xfail), so they prove",
    );
    (count > 0).then(|| format!("{what} nothing; remove the mark"))
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
