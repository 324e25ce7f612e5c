//! Parses the JSON report that jest introduced and vitest writes as well.

use std::{path::Path, time::Duration};

use serde::Deserialize;
use serde_json::Value;

use super::{
    CommandResult, Malformed, ansi, cut,
    judge::Records,
    stack,
    tree_path::{relative, shown},
};
use crate::report::{Comparison, Failure, Frame, MissingName, TestOutcome, TestResult};

/// The differences between jest and vitest.
pub(super) struct Dialect {
    /// The outcome of a status; `None` if the test has no result.
    pub(super) outcome: fn(Status) -> Option<TestOutcome>,
    /// Parts of a failure's first line that mean a timeout.
    pub(super) timed_out: &'static [&'static str],
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    success: bool,
    num_total_tests: usize,
    num_passed_tests: usize,
    num_failed_tests: usize,
    #[serde(default)]
    was_interrupted: bool,
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: String,
    status: String,
    #[serde(default)]
    message: String,
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    #[serde(default)]
    ancestor_titles: Vec<String>,
    title: String,
    status: Status,
    duration: Option<f64>,
    location: Option<Location>,
    #[serde(default)]
    failing: bool,
    failure_messages: Option<Vec<String>>,
    /// The thrown values, as far as JSON can hold them.
    #[serde(default)]
    failure_details: Vec<Value>,
}

#[derive(Deserialize)]
struct Location {
    line: u32,
}

/// The status of a test in the report.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Status {
    Passed,
    Failed,
    Pending,
    Skipped,
    Todo,
    Disabled,
    Focused,
}

/// Returns the records of the report if its numbers agree with its lists.
pub(super) fn records(ended: &CommandResult<'_>, dialect: &Dialect) -> Result<Records, Malformed> {
    let document: Document = serde_json::from_str(ended.report.ok_or(Malformed::Absent)?)?;
    consistent(&document)?;
    let mut records = Records::default();
    if document.was_interrupted {
        records.incomplete = Some("the run was interrupted; see the output".to_owned());
    }
    for file in &document.test_results {
        let failed = file.assertion_results.iter().any(|it| it.status == Status::Failed);
        if file.status == "failed" && !failed {
            records.collection_errors.push(file_failure(ended.root, file));
        }
        let path = shown(ended.root, &file.name);
        for assertion in &file.assertion_results {
            let id = id(&path, assertion);
            match (dialect.outcome)(assertion.status) {
                Some(outcome) => {
                    records.tests.push(test(ended.root, dialect, &path, id, outcome, assertion));
                }
                None => records.not_run.push(id),
            }
        }
    }
    if !document.success {
        records.beyond_tests = Some("its report says that the run failed".to_owned());
    }
    Ok(records)
}

fn consistent(document: &Document) -> Result<(), Malformed> {
    let all = || document.test_results.iter().flat_map(|file| &file.assertion_results);
    let count = |status: Status| all().filter(|it| it.status == status).count();
    for (what, reported, counted) in [
        ("tests", document.num_total_tests, all().count()),
        ("passed tests", document.num_passed_tests, count(Status::Passed)),
        ("failed tests", document.num_failed_tests, count(Status::Failed)),
    ] {
        if reported != counted {
            let problem = format!("it counts {reported} {what} but lists {counted}");
            return Err(Malformed::Contradiction(problem));
        }
    }
    if document.success && document.num_failed_tests > 0 {
        let problem = "it lists failed tests but reports success".to_owned();
        return Err(Malformed::Contradiction(problem));
    }
    Ok(())
}

fn id(path: &str, assertion: &Assertion) -> String {
    let titles = assertion.ancestor_titles.iter().chain([&assertion.title]);
    titles.fold(path.to_owned(), |id, title| id + "::" + title)
}

fn test(
    root: &Path,
    dialect: &Dialect,
    path: &str,
    id: String,
    outcome: TestOutcome,
    assertion: &Assertion,
) -> TestResult {
    let failure = (outcome == TestOutcome::Failed).then(|| failure(root, path, assertion));
    let first = failure.as_ref().map(|it| it.message.lines().next().unwrap_or_default());
    let timed_out = first.is_some_and(|line| dialect.timed_out.iter().any(|it| line.contains(it)));
    let seconds = assertion.duration.unwrap_or_default() / 1000.0;
    TestResult {
        id,
        outcome: match outcome {
            TestOutcome::Failed if timed_out => TestOutcome::TimedOut,
            TestOutcome::Passed if assertion.failing => TestOutcome::XFailed,
            other => other,
        },
        duration: Duration::try_from_secs_f64(seconds).unwrap_or_default(),
        path: path.to_owned(),
        line: assertion.location.as_ref().map(|it| it.line),
        reason: (assertion.status == Status::Todo).then(|| "still to be written".to_owned()),
        failure: failure.map(|it| if timed_out { as_timeout(it) } else { it }),
        stdout: String::new(),
        stderr: String::new(),
        log: String::new(),
        subtests: Vec::new(),
    }
}

