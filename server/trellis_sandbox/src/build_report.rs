//! Makes the report of all that was seen of a run.

use std::time::Duration;

use crate::{
    tracebacks::parse_dump,
    report::{Activity, Failure, LimitStatus, Outcome, Report, StoppedAt},
    request::Request,
    session::{SessionEnd, Session, StopReason},
    streams::CompleteStream,
    collector::ResultCollector,
    run_outcome::{ExitFacts, judge},
    wire::WorkerRunEnd,
    wording::counted,
    worker::Worker,
};

/// What all that was seen amounts to.
pub(crate) fn compose(request: &Request, mut seen: SessionRecord, finished: FinishedRun) -> Report {
    let (stdout, stderr) = (seen.stdout, seen.stderr);
    let facts = ExitFacts {
        tally: &seen.tally,
        torn: seen.torn,
        stop: finished.stop,
        end: &finished.end,
        memory_kill: finished.memory_kill,
    };
    let (outcome, reason) = judge(&facts, request);
    let stuck = stuck(&seen.tally, &outcome, &seen.stack, &stderr);
    seen.tally.close(&outcome, reason.as_deref(), stuck.as_ref(), &stderr);
    seen.tally.notes.extend(finished.notes);
    let hints: Vec<String> =
        HINTS.iter().filter_map(|hint| hint.on(&seen.tally, &finished.limits)).collect();
    seen.tally.notes.extend(hints);
    Report {
        not_run: seen.tally.not_run().cloned().collect(),
        deselected: seen.tally.deselected,
        exit_code: finished.end.code(),
        reason,
        tests: seen.tally.tests,
        collection_errors: seen.tally.collection_errors,
        limits: finished.limits,
        stdout,
        stderr,
        duration: finished.duration,
        stuck,
        coverage: seen.tally.coverage,
        notes: seen.tally.notes,
        ..ending(outcome)
    }
}

/// What a sandbox forbids, as failing tests tell of it.
struct SandboxHint {
    /// Where this bound does not hold, it was not the sandbox.
    limit: Option<&'static str>,
    signs: &'static [&'static str],
    note: &'static str,
}

const HINTS: [SandboxHint; 2] = [
    SandboxHint {
        limit: None,
        signs: &["Read-only file system", "[Errno 30]"],
        note: "tried to write to a read-only place; use `tmp_path` or the folder for temporary \
             files",
    },
    SandboxHint {
        limit: Some("network"),
        signs: &["Network is unreachable", "Temporary failure in name resolution"],
        note: "tried to use the network, which the sandbox blocks except for its own loopback; \
             allow it with `--network`",
    },
];

impl SandboxHint {
    fn on(&self, tally: &ResultCollector, limits: &[LimitStatus]) -> Option<String> {
        let is_open = |it: &LimitStatus| Some(it.name) == self.limit && !it.enforced;
        if limits.iter().any(is_open) {
            return None;
        }
        let told = |it: &&Failure| self.signs.iter().any(|sign| it.message.contains(sign));
        let failures = tally.tests.iter().filter_map(|it| it.failure.as_ref());
        let count = failures.chain(&tally.collection_errors).filter(told).count();
        (count > 0).then(|| format!("{} {}", counted(count, "failure", "failures"), self.note))
    }
}

/// What a session has taken in.
pub(crate) struct SessionRecord {
    pub(crate) tally: ResultCollector,
    torn: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    stack: String,
    pub(crate) file: CompleteStream,
    pub(crate) records: Option<CompleteStream>,
}

impl SessionRecord {
    pub(crate) fn of(session: Session<'_>) -> SessionRecord {
        let torn = session.is_torn();
        let [stdout, stderr, stack] =
            [&session.stdout, &session.stderr, &session.stack].map(|it| it.text());
        let (file, records) = (session.file, session.records);
        SessionRecord { torn, stdout, stderr, stack, file, records, tally: session.tally }
    }
}

/// What is known of a run that is over.
pub(crate) struct FinishedRun {
    pub(crate) stop: Option<StopReason>,
    pub(crate) end: SessionEnd,
    pub(crate) memory_kill: bool,
    pub(crate) duration: Duration,
    pub(crate) limits: Vec<LimitStatus>,
    pub(crate) notes: Vec<String>,
}

pub(crate) fn notes(end: &SessionEnd, worker: &Worker) -> Vec<String> {
    let SessionEnd::Ended(WorkerRunEnd { left_behind, clean, why, .. }) = end else {
        return Some(worker.words()).filter(|it| !it.is_empty()).into_iter().collect();
    };
    let mut notes = Vec::new();
    if *left_behind > 0 {
        notes.push(counted(
            *left_behind,
            "process was still running after the tests and was killed",
            "processes were still running after the tests and were killed",
        ));
    }
    if !clean {
        let why = why.as_deref().unwrap_or("no reason given");
        notes.push(format!("the sandbox was not left clean ({why}), so it was discarded"));
    }
    notes
}

/// Where the process stood, if it was stopped or died: from the answer to our signal, else from
/// what `faulthandler` wrote when it crashed.
fn stuck(tally: &ResultCollector, outcome: &Outcome, stack: &str, stderr: &str) -> Option<StoppedAt> {
    if !matches!(outcome, Outcome::TimedOut | Outcome::Crashed { .. } | Outcome::KilledForMemory) {
        return None;
    }
    let answer = parse_dump(stack);
    let raw = if answer.is_empty() { parse_dump(stderr) } else { answer };
    let during = tally.activity.clone().unwrap_or(Activity::Starting);
    Some(StoppedAt { during, frames: tally.places.stack(raw) })
}

/// A report that says nothing but how it ended.
pub(crate) fn ending(outcome: Outcome) -> Report {
    Report {
        outcome,
        parsing_failed: false,
        reason: None,
        exit_code: None,
        tests: Vec::new(),
        not_run: Vec::new(),
        deselected: Vec::new(),
        deselected_tests: Vec::new(),
        collection_errors: Vec::new(),
        limits: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        duration: Duration::ZERO,
        stuck: None,
        coverage: None,
        notes: Vec::new(),
    }
}
