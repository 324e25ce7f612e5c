//! Flaky or not: the same code, run again (V4).

use std::collections::{BTreeMap, BTreeSet};

use crate::observation::{Case, Ending, TestRun};
use crate::steady::without_addresses;

/// Runs of one and the same code.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeats {
    runs: Vec<TestRun>,
}

/// What the repeats so far say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// Too early to tell: run it once more.
    Unknown,
    /// It fails every time.
    Steady,
    /// Every test passed at least once; these failed at least once.
    Flaky(Vec<String>),
}

impl Repeats {
    pub fn push(&mut self, run: TestRun) {
        self.runs.push(run);
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Tests that failed in one run and passed in another, sorted; whatever else failed.
    pub fn flaky(&self) -> Vec<String> {
        let passed: BTreeSet<&str> = self.ids(|case| case.passed);
        let failed: BTreeSet<&str> = self.ids(|case| !case.passed && !case.set_aside);
        passed.intersection(&failed).map(|&id| id.to_owned()).collect()
    }

    /// Judges with `most` repeats allowed. One repeat is enough when it fails in the very same way,
    /// unless the code is `doubtful`; then, and when any two runs differ, all repeats are made: a test that
    /// fails half of the time is taken for a failing one by 6 runs in 1 of 64 cases.
    pub fn judge(&self, most: u32, doubtful: bool) -> Steadiness {
        if self.runs.iter().any(|run| run.proves() || run.ending == Ending::Failed)
            && self.all_have_passed()
        {
            return Steadiness::Flaky(self.flaky());
        }
        let repeats = self.runs.len().saturating_sub(1) as u32;
        let unsettled = repeats == 0 || doubtful || self.differ();
        if repeats < most && unsettled { Steadiness::Unknown } else { Steadiness::Steady }
    }

    fn ids(&self, wanted: impl Fn(&Case) -> bool) -> BTreeSet<&str> {
        let cases = self.runs.iter().flat_map(|run| &run.cases);
        cases.filter(|case| wanted(case)).map(|case| case.id.as_str()).collect()
    }

    /// Whether each test that was ever seen passed in some run, and none was put aside. A run that
    /// collected nothing says nothing about what it did not collect.
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

/// How a run failed, without what differs from process to process.
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

/// Words of Python programs whose results may differ from run to run.
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

/// Whether a text uses randomness, the clock, threads or the order of sets.
pub fn is_doubtful(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| DOUBTFUL.contains(&word)) || text.contains("set(") || text.contains("hash(")
}