fn as_timeout(failure: Failure) -> Failure {
    let message = match failure.message.as_str() {
        "STACK_TRACE_ERROR" => "the test timed out".to_owned(),
        _ => failure.message,
    };
    Failure { exception: "Timeout".to_owned(), message, ..failure }
}

fn failure(root: &Path, path: &str, assertion: &Assertion) -> Failure {
    let all = assertion.failure_messages.as_deref().unwrap_or_default();
    let text = ansi::plain(all.first().map_or("", String::as_str));
    let comparison = assertion.failure_details.first().and_then(comparison);
    let line = assertion.location.as_ref().map(|it| it.line);
    let failure = error(root, &text);
    Failure {
        comparison,
        path: failure.path.or_else(|| Some(path.to_owned())),
        line: failure.line.or(line),
        traceback: cut(&ansi::plain(&all.join("\n\n"))),
        ..failure
    }
}

/// Parses an error as JavaScript prints it: `TypeError: message`, possibly of many lines, then the
/// stack.
fn error(root: &Path, text: &str) -> Failure {
    let at = |line: &&str| line.trim_start().starts_with("at ") && line.starts_with("  ");
    let words: Vec<&str> = text.lines().take_while(|line| !at(line)).collect();
    let words = words.join("\n");
    let (exception, message) = class_and_message(words.trim());
    let frames = stack::javascript(root, text);
    let place = frames.iter().rev().find(|frame| frame.inside);
    let (path, line) = place.map(|Frame { path, line, .. }| (path.clone(), *line)).unzip();
    Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        missing: missing(message),
        path,
        line,
        frames,
        ..Failure::default()
    }
}

/// Splits `TypeError: x` into `TypeError` and `x`; text without a class, as of a thrown string, is
/// an `Error`.
fn class_and_message(text: &str) -> (&str, &str) {
    let is_class = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_uppercase())
            && word.chars().all(|it| it.is_alphanumeric() || matches!(it, '_' | '$' | '.'))
            && ["Error", "Exception"].iter().any(|end| word.ends_with(end))
    };
    match text.split_once(": ") {
        Some((class, message)) if is_class(class) => (class, message.trim_start()),
        _ => ("Error", text),
    }
}

fn missing(message: &str) -> Option<MissingName> {
    if let Some((name, _)) = message.split_once(" is not defined") {
        let name = name.to_owned();
        return (!name.contains(char::is_whitespace)).then_some(MissingName::Name { name });
    }
    let rest = message.strip_prefix("Cannot find module ")?;
    let quote = rest.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
    let module = rest[1..].split(quote).next()?.to_owned();
    Some(MissingName::Module { module })
}

/// Reads both sides of a comparison, which jest's matchers leave in the error; JSON drops undefined
/// values.
fn comparison(detail: &Value) -> Option<Comparison> {
    let matcher = detail.get("matcherResult")?;
    let side = |name: &str| {
        matcher.get(name).map_or_else(|| "undefined".to_owned(), |value| cut(&value.to_string()))
    };
    let any = matcher.get("actual").or_else(|| matcher.get("expected"));
    any?;
    Some(Comparison {
        operator: matcher.get("name")?.as_str()?.to_owned(),
        actual: side("actual"),
        expected: side("expected"),
    })
}

/// Returns the failure of a file without a failed test: it could not be read or loaded, or a hook
/// around its tests failed.
fn file_failure(root: &Path, file: &File) -> Failure {
    let plain = ansi::plain(&file.message);
    let text = plain.trim().trim_start_matches("● Test suite failed to run").trim_start();
    // jest puts general advice before the error if it cannot parse the file.
    let text = text.split_once("Details:\n").map_or(text, |(_, details)| details.trim_start());
    let head = text.split("\n\n").next().unwrap_or(text);
    let failure = error(root, head);
    let path = shown(root, &file.name);
    let message = match failure.message.as_str() {
        "" => {
            "the file failed, and the report gives no reason; a hook around its tests may have \
             thrown; see the output"
        }
        message => message,
    };
    Failure {
        message: message.to_owned(),
        line: line_of(head, text).or(failure.line),
        frames: stack::javascript(root, text),
        traceback: cut(&plain),
        path: relative(root, &path),
        ..failure
    }
}

/// Returns the line in `(3:12)` or `a.js:3:12` in the head of a message, else the marked line in
/// the code below.
fn line_of(head: &str, text: &str) -> Option<u32> {
    let mut from_head = head.split([' ', '\n', '(', ')']).filter_map(|word| {
        let (before, column) = word.rsplit_once(':')?;
        let line = before.rsplit(':').next()?;
        column.parse::<u32>().ok().and(line.parse().ok())
    });
    let marked = text.lines().find_map(|line| line.trim_start().strip_prefix("> "));
    let from_code = || marked?.split('|').next()?.trim().parse().ok();
    from_head.next_back().or_else(from_code)
}
