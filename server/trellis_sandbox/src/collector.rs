//! Collects the reporter's records into test results.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use crate::{
    events::{
        Doing, Event, WireFailure, WireFunction, WireOutcome, WireSubtest, WireTest, WireTrialEnd,
        WireTrialOutcome, WireTrialTest,
    },
    report::{
        Activity, Coverage, Execution, Failure, FileCoverage, FunctionCoverage, Outcome, StoppedAt,
        Subtest, TestOutcome, TestResult, TestTrace,
    },
    tracebacks::{ProjectPaths, failing_place},
    traces,
    trials::{TrialEnd, TrialOutcome, TrialResult, TrialTest},
};

/// Everything the reporter has sent so far.
#[derive(Debug)]
pub(crate) struct ResultCollector {
    pub(crate) places: ProjectPaths,
    pub(crate) tests: Vec<TestResult>,
    pub(crate) trials: Vec<TrialResult>,
    pub(crate) collected: Vec<String>,
    pub(crate) deselected: Vec<String>,
    pub(crate) limited_to: Vec<String>,
    pub(crate) collection_errors: Vec<Failure>,
    /// The current activity; `None` until the first record of a phase.
    pub(crate) activity: Option<Activity>,
    /// The time after which the current test ends itself; zero if it has no such limit.
    pub(crate) own_time: Duration,
    pub(crate) internal_error: Option<Failure>,
    pub(crate) interrupted: Option<String>,
    pub(crate) finished: Option<i32>,
    /// The number of the next record.
    count: u64,
    /// True if a number was skipped.
    pub(crate) miscounted: bool,
    /// A record with our token that cannot be parsed and was not repeated.
    pub(crate) broken: Option<String>,
    /// Executed lines by path and test, for files whose own record is still to come.
    lines_of_tests: BTreeMap<String, BTreeMap<String, Vec<u32>>>,
    /// A description of what the code under test has changed.
    pub(crate) tampered: Option<String>,
    token: String,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) execution: Execution,
    /// True if `execution` is complete.
    pub(crate) is_recorded: bool,
    pub(crate) traces: BTreeMap<String, TestTrace>,
    pub(crate) notes: Vec<String>,
    /// The program that could not be started, and the reason.
    pub(crate) not_started: Option<(String, String)>,
    /// The first line that is not a record of the reporter.
    pub(crate) garbled: Option<String>,
}

impl ResultCollector {
    /// Makes an empty collector; every record begins with `token`.
    pub(crate) fn new(places: ProjectPaths, token: String) -> ResultCollector {
        ResultCollector {
            places,
            token,
            count: 0,
            miscounted: false,
            tampered: None,
            tests: Vec::new(),
            trials: Vec::new(),
            collected: Vec::new(),
            deselected: Vec::new(),
            limited_to: Vec::new(),
            collection_errors: Vec::new(),
            activity: None,
            own_time: Duration::ZERO,
            internal_error: None,
            interrupted: None,
            finished: None,
            coverage: None,
            execution: Execution::default(),
            is_recorded: false,
            traces: BTreeMap::new(),
            notes: Vec::new(),
            not_started: None,
            garbled: None,
            broken: None,
            lines_of_tests: BTreeMap::new(),
        }
    }

    /// Takes in one line. Returns true when a new phase begins, that is, when a fresh deadline
    /// applies.
    pub(crate) fn take(&mut self, line: &[u8]) -> bool {
        let Some(record) = line.strip_prefix(self.token.as_bytes()) else {
            let text = line.strip_suffix(b"\n").unwrap_or(line);
            // The line was cut off within or before the token; its record is sent again.
            if !self.token.as_bytes().starts_with(text) {
                self.garbled.get_or_insert(format!("no token: {}", shown(line)));
            }
            return false;
        };
        match numbered(record) {
            // A repeated record: its sender was interrupted after all of it had been sent.
            Ok((number, _)) if number < self.count => false,
            Ok((number, event)) => {
                match number == self.count {
                    true => self.broken = None,
                    false => self.miscounted = true,
                }
                self.count = number + 1;
                self.apply(event)
            }
            // Only the reporter knows the token. A record that was cut off is sent again whole.
            Err(fault) => {
                self.broken.get_or_insert(format!("{fault}: {}", shown(record)));
                false
            }
        }
    }

