//! Folds the reporter's records into results.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use crate::{
    events::{Doing, Event, WireFailure, WireFunction, WireOutcome, WireTest},
    frames::{Places, failing_place},
    report::{
        Activity, Coverage, Failure, FileCoverage, FunctionCoverage, Outcome, Stuck, TestOutcome,
        TestResult,
    },
};

/// Everything the reporter has said so far.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) places: Places,
    pub(crate) tests: Vec<TestResult>,
    pub(crate) collected: Vec<String>,
    pub(crate) deselected: Vec<String>,
    pub(crate) collection_errors: Vec<Failure>,
    /// None until the reporter has reported for the first time.
    pub(crate) activity: Option<Activity>,
    /// After which what is under way ends itself, if it does.
    pub(crate) own_time: Duration,
    pub(crate) internal_error: Option<Failure>,
    pub(crate) interrupted: Option<String>,
    pub(crate) finished: Option<i32>,
    /// Records so far, that of the end not counted.
    count: u64,
    /// The number of records the end speaks of is not the number seen.
    pub(crate) miscounted: bool,
    /// What code under test has changed.
    pub(crate) tampered: Option<String>,
    token: String,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) notes: Vec<String>,
    /// A program that could not be started, and why.
    pub(crate) not_started: Option<(String, String)>,
    /// The first line that was no record of ours.
    pub(crate) garbled: Option<String>,
}

impl Tally {
    /// Every record begins with `token`.
    pub(crate) fn new(places: Places, token: String) -> Tally {
        Tally {
            places,
            token,
            count: 0,
            miscounted: false,
            tampered: None,
            tests: Vec::new(),
            collected: Vec::new(),
            deselected: Vec::new(),
            collection_errors: Vec::new(),
            activity: None,
            own_time: Duration::ZERO,
            internal_error: None,
            interrupted: None,
            finished: None,
            coverage: None,
            notes: Vec::new(),
            not_started: None,
            garbled: None,
        }
    }

    /// Takes one line in. True when a new phase begins, that is when a fresh deadline applies.
    pub(crate) fn take(&mut self, line: &[u8]) -> bool {
        let record = line.strip_prefix(self.token.as_bytes());
        let parsed = record
            .ok_or("no token")
            .and_then(|record| serde_json::from_slice(record).map_err(|_| "not a record"));
        match parsed {
            Ok(event) => self.apply(event),
            Err(error) => {
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                self.garbled.get_or_insert(format!("{error}: {start}"));
                false
            }
        }
    }

    fn apply(&mut self, event: Event) -> bool {
        self.count += 1;
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
            Event::InternalError { failure } => self.internal_error = Some(self.failure(failure, None)),
            Event::Interrupted { message } => self.interrupted = Some(message),
            Event::CoverageMissing { message } => self.notes.push(format!(
                "coverage was asked for but coverage.py cannot be imported ({message}): install `coverage` in the \
                 environment the tests run in"
            )),
            Event::CoverageFailed { path, message } => {
                let shown = self.places.relative(&path).unwrap_or_else(|| path.clone());
                // The tree may be a copy whose place says nothing to anybody.
                self.notes.push(format!("no coverage for {shown}: {}", message.replace(&path, &shown)));
            }
            Event::Coverage { path, executed, missing, tests, functions } => {
                let path = self.places.relative(&path).unwrap_or(path);
                let functions = functions.into_iter().map(|it| function(it, &tests)).collect();
                let file = FileCoverage { executed, missing, tests, functions };
                self.coverage.get_or_insert_default().files.insert(path, file);
            }
            Event::NotStarted { program, message } => {
                self.not_started = Some((program, message));
            }
            Event::Tampered { what } => {
                self.tampered.get_or_insert(what);
            }
            Event::Finish { status, count } => {
                self.miscounted = count + 1 != self.count;
                self.finished = Some(status);
            }
        }
        false
    }

    fn result(&self, test: WireTest) -> TestResult {
        let place = (test.path.clone(), test.line);
        TestResult {
            id: test.id,
            outcome: match test.outcome {
                WireOutcome::Passed => TestOutcome::Passed,
                WireOutcome::Failed => TestOutcome::Failed,
                WireOutcome::Error => TestOutcome::Error,
                WireOutcome::Skipped => TestOutcome::Skipped,
                WireOutcome::Xfailed => TestOutcome::XFailed,
                WireOutcome::Xpassed => TestOutcome::XPassed,
            },
            duration: Duration::try_from_secs_f64(test.seconds).unwrap_or_default(),
            path: test.path,
            line: test.line,
            reason: test.reason,
            failure: test.failure.map(|failure| self.failure(failure, Some(place))),
            stdout: test.stdout,
            stderr: test.stderr,
        }
    }

    /// `fallback` is the place to show when no frame lies inside the tree.
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

    /// Ids that were collected and have no result.
    pub(crate) fn not_run(&self) -> impl Iterator<Item = &String> {
        let finished: HashSet<&str> = self.tests.iter().map(|test| test.id.as_str()).collect();
        self.collected.iter().filter(move |id| !finished.contains(id.as_str()))
    }

    /// Adds what the reporter could not say any more: the test or import that was cut short, and why
    /// a session did not even begin.
    pub(crate) fn close(
        &mut self,
        outcome: &Outcome,
        reason: Option<&str>,
        stuck: Option<&Stuck>,
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

/// `tests`: the lines that each executed, ascending.
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

fn cut_short(timed_out: bool, reason: Option<&str>, stuck: &Stuck) -> Failure {
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
    }
}
