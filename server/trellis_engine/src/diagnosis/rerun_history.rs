//! Detection of flaky tests by running the same code again (V4).

use std::collections::{BTreeMap, BTreeSet};

use crate::normalize::without_addresses;
use crate::observation::{RunOutcome, TestCase, TestRun};

/// Runs of the same code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RerunHistory {
    runs: Vec<TestRun>,
}

/// Result of the runs so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flakiness {
    /// Undecided: another run is needed.
    Unknown,
    /// Fails in every run.
    Steady,
    /// Every test passed at least once; these failed at least once.
    Flaky(Vec<String>),
}

impl RerunHistory {
    pub fn push(&mut self, run: TestRun) {
        self.runs.push(run);
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Returns the tests that failed in one run and passed in another, sorted, independent of other
    /// failures.
    pub fn flaky(&self) -> Vec<String> {
        let passed: BTreeSet<&str> = self.ids(|case| case.passed);
        let failed: BTreeSet<&str> = self.ids(|case| !case.passed && !case.set_aside);
        passed.intersection(&failed).map(|&id| id.to_owned()).collect()
    }

    /// Judges the runs, with at most `most` repeats. One repeat with the same failure is enough,
    /// unless the code is `doubtful`; then, or if any two runs differ, all repeats are made: a test
    /// that fails half of the time fails in all of 6 runs in 1 of 64 cases.
    pub fn judge(&self, most: u32, doubtful: bool) -> Flakiness {
        if self.runs.iter().any(|run| run.proves() || run.ending == RunOutcome::Failed)
            && self.all_have_passed()
        {
            return Flakiness::Flaky(self.flaky());
        }
        let repeats = self.runs.len().saturating_sub(1) as u32;
        let unsettled = repeats == 0 || doubtful || self.differ();
        if repeats < most && unsettled { Flakiness::Unknown } else { Flakiness::Steady }
    }

    fn ids(&self, wanted: impl Fn(&TestCase) -> bool) -> BTreeSet<&str> {
        let cases = self.runs.iter().flat_map(|run| &run.cases);
        cases.filter(|case| wanted(case)).map(|case| case.id.as_str()).collect()
    }

    /// Returns whether each test passed in some run, and none was skipped. A run that could not
    /// collect all tests shows nothing about those missing, so one complete run is needed.
    fn all_have_passed(&self) -> bool {
        let seen = self.ids(|_| true);
        let is_whole =
            self.runs.iter().any(|run| run.collection.is_empty() && !run.cases.is_empty());
        is_whole
            && seen == self.ids(|case| case.passed)
            && self.ids(|case| case.set_aside).is_empty()
    }

    fn differ(&self) -> bool {
        let shapes: BTreeSet<String> = self.runs.iter().map(shape).collect();
        shapes.len() > 1
    }
}

/// Describes the failures of a run without the parts that differ from process to process.
fn shape(run: &TestRun) -> String {
    let cases: BTreeMap<&str, String> = (run.cases.iter())
        .map(|case| {
            let failure = case.failure.as_ref();
            let text =
                failure.map(|it| format!("{} {}", it.exception, without_addresses(&it.message)));
            (case.id.as_str(), format!("{} {}", case.passed, text.unwrap_or_default()))
        })
        .collect();
    let collection: Vec<String> =
        run.collection.iter().map(|it| format!("{} {}", it.path, it.exception)).collect();
    format!("{:?} {cases:?} {collection:?}", run.ending)
}

/// Words in Python programs whose results may differ from run to run.
const DOUBTFUL: [&str; 20] = [
    "random",
    "randint",
    "shuffle",
    "secrets",
    "urandom",
    "uuid",
    "uuid1",
    "uuid4",
    "time",
    "monotonic",
    "perf_counter",
    "datetime",
    "now",
    "today",
    "threading",
    "Thread",
    "asyncio",
    "as_completed",
    "multiprocessing",
    "concurrent",
];

/// Returns whether a text uses randomness, the clock, threads or the order of sets.
pub fn uses_nondeterminism(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| DOUBTFUL.contains(&word)) || text.contains("set(") || text.contains("hash(")
}