    fn apply(&mut self, event: Event) -> bool {
        match event {
            Event::Phase { doing, id, seconds } => {
                self.own_time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
                self.activity = Some(match doing {
                    Doing::Start => Activity::Starting,
                    Doing::Collect => Activity::Collecting(id),
                    Doing::Test => Activity::Testing(id),
                    Doing::Finish => Activity::Finishing,
                });
                return true;
            }
            Event::Collected { ids } => self.collected.extend(ids),
            Event::Deselected { ids } => self.deselected.extend(ids),
            Event::Limited { paths } => self.limited_to = paths,
            Event::CollectionError { path, failure } => {
                let path = self.places.relative(&path).unwrap_or(path);
                let collecting = Some(path.clone()).filter(|it| !it.is_empty());
                let failure = self.failure(failure, Some((path, None)));
                self.collection_errors.push(Failure { collecting, ..failure });
            }
            Event::Test(test) => {
                let result = self.result(*test);
                self.tests.push(result);
            }
            Event::InternalError { failure } => {
                self.internal_error = Some(self.failure(failure, None))
            }
            Event::Interrupted { message } => self.interrupted = Some(message),
            Event::CoverageMissing { message } => self.notes.push(format!(
                "lines are not measured: coverage.py does not work in this run ({message})"
            )),
            Event::CoverageFailed { path, message } => {
                let shown = self.places.relative(&path).unwrap_or_else(|| path.clone());
                // The tree may be a copy whose path means nothing to people.
                self.notes
                    .push(format!("no coverage for {shown}: {}", message.replace(&path, &shown)));
            }
            Event::CoverageOfTests { path, tests } => {
                self.lines_of_tests.entry(path).or_default().extend(tests);
            }
            Event::Coverage { path, executed, missing, functions } => {
                let tests = self.lines_of_tests.remove(&path).unwrap_or_default();
                let path = self.places.relative(&path).unwrap_or(path);
                let functions = functions.into_iter().map(|it| function(it, &tests)).collect();
                let file = FileCoverage { executed, missing, tests, functions };
                self.coverage.get_or_insert_default().files.insert(path, file);
            }
            Event::ExecutedByTests { path, tests } => {
                if let Some(path) = self.places.relative(&path) {
                    self.execution.add_lines(&path, tests);
                }
            }
            Event::UsedByTest { test, files, folders, written, named_modules, processes } => {
                let of_test = self.execution.tests.entry(test).or_default();
                (of_test.files, of_test.folders) = (files, folders);
                (of_test.written, of_test.processes) = (written, processes);
                of_test.named_modules = named_modules;
            }
            Event::ExecutionRecorded => self.is_recorded = true,
            Event::Trace(trace) => {
                let id = trace.id.clone();
                self.traces.insert(id, traces::relative(*trace, &self.places));
            }
            Event::NotStarted { program, message } => {
                self.not_started = Some((program, message));
            }
            Event::Tampered { what } => {
                self.tampered.get_or_insert(what);
            }
            Event::Trial { edit, how, tests, still_reached } => {
                let (end, tests) = (end_of(how), tests.into_iter().map(trial_test).collect());
                self.trials.push(TrialResult { edit, end, tests, still_reached });
                // The next one may take as long again.
                return true;
            }
            Event::Finish { status } => self.finished = Some(status),
        }
        false
    }

    fn result(&self, test: WireTest) -> TestResult {
        let place = (test.path.clone(), test.line);
        TestResult {
            id: test.id,
            outcome: outcome_of(test.outcome),
            duration: Duration::try_from_secs_f64(test.seconds).unwrap_or_default(),
            path: test.path,
            line: test.line,
            reason: test.reason,
            failure: test.failure.map(|failure| self.failure(failure, Some(place.clone()))),
            stdout: test.stdout,
            stderr: test.stderr,
            log: test.log,
            subtests: test.subtests.into_iter().map(|it| self.subtest(it, &place)).collect(),
        }
    }

    fn subtest(&self, wire: WireSubtest, test: &(String, Option<u32>)) -> Subtest {
        Subtest {
            name: wire.name,
            outcome: outcome_of(wire.outcome),
            failure: wire.failure.map(|failure| self.failure(failure, Some(test.clone()))),
        }
    }

    /// Converts a failure. `fallback` is the place to show if no frame lies inside the tree.
    fn failure(&self, wire: WireFailure, fallback: Option<(String, Option<u32>)>) -> Failure {
        let frames = self.places.stack(wire.frames);
        let syntax =
            wire.at.and_then(|(path, line)| Some((self.places.relative(&path)?, Some(line))));
        let deepest = failing_place(&frames).map(|frame| (frame.path.clone(), Some(frame.line)));
        let fallback =
            fallback.map(|(path, line)| (self.places.relative(&path).unwrap_or(path), line));
        let (path, line) = syntax.or(deepest).or(fallback).unzip();
        Failure {
            exception: wire.exception,
            message: wire.message,
            frames,
            path,
            line: line.flatten(),
            collecting: None,
            traceback: wire.traceback,
            missing: wire.missing.map(Into::into),
            comparison: wire.comparison.map(Into::into),
        }
    }

