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
use crate::generate::test_function_counts;
use crate::generate::worker::WorkerError;
use trellis_store::cost::Cost;
use trellis_store::disk;
use trellis_store::journal::{AcceptanceTests, Event};
use trellis_store::replay::ReplayedState;

/// Reason for which a feature has no tests yet.
const NOT_WRITTEN: &str = "its tests are not written yet";

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
    /// Hash of these files.
    tree: String,
    /// Texts that a person took over, by path.
    edited: BTreeMap<String, String>,
}

impl AcceptanceState {
    /// Returns the state at a start. Tests of an earlier start count if the feature's sentences and
    /// signatures are the same; files that a person took over count as they are.
    pub(super) fn of(
        work: &WorkGraph,
        past: &ReplayedState,
        kept: &BTreeMap<String, String>,
    ) -> AcceptanceState {
        let features = features(work);
        let written: BTreeMap<String, AcceptanceTests> = (features.iter())
            .filter_map(|it| Some((it.path.clone(), earlier(work, past, it)?)))
            .collect();
        let edited: BTreeMap<String, String> = (features.iter())
            .filter_map(|it| Some((it.path.clone(), kept.get(&it.path)?.clone())))
            .collect();
        let is_left =
            |it: &&Feature| !written.contains_key(&it.path) && !edited.contains_key(&it.path);
        let left: Vec<Feature> = features.iter().filter(is_left).rev().cloned().collect();
        let failed = past.acceptance_run.as_ref().map(|it| it.failed.clone()).unwrap_or_default();
        let (is_new, writing, tree) = (false, 0, String::new());
        AcceptanceState { features, left, is_new, writing, written, failed, tree, edited }
    }

    /// Writes no tests in this start, which repeats single nodes.
    pub(super) fn write_none(&mut self) {
        self.left.clear();
    }

    /// Returns whether the tests of all features are written.
    pub(super) fn is_written(&self) -> bool {
        self.left.is_empty() && self.writing == 0
    }

    /// Puts the tests that passed on the finished files of an earlier start among the accepted
    /// ones.
    pub(super) fn restore(&self, past: &ReplayedState, drafts: &mut AcceptedDrafts) {
        let Some(run) = &past.acceptance_run else { return };
        for it in self.tests().filter(|it| run.passed.get(&it.path) == Some(&disk::hash(&it.text)))
        {
            put(drafts, it);
        }
    }

    /// Returns the costs of earlier starts.
    pub(super) fn costs(&self) -> impl Iterator<Item = &Cost> {
        self.written.values().map(|it| &it.cost)
    }

    /// Returns the tests that exist and that no person took over.
    fn tests(&self) -> impl Iterator<Item = &AcceptanceTests> {
        let is_edited = |it: &&AcceptanceTests| self.edited.contains_key(&it.path);
        self.written.values().filter(|it| !it.text.is_empty()).filter(move |it| !is_edited(it))
    }

    /// Returns a line for each feature.
    pub(super) fn lines(&self) -> Vec<AcceptanceLine> {
        let line = |feature: &Feature| {
            let edited = self.edited.get(&feature.path);
            let tests = self.written.get(&feature.path);
            let text = edited.or(tests.map(|it| &it.text)).cloned().unwrap_or_default();
            let missing = tests.map_or(NOT_WRITTEN, |it| it.reason.as_str());
            let reason = match (edited, text.is_empty()) {
                (Some(_), _) => None,
                (None, true) => Some(missing.to_owned()),
                (None, false) => self.failed.get(&feature.path).cloned(),
            };
            let written = tests.filter(|_| edited.is_none()).map_or(0, |it| it.functions);
            AcceptanceLine {
                feature: feature.name.clone(),
                sentences: feature.sentences.iter().map(|it| it.number).collect(),
                path: feature.path.clone(),
                has_tests: !text.is_empty(),
                is_edited: edited.is_some(),
                left_out: written.saturating_sub(test_function_counts::functions(&text)),
                reason,
                text,
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
        let known = self.past.acceptance_run.clone().filter(|it| it.tree == tree);
        self.acceptance.failed = match &known {
            Some(run) => run.failed.clone(),
            None => self.failing(&files).await?,
        };
        self.acceptance.tree = tree;
        let acceptance = &self.acceptance;
        self.accepted_drafts.send_modify(|drafts| {
            acceptance.tests().for_each(|it| match acceptance.failed.contains_key(&it.path) {
                true => drafts.remove_flow(&it.path),
                false => put(drafts, it),
            });
        });
        if known.is_some() { Ok(()) } else { self.log_acceptance() }
    }

    fn log_acceptance(&self) -> Result<(), Fault> {
        let AcceptanceState { tree, failed, .. } = &self.acceptance;
        let passed = self.acceptance.tests().filter(|it| !failed.contains_key(&it.path));
        let passed = passed.map(|it| (it.path.clone(), disk::hash(&it.text))).collect();
        let event = Event::AcceptanceRun { tree: tree.clone(), passed, failed: failed.clone() };
        prepare::log(&self.run_context.journal, event)
    }

    /// Takes back that features hold whose tests fail in the whole suite. `failed` has the tests' ids
    /// or paths with the reasons.
    pub(super) fn fail_acceptance(&mut self, failed: &[(String, String)]) -> Result<(), Fault> {
        let of_path = |path: &str| {
            let is_its = |id: &str| id.split("::").next() == Some(path);
            failed.iter().find(|(id, _)| is_its(id))
        };
        let found: Vec<(String, String)> = (self.acceptance.tests())
            .filter(|it| !self.acceptance.failed.contains_key(&it.path))
            .filter_map(|it| Some((it.path.clone(), of_path(&it.path)?)))
            .map(|(path, (id, why))| (path, format!("{id}: fails in the whole suite: {why}")))
            .collect();
        if found.is_empty() {
            return Ok(());
        }
        self.acceptance.failed.extend(found);
        self.log_acceptance()
    }

    fn files_with_acceptance(&self) -> Result<Files, Fault> {
        let mut files = self.run_context.tree(&self.sources(&self.contents())?.files);
        for tests in self.acceptance.tests() {
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

/// Returns the tests of an earlier start for the same sentences and signatures.
fn earlier(work: &WorkGraph, past: &ReplayedState, feature: &Feature) -> Option<AcceptanceTests> {
    let specification = specification(work, feature);
    let own = past.acceptance.get(&feature.path);
    // The feature may have had another name then.
    let all = own.into_iter().chain(past.acceptance.values());
    let found = all.into_iter().find(|it| it.specification == specification)?;
    let (name, path) = (feature.name.clone(), feature.path.clone());
    Some(AcceptanceTests { feature: name, path, ..found.clone() })
}

fn put(drafts: &mut AcceptedDrafts, tests: &AcceptanceTests) {
    let (path, text) = (tests.path.clone(), tests.text.as_str().into());
    drafts.put_flow(&tests.path, IntegrationTests { path, text });
}

/// Returns the reason why a feature does not hold: a test that did not pass.
fn why_not_held(run: &TestRun) -> Option<String> {
    let all_passed = run.is_clean() && run.cases.iter().all(|it| it.passed);
    let test = run.cases.iter().find(|it| !it.passed).map(|it| format!("{}: ", it.id));
    let what = if run.is_clean() { "it was skipped".to_owned() } else { run.summary() };
    (!all_passed).then(|| test.unwrap_or_default() + &what)
}
