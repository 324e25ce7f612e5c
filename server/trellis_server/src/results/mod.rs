//! Last results of tests from all sources, for lenses and diagnostics.
//!
//! All parts that run tests or show results share one [`Results`]. A test is identified by the
//! folder it ran in and its id; the newest result counts. Results saved to the disk are read by all
//! other processes.

mod failed;
mod store;
mod tests;
mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use tokio::sync::Notify;
use trellis_sandbox::test_ids::file_of;
use trellis_sandbox::{Report, SessionScope, TestResult};

use self::store::{Project, Store};
pub use self::tests::millis;
use self::tests::{ResultChanges, Tests, around, is_own};
pub use failed::{Failed, FailureLocation};
use trellis_project::sources;
use trellis_store::disk::cache_folder;
use trellis_workflows::reporter::{Progress, Reporter};
use trellis_workflows::write_tests::registry;

/// All results of this process. Clones share one state.
#[derive(Clone)]
pub struct Results(Arc<Shared>);

struct Shared {
    all: Mutex<ByProject>,
    changed: Notify,
    /// Place on the disk; `None` if there is none.
    store: Option<Store>,
}

#[derive(Default)]
struct ByProject {
    last: u64,
    /// Open folders: results from projects in or around them are loaded.
    folders: BTreeSet<PathBuf>,
    projects: BTreeMap<PathBuf, Tests>,
}

/// Counts of the results of several tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: usize,
    pub failed: usize,
    pub set_aside: usize,
    /// Number of these results that are older than the project's code.
    pub stale: usize,
}

impl Tally {
    /// Adds the counts of other tests.
    pub fn and(self, other: Tally) -> Tally {
        Tally {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            set_aside: self.set_aside + other.set_aside,
            stale: self.stale + other.stale,
        }
    }

    pub fn total(self) -> usize {
        self.passed + self.failed + self.set_aside
    }
}

impl Default for Results {
    /// Returns results that are saved in the user's cache, if there is one.
    fn default() -> Results {
        Results::in_folder(cache_folder().ok().map(|it| it.join("results")))
    }
}

impl Results {
    fn in_folder(folder: Option<PathBuf>) -> Results {
        let (all, changed) = Default::default();
        Results(Arc::new(Shared { all, changed, store: folder.map(Store::of) }))
    }

    fn all(&self) -> MutexGuard<'_, ByProject> {
        self.0.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a run of `targets` (files, folders or test ids relative to `root`; empty for all) on
    /// the texts of `text_of`. Tests of the targets that the run did not meet are removed if the
    /// run finished and read their file; deselected tests keep their results.
    pub fn record(&self, root: &Path, targets: &[String], report: &Report, text_of: SystemTime) {
        let mut all = self.all();
        if let Some(scope) = SessionScope::of(targets, report) {
            all.project(root).without_gone(&scope);
        }
        report.tests.iter().for_each(|test| all.take(root, test, text_of));
        for failure in &report.collection_errors {
            all.last += 1;
            let number = all.last;
            all.project(root).take_broken(number, root, failure, millis(text_of));
        }
        drop(all);
        self.0.changed.notify_one();
    }

    /// Returns a reporter that records each test result of a project and forwards all reports to
    /// `next`.
    pub fn watching(&self, next: &Reporter) -> Reporter {
        let results = self.clone();
        next.wrapped(move |reported, next| {
            if let Progress::Test { root, test, text_of: Some(text_of) } = &reported
                && !is_own(root)
            {
                results.all().take(root, test, *text_of);
                results.0.changed.notify_one();
            }
            next.emit(reported);
        })
    }

    /// Waits for a change since the last call.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Saves new results to the disk, for other processes and in the test registries.
    pub fn keep(&self) {
        let news = self.all().news();
        for (root, news) in news {
            let states = news.iter().filter_map(|(id, it)| Some((id.clone(), it.as_ref()?.state)));
            let outcomes = states.map(|(id, it)| (id, it.as_str().to_owned())).collect();
            let remembered = registry::record_outcomes(&root, outcomes).map_err(|it| it.message);
            let kept = self.0.store.as_ref().map_or(Ok(()), |it| {
                it.keep(&root, &news).map_err(|why| format!("{}: {why}", it.folder().display()))
            });
            for why in [remembered, kept].into_iter().filter_map(Result::err) {
                let shown = root.display();
                tracing::warn!("the results of {shown} were not kept: {why}");
            }
        }
    }

