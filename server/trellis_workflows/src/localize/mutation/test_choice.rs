//! The tests to run for an edit, and their time limits.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use trellis_engine::localize::{Evidence, TestEvidence};
use trellis_sandbox::{TestOutcome, TestResult};

use super::super::{INTERRUPTED, has_failed};
use super::edits::Edit;

/// Maximum numbers of failing tests in the first look at an edit: of ordinary ones, and of those
/// that never end.
const FIRST_LOOK: usize = 8;
const ENDLESS: usize = 1;
/// Maximum number of these that are the same function with other parameters.
const ALIKE: usize = 2;
/// Failing tests that take longer come later in the first look.
const SLOW: Duration = Duration::from_millis(100);
/// Maximum total duration of the passing tests of one trial, as measured in the first run.
const PASSING: Duration = Duration::from_secs(3);
/// Minimum time limit of a test in a trial.
const SHORTEST: Duration = Duration::from_millis(300);
/// The limit of a test is this many times its duration, or the usual duration of a passing test.
const TIMES: u32 = 6;

/// The tests for the edits of one function, or of the top level of one file.
#[derive(Default)]
pub(super) struct TestChoice {
    /// Failing tests that run in any case.
    pub(super) first: Vec<String>,
    /// Other failing tests that execute the function.
    pub(super) rest: Vec<String>,
    /// Quick passing tests that execute the function or read what it defines.
    pub(super) passing: Vec<String>,
    /// Number of further ones.
    pub(super) left_out: usize,
    /// Number of failing tests that execute the function.
    pub(super) concerned: usize,
}

/// A function of a file; `None` is its top level.
type Place = (usize, Option<usize>);

/// The choices for all edits.
pub(super) struct TestChoices {
    /// All failing tests, whatever they execute.
    pub(super) all: TestChoice,
    by_place: BTreeMap<Place, TestChoice>,
    places: BTreeMap<(usize, u32), Place>,
    /// Limits of tests that need other ones than the usual.
    limits: BTreeMap<String, Duration>,
    usual: Duration,
    /// The longest limit.
    pub(super) longest: Duration,
}

impl TestChoices {
    pub(super) fn new(
        evidence: &Evidence,
        edits: &[Edit],
        results: &[&TestResult],
        failed: &[&TestResult],
        longest: Duration,
    ) -> TestChoices {
        let durations: BTreeMap<&str, Duration> =
            results.iter().map(|it| (it.id.as_str(), it.duration)).collect();
        let by_id: BTreeMap<&str, &TestEvidence> =
            evidence.tests.iter().map(|it| (it.id.as_str(), it)).collect();
        let all = failing(failed);
        let (mut by_place, mut places) = (BTreeMap::new(), BTreeMap::new());
        for edit in edits {
            let place = place(evidence, edit.file, edit.mutant.line);
            places.insert((edit.file, edit.mutant.line), place);
            by_place.entry(place).or_insert_with(|| {
                let concerned = concerned(evidence, place, failed, &by_id);
                let mut choice = failing(&concerned);
                choose_passing(&mut choice, evidence, place, &durations);
                choice
            });
        }
        let usual = usual(results).clamp(SHORTEST, longest.max(SHORTEST));
        let slowest = results.iter().filter(|it| !has_failed(it)).map(|it| it.duration).max();
        // A test that fails because it waits in vain may be quick once it passes.
        let patience = (slowest.unwrap_or_default() * 2).clamp(usual, longest.max(usual));
        let limit = |it: &TestResult| {
            (it.duration * TIMES).min(if has_failed(it) { patience } else { longest })
        };
        let limits: BTreeMap<String, Duration> = (results.iter())
            .filter(|it| !is_endless(it) && limit(it) > usual)
            .map(|it| (it.id.clone(), limit(it)))
            .collect();
        let longest = limits.values().copied().max().unwrap_or(usual);
        TestChoices { all, by_place, places, limits, usual, longest }
    }

    pub(super) fn of(&self, edit: &Edit) -> &TestChoice {
        let place = self.places.get(&(edit.file, edit.mutant.line));
        place.and_then(|it| self.by_place.get(it)).unwrap_or(&self.all)
    }

    /// Returns the places with their choices, in a fixed order.
    pub(super) fn by_place(&self) -> impl Iterator<Item = (&Place, &TestChoice)> {
        self.by_place.iter()
    }

    /// Returns the place of an edit.
    pub(super) fn place(&self, edit: &Edit) -> Option<&Place> {
        self.places.get(&(edit.file, edit.mutant.line))
    }

