//! Builds the report of a run from everything the session recorded.

use std::{collections::BTreeMap, time::Duration};

use trellis_os::wording::counted;

use crate::{
    collector::ResultCollector,
    report::{Activity, Failure, LimitStatus, Outcome, Report, StoppedAt},
    request::Request,
    run_outcome::{ExitFacts, judge},
    session::{Received, SessionEnd, StopReason},
    streams::CompleteStream,
    tracebacks::parse_dump,
    wire::WorkerRunEnd,
    worker::Worker,
};

/// Builds the report of a finished pytest or unittest run.
pub(crate) fn python_report(
    request: &Request,
    mut seen: SessionRecord,
    finished: FinishedRun,
) -> Report {
    let (stdout, stderr) = (seen.stdout, seen.stderr);
    let facts = ExitFacts {
        collector: &seen.collector,
        torn: seen.torn,
        stop: finished.stop,
        end: &finished.end,
        memory_kill: finished.memory_kill,
    };
    let (outcome, reason) = judge(&facts, request);
    let stuck = stuck(&seen.collector, &outcome, &seen.stack, &stderr);
    seen.collector.close(&outcome, reason.as_deref(), stuck.as_ref(), &stderr);
    seen.collector.notes.extend(finished.notes);
    let hints: Vec<String> =
        HINTS.iter().filter_map(|hint| hint.on(&seen.collector, &finished.limits)).collect();
    seen.collector.notes.extend(hints);
    Report {
        not_run: seen.collector.not_run().cloned().collect(),
        deselected: seen.collector.deselected,
        limited_to: seen.collector.limited_to,
        exit_code: finished.end.code(),
        reason,
        tests: seen.collector.tests,
        collection_errors: seen.collector.collection_errors,
        limits: finished.limits,
        stdout,
        stderr,
        duration: finished.duration,
        stuck,
        coverage: seen.collector.coverage,
        execution: seen.collector.is_recorded.then_some(seen.collector.execution),
        traces: seen.collector.traces,
        notes: seen.collector.notes,
        ..ending(outcome)
    }
}

/// A restriction of the sandbox, as it shows in the messages of failing tests.
struct SandboxHint {
    /// The limit behind the restriction; if it is not enforced, the sandbox did not cause the
    /// failure.
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
    fn on(&self, collector: &ResultCollector, limits: &[LimitStatus]) -> Option<String> {
        let is_open = |it: &LimitStatus| Some(it.name) == self.limit && !it.enforced;
        if limits.iter().any(is_open) {
            return None;
        }
        let reported = |it: &&Failure| self.signs.iter().any(|sign| it.message.contains(sign));
        let failures = collector.tests.iter().filter_map(|it| it.failure.as_ref());
        let count = failures.chain(&collector.collection_errors).filter(reported).count();
        (count > 0).then(|| format!("{} {}", counted(count, "failure", "failures"), self.note))
    }
}

/// Everything a session has received.
pub(crate) struct SessionRecord {
    pub(crate) collector: ResultCollector,
    torn: bool,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    stack: String,
    pub(crate) file: CompleteStream,
    pub(crate) records: Option<CompleteStream>,
}

impl SessionRecord {
    pub(crate) fn of(received: Received) -> SessionRecord {
        let torn = received.is_torn();
        let [stdout, stderr, stack] =
            [&received.stdout, &received.stderr, &received.stack].map(|it| it.text());
        let (file, records) = (received.file, received.records);
        SessionRecord { torn, stdout, stderr, stack, file, records, collector: received.collector }
    }
}

/// The facts about a finished run.
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

/// Returns the place where the process was when it was stopped or died: from the reply to the stack
/// signal, else from the dump that `faulthandler` wrote during the crash.
fn stuck(
    collector: &ResultCollector,
    outcome: &Outcome,
    stack: &str,
    stderr: &str,
) -> Option<StoppedAt> {
    if !matches!(outcome, Outcome::TimedOut | Outcome::Crashed { .. } | Outcome::KilledForMemory) {
        return None;
    }
    let answer = parse_dump(stack);
    let raw = if answer.is_empty() { parse_dump(stderr) } else { answer };
    let during = collector.activity.clone().unwrap_or(Activity::Starting);
    Some(StoppedAt { during, frames: collector.places.stack(raw) })
}

/// Returns a report that contains only the outcome.
pub(crate) fn ending(outcome: Outcome) -> Report {
    Report {
        outcome,
        engine: None,
        parsing_failed: false,
        reason: None,
        exit_code: None,
        tests: Vec::new(),
        not_run: Vec::new(),
        deselected: Vec::new(),
        limited_to: Vec::new(),
        deselected_tests: Vec::new(),
        collection_errors: Vec::new(),
        limits: Vec::new(),
        stdout: String::new(),
        stderr: String::new(),
        duration: Duration::ZERO,
        stuck: None,
        coverage: None,
        execution: None,
        traces: BTreeMap::new(),
        notes: Vec::new(),
    }
}
