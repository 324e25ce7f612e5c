//! Last test results of one project.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use trellis_sandbox::test_ids::{file_of, is_below};
use trellis_sandbox::{Failure, SessionScope, TestOutcome, TestResult};

use super::Tally;
use super::failed::Failed;

/// The time of results and edits, in place of one that is in the future; results before the edit
/// have the time before.
const AFTER_EDIT: u64 = 1;

/// Last result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LastResult {
    pub(super) state: State,
    /// Time at which the tested texts were read, in milliseconds of Unix time.
    pub(super) text_of: u64,
    pub(super) failed: Option<Failed>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Passed,
    Failed,
    /// Skipped, or failed as expected.
    SetAside,
}

impl State {
    fn of(outcome: TestOutcome) -> State {
        match outcome {
            TestOutcome::Passed | TestOutcome::XPassed => State::Passed,
            TestOutcome::Skipped | TestOutcome::XFailed => State::SetAside,
            TestOutcome::Failed
            | TestOutcome::Error
            | TestOutcome::TimedOut
            | TestOutcome::Crashed => State::Failed,
        }
    }
}

/// Changes by test id: the new result, or `None` for a removed test.
pub(super) type ResultChanges = BTreeMap<String, Option<LastResult>>;

/// Tests of a project, by id.
#[derive(Default)]
pub(super) struct Tests {
    pub(super) known: BTreeMap<String, LastResult>,
    /// Changes not saved to the disk yet.
    pub(super) news: ResultChanges,
    /// Time of the last change of a source, in milliseconds of Unix time.
    pub(super) edited: u64,
    /// The latest of all times above.
    latest: u64,
    /// Times up to which results hold although sources have changed, by test id.
    pub(super) confirmed: BTreeMap<String, u64>,
}

impl Tests {
    /// Records the result of one test. A file that could not be loaded has an entry under its path,
    /// which is removed once one of its tests has run.
    pub(super) fn take(&mut self, number: u64, root: &Path, test: &TestResult, text_of: u64) {
        let file = file_of(&test.id);
        if file != test.id {
            self.drop(file);
        }
        let state = State::of(test.outcome);
        let failed = (state == State::Failed).then(|| Failed::of(number, root, test));
        self.put(test.id.clone(), LastResult { state, text_of, failed });
    }

    /// Records a file that could not be loaded.
    pub(super) fn take_broken(&mut self, number: u64, root: &Path, it: &Failure, text_of: u64) {
        let Some(file) = it.file() else { return };
        let failed = Some(Failed::of_file(number, root, file, it));
        self.put(file.to_owned(), LastResult { state: State::Failed, text_of, failed });
    }

    /// Records a change of a source.
    pub(super) fn edit(&mut self, time: u64) {
        self.order();
        self.edited = self.edited.max(time);
        self.latest = self.latest.max(time);
    }

    /// Keeps only the order of all times if one of them is in the future: the clock was set back
    /// since, and later times would seem earlier.
    fn order(&mut self) {
        if self.latest <= millis(SystemTime::now()) {
            return;
        }
        self.latest = AFTER_EDIT;
        let stale: BTreeSet<String> =
            self.known.iter().filter(|it| self.is_stale(*it)).map(|it| it.0.clone()).collect();
        for (id, known) in &mut self.known {
            known.text_of = AFTER_EDIT - u64::from(stale.contains(id));
            self.news.insert(id.clone(), Some(known.clone()));
        }
        self.edited = self.edited.min(AFTER_EDIT);
        self.confirmed.clear();
    }

    /// Returns whether a source has changed since the texts of a result were read.
    fn is_stale(&self, (id, known): (&String, &LastResult)) -> bool {
        let confirmed = self.confirmed.get(id).copied().unwrap_or_default();
        known.text_of.max(confirmed) < self.edited
    }

    fn put(&mut self, id: String, known: LastResult) {
        self.order();
        self.latest = self.latest.max(known.text_of);
        self.news.insert(id.clone(), Some(known.clone()));
        self.known.insert(id, known);
    }

    /// Removes a test.
    pub(super) fn drop(&mut self, id: &str) {
        if self.known.remove(id).is_some() {
            self.news.insert(id.to_owned(), None);
        }
    }

    /// Removes tests that a run shows to be gone.
    pub(super) fn without_gone(&mut self, run: &SessionScope<'_>) {
        let ids: Vec<String> = self.known.keys().filter(|id| run.is_gone(id)).cloned().collect();
        ids.iter().for_each(|id| self.drop(id));
    }

    /// Returns the results below an id: that of a file, a class, a function, or one of its cases.
    pub(super) fn below<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a LastResult> {
        self.tests_below(id).map(|(_, it)| it)
    }

    fn tests_below<'a>(
        &'a self,
        id: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a LastResult)> {
        let near = self.known.range(id.to_owned()..).take_while(move |(it, _)| it.starts_with(id));
        near.filter(move |(it, _)| is_below(it, id))
    }

    pub(super) fn tally(&self, id: &str) -> Tally {
        let mut tally = Tally::default();
        for (test, known) in self.tests_below(id) {
            match known.state {
                State::Passed => tally.passed += 1,
                State::Failed => tally.failed += 1,
                State::SetAside => tally.set_aside += 1,
            }
            tally.stale += usize::from(self.is_stale((test, known)));
        }
        tally
    }

    /// Merges results saved by another process, except older ones; returns the ids that changed.
    pub(super) fn join(&mut self, kept: BTreeMap<String, LastResult>) -> Vec<String> {
        let mut changed = Vec::new();
        let is_gone = |id: &&String| !kept.contains_key(*id) && !self.news.contains_key(*id);
        let gone: Vec<String> = self.known.keys().filter(is_gone).cloned().collect();
        for id in gone {
            self.known.remove(&id);
            changed.push(id);
        }
        self.order();
        for (id, theirs) in kept {
            let ours = self.known.get(&id);
            let is_ours = self.news.contains_key(&id)
                || ours.is_some_and(|it| it.text_of > theirs.text_of || it.says_as(&theirs));
            if !is_ours {
                self.latest = self.latest.max(theirs.text_of);
                self.known.insert(id.clone(), theirs);
                changed.push(id);
            }
        }
        changed
    }
}

impl LastResult {
    /// Returns whether another result has the same state for the same text.
    fn says_as(&self, other: &LastResult) -> bool {
        self.state == other.state && self.text_of == other.text_of
    }
}

/// Converts a time to milliseconds of Unix time.
pub fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_millis() as u64
}

/// Returns whether a folder is Trellis' own working copy, such as the worktree of an issue.
pub(super) fn is_own(root: &Path) -> bool {
    root.components().any(|it| it.as_os_str() == ".trellis")
}

/// Returns the projects that contain a file.
pub(super) fn around<'a>(
    projects: &'a mut BTreeMap<PathBuf, Tests>,
    file: &'a Path,
) -> impl Iterator<Item = &'a mut Tests> {
    projects.iter_mut().filter(|(root, _)| file.starts_with(root)).map(|(_, it)| it)
}
