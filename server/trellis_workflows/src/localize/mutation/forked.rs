//! Trials in forks of two runs, which take turns with the edits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;
use trellis_engine::localize::unusual_raises;
use trellis_python::StatementKind;
use trellis_sandbox::{
    PlannedEdit, PlannedFile, PlannedTest, RaisingLine, Request, TrialEnd, TrialOutcome, TrialPlan,
    TrialResult,
};

use super::super::INTERRUPTED;
use super::facts::{Results, Said, Seen, comparable};
use super::{BATCH, Edit, MutationRunner, Tried, left};

/// Number of runs without a single trial after which no more are started.
const BARREN: usize = 2;

pub(super) struct ForkedTrials<'r> {
    runner: &'r MutationRunner<'r>,
    tests: Vec<&'r str>,
    groups: Vec<Vec<usize>>,
    /// The first of the three groups for each place.
    places: BTreeMap<&'r (usize, Option<usize>), usize>,
    files: Vec<usize>,
    /// Lines where only failing tests raise an exception.
    unusual: BTreeSet<(usize, u32)>,
    state: Mutex<State>,
    stop: CancellationToken,
}

#[derive(Default)]
struct State {
    tried: BTreeMap<usize, Tried>,
    /// Results without an edit by the index of the test.
    before: BTreeMap<usize, Said>,
}

