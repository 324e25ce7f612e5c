//! Derives the outcome of a run from its exit status and the reporter's records. Both must agree
//! before a run counts as passed.

use std::time::Duration;

use rustix::process::Signal;

use crate::{
    collector::ResultCollector,
    frameworks::Framework,
    report::{Outcome, TestOutcome},
    request::Request,
    session::{SessionEnd, StopReason},
};

/// pytest's exit statuses; unittest has the first two and the last.
mod status {
    pub(super) const OK: i32 = 0;
    pub(super) const TESTS_FAILED: i32 = 1;
    pub(super) const INTERRUPTED: i32 = 2;
    pub(super) const INTERNAL_ERROR: i32 = 3;
    pub(super) const USAGE_ERROR: i32 = 4;
    pub(super) const NO_TESTS: i32 = 5;
}

/// The facts known once the process has ended.
pub(crate) struct ExitFacts<'a> {
    pub(crate) collector: &'a ResultCollector,
    /// True if the last record was cut off.
    pub(crate) torn: bool,
    pub(crate) stop: Option<StopReason>,
    pub(crate) end: &'a SessionEnd,
    /// True if the kernel killed a process during the run because memory ran out.
    pub(crate) memory_kill: bool,
}

type ExplainedOutcome = (Outcome, Option<String>);

fn because(outcome: Outcome, reason: impl Into<String>) -> ExplainedOutcome {
    (outcome, Some(reason.into()))
}

/// Returns the outcome, and a sentence where the outcome needs explanation.
pub(crate) fn judge(facts: &ExitFacts<'_>, request: &Request) -> ExplainedOutcome {
    from_outside(facts, request).unwrap_or_else(|code| exited(code, facts, request.framework))
}

/// Returns the outcome of a run that did not end by itself; else its exit status as the error.
pub(crate) fn from_outside(
    facts: &ExitFacts<'_>,
    request: &Request,
) -> Result<ExplainedOutcome, i32> {
    if let Some(stop) = facts.stop {
        return Ok(stopped(stop, request, facts.collector.own_time));
    }
    Ok(match facts.end {
        SessionEnd::Lost(_) if facts.memory_kill => because(
            Outcome::KilledForMemory,
            "the sandbox ended because the kernel killed a process for lack of memory",
        ),
        SessionEnd::Lost(reason) => (Outcome::SandboxLost { reason: reason.clone() }, None),
        SessionEnd::Ended(ended) => match (ended.code, ended.signal) {
            (Some(code), _) => return Err(code),
            (None, signal) => killed(signal.unwrap_or_default(), facts, request),
        },
    })
}

/// Returns the outcome of a run that was stopped. `own_time`: the timeout that the running test
/// sets itself.
fn stopped(stop: StopReason, request: &Request, own_time: Duration) -> ExplainedOutcome {
    let after = |what: &str, time: Duration, limit: &str| {
        let seconds = time.as_secs_f64();
        because(Outcome::TimedOut, format!("{what} was stopped after {seconds} s ({limit})"))
    };
    let one = "one test or import";
    match stop {
        StopReason::Cancelled => (Outcome::Cancelled, None),
        StopReason::Loading => because(
            Outcome::TimedOut,
            format!(
                "Python and {} did not start within 60 s: the machine is overloaded or the \
                 environment is broken",
                request.framework
            ),
        ),
        StopReason::Phase if own_time > request.time_for_one() => {
            after(one, own_time, "the timeout that the test sets itself")
        }
        StopReason::Phase => after(one, request.time_for_one(), &request.limit_from_outside()),
        StopReason::Run => after("the whole run", request.run_timeout, &request.limit_of_run()),
    }
}

fn killed(signal: i32, facts: &ExitFacts<'_>, request: &Request) -> ExplainedOutcome {
    if signal == Signal::XCPU.as_raw() {
        let seconds = request.limits.cpu_seconds;
        return because(
            Outcome::TimedOut,
            format!(
                "the tests used up their {seconds} s of processor time (the limit of one \
                 process, which no setting raises)"
            ),
        );
    }
    if signal == Signal::KILL.as_raw() && facts.memory_kill {
        let reason = "the kernel killed the process because memory ran out";
        return because(Outcome::KilledForMemory, reason);
    }
    because(
        Outcome::Crashed { signal: Some(signal), exit_code: None },
        format!("the test process died of signal {signal}"),
    )
}

fn crashed(code: i32, reason: impl Into<String>) -> ExplainedOutcome {
    because(Outcome::Crashed { signal: None, exit_code: Some(code) }, reason)
}