    /// Returns the ids that were collected and have no result.
    pub(crate) fn not_run(&self) -> impl Iterator<Item = &String> {
        let finished: HashSet<&str> = self.tests.iter().map(|test| test.id.as_str()).collect();
        self.collected.iter().filter(move |id| !finished.contains(id.as_str()))
    }

    /// Adds what the reporter could no longer send: the test or import that was cut short, and the
    /// error of a session that did not begin.
    pub(crate) fn close(
        &mut self,
        outcome: &Outcome,
        reason: Option<&str>,
        stuck: Option<&StoppedAt>,
        stderr: &str,
    ) {
        if *outcome == Outcome::CollectionError && self.collection_errors.is_empty() {
            self.collection_errors.push(usage_error(stderr));
        }
        let Some(stuck) = stuck else { return };
        let timed_out = *outcome == Outcome::TimedOut;
        let failure = cut_short(timed_out, reason, stuck);
        match &stuck.during {
            Activity::Testing(id) if self.tests.last().is_none_or(|test| test.id != *id) => {
                let outcome = if timed_out { TestOutcome::TimedOut } else { TestOutcome::Crashed };
                self.tests.push(unfinished_test(id, outcome, failure));
            }
            Activity::Collecting(path) => {
                let collecting = Some(path.clone());
                let path = failure.path.clone().or_else(|| collecting.clone());
                self.collection_errors.push(Failure { path, collecting, ..failure });
            }
            Activity::Testing(_) | Activity::Starting | Activity::Finishing => {}
        }
    }
}

/// The fault of a record that has our token.
#[derive(Debug, thiserror::Error)]
enum RecordError {
    #[error("no number")]
    NoNumber,
    #[error(transparent)]
    NoEvent(#[from] serde_json::Error),
}

/// Parses the part of a record after its token: its number and its event.
fn numbered(record: &[u8]) -> Result<(u64, Event), RecordError> {
    let record = record.strip_prefix(b" ").unwrap_or(record);
    let digits = record.iter().take_while(|it| it.is_ascii_digit()).count();
    let number = std::str::from_utf8(&record[..digits]).ok().and_then(|it| it.parse().ok());
    let number = number.ok_or(RecordError::NoNumber)?;
    Ok((number, serde_json::from_slice(&record[digits..])?))
}

fn end_of(how: WireTrialEnd) -> TrialEnd {
    match how {
        WireTrialEnd::Ended | WireTrialEnd::Unedited => TrialEnd::Ended,
        WireTrialEnd::Died => TrialEnd::Died,
        WireTrialEnd::Late => TrialEnd::Late,
        WireTrialEnd::Unchanged => TrialEnd::Unchanged,
        WireTrialEnd::Invalid => TrialEnd::Invalid,
        WireTrialEnd::Unsupported => TrialEnd::Unsupported,
    }
}

fn trial_test((test, outcome, exception, message): WireTrialTest) -> TrialTest {
    let outcome = match outcome {
        WireTrialOutcome::Passed => TrialOutcome::Passed,
        WireTrialOutcome::Failed => TrialOutcome::Failed,
        WireTrialOutcome::Skipped => TrialOutcome::Skipped,
    };
    TrialTest { test, outcome, exception, message }
}

/// Returns the start of a line, for people.
fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(200)]).trim_end().to_owned()
}

/// Converts the coverage of a function. `tests`: the lines that each test executed, ascending.
fn function(
    (name, first, last, body): WireFunction,
    tests: &BTreeMap<String, Vec<u32>>,
) -> FunctionCoverage {
    let inside = |lines: &Vec<u32>| {
        let next = lines.partition_point(|line| *line < body);
        lines.get(next).is_some_and(|line| *line <= last)
    };
    let tests = tests.iter().filter(|(_, lines)| inside(lines)).map(|(id, _)| id.clone());
    FunctionCoverage { name, first, last, tests: tests.collect() }
}

fn usage_error(stderr: &str) -> Failure {
    let message =
        stderr.lines().filter(|line| !line.trim().is_empty()).collect::<Vec<_>>().join("\n");
    Failure {
        exception: "UsageError".to_owned(),
        message,
        traceback: stderr.to_owned(),
        ..Failure::default()
    }
}

