//! A project's own tests: those that pass each time before a rename, and those that a rename breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::names::Definition;
use super::projects::ProjectCopy;
use crate::accuracy::trial;
use crate::fidelity::plain::{self, Seen, Settings, TestFailure};

/// Arguments that make runs alike.
const ARGUMENTS: [&str; 2] = ["-p", "no:randomly"];
/// Longest time of a suite; a slower project is left out.
const LONGEST: Duration = Duration::from_secs(60);

/// A suite with the tests that passed in two runs of the unchanged project.
pub(crate) struct Suite {
    copied: ProjectCopy,
    passing: BTreeSet<String>,
    /// Time of the slower run.
    pub(crate) took: Duration,
}

/// A suite that a rename broke.
#[derive(Clone)]
pub(crate) struct BrokenSuite {
    /// Tests that pass without the rename only.
    pub(crate) tests: Vec<String>,
    /// The exception of the first of them.
    pub(crate) why: TestFailure,
}

impl Suite {
    /// Runs the suite twice.
    pub(crate) fn of(copied: ProjectCopy) -> Result<Suite, String> {
        let runs = [run(&copied, LONGEST)?, run(&copied, LONGEST)?];
        let [first, second] = runs.each_ref().map(passing);
        let passing: BTreeSet<String> = first.intersection(&second).cloned().collect();
        if passing.is_empty() {
            let trouble = runs[0].trouble.clone().unwrap_or_default();
            return Err(format!("{}: no test passes: {trouble}", copied.project.name));
        }
        let took = runs[0].took.max(runs[1].took);
        Ok(Suite { copied, passing, took })
    }

    pub(crate) fn copied(&self) -> &ProjectCopy {
        &self.copied
    }

    /// Returns the number of tests that pass each time.
    pub(crate) fn size(&self) -> usize {
        self.passing.len()
    }

    /// Runs the suite with the texts in place of the project's files, and puts these back. A test is
    /// broken if it fails in two runs.
    pub(crate) fn breaks(
        &self,
        texts: &BTreeMap<PathBuf, String>,
        renamed: &Definition,
    ) -> Result<Option<BrokenSuite>, String> {
        let Some(first) = self.breaks_once(texts, renamed)? else { return Ok(None) };
        let Some(mut broken) = self.breaks_once(texts, renamed)? else { return Ok(None) };
        broken.tests.retain(|it| first.tests.contains(it));
        Ok((!broken.tests.is_empty()).then_some(broken))
    }

    fn breaks_once(
        &self,
        texts: &BTreeMap<PathBuf, String>,
        renamed: &Definition,
    ) -> Result<Option<BrokenSuite>, String> {
        let root = &self.copied.project.folder;
        let limit = self.took * 3 + Duration::from_secs(20);
        let seen = trial::with_texts(root, texts, || run(&self.copied, limit));
        let seen = seen.map_err(|error| format!("{}: {error}", root.display()))??;
        let tests = self.missing(&seen, renamed);
        Ok((!tests.is_empty()).then(|| BrokenSuite { why: why(&seen, &tests), tests }))
    }

    /// Returns the tests that do not pass any more. Their ids hold names of parameters, functions
    /// and classes, old or new.
    fn missing(&self, seen: &Seen, renamed: &Definition) -> Vec<String> {
        let (from, to) = (&renamed.name, renamed.to());
        let after: BTreeSet<String> =
            passing(seen).iter().map(|it| it.replace(&to, from)).collect();
        let is_missing = |it: &&String| !after.contains(&it.replace(&to, from));
        self.passing.iter().filter(is_missing).cloned().collect()
    }
}

fn run(copied: &ProjectCopy, limit: Duration) -> Result<Seen, String> {
    let (sources, limit) = (&copied.sources[..], Some(limit));
    plain::run_with(&copied.project, &Settings { arguments: &ARGUMENTS, sources, limit })
}

fn passing(seen: &Seen) -> BTreeSet<String> {
    let passed = seen.tests.iter().filter(|(_, outcome)| *outcome == "passed");
    passed.map(|(id, _)| id.clone()).collect()
}

/// Returns why the first test does not pass: its exception, that of its module, or the end of
/// pytest.
fn why(seen: &Seen, tests: &[String]) -> TestFailure {
    let module = |id: &String| seen.failures.get(id.split("::").next().unwrap_or_default());
    let mut found = tests.iter().filter_map(|id| seen.failures.get(id).or_else(|| module(id)));
    let first = found.next().or_else(|| seen.failures.values().next()).cloned();
    first.unwrap_or_else(|| {
        let message = seen.trouble.clone().unwrap_or_else(|| "the test did not run".to_owned());
        TestFailure { message, lines: Vec::new() }
    })
}