impl<'r> ForkedTrials<'r> {
    pub(super) fn new(runner: &'r MutationRunner<'r>) -> ForkedTrials<'r> {
        let (mut tests, mut known) = (Vec::new(), BTreeMap::new());
        let (mut groups, mut places) = (Vec::new(), BTreeMap::new());
        for (place, choice) in runner.choices.by_place() {
            places.insert(place, groups.len());
            for ids in [&choice.first, &choice.rest, &choice.passing] {
                let number = |id: &'r String| {
                    *known.entry(id.as_str()).or_insert_with(|| {
                        tests.push(id.as_str());
                        tests.len() - 1
                    })
                };
                groups.push(ids.iter().map(number).collect());
            }
        }
        let files: BTreeSet<usize> = runner.edits.iter().map(|it| it.file).collect();
        let files = files.into_iter().collect();
        let unusual = unusual_raises(runner.evidence);
        let (state, stop) = (Mutex::default(), runner.search.cancel.child_token());
        ForkedTrials { runner, tests, groups, places, files, unusual, state, stop }
    }

    /// Tries edits until the time is over, or enough were tried after a repair.
    pub(super) async fn run(self, until: Instant) -> BTreeMap<usize, Tried> {
        join_all((0..BATCH).map(|lane| self.follow(lane, until))).await;
        let State { mut tried, .. } =
            self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Equal runs see equal results, however far each lane came.
        let last = self.runner.last(&tried);
        tried.retain(|number, _| *number < last);
        tried
    }

    /// Tries every edit of one lane. After a run that an edit has ended, the next one continues.
    async fn follow(&self, lane: usize, until: Instant) {
        let (mut open, mut barren) = (self.open(lane), 0);
        while !open.is_empty() && barren < BARREN {
            let request = self.request(&open, until);
            let mut take = |it: &TrialResult| self.take(it);
            self.runner.search.runner.run_trials(&request, &self.stop, &mut take).await;
            if self.stop.is_cancelled() || Instant::now() >= until {
                return;
            }
            let left = self.open(lane);
            barren = if left.len() == open.len() { barren + 1 } else { 0 };
            if let Some(culprit) = left.first() {
                self.lock().tried.insert(*culprit, Tried::Unsupported);
            }
            open = self.open(lane);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the edits of a lane that have no result, in order.
    fn open(&self, lane: usize) -> Vec<usize> {
        let state = self.lock();
        let numbers = (lane..self.runner.last(&state.tried)).step_by(BATCH);
        numbers.filter(|it| !state.tried.contains_key(it)).collect()
    }

    /// Takes in a result, and ends the runs if it was the last one wanted.
    fn take(&self, result: &TrialResult) {
        let (edit, end, still_reached) = (result.edit, result.end, result.still_reached);
        tracing::trace!(edit, ?end, tests = result.tests.len(), still_reached, "trial");
        let mut state = self.lock();
        let Some(number) = result.edit.filter(|it| *it < self.runner.edits.len()) else {
            let failed = result.tests.iter().filter(|it| it.outcome == TrialOutcome::Failed);
            let said = failed.map(|it| (it.test, comparable(&it.exception, &it.message)));
            state.before.extend(said);
            return;
        };
        let tried = match result.end {
            TrialEnd::Unchanged | TrialEnd::Invalid => Tried::Void,
            TrialEnd::Unsupported => Tried::Unsupported,
            TrialEnd::Ended | TrialEnd::Died | TrialEnd::Late => {
                let results = self.results(result, &state.before);
                let mut trial = self.runner.trial(&self.runner.edits[number], &results);
                trial.still_reached = result.still_reached;
                Tried::Trial(Box::new(trial))
            }
        };
        state.tried.insert(number, tried);
        let last = self.runner.last(&state.tried);
        if last < self.runner.edits.len() && state.tried.range(..last).count() == last {
            self.stop.cancel();
        }
    }

    fn results(&self, result: &TrialResult, before: &BTreeMap<usize, Said>) -> Results<'r> {
        let known = |test: &usize| self.tests.get(*test).copied();
        let seen = result.tests.iter().filter_map(|it| {
            let seen = Seen {
                passed: it.outcome == TrialOutcome::Passed,
                failed: it.outcome == TrialOutcome::Failed,
                said: comparable(&it.exception, &it.message),
            };
            Some((known(&it.test)?, seen))
        });
        let ran = result.tests.iter().map(|it| &it.test);
        let before = ran.filter_map(|it| Some((known(it)?, before.get(it)?.clone())));
        let ended = result.end == TrialEnd::Ended;
        Results { seen: seen.collect(), ended, before: before.collect() }
    }

    fn request(&self, open: &[usize], until: Instant) -> Request {
        let longest = self.runner.choices.longest;
        let mut request = self.runner.search.request(Vec::new(), longest);
        let files: BTreeSet<&str> =
            self.tests.iter().filter_map(|it| it.split("::").next()).collect();
        request.targets = files.into_iter().map(str::to_owned).collect();
        request.run_timeout = left(until).min(request.run_timeout);
        // The forks have limits of their own.
        request.test_timeout = request.run_timeout;
        request.trials = Some(self.plan(open));
        request
    }

    fn plan(&self, open: &[usize]) -> TrialPlan {
        let tests = self
            .tests
            .iter()
            .map(|id| PlannedTest { id: (*id).to_owned(), limit: self.runner.choices.limit(id) });
        let file = |it: &usize| self.runner.edits.iter().find(|edit| edit.file == *it);
        let files = self.files.iter().filter_map(file);
        let files =
            files.map(|it| PlannedFile { path: it.path.clone(), source: it.source.clone() });
        TrialPlan {
            tests: tests.collect(),
            groups: self.groups.clone(),
            files: files.collect(),
            edits: open.iter().filter_map(|number| self.edit(*number)).collect(),
            raised: (0..self.tests.len()).flat_map(|it| self.raised(it)).collect(),
        }
    }

    fn edit(&self, number: usize) -> Option<PlannedEdit> {
        let edit: &Edit = &self.runner.edits[number];
        let first = *self.places.get(self.runner.choices.place(edit)?)?;
        Some(PlannedEdit {
            number,
            file: self.files.binary_search(&edit.file).ok()?,
            range: edit.mutant.range.clone(),
            replacement: edit.mutant.replacement.clone(),
            first,
            rest: first + 1,
            passing: first + 2,
        })
    }

    /// Returns the lines that raised what a failing test reports or catches, as far as only failing
    /// tests do. Lines that are there to detect faults do not count: a failed assertion of a test,
    /// or a `raise`.
    fn raised(&self, test: usize) -> Vec<RaisingLine> {
        let evidence = self.runner.evidence;
        let Some(at) = self.runner.places.get(self.tests[test]) else { return Vec::new() };
        let of = &evidence.tests[*at];
        let failure = of.failure.as_ref().filter(|it| it.exception != INTERRUPTED);
        let decided = failure.and_then(|it| {
            let frame = it.frames.last()?;
            let file = evidence.files.iter().position(|of| of.path == frame.path)?;
            let is_assertion = matches!(it.exception.as_str(), "AssertionError" | "Failed");
            (!(evidence.files[file].is_test && is_assertion)).then_some((file, frame.line))
        });
        let raised = of.trace.iter().flat_map(|it| &it.raised).map(|it| it.at);
        let caught = raised.filter(|it| self.unusual.contains(it));
        let lines: BTreeSet<(usize, u32)> = caught.chain(decided).collect();
        let lines = lines.into_iter().filter(|(file, line)| {
            let facts = &evidence.files[*file].facts;
            let kind = facts.statement_at(*line).map(|at| facts.statements[at].kind);
            kind != Some(StatementKind::Raise)
        });
        let path = |file: usize| evidence.files[file].path.clone();
        lines.map(|(file, line)| RaisingLine { test, path: path(file), line }).collect()
    }
}