    /// Loads saved results of projects in or around these folders.
    pub fn open(&self, folders: &[PathBuf]) {
        let Some(store) = &self.0.store else { return };
        self.all().folders.extend(folders.iter().cloned());
        // Runs outside of the lock, so that lenses are not delayed.
        let mut kept = store.all();
        kept.retain(|(root, _)| self.all().is_near(root));
        for project in kept {
            let newest = sources::newest(&project.0);
            self.join(project);
            newest.into_iter().for_each(|(file, time)| self.edited_at(&file, time));
        }
    }

    /// Merges results that another process has saved; returns the root and the ids that changed.
    fn join(&self, (root, mut kept): Project) -> (PathBuf, Vec<String>) {
        let mut all = self.all();
        for failed in kept.values_mut().filter_map(|it| it.failed.as_mut()) {
            all.last += 1;
            failed.number(all.last);
        }
        let changed = all.project(&root).join(kept);
        drop(all);
        if !changed.is_empty() {
            self.0.changed.notify_one();
        }
        (root, changed)
    }

    /// Records that a source changed on the disk, which makes results of its projects outdated.
    pub fn edited(&self, file: &Path) {
        // A removed file counts as changed now.
        let time = sources::changed_at(file).unwrap_or_else(SystemTime::now);
        // Projects are keyed by their real paths.
        self.edited_at(&real(file), time);
    }

    fn edited_at(&self, file: &Path, time: SystemTime) {
        if sources::is_source(file) && !is_own(file) {
            let mut all = self.all();
            let projects = around(&mut all.projects, file);
            projects.for_each(|it| it.edit(millis(time)));
            drop(all);
            self.0.changed.notify_one();
        }
    }

    /// Removes tests that no longer exist, by folder and id.
    pub fn forget(&self, gone: &[(PathBuf, String)]) {
        let mut all = self.all();
        for (root, id) in gone {
            all.project(root).drop(id);
        }
    }

