//! What tests came to, whoever ran them: for lenses and diagnostics.
//!
//! One [`Results`] is shared by all who run tests and all who show them. A test is known by the folder it was run in and
//! its id; the newest result counts.

mod failed;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use run::{Failure, Outcome, Report, TestOutcome, TestResult};
use tokio::sync::Notify;

use crate::observer::{Observer, Told};
pub(crate) use failed::{Failed, Spot};

/// All results of this process. A clone is the same.
#[derive(Clone, Default)]
pub(crate) struct Results(Arc<Shared>);

#[derive(Default)]
struct Shared {
    all: Mutex<All>,
    changed: Notify,
}

#[derive(Default)]
struct All {
    last: u64,
    roots: BTreeMap<PathBuf, BTreeMap<String, Known>>,
}

/// The last result of one test.
#[derive(Clone, Debug)]
struct Known {
    state: State,
    failed: Option<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Passed,
    Failed,
    /// Skipped, or failed as expected.
    SetAside,
}

/// Results of several tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) set_aside: usize,
}

impl Tally {
    /// Together with others.
    pub(crate) fn and(self, other: Tally) -> Tally {
        Tally {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            set_aside: self.set_aside + other.set_aside,
        }
    }

    pub(crate) fn total(self) -> usize {
        self.passed + self.failed + self.set_aside
    }
}

impl Results {
    fn all(&self) -> MutexGuard<'_, All> {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a run of `targets` (files, folders or test ids relative to `root`; none: everything). Tests of theirs
    /// that a complete run did not meet are gone.
    pub(crate) fn record(&self, root: &Path, targets: &[String], report: &Report) {
        let complete = matches!(report.outcome, Outcome::Passed | Outcome::Failed);
        let mut all = self.all();
        if complete {
            let met = |id: &String| {
                report.tests.iter().any(|it| it.id == *id) || report.not_run.contains(id)
            };
            let tests = all.roots.entry(root.to_owned()).or_default();
            tests.retain(|id, _| met(id) || !is_target(targets, id));
        }
        report.tests.iter().for_each(|test| all.take(root, test));
        report.collection_errors.iter().for_each(|failure| all.take_broken(root, failure));
        drop(all);
        self.0.changed.notify_one();
    }

    /// Takes in one test.
    pub(crate) fn record_test(&self, root: &Path, test: &TestResult) {
        self.all().take(root, test);
        self.0.changed.notify_one();
    }

    /// Takes in each test that work tells of, and passes everything on.
    pub(crate) fn watching(&self, next: Observer) -> Observer {
        let results = self.clone();
        Observer::new(move |told| {
            if let Told::Test { root, test } = &told {
                results.record_test(root, test);
            }
            next.tell(told);
        })
    }

    /// Waits until something changed since this was last waited for.
    pub(crate) async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Forgets tests that are gone, by folder and id.
    pub(crate) fn forget(&self, gone: &[(PathBuf, String)]) {
        let mut all = self.all();
        for (root, id) in gone {
            all.roots.get_mut(root).map(|tests| tests.remove(id));
        }
    }

    /// What the tests of this name (`Class::test_name`) in a file came to: the folder they were run in, the nearest, the
    /// id there, and the results; `None` if there are none.
    pub(crate) fn find(&self, file: &Path, name: &str) -> Option<(PathBuf, String, Tally)> {
        let all = self.all();
        let mut near: Vec<(PathBuf, String)> = (all.roots.keys())
            .filter_map(|root| {
                let path = file.strip_prefix(root).ok()?.to_str()?;
                Some((root.clone(), format!("{path}::{name}")))
            })
            .collect();
        drop(all);
        near.sort_by_key(|(root, _)| std::cmp::Reverse(root.as_os_str().len()));
        let mut found = near.into_iter().map(|(root, id)| {
            let tally = self.tally(&root, &id);
            (root, id, tally)
        });
        found.find(|(.., tally)| tally.total() > 0)
    }

    /// What the tests below an id came to: those of a file, a class, a function, or one of its cases.
    pub(crate) fn tally(&self, root: &Path, id: &str) -> Tally {
        let all = self.all();
        let mut tally = Tally::default();
        for known in all.below(root, id) {
            match known.state {
                State::Passed => tally.passed += 1,
                State::Failed => tally.failed += 1,
                State::SetAside => tally.set_aside += 1,
            }
        }
        tally
    }

    /// Failures of the tests below an id.
    pub(crate) fn failures_below(&self, root: &Path, id: &str) -> Vec<Failed> {
        self.all().below(root, id).filter_map(|it| it.failed.clone()).collect()
    }

    /// All tests that fail, by folder and id.
    pub(crate) fn failures(&self) -> Vec<Failed> {
        let all = self.all();
        all.roots.values().flat_map(|it| it.values()).filter_map(|it| it.failed.clone()).collect()
    }

    /// Places that an editor's changes have moved, by [`Spot::id`]: lines from 1.
    pub(crate) fn moved(&self, lines: &BTreeMap<u64, u32>) {
        let mut all = self.all();
        let failed = all.roots.values_mut().flat_map(|it| it.values_mut());
        for failed in failed.filter_map(|it| it.failed.as_mut()) {
            for spot in std::iter::once(&mut failed.at).chain(&mut failed.also) {
                spot.line = lines.get(&spot.id).copied().unwrap_or(spot.line);
            }
        }
    }
}

