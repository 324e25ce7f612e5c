//! Converts go's output on tests and packages to results.

use std::{collections::HashMap, path::Path, time::Duration};

use super::{
    CommandResult, cut,
    go::{GoStatus, Package, Test},
    go_build,
    judge::Records,
    stack,
};
use crate::report::{Comparison, Failure, Frame, TestOutcome, TestResult};

/// Adds the results of `package`.
pub(super) fn add(
    ended: &CommandResult<'_>,
    package: &Package,
    builds: &HashMap<String, String>,
    records: &mut Records,
) {
    let folder = folder(&package.name, ended.go_module);
    if package.unbuilt {
        records.collection_errors.push(go_build::failure(ended.root, package, &folder, builds));
        return;
    }
    let timed_out = package.tests.iter().find(|it| it.output.contains(TIMED_OUT));
    for test in &package.tests {
        match outcome(test, package, timed_out) {
            Some(outcome) => {
                records.tests.push(result(ended.root, test, outcome, package, &folder));
            }
            None => records.not_run.push(id(&folder, test)),
        }
    }
    let failed = package.tests.iter().any(|test| test.word == Some(GoStatus::Fail));
    match package.word {
        Some(GoStatus::Fail) if package.tests.is_empty() => {
            records.collection_errors.push(go_build::start_failure(ended.root, package, &folder));
        }
        Some(GoStatus::Fail) if !failed => {
            records.beyond_tests = Some(format!("package {folder} failed as a whole"));
        }
        Some(GoStatus::Pass) if !package.printed_pass() => {
            let problem =
                "ended before go's own last line, which happens when code ends the process";
            records.incomplete = Some(format!("package {folder} {problem}"));
        }
        None => records.incomplete = Some(format!("package {folder} has no final result")),
        _ => {}
    }
}

const TIMED_OUT: &str = "panic: test timed out after ";

/// Returns the package's folder below the root of the module, `.` for the root.
fn folder(package: &str, module: Option<&str>) -> String {
    let below = module.and_then(|module| package.strip_prefix(module));
    match below.map(|rest| rest.strip_prefix('/').unwrap_or(rest)) {
        Some("") => ".".to_owned(),
        Some(rest) => rest.to_owned(),
        None => package.to_owned(),
    }
}

fn id(folder: &str, test: &Test) -> String {
    format!("{folder}::{}", test.name)
}

/// Returns the outcome; `None` for a test that did not finish and did not cause the end of the run.
fn outcome(test: &Test, package: &Package, timed_out: Option<&Test>) -> Option<TestOutcome> {
    let word = test.word.or_else(|| word_in_output(test).filter(|_| package.printed_last_line()));
    Some(match word {
        Some(GoStatus::Pass) => TestOutcome::Passed,
        Some(GoStatus::Skip) => TestOutcome::Skipped,
        Some(GoStatus::Fail) if test.output.contains(TIMED_OUT) => TestOutcome::TimedOut,
        Some(GoStatus::Fail) => TestOutcome::Failed,
        None if timed_out.is_some_and(|it| is_or_holds(test, it)) => TestOutcome::TimedOut,
        None if test.paused || package.word == Some(GoStatus::Pass) || timed_out.is_some() => {
            return None;
        }
        None => TestOutcome::Crashed,
    })
}