fn cut_short(timed_out: bool, reason: Option<&str>, stuck: &StoppedAt) -> Failure {
    let place = failing_place(&stuck.frames);
    Failure {
        exception: if timed_out { "Timeout" } else { "Crash" }.to_owned(),
        message: reason.unwrap_or("the run was ended from outside").to_owned(),
        path: place.map(|frame| frame.path.clone()),
        line: place.map(|frame| frame.line),
        frames: stuck.frames.clone(),
        ..Failure::default()
    }
}

fn unfinished_test(id: &str, outcome: TestOutcome, failure: Failure) -> TestResult {
    let path = id.split("::").next().unwrap_or(id).to_owned();
    TestResult {
        id: id.to_owned(),
        outcome,
        duration: Duration::ZERO,
        path,
        line: None,
        reason: None,
        failure: Some(failure),
        stdout: String::new(),
        stderr: String::new(),
        log: String::new(),
        subtests: Vec::new(),
    }
}

fn outcome_of(outcome: WireOutcome) -> TestOutcome {
    match outcome {
        WireOutcome::Passed => TestOutcome::Passed,
        WireOutcome::Failed => TestOutcome::Failed,
        WireOutcome::Error => TestOutcome::Error,
        WireOutcome::Skipped => TestOutcome::Skipped,
        WireOutcome::Xfailed => TestOutcome::XFailed,
        WireOutcome::Xpassed => TestOutcome::XPassed,
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, process::Command};

    use super::*;
    use crate::streams::Lines;

    fn collector() -> ResultCollector {
        ResultCollector::new(ProjectPaths::new(Path::new("/t"), None), "token".to_owned())
    }

    /// A test's own signal handler may raise an exception inside the reporter. Whatever it
    /// interrupts, no record that had begun is lost, none counts twice, and no test is blamed.
    #[test]
    fn a_record_that_is_interrupted_comes_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let source = include_str!("worker/channel.py");
        fs::write(folder.path().join("channel.py"), source).expect("written");
        let driver = include_str!("../tests/interrupted.py");
        let ran = Command::new("python3").args(["-c", driver]).arg(folder.path()).output();
        let ran = ran.expect("python3");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        let (mut attempts, mut interrupted) = (0, 0);
        for line in String::from_utf8(ran.stdout).expect("text").lines() {
            let result: serde_json::Value = serde_json::from_str(line).expect("JSON");
            let sent = result["sent"].as_str().expect("text");
            let mut collector = collector();
            let mut lines = Lines::default();
            lines.split(sent.as_bytes(), |line| {
                collector.take(line);
            });
            assert!(lines.rest().is_empty(), "{sent}");
            assert_eq!((&collector.garbled, &collector.broken), (&None, &None), "{sent}");
            assert!(!collector.miscounted, "{sent}");
            assert_eq!(collector.finished, Some(0), "{sent}");
            // An interruption before a record had begun loses nothing.
            let all = collector.collected == ["second", "third"];
            assert!(all || collector.collected.is_empty() && result["raised"] == true, "{sent}");
            attempts += 1;
            interrupted += usize::from(all && result["raised"] == true);
        }
        assert!(attempts > 100 && interrupted > 100, "{interrupted} of {attempts}");
    }

    #[test]
    fn a_foreign_line_is_distinguished_from_a_broken_own_line() {
        let finish = b"token 0 {\"event\":\"finish\",\"status\":0}\n".as_slice();
        let after = b"token 1 {\"event\":\"finish\",\"status\":0}\n".as_slice();
        // Lines, then: is one foreign, is one a broken record of ours, is one missing.
        let table: [(&[&[u8]], bool, bool, bool); 9] = [
            (&[finish], false, false, false),
            (&[finish, finish], false, false, false),
            (&[b"hello\n", finish], true, false, false),
            (&[b"toke\n", finish], false, false, false),
            (&[b"\n", finish], false, false, false),
            (&[b"token 0 {\"event\"\n", finish], false, false, false),
            (&[b"token 0 {\"event\":\"finish\",\"status\":null}\n"], false, true, false),
            (&[b"token 0 {\"event\":\"finish\",\"status\":null}\n", after], false, true, true),
            (&[after], false, false, true),
        ];
        for (lines, garbled, broken, miscounted) in table {
            let mut collector = collector();
            for line in lines {
                collector.take(line);
            }
            let found =
                (collector.garbled.is_some(), collector.broken.is_some(), collector.miscounted);
            assert_eq!(found, (garbled, broken, miscounted), "{lines:?}");
        }
    }
}