    /// Returns the results of the tests of this name (`Class::test_name`) in a file, with the
    /// nearest folder they ran in and the id there; `None` if there are none.
    pub fn find(&self, file: &Path, name: &str) -> Option<(PathBuf, String, Tally)> {
        let all = self.all();
        let mut near: Vec<(PathBuf, String)> = (all.projects.keys())
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

    /// Returns the counts of the tests below an id: that of a file, a class, a function, or one of
    /// its cases.
    pub fn tally(&self, root: &Path, id: &str) -> Tally {
        self.all().projects.get(root).map(|it| it.tally(id)).unwrap_or_default()
    }

    /// Returns the failures of the tests below an id.
    pub fn failures_below(&self, root: &Path, id: &str) -> Vec<Failed> {
        let all = self.all();
        let tests = all.projects.get(root).into_iter().flat_map(|it| it.below(id));
        tests.filter_map(|it| it.failed.clone()).collect()
    }

    /// Returns the failures of a project.
    pub fn failures_in(&self, root: &Path) -> Vec<Failed> {
        let all = self.all();
        let known = all.projects.get(root).into_iter().flat_map(|it| it.known.values());
        known.filter_map(|it| it.failed.clone()).collect()
    }

    /// Returns the times of the results of a project's tests, in milliseconds of Unix time.
    pub fn times(&self, root: &Path) -> BTreeMap<String, u64> {
        let all = self.all();
        let known = all.projects.get(root).into_iter().flat_map(|it| &it.known);
        known.map(|(id, it)| (id.clone(), it.text_of)).collect()
    }

    /// Notes that results still hold for the code of a time, although files have changed since.
    pub fn confirm(&self, root: &Path, ids: &[String], time: SystemTime) {
        let mut all = self.all();
        let confirmed = ids.iter().map(|it| (it.clone(), millis(time)));
        all.project(root).confirmed.extend(confirmed);
        drop(all);
        self.0.changed.notify_one();
    }

    /// Returns the files of a project whose tests have results, relative to its folder.
    pub fn files(&self, root: &Path) -> BTreeSet<String> {
        let all = self.all();
        let ids = all.projects.get(root).into_iter().flat_map(|it| it.known.keys());
        ids.filter(|id| id.contains("::")).map(|id| file_of(id).to_owned()).collect()
    }

    /// Returns all failures.
    pub fn failures(&self) -> Vec<Failed> {
        let all = self.all();
        let known = all.projects.values().flat_map(|it| it.known.values());
        known.filter_map(|it| it.failed.clone()).collect()
    }

    /// Applies moves of lines by edits: lines from 1 by [`FailureLocation::id`].
    pub fn moved(&self, lines: &BTreeMap<u64, u32>) {
        let mut all = self.all();
        let known = all.projects.values_mut().flat_map(|it| it.known.values_mut());
        for failed in known.filter_map(|it| it.failed.as_mut()) {
            for spot in std::iter::once(&mut failed.at).chain(&mut failed.also) {
                spot.line = lines.get(&spot.id).copied().unwrap_or(spot.line);
            }
        }
    }
}

/// Returns a file's real path; for a removed file, its folder is resolved.
fn real(file: &Path) -> PathBuf {
    let of_folder = || Some(file.parent()?.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(of_folder).unwrap_or_else(|| file.to_owned())
}

impl ByProject {
    fn is_near(&self, root: &Path) -> bool {
        self.folders.iter().any(|it| root.starts_with(it) || it.starts_with(root))
    }

    fn project(&mut self, root: &Path) -> &mut Tests {
        self.projects.entry(root.to_owned()).or_default()
    }

    fn take(&mut self, root: &Path, test: &TestResult, text_of: SystemTime) {
        self.last += 1;
        let number = self.last;
        self.project(root).take(number, root, test, millis(text_of));
    }

    /// Returns and clears the unsaved changes.
    fn news(&mut self) -> Vec<(PathBuf, ResultChanges)> {
        let taken =
            self.projects.iter_mut().map(|(root, it)| (root.clone(), std::mem::take(&mut it.news)));
        taken.filter(|(_, news)| !news.is_empty()).collect()
    }
}

#[cfg(test)]
mod checks {
    use std::time::Duration;

    use trellis_sandbox::{Failure, Outcome, TestOutcome};

    use super::*;

    fn test(id: &str, outcome: TestOutcome) -> TestResult {
        let (path, _) = id.split_once("::").unwrap_or((id, ""));
        let (id, path) = (id.to_owned(), path.to_owned());
        let (duration, line, reason) = (Duration::ZERO, Some(3), None);
        let (failure, stdout, stderr, log, subtests) = Default::default();
        TestResult {
            id,
            outcome,
            duration,
            path,
            line,
            reason,
            failure,
            stdout,
            stderr,
            log,
            subtests,
        }
    }

    fn report(outcome: Outcome, tests: Vec<TestResult>) -> Report {
        Report {
            outcome,
            engine: None,
            parsing_failed: false,
            reason: None,
            exit_code: Some(0),
            tests,
            not_run: Vec::new(),
            deselected: Vec::new(),
            limited_to: Vec::new(),
            deselected_tests: Vec::new(),
            collection_errors: Vec::new(),
            limits: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            duration: Duration::ZERO,
            stuck: None,
            coverage: None,
            execution: None,
            traces: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn an_edit_after_the_clock_was_set_back_makes_results_stale_until_they_run_again() {
        let (root, file, id) =
            (Path::new("/r"), Path::new("/r/t/test_a.py"), "t/test_a.py::test_x");
        let passed = || report(Outcome::Passed, vec![test(id, TestOutcome::Passed)]);
        let later = || SystemTime::now() + Duration::from_secs(3600);
        let results = Results::in_folder(None);
        let stale = || results.tally(root, id).stale;
        // A time in the future is one that was taken before the clock was set back.
        results.record(root, &[], &passed(), later());
        assert_eq!(stale(), 0);
        results.edited(file);
        assert_eq!(stale(), 1);
        results.record(root, &[], &passed(), SystemTime::now());
        assert_eq!(stale(), 0);
        results.edited_at(file, later());
        assert_eq!(stale(), 1);
        results.record(root, &[], &passed(), SystemTime::now());
        assert_eq!(stale(), 0);
        results.record(root, &[], &passed(), later());
        results.edited_at(file, later() + Duration::from_secs(3600));
        results.confirm(root, &[id.to_owned()], later() + Duration::from_secs(7200));
        assert_eq!(stale(), 0);
        results.edited(file);
        assert_eq!(stale(), 1);
    }

    #[test]
    fn the_newest_result_counts_and_what_a_run_did_not_meet_is_gone() {
        use TestOutcome::{Failed, Passed, Skipped};
        let root = Path::new("/r");
        let results = Results::in_folder(None);
        let all = [
            ("t/test_a.py::test_x[1]", Passed),
            ("t/test_a.py::test_x[2]", Failed),
            ("t/test_a.py::test_xy", Failed),
            ("t/test_a.py::TestA::test_b", Skipped),
        ];
        let tests = all.map(|(id, outcome)| test(id, outcome)).to_vec();
        results.record(root, &[], &report(Outcome::Failed, tests), SystemTime::now());
        let tally = |id: &str| {
            let Tally { passed, failed, set_aside, .. } = results.tally(root, id);
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
        // Tests that were deselected, or are in a file that could not be loaded, keep their
        // results.
        let mut other = report(Outcome::Failed, Vec::new());
        other.deselected = all.map(|(id, _)| id.to_owned()).to_vec();
        results.record(root, &[], &other, SystemTime::now());
        let mut broken =
            report(Outcome::CollectionError, vec![test("t/test_b.py::test_z", Passed)]);
        broken.collection_errors.push(Failure {
            collecting: Some("t/test_a.py".to_owned()),
            path: Some("code.py".to_owned()),
            line: Some(7),
            ..Failure::default()
        });
        results.record(root, &[], &broken, SystemTime::now());
        assert_eq!(tally("t/test_a.py"), [1, 3, 1]);
        let at = results.failures_below(root, "t/test_a.py").remove(0);
        assert_eq!(
            (at.at.path.as_str(), at.also.map(|it| (it.path, it.line))),
            ("t/test_a.py", Some(("code.py".to_owned(), 7)))
        );
        results.record(
            root,
            &["t/test_b.py".to_owned()],
            &report(Outcome::Passed, Vec::new()),
            SystemTime::now(),
        );
        assert_eq!((tally("t/test_a.py"), tally("t/test_b.py")), ([1, 3, 1], [0, 0, 0]));
        // One case is gone; a crashed run proves nothing about tests that it did not reach.
        let again = vec![test("t/test_a.py::test_x[1]", Failed)];
        let target = ["t/test_a.py::test_x".to_owned()];
        let crashed = Outcome::Crashed { signal: None, exit_code: Some(1) };
        results.record(root, &target, &report(crashed, again.clone()), SystemTime::now());
        assert_eq!(tally("t/test_a.py"), [0, 3, 1]);
        results.record(root, &target, &report(Outcome::Failed, again), SystemTime::now());
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
        results.record(root, &[], &unloaded, SystemTime::now());
        assert_eq!(tally("t/test_a.py"), [0, 3, 1]);
        let reported = results.failures_below(root, "t/test_a.py").remove(0);
        assert_eq!((reported.message.as_str(), reported.at.line), ("NameError: x", 7));
        results.record(
            root,
            &["t/".to_owned()],
            &report(Outcome::Passed, Vec::new()),
            SystemTime::now(),
        );
        assert_eq!(tally("t/test_a.py"), [0, 0, 0]);
        assert!(results.failures().is_empty());
    }
}