fn is_or_holds(test: &Test, other: &Test) -> bool {
    let rest = other.name.strip_prefix(test.name.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Finds the status of a test in its output: before 1.20, go misses its own last line on a test
/// whose output does not end with a newline.
fn word_in_output(test: &Test) -> Option<GoStatus> {
    let last = test.output.lines().last()?;
    let says = |word: &str| last.contains(&format!("--- {word}: {} (", test.name));
    [("PASS", GoStatus::Pass), ("SKIP", GoStatus::Skip)]
        .into_iter()
        .find_map(|(text, word)| says(text).then_some(word))
}

fn result(
    root: &Path,
    test: &Test,
    outcome: TestOutcome,
    package: &Package,
    folder: &str,
) -> TestResult {
    let lines = || test.output.lines().filter(|line| !is_frame(line, &test.name));
    let said: String = lines().flat_map(|line| [line, "\n"]).collect();
    let log = logged(folder, &said);
    let place = log.first().map(|entry| entry.path.clone());
    let failure = match outcome {
        TestOutcome::Passed | TestOutcome::Skipped => None,
        TestOutcome::Crashed if !said.contains("panic: ") => Some(crash(&said)),
        _ => Some(failure(root, test, &said, package, folder)),
    };
    TestResult {
        id: id(folder, test),
        outcome,
        duration: Duration::try_from_secs_f64(test.seconds).unwrap_or_default(),
        path: place.filter(|path| path.ends_with("_test.go")).unwrap_or(folder.to_owned()),
        line: None,
        reason: (outcome == TestOutcome::Skipped).then(|| messages(&log)),
        failure,
        stdout: cut(&said),
        stderr: String::new(),
        log: String::new(),
        subtests: Vec::new(),
    }
}

/// Returns whether a line is one that go writes around tests, such as `=== RUN   TestX`.
fn is_frame(line: &str, name: &str) -> bool {
    const MARKS: [&str; 4] = ["=== RUN   ", "=== PAUSE ", "=== CONT  ", "=== NAME  "];
    let line = line.trim_start();
    MARKS.iter().any(|mark| line.starts_with(mark))
        || line.strip_prefix("--- ").is_some_and(|rest| rest.contains(&format!(": {name} (")))
}

/// A log entry, `    cart_test.go:16: message`, with further lines of the message below.
struct Entry {
    path: String,
    line: u32,
    message: String,
}

fn logged(folder: &str, text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for line in text.lines() {
        let more = line.strip_prefix("        ");
        match (entry(folder, line), more, entries.last_mut()) {
            (Some(entry), ..) => entries.push(entry),
            (None, Some(more), Some(last)) => last.message += &format!("\n{more}"),
            _ => {}
        }
    }
    entries
}

fn entry(folder: &str, line: &str) -> Option<Entry> {
    let (place, message) = line.strip_prefix("    ")?.trim_start().split_once(": ")?;
    let (file, number) = place.rsplit_once(':')?;
    if !file.ends_with(".go") || file.contains(char::is_whitespace) {
        return None;
    }
    let path = if folder == "." { file.to_owned() } else { format!("{folder}/{file}") };
    Some(Entry { path, line: number.parse().ok()?, message: message.to_owned() })
}

fn messages(log: &[Entry]) -> String {
    log.iter().map(|entry| entry.message.as_str()).collect::<Vec<_>>().join("\n")
}

fn failure(root: &Path, test: &Test, said: &str, package: &Package, folder: &str) -> Failure {
    if said.contains("panic: ") {
        return panicked(root, said);
    }
    // Without marks on the lines, the last entry is most likely the one that ended the test.
    let marked = logged(folder, &test.errors);
    let all = logged(folder, said);
    let (place, log) = match marked.first() {
        Some(first) => (Some(first), &marked),
        None => (all.last(), &all),
    };
    let frame = place.map(|it| Frame {
        path: it.path.clone(),
        line: it.line,
        function: test.name.split('/').next().unwrap_or_default().to_owned(),
        inside: true,
    });
    let comparison = example(said);
    let message = match (log.is_empty(), &comparison) {
        (false, _) => messages(log),
        (true, Some(_)) => "the example printed something else".to_owned(),
        (true, None) => without_words(test, package),
    };
    Failure {
        exception: "Failed".to_owned(),
        message,
        path: frame.as_ref().map(|frame| frame.path.clone()),
        line: frame.as_ref().map(|frame| frame.line),
        frames: frame.into_iter().collect(),
        collecting: None,
        traceback: cut(said),
        comparison,
        missing: None,
    }
}

fn crash(said: &str) -> Failure {
    Failure {
        exception: "Crash".to_owned(),
        message: "the process ended before the test did".to_owned(),
        traceback: cut(said),
        ..Failure::default()
    }
}

fn without_words(test: &Test, package: &Package) -> String {
    let below = format!("{}/", test.name);
    let failed = |it: &&Test| {
        it.name.starts_with(&below)
            && (it.word == Some(GoStatus::Fail) || it.output.contains(TIMED_OUT))
    };
    let subtests: Vec<&str> =
        package.tests.iter().filter(failed).map(|it| &it.name[below.len()..]).collect();
    match subtests.as_slice() {
        [] => "the test gave no reason".to_owned(),
        some => format!("subtests failed: {}", some.join(", ")),
    }
}

/// Parses `got:` and `want:` of an example function.
fn example(said: &str) -> Option<Comparison> {
    let (actual, expected) = said.strip_prefix("got:\n")?.split_once("\nwant:\n")?;
    let (actual, expected) = (actual.to_owned(), expected.trim_end().to_owned());
    Some(Comparison { operator: "==".to_owned(), actual, expected })
}

pub(super) fn panicked(root: &Path, said: &str) -> Failure {
    let start = said.find("panic: ").unwrap_or_default();
    let first = said[start..].lines().next().unwrap_or_default();
    let message = first.trim_start_matches("panic: ").split(" [recovered").next().unwrap_or(first);
    let timed_out = first.starts_with(TIMED_OUT);
    let frames = stack::go(root, said, timed_out);
    let place = frames.iter().rev().find(|frame| frame.inside);
    Failure {
        exception: if timed_out { "Timeout" } else { "panic" }.to_owned(),
        message: message.to_owned(),
        path: place.map(|frame| frame.path.clone()),
        line: place.map(|frame| frame.line),
        traceback: cut(&said[start..]),
        frames,
        ..Failure::default()
    }
}
