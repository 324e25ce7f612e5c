//! Reports of runs of other frameworks, made from their records and output.

use std::path::Path;

use crate::{
    build_report::{FinishedRun, SessionRecord, ending},
    frameworks::{self, Detected, ParsedReport},
    report::{Outcome, Report, TestOutcome, TestResult},
    request::Request,
    run_outcome::{ExitFacts, from_outside},
    session::SessionEnd,
    streams::CompleteStream,
    test_ids::is_target,
};

/// Builds the report of a run by another framework. `root`: the root of the tree as the tests saw
/// it.
pub(crate) fn command_report(
    request: &Request,
    detected: &Detected,
    root: &Path,
    mut seen: SessionRecord,
    mut finished: FinishedRun,
) -> Report {
    let facts = ExitFacts {
        collector: &seen.collector,
        torn: false,
        stop: finished.stop,
        end: &finished.end,
        memory_kill: finished.memory_kill,
    };
    let ended = from_outside(&facts, request);
    let mut parsed = parsed(detected, root, &mut seen, &finished.end);
    drop_unselected(&mut parsed.tests, &request.targets);
    let (outcome, reason) = match ended {
        Ok(verdict) => verdict,
        Err(_) if finished.memory_kill && !went_to_its_end(&parsed) => {
            let reason = "the kernel killed a process because memory ran out, and the run did not end \
                 normally";
            (Outcome::KilledForMemory, Some(reason.to_owned()))
        }
        Err(_) => (parsed.outcome, parsed.reason),
    };
    if request.coverage {
        finished.notes.push(format!("coverage is not measured for {}", request.framework));
    }
    Report {
        parsing_failed: parsed.parsing_failed,
        reason,
        exit_code: finished.end.code(),
        tests: parsed.tests,
        not_run: parsed.not_run,
        collection_errors: parsed.collection_errors,
        limits: finished.limits,
        stdout: seen.stdout,
        stderr: seen.stderr,
        duration: finished.duration,
        notes: finished.notes,
        ..ending(outcome)
    }
}

fn went_to_its_end(parsed: &ParsedReport) -> bool {
    !parsed.parsing_failed && !matches!(parsed.outcome, Outcome::Crashed { .. })
}

/// Drops the tests that jest and vitest report as skipped because others were selected.
fn drop_unselected(tests: &mut Vec<TestResult>, targets: &[String]) {
    let named = |it: &String| it.strip_suffix("::").unwrap_or(it).to_owned();
    let named: Vec<String> = targets.iter().map(named).collect();
    let is_selected = |id: &str| named.iter().any(|it| it == ".") || is_target(&named, id);
    tests.retain(|it| it.outcome != TestOutcome::Skipped || is_selected(&it.id));
}

/// Parses the records of a run; even a run that was stopped or lost may have left some.
fn parsed(
    detected: &Detected,
    root: &Path,
    seen: &mut SessionRecord,
    end: &SessionEnd,
) -> ParsedReport {
    let (status, uncollected) = match end {
        SessionEnd::Ended(ended) => {
            let signal = ended.signal.unwrap_or_default();
            (ended.code.ok_or(signal), ended.uncollected.clone())
        }
        SessionEnd::Lost(_) => (Err(0), None),
    };
    let is_over = |it: &CompleteStream| it.is_too_large();
    let over = is_over(&seen.file) || seen.records.as_ref().is_some_and(is_over);
    let over = over.then(|| format!("it is larger than {} MiB", CompleteStream::MOST >> 20));
    let report = std::mem::take(&mut seen.file).text();
    let records =
        seen.records.take().filter(|it| !it.is_too_large()).and_then(CompleteStream::text);
    frameworks::read(
        detected.framework,
        &frameworks::CommandResult {
            status,
            stdout: records.as_deref().unwrap_or(&seen.stdout),
            stderr: &seen.stderr,
            report: report.as_deref(),
            incomplete: uncollected.or(over).as_deref(),
            root,
            go_module: detected.go_module.as_deref(),
        },
    )
}
