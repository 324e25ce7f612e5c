//! Prints the results of a test run for people.

use std::collections::HashSet;

use trellis_sandbox::{Outcome, Report, TestResult};

use crate::output::color;
use trellis_git::forge::Pushed;
use trellis_server::api::run_tests::{outcome, reason};
use trellis_workflows::convert::test_outcome;
use trellis_workflows::localize::NO_TESTS_HINT;

/// Returns the line of one finished test.
pub(crate) fn line(test: &TestResult) -> String {
    let millis = test.duration.as_millis();
    let state = color::state(&format!("{:<8}", test_outcome(test.outcome)));
    let mut out = format!("{state} {}", plain(&format!("{} ({millis} ms)", test.id)));
    if let Some(reason) = test.reason.as_deref().filter(|it| !it.is_empty()) {
        out += &format!("\n         {}", plain(reason));
    }
    test.failure.iter().for_each(|it| out += &failed(it));
    out
}

/// Maximum lines shown of pytest's explanation.
const EXPLAINED: usize = 12;

/// Returns the place of a failure with pytest's explanation.
fn failed(failure: &trellis_sandbox::Failure) -> String {
    let said = failure.traceback.lines().filter_map(|it| it.strip_prefix("E   "));
    let mut lines: Vec<String> = said.map(plain).collect();
    if lines.is_empty() {
        lines = failure.message.lines().map(plain).collect();
    }
    let first = lines.first().map(|it| it.trim_start().to_owned()).unwrap_or_default();
    let kind = if first.starts_with(&failure.exception) { "" } else { &failure.exception };
    let colon = if kind.is_empty() || first.is_empty() { "" } else { ": " };
    let mut out = format!("\n         {kind}{colon}{first}{}", place_of(failure));
    lines.iter().skip(1).take(EXPLAINED).for_each(|it| out += &format!("\n         {it}"));
    let more = lines.len().saturating_sub(EXPLAINED + 1);
    if more > 0 {
        out += &format!("\n         ({more} more lines; --json has them)");
    }
    out
}

/// Escapes control characters, since text from tests must not control the terminal.
pub(crate) fn plain(text: &str) -> String {
    let shown = |it: char| match it {
        '\t' => "\t".to_owned(),
        it if it.is_control() => it.escape_default().to_string(),
        it => it.to_string(),
    };
    text.chars().map(shown).collect()
}

/// Returns the pushed branches, one per line.
pub(crate) fn pushed(all: &[Pushed]) -> String {
    let line = |it: &Pushed| {
        let said = it.pull_request.iter().chain(&it.note).map(|it| format!(": {it}"));
        format!("{}\n", plain(&format!("remote: {}{}", it.branch, said.collect::<String>())))
    };
    all.iter().map(line).collect()
}

fn place_of(failure: &trellis_sandbox::Failure) -> String {
    match (&failure.path, failure.line) {
        (Some(path), Some(line)) => format!(" ({path}:{line})"),
        (Some(path), None) => format!(" ({path})"),
        (None, _) => String::new(),
    }
}

/// Returns the summary after all tests ended; tests in `notify` were shown already.
pub(crate) fn summary(report: &Report, notify: &HashSet<String>) -> String {
    let mut out = String::new();
    for test in report.tests.iter().filter(|it| !notify.contains(&it.id)) {
        out += &format!("{}\n", line(test));
    }
    for failure in &report.collection_errors {
        out += &format!("not collected:{}\n", failed(failure));
    }
    for id in report.not_run.iter().take(EXPLAINED) {
        out += &format!("not run  {}\n", plain(id));
    }
    out += &last_words(report);
    for (path, file) in report.coverage.iter().flat_map(|it| &it.files) {
        let (executed, all) = (file.executed.len(), file.executed.len() + file.missing.len());
        out += &format!("coverage {path}: {executed} of {all} lines\n");
    }
    report.engine.iter().for_each(|it| out += &format!("ran on {}\n", plain(it)));
    report.notes.iter().for_each(|note| out += &format!("note: {}\n", plain(note)));
    let loose: Vec<&str> =
        report.limits.iter().filter(|it| !it.enforced).map(|it| it.name).collect();
    if !loose.is_empty() {
        out +=
            &format!("not enforced on this machine: {}; see `trellis doctor`\n", loose.join(", "));
    }
    let name = outcome(&report.outcome);
    let words = match report.outcome {
        Outcome::NoTests => "no tests found",
        Outcome::CollectionError => "cannot be collected",
        _ => name,
    };
    out += &color::state(name).replace(name, words);
    out += &counts(report);
    reason(report).iter().for_each(|reason| out += &format!(": {}", plain(reason)));
    // pytest exits with 5 if it collected no tests.
    if report.outcome == Outcome::NoTests && report.exit_code == Some(5) {
        out += &format!("\nhint: {NO_TESTS_HINT}");
    }
    out
}

/// Returns the end of the output of a session that crashed or found no tests.
fn last_words(report: &Report) -> String {
    let ended = matches!(report.outcome, Outcome::Crashed { .. } | Outcome::NoTests);
    let said = if report.stderr.trim().is_empty() { &report.stdout } else { &report.stderr };
    let lines: Vec<&str> = said.lines().filter(|it| !it.trim().is_empty()).collect();
    let tail = &lines[lines.len().saturating_sub(EXPLAINED)..];
    if ended {
        tail.iter().map(|it| format!("  | {}\n", plain(it))).collect()
    } else {
        String::new()
    }
}

fn counts(report: &Report) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for name in report.tests.iter().map(|it| test_outcome(it.outcome)) {
        match counts.iter_mut().find(|(it, _)| *it == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    if !report.not_run.is_empty() {
        counts.push(("not run".to_owned(), report.not_run.len()));
    }
    let words: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let seconds = report.duration.as_secs_f64();
    if words.is_empty() {
        String::new()
    } else {
        format!(" ({} in {seconds:.2} s)", words.join(", "))
    }
}