    pub(super) fn limit(&self, id: &str) -> Duration {
        self.limits.get(id).copied().unwrap_or(self.usual)
    }
}

/// Returns the limit for tests that are not slow: most passing tests take less than half of it.
fn usual(results: &[&TestResult]) -> Duration {
    let passed = results.iter().filter(|it| it.outcome == TestOutcome::Passed);
    let mut durations: Vec<Duration> = passed.map(|it| it.duration).collect();
    durations.sort();
    durations.get(durations.len() * 9 / 10).map_or(SHORTEST, |it| *it * TIMES / 2)
}

/// Returns the function whose tests can see an edit of a line.
fn place(evidence: &Evidence, file: usize, line: u32) -> Place {
    let facts = &evidence.files[file].facts;
    (file, facts.statement_at(line).and_then(|at| facts.statements[at].function))
}

/// Returns the failing tests that execute the function, or may do so.
fn concerned<'t>(
    evidence: &Evidence,
    place: Place,
    failed: &[&'t TestResult],
    by_id: &BTreeMap<&str, &TestEvidence>,
) -> Vec<&'t TestResult> {
    let concerns = |it: &&TestResult| {
        // What other modules read of the top level is unknown.
        let test = by_id.get(it.id.as_str()).filter(|it| it.measured && place.1.is_some());
        test.is_none_or(|it| reaches(evidence, place, it))
    };
    failed.iter().copied().filter(concerns).collect()
}

/// Adds the passing tests to a choice.
fn choose_passing(
    choice: &mut TestChoice,
    evidence: &Evidence,
    place: Place,
    durations: &BTreeMap<&str, Duration>,
) {
    let passing = evidence.tests.iter().filter(|it| !it.failed && reaches(evidence, place, it));
    let mut ids: Vec<&str> = passing.map(|it| it.id.as_str()).collect();
    choice.left_out = ids.len();
    keep_quick(&mut ids, durations);
    choice.left_out -= ids.len();
    choice.passing = ids.into_iter().map(str::to_owned).collect();
}

/// Returns whether a test executes the function or reads what it defines. An edit may change what
/// runs before its line, so the whole function counts.
fn reaches(evidence: &Evidence, (file, function): Place, test: &TestEvidence) -> bool {
    let facts = &evidence.files[file].facts;
    let inside = |lines: &BTreeSet<u32>| match function.map(|at| &facts.functions[at]) {
        Some(function) => lines.range(function.first..=function.last).next().is_some(),
        None => !lines.is_empty(),
    };
    test.lines.get(&file).is_some_and(inside)
        || test.reached.iter().any(|to| to.file == file && to.function == function)
}

/// Drops slow tests if all of them together take too long.
fn keep_quick(ids: &mut Vec<&str>, durations: &BTreeMap<&str, Duration>) {
    let duration = |id: &&str| durations.get(id).copied().unwrap_or_default();
    if ids.iter().map(duration).sum::<Duration>() <= PASSING {
        return;
    }
    ids.sort_by_key(duration);
    let mut sum = Duration::ZERO;
    ids.retain(|id| {
        sum += duration(id);
        sum <= PASSING
    });
}

/// Divides failing tests into those of the first look, the quick ones and at most one that never
/// ends, and others.
fn failing(failed: &[&TestResult]) -> TestChoice {
    let mut quick: Vec<&TestResult> = failed.iter().copied().filter(|it| !is_endless(it)).collect();
    // Not sorted by time alone: small differences are noise, and equal runs should look at equal
    // tests.
    quick.sort_by(|a, b| (a.duration > SLOW, &a.id).cmp(&(b.duration > SLOW, &b.id)));
    let endless = failed.iter().copied().filter(|it| is_endless(it));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    quick.retain(|it| {
        let count = counts.entry(it.id.split('[').next().unwrap_or_default()).or_default();
        *count += 1;
        *count <= ALIKE
    });
    let first = quick.into_iter().take(FIRST_LOOK).chain(endless.take(ENDLESS));
    let first: Vec<String> = first.map(|it| it.id.clone()).collect();
    let rest = failed.iter().map(|it| it.id.clone()).filter(|it| !first.contains(it)).collect();
    TestChoice { first, rest, concerned: failed.len(), ..TestChoice::default() }
}

fn is_endless(test: &TestResult) -> bool {
    test.failure.as_ref().is_some_and(|it| it.exception == INTERRUPTED)
        || test.outcome == TestOutcome::TimedOut
}
