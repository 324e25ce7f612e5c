//! The last resort: parses the result of a run from its output alone.
//!
//! Text decides little. A run passes only with status 0 and a summary that counts passed tests and
//! no failed one; with any other status it never passes, whatever the text contains.

use super::{CommandResult, ParsedReport, ansi, cut};
use crate::report::{Failure, Outcome, TestOutcome, TestResult};

/// The counts of a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    passed: usize,
    failed: usize,
    /// Errors of loading and setup.
    errors: usize,
    skipped: usize,
}

/// Parses the output; the result always has `parsing_failed` set.
pub(super) fn read(ended: &CommandResult<'_>) -> ParsedReport {
    let text = ansi::plain(&format!("{}\n{}", ended.stdout, ended.stderr));
    let counts = counts(&text);
    let (outcome, reason) = verdict(ended.status, counts);
    let collection = outcome == Outcome::CollectionError;
    ParsedReport {
        tests: text.lines().filter_map(failed_test).collect(),
        not_run: Vec::new(),
        collection_errors: if collection { collection_errors(&text) } else { Vec::new() },
        outcome,
        reason: Some(reason),
        parsing_failed: true,
    }
}

fn verdict(status: Result<i32, i32>, counts: Option<Counts>) -> (Outcome, String) {
    let code = match status {
        Ok(code) => code,
        Err(signal) => {
            let outcome = Outcome::Crashed { signal: Some(signal), exit_code: None };
            return (outcome, format!("the test process died of signal {signal}"));
        }
    };
    let crashed = Outcome::Crashed { signal: None, exit_code: Some(code) };
    let Some(Counts { passed, failed, errors, skipped }) = counts else {
        let outcome = if code == 1 { Outcome::Failed } else { crashed };
        return (outcome, format!("the status was {code} and the output holds no known summary"));
    };
    let reported = format!(
        "the output counts {passed} passed, {failed} failed, {errors} errors, {skipped} skipped; the status was {code}"
    );
    let outcome = match code {
        0 if failed + errors > 0 => Outcome::Failed,
        0 if passed > 0 => Outcome::Passed,
        0 | 5 if passed + failed + errors == 0 => Outcome::NoTests,
        1 | 2 if errors > 0 && passed + failed == 0 => Outcome::CollectionError,
        1 | 2 => Outcome::Failed,
        _ => crashed,
    };
    (outcome, reported)
}

/// Returns the last summary of each kind; several kinds are added up, as for a script that runs two
/// tools.
fn counts(text: &str) -> Option<Counts> {
    let last = |read: fn(&str) -> Option<Counts>| text.lines().rev().find_map(read);
    let found = [last(pytest), last(node), unittest(text), go(text)];
    found.into_iter().flatten().reduce(|sum, one| Counts {
        passed: sum.passed + one.passed,
        failed: sum.failed + one.failed,
        errors: sum.errors + one.errors,
        skipped: sum.skipped + one.skipped,
    })
}

/// Parses `3 failed, 2 passed`, with the separator that `parts` was split at. `None` if a part is
/// no count.
fn listed<'a>(parts: impl Iterator<Item = &'a str>) -> Option<Counts> {
    let mut counts = Counts::default();
    for part in parts {
        let (number, what) = part.trim().split_once(' ')?;
        let number: usize = number.parse().ok()?;
        match what.trim() {
            "passed" | "xpassed" => counts.passed += number,
            "failed" => counts.failed += number,
            "error" | "errors" => counts.errors += number,
            "skipped" | "xfailed" | "todo" | "expected fail" => counts.skipped += number,
            "total" | "deselected" | "warning" | "warnings" => {}
            _ => return None,
        }
    }
    Some(counts)
}

/// Parses `===== 3 failed, 2 passed in 0.12s =====` or `no tests ran in 0.01s`.
fn pytest(line: &str) -> Option<Counts> {
    let (parts, time) = line.trim_matches(['=', ' ']).rsplit_once(" in ")?;
    time.starts_with(|it: char| it.is_ascii_digit()).then_some(())?;
    if parts == "no tests ran" { Some(Counts::default()) } else { listed(parts.split(',')) }
}