fn exited(code: i32, facts: &ExitFacts<'_>, framework: Framework) -> ExplainedOutcome {
    let collector = facts.collector;
    if let (None, None, Some(what)) = (&collector.tampered, &collector.garbled, &collector.broken) {
        let reason = "Trellis cannot read its own reporter's output, which is a bug in Trellis, not in \
             the project";
        return crashed(code, format!("{reason}; please report it: {what}"));
    }
    if let Some(what) = tampered(facts) {
        return (Outcome::Tampered { what }, None);
    }
    if facts.memory_kill && !matches!(collector.finished, Some(reported) if reported == code) {
        return because(
            Outcome::KilledForMemory,
            "the kernel killed a process because memory ran out, and the session did not end",
        );
    }
    match (framework, code) {
        (Framework::Pytest, status::USAGE_ERROR) => return (Outcome::CollectionError, None),
        (Framework::Pytest, status::INTERNAL_ERROR) => return internal_error(code, collector),
        _ => {}
    }
    match collector.finished {
        Some(reported) if reported == code => finished(code, collector, framework),
        Some(reported) => crashed(
            code,
            format!("{framework} ended with status {reported}, but the process exited with {code}"),
        ),
        None => crashed(
            code,
            format!("the process exited with status {code} in the middle of the session"),
        ),
    }
}

/// Returns a sign that something other than the reporter has influenced the results.
fn tampered(facts: &ExitFacts<'_>) -> Option<String> {
    let collector = facts.collector;
    let garbled = |line: &String| {
        format!("something other than the reporter wrote to the result pipe ({line})")
    };
    let miscounted = || "records are missing from the result pipe".to_owned();
    (collector.tampered.clone()).or_else(|| collector.garbled.as_ref().map(garbled)).or_else(|| {
        (collector.miscounted || facts.torn && collector.finished.is_some()).then(miscounted)
    })
}

fn internal_error(code: i32, collector: &ResultCollector) -> ExplainedOutcome {
    match &collector.internal_error {
        Some(failure) if failure.exception == "MemoryError" => {
            because(Outcome::KilledForMemory, "pytest itself ran out of memory")
        }
        Some(failure) => {
            crashed(code, format!("pytest failed: {}: {}", failure.exception, failure.message))
        }
        None => crashed(code, "pytest failed before it could report why; see standard error"),
    }
}

fn finished(code: i32, collector: &ResultCollector, framework: Framework) -> ExplainedOutcome {
    if !collector.collection_errors.is_empty() {
        return (Outcome::CollectionError, None);
    }
    let count = |wanted: &[TestOutcome]| {
        collector.tests.iter().filter(|test| wanted.contains(&test.outcome)).count()
    };
    let failed = count(&[TestOutcome::Failed, TestOutcome::Error]);
    let passed = count(&[TestOutcome::Passed, TestOutcome::XPassed]);
    match code {
        status::OK if failed > 0 => {
            let reason = format!("tests failed, although {framework} reported success");
            because(Outcome::Failed, reason)
        }
        status::OK if collector.not_run().next().is_some() => {
            crashed(code, "the session ended before every test had run")
        }
        status::OK if passed == 0 => {
            because(Outcome::NoTests, "every test was skipped or failed as expected")
        }
        status::OK => (Outcome::Passed, None),
        status::TESTS_FAILED if failed > 0 => (Outcome::Failed, None),
        status::TESTS_FAILED => because(
            Outcome::Failed,
            format!(
                "no test failed, but {framework} or a plugin ended with status 1; see the output"
            ),
        ),
        status::NO_TESTS => (Outcome::NoTests, None),
        status::INTERRUPTED => {
            let why = collector.interrupted.as_deref().unwrap_or("no reason given");
            crashed(code, format!("the session was interrupted: {why}"))
        }
        _ => crashed(code, format!("a plugin ended the session with status {code}")),
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use super::*;
    use crate::{request::Tree, tracebacks::ProjectPaths, wire::WorkerRunEnd};

    /// A test cannot trigger the kernel's memory killer; everything else runs for real in `tests/`.
    #[test]
    fn a_kill_counts_as_memory_only_on_evidence() {
        let collector =
            ResultCollector::new(ProjectPaths::new(Path::new("/t"), None), "token".to_owned());
        let request = Request::new(Tree::Files(BTreeMap::new()));
        for (signal, memory_kill, expected) in [
            (9, true, Outcome::KilledForMemory),
            (9, false, Outcome::Crashed { signal: Some(9), exit_code: None }),
            (11, true, Outcome::Crashed { signal: Some(11), exit_code: None }),
        ] {
            let ended = WorkerRunEnd {
                id: 1,
                code: None,
                signal: Some(signal),
                left_behind: 0,
                clean: true,
                why: None,
                uncollected: None,
                memory_kill: false,
            };
            let end = SessionEnd::Ended(ended);
            let facts = ExitFacts {
                collector: &collector,
                torn: false,
                stop: None,
                end: &end,
                memory_kill,
            };
            assert_eq!(judge(&facts, &request).0, expected);
        }
    }
}
