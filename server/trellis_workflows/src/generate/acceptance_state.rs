//! State of the acceptance tests of a run: what is still to be written, and what holds at the end.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::task::JoinSet;
use trellis_engine::TestRun;
use trellis_engine::assembly::AcceptanceLine;

use crate::convert::Files;
use crate::fault::Fault;
use crate::generate::acceptance::{Feature, features, run_file, specification, write_tests};
use crate::generate::accepted::{AcceptedDrafts, IntegrationTests};
use crate::generate::dispatcher::{Dispatcher, JobDone};
use crate::generate::items::WorkGraph;
use crate::generate::prepare;
use crate::generate::worker::WorkerError;
use trellis_store::cost::Cost;
use trellis_store::disk;
use trellis_store::journal::{AcceptanceTests, Event};
use trellis_store::replay::ReplayedState;

/// Acceptance tests of a run.
#[derive(Default)]
pub(super) struct AcceptanceState {
    features: Vec<Feature>,
    /// Features whose tests are not written yet, the next one last.
    left: Vec<Feature>,
    /// Tests were written in this start.
    pub is_new: bool,
    /// Number of features at work.
    writing: usize,
    /// Tests by path.
    written: BTreeMap<String, AcceptanceTests>,
    /// Reasons of tests that failed on the finished files, by path.
    failed: BTreeMap<String, String>,
}

impl AcceptanceState {
    /// Returns the state at a start. Tests of an earlier start count if the feature's sentences and
    /// signatures are the same.
    pub(super) fn of(work: &WorkGraph, past: &ReplayedState) -> AcceptanceState {
        let features = features(work);
        let known = |it: &Feature| {
            let tests = past.acceptance.get(&it.path)?;
            (tests.specification == specification(work, it)).then(|| tests.clone())
        };
        let written: BTreeMap<String, AcceptanceTests> =
            features.iter().filter_map(|it| Some((it.path.clone(), known(it)?))).collect();
        let left = features.iter().filter(|it| !written.contains_key(&it.path));
        let left: Vec<Feature> = left.rev().cloned().collect();
        let run = past.acceptance_run.as_ref();
        let failed = run.map(|(_, failed)| failed.clone()).unwrap_or_default();
        AcceptanceState { left, features, is_new: false, writing: 0, written, failed }
    }

    /// Returns whether the tests of all features are written.
    pub(super) fn is_written(&self) -> bool {
        self.left.is_empty() && self.writing == 0
    }

    /// Puts the tests that passed on the finished files of an earlier start among the accepted
    /// ones.
    pub(super) fn restore(&self, past: &ReplayedState, drafts: &mut AcceptedDrafts) {
        if past.acceptance_run.is_some() {
            self.put(drafts);
        }
    }

    fn put(&self, drafts: &mut AcceptedDrafts) {
        for tests in self.tests() {
            let (path, text) = (tests.path.clone(), tests.text.as_str().into());
            match self.failed.contains_key(&tests.path) {
                true => drafts.remove_flow(&tests.path),
                false => drafts.put_flow(&tests.path, IntegrationTests { path, text }),
            }
        }
    }

    /// Returns the costs of earlier starts.
    pub(super) fn costs(&self) -> impl Iterator<Item = &Cost> {
        self.written.values().map(|it| &it.cost)
    }

    /// Returns the tests that exist.
    fn tests(&self) -> impl Iterator<Item = &AcceptanceTests> {
        self.written.values().filter(|it| !it.text.is_empty())
    }

    /// Returns a line for each feature.
    pub(super) fn lines(&self) -> Vec<AcceptanceLine> {
        let line = |feature: &Feature| {
            let tests = self.written.get(&feature.path).filter(|it| !it.text.is_empty());
            let missing = self.written.get(&feature.path).map(|it| it.reason.clone());
            AcceptanceLine {
                feature: feature.name.clone(),
                sentences: feature.sentences.iter().map(|it| it.number).collect(),
                path: feature.path.clone(),
                has_tests: tests.is_some(),
                reason: self
                    .failed
                    .get(&feature.path)
                    .cloned()
                    .filter(|_| tests.is_some())
                    .or(missing.filter(|it| !it.is_empty())),
                text: tests.map(|it| it.text.clone()).unwrap_or_default(),
            }
        };
        self.features.iter().map(line).collect()
    }
}