/// Parses the summary of jest, `Tests:       1 failed, 2 passed, 3 total`, or of vitest,
/// `Tests  1 failed | 2 passed (3)`.
fn node(line: &str) -> Option<Counts> {
    let rest = line.trim_start().strip_prefix("Tests")?;
    match rest.strip_prefix(':') {
        Some(rest) => listed(rest.split(',')),
        None if rest.trim() == "no tests" => Some(Counts::default()),
        None => listed(rest.strip_prefix("  ")?.rsplit_once(" (")?.0.split('|')),
    }
}

/// Parses `Ran 3 tests in 0.001s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
fn unittest(text: &str) -> Option<Counts> {
    let mut lines = text.lines().rev();
    let end = lines.by_ref().find(|line| is_unittest_end(line))?;
    let ran = lines.find_map(|line| line.strip_prefix("Ran ")?.split(' ').next()?.parse().ok())?;
    let mut counts = Counts::default();
    let inside = end.split_once(" (").map_or("", |(_, rest)| rest.trim_end_matches(')'));
    for (what, number) in inside.split(", ").filter_map(|part| part.split_once('=')) {
        let number: usize = number.parse().ok()?;
        match what {
            "failures" | "unexpected successes" => counts.failed += number,
            "errors" => counts.errors += number,
            _ => counts.skipped += number,
        }
    }
    let other = counts.failed + counts.errors + counts.skipped;
    Some(Counts { passed: usize::saturating_sub(ran, other), ..counts })
}

fn is_unittest_end(line: &str) -> bool {
    let word = line.split(" (").next().unwrap_or(line);
    matches!(word, "OK" | "FAILED" | "NO TESTS RAN")
}

/// Counts the lines that go prints per package without records: `ok` or `FAIL`, a tab, its name, a
/// tab, the time.
fn go(text: &str) -> Option<Counts> {
    let mut counts = None;
    for line in text.lines() {
        let mut add = |change: fn(&mut Counts)| change(counts.get_or_insert_default());
        if line.starts_with("ok  \t") {
            let tests = !line.contains("[no tests to run]");
            add(if tests { |it| it.passed += 1 } else { |it| it.skipped += 1 });
        } else if line.starts_with("FAIL\t") && line.ends_with(" failed]") {
            add(|it| it.errors += 1);
        } else if line.starts_with("FAIL\t") {
            add(|it| it.failed += 1);
        }
    }
    counts
}

/// Parses a line that names a failed test: pytest's `FAILED a.py::test - message`, unittest's
/// `FAIL: test_a (m.Test.test_a)`, go's `--- FAIL: TestA (0.00s)`.
fn failed_test(line: &str) -> Option<TestResult> {
    let (id, message) = if let Some(rest) = line.strip_prefix("FAILED ") {
        rest.split_once(" - ").unwrap_or((rest, "")) // a ` - ` in a title makes the id short
    } else if let Some(rest) = line.strip_prefix("FAIL: ") {
        (rest, "")
    } else {
        (line.trim_start().strip_prefix("--- FAIL: ")?.rsplit_once(" (")?.0, "")
    };
    if line.starts_with("FAILED ") && !id.contains("::") {
        return None;
    }
    let failure = failure(message, None);
    Some(TestResult {
        path: id.split_once("::").map_or("", |(path, _)| path).to_owned(),
        id: id.to_owned(),
        outcome: TestOutcome::Failed,
        duration: std::time::Duration::ZERO,
        line: None,
        reason: None,
        failure: Some(failure),
        stdout: String::new(),
        stderr: String::new(),
        log: String::new(),
        subtests: Vec::new(),
    })
}

fn failure(message: &str, path: Option<&str>) -> Failure {
    Failure {
        exception: "Failed".to_owned(),
        message: message.to_owned(),
        path: path.map(str::to_owned),
        ..Failure::default()
    }
}

/// Parses pytest's `ERROR a.py - message` and unittest's
/// `ERROR: test_a (unittest.loader._FailedTest.test_a)`; without such a line, the whole text is one
/// failure.
fn collection_errors(text: &str) -> Vec<Failure> {
    let named = text.lines().filter_map(|line| {
        let rest = line.strip_prefix("ERROR ").or_else(|| line.strip_prefix("ERROR: "))?;
        let (path, message) = rest.split_once(" - ").unwrap_or((rest, ""));
        Some(failure(message, Some(path)))
    });
    let named: Vec<Failure> = named.collect();
    if named.is_empty() { vec![failure(&cut(text.trim()), None)] } else { named }
}