impl All {
    fn take(&mut self, root: &Path, test: &TestResult) {
        let state = match test.outcome {
            TestOutcome::Passed | TestOutcome::XPassed => State::Passed,
            TestOutcome::Skipped | TestOutcome::XFailed => State::SetAside,
            TestOutcome::Failed
            | TestOutcome::Error
            | TestOutcome::TimedOut
            | TestOutcome::Crashed => State::Failed,
        };
        self.last += 1;
        let failed = (state == State::Failed).then(|| Failed::of(self.last, root, test));
        let tests = self.roots.entry(root.to_owned()).or_default();
        tests.insert(test.id.clone(), Known { state, failed });
    }

    /// A file that could not be loaded is known by its path, and loads when something of it is met.
    fn take_broken(&mut self, root: &Path, failure: &Failure) {
        let Some(path) = &failure.path else { return };
        self.last += 1;
        let failed = Some(Failed::of_file(self.last, root, path, failure));
        let tests = self.roots.entry(root.to_owned()).or_default();
        tests.insert(path.clone(), Known { state: State::Failed, failed });
    }

    fn below<'a>(&'a self, root: &Path, id: &'a str) -> impl Iterator<Item = &'a Known> {
        let tests = self.roots.get(root).into_iter();
        let from = tests.flat_map(move |it| it.range(id.to_owned()..));
        let near = from.take_while(move |(it, _)| it.starts_with(id));
        near.filter(move |(it, _)| is_below(it, id)).map(|(_, it)| it)
    }
}

/// Whether an id is that of a target or of something in it.
fn is_below(id: &str, target: &str) -> bool {
    let rest = id.strip_prefix(target);
    rest.is_some_and(|it| it.is_empty() || it.starts_with("::") || it.starts_with('['))
}

fn is_target(targets: &[String], id: &str) -> bool {
    let holds = |target: &String| {
        let folder = target.trim_end_matches('/');
        is_below(id, target) || id.strip_prefix(folder).is_some_and(|it| it.starts_with('/'))
    };
    targets.is_empty() || targets.iter().any(holds)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn test(id: &str, outcome: TestOutcome) -> TestResult {
        let (path, _) = id.split_once("::").unwrap_or((id, ""));
        let (id, path) = (id.to_owned(), path.to_owned());
        let (duration, line, reason) = (Duration::ZERO, Some(3), None);
        let (failure, stdout, stderr) = Default::default();
        TestResult { id, outcome, duration, path, line, reason, failure, stdout, stderr }
    }

    fn report(outcome: Outcome, tests: Vec<TestResult>) -> Report {
        Report {
            outcome,
            parsing_failed: false,
            reason: None,
            exit_code: Some(0),
            tests,
            not_run: Vec::new(),
            deselected: Vec::new(),
            deselected_tests: Vec::new(),
            collection_errors: Vec::new(),
            limits: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            duration: Duration::ZERO,
            stuck: None,
            coverage: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_newest_result_counts_and_what_a_run_did_not_meet_is_gone() {
        use TestOutcome::{Failed, Passed, Skipped};
        let root = Path::new("/r");
        let results = Results::default();
        let all = [
            ("t/test_a.py::test_x[1]", Passed),
            ("t/test_a.py::test_x[2]", Failed),
            ("t/test_a.py::test_xy", Failed),
            ("t/test_a.py::TestA::test_b", Skipped),
        ];
        let tests = all.map(|(id, outcome)| test(id, outcome)).to_vec();
        results.record(root, &[], &report(Outcome::Failed, tests));
        let tally = |id: &str| {
            let Tally { passed, failed, set_aside } = results.tally(root, id);
            [passed, failed, set_aside]
        };
        for (id, wanted) in [
            ("t/test_a.py::test_x", [1, 1, 0]),
            ("t/test_a.py::test_x[2]", [0, 1, 0]),
            ("t/test_a.py::TestA", [0, 0, 1]),
            ("t/test_a.py", [1, 2, 1]),
            ("t/test", [0, 0, 0]),
        ] {
            assert_eq!(tally(id), wanted, "{id}");
        }
        // One case is gone; a crashed run proves nothing of what it did not meet.
        let again = vec![test("t/test_a.py::test_x[1]", Failed)];
        let target = ["t/test_a.py::test_x".to_owned()];
        let crashed = Outcome::Crashed { signal: None, exit_code: Some(1) };
        results.record(root, &target, &report(crashed, again.clone()));
        assert_eq!(tally("t/test_a.py"), [0, 3, 1]);
        results.record(root, &target, &report(Outcome::Failed, again));
        assert_eq!(tally("t/test_a.py"), [0, 2, 1]);
        let broken = Failure {
            exception: "NameError".to_owned(),
            message: "x".to_owned(),
            path: Some("t/test_a.py".to_owned()),
            line: Some(7),
            ..Failure::default()
        };
        let mut unloaded = report(Outcome::CollectionError, Vec::new());
        unloaded.collection_errors.push(broken);
        results.record(root, &[], &unloaded);
        assert_eq!(tally("t/test_a.py"), [0, 3, 1]);
        let told = results.failures_below(root, "t/test_a.py").remove(0);
        assert_eq!((told.message.as_str(), told.at.line), ("NameError: x", 7));
        results.record(root, &["t/".to_owned()], &report(Outcome::Passed, Vec::new()));
        assert_eq!(tally("t/test_a.py"), [0, 0, 0]);
        assert!(results.failures().is_empty());
    }
}