impl Dispatcher {
    /// Starts writing tests of features while slots are free.
    pub(super) fn start_acceptance(&mut self, workers: &mut JoinSet<Result<JobDone, WorkerError>>) {
        while !self.acceptance.left.is_empty() {
            let Ok(permit) = self.run_context.slots.clone().try_acquire_owned() else { return };
            let Some(feature) = self.acceptance.left.pop() else { return };
            self.acceptance.writing += 1;
            let work = write_tests(self.run_context.clone(), feature, permit);
            workers.spawn(async { work.await.map(|it| JobDone::Acceptance(Box::new(it))) });
        }
    }

    pub(super) fn take_acceptance(&mut self, tests: AcceptanceTests) {
        self.acceptance.writing -= 1;
        self.acceptance.is_new = true;
        self.cost += &tests.cost;
        self.acceptance.written.insert(tests.path.clone(), tests);
    }

    /// Runs the acceptance tests on the finished files, unless the journal has the result of these
    /// very files. Tests that pass belong to the repository.
    pub(super) async fn run_acceptance(&mut self) -> Result<(), Fault> {
        if self.acceptance.tests().next().is_none() {
            return Ok(());
        }
        let files = self.files_with_acceptance()?;
        let whole = files.iter().map(|(path, text)| format!("{path}\0{text}\0"));
        let tree = disk::hash(whole.collect::<String>());
        let known = self.past.acceptance_run.clone().filter(|(of, _)| *of == tree);
        self.acceptance.failed = match known {
            Some((_, failed)) => failed,
            None => {
                let failed = self.failing(&files).await?;
                let event = Event::AcceptanceRun { tree, failed: failed.clone() };
                prepare::log(&self.run_context.journal, event)?;
                failed
            }
        };
        let acceptance = &self.acceptance;
        self.accepted_drafts.send_modify(|drafts| acceptance.put(drafts));
        Ok(())
    }

    fn files_with_acceptance(&self) -> Result<Files, Fault> {
        let mut files = self.run_context.tree(&self.sources(&self.contents())?.files);
        let kept = &self.run_context.kept;
        for tests in self.acceptance.tests().filter(|it| !kept.contains_key(&it.path)) {
            files.insert(tests.path.clone(), Arc::from(tests.text.as_str()));
        }
        Ok(files)
    }

    /// Returns the reasons of the tests that fail twice, by path.
    async fn failing(&mut self, files: &Files) -> Result<BTreeMap<String, String>, Fault> {
        let mut failed = BTreeMap::new();
        let paths: Vec<String> = self.acceptance.tests().map(|it| it.path.clone()).collect();
        for path in paths {
            let mut reason = None;
            for _ in 0..2 {
                let run = run_file(&self.run_context, files, &path).await;
                self.cost.runs += 1;
                reason = why_not_held(&run.map_err(WorkerError::into_fault)?);
                if reason.is_none() {
                    break;
                }
            }
            failed.extend(reason.map(|reason| (path, reason)));
        }
        Ok(failed)
    }
}

/// Returns the reason why a feature does not hold: a test that did not pass.
fn why_not_held(run: &TestRun) -> Option<String> {
    let all_passed = run.is_clean() && run.cases.iter().all(|it| it.passed);
    let test = run.cases.iter().find(|it| !it.passed).map(|it| format!("{}: ", it.id));
    let what = if run.is_clean() { "it was skipped".to_owned() } else { run.summary() };
    (!all_passed).then(|| test.unwrap_or_default() + &what)
}
