//! Builds the tree that a node's tests see and runs tests on it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::assembly::{Contribution, Sources, sources};
use trellis_engine::{Draft, Failure, RunMode, TestRun, cut_middle, node};
use trellis_plan::NodeIx;
use trellis_sandbox::{Report, Request, Tree};

use crate::convert::{self, Files};
use crate::fault::Fault;
use crate::generate::worker::{Worker, WorkerError, source};
use crate::reporter::Progress;
use trellis_store::journal::{Event, RecordedComparison, RecordedFailure};

/// Maximum characters of each text of a failure in the journal.
const FAILURE_TEXT: usize = 4000;

impl Worker {
    /// Returns the node's file as earlier nodes left it, and by module the other files that the
    /// node may use.
    pub(super) fn written_so_far(&self) -> Result<(String, BTreeMap<String, String>), WorkerError> {
        let path = &self.run_context.work.items[&self.node].path;
        let mut built = self.assemble(&Draft::default())?;
        let own = built.files.remove(path).unwrap_or_default();
        let layout = &self.run_context.work.layout;
        let modules = built.files.into_iter().map(|(path, text)| (layout.module(&path), text));
        Ok((own, modules.collect()))
    }

    /// Assembles the node's view and the draft into files. Only tests of the node's own test file
    /// are included.
    pub(super) fn assemble(&self, draft: &Draft) -> Result<Sources, WorkerError> {
        let test_path = &self.run_context.work.items[&self.node].test_path;
        let view = self.run_context.work.view(self.node, &self.more);
        self.built(draft, &view, |other| other == test_path)
    }

    /// Assembles the texts of settled nodes, as the draft amends them, and the draft.
    fn built(
        &self,
        draft: &Draft,
        nodes: &[NodeIx],
        shows_tests: impl Fn(&str) -> bool,
    ) -> Result<Sources, WorkerError> {
        let work = &self.run_context.work;
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        let drafts: Vec<(NodeIx, Draft)> = (nodes.iter())
            .filter_map(|ix| Some((*ix, accepted_drafts.draft(*ix)?)))
            .map(|(ix, settled)| {
                let item = &work.items[&ix];
                let tests = settled.tests.clone().filter(|_| shows_tests(&item.test_path));
                let amended = draft.amended.get(&item.id).cloned();
                let implementation = amended.or_else(|| settled.implementation.clone());
                (ix, Draft { tests, implementation, ..Draft::default() })
            })
            .collect();
        let mut shares: Vec<(NodeIx, Contribution<'_>)> = drafts
            .iter()
            .map(|(ix, draft)| (*ix, Contribution { item: &work.items[ix], draft }))
            .collect();
        let item = &work.items[&self.node];
        shares.push((self.node, Contribution { item, draft }));
        shares.sort_by_key(|(ix, _)| work.place[ix]);
        let shares: Vec<Contribution<'_>> = shares.into_iter().map(|(_, share)| share).collect();
        sources(&work.layout, &shares, &self.run_context.kept).map_err(|error| {
            let message = format!("the files of {} do not fit together: {error}", item.id);
            WorkerError::Fault(Fault::internal(message))
        })
    }

    /// Runs the node's tests on its view.
    pub(super) async fn test(&mut self, run: RunMode) -> Result<node::Event, WorkerError> {
        self.await_imported().await?;
        if !self.draft.amended.is_empty() && !self.has_turn {
            self.await_exclusive_turn().await?;
        }
        let run_context = self.run_context.clone();
        let item = &run_context.work.items[&self.node];
        let draft = match run {
            RunMode::Red => Cow::Owned(Draft {
                implementation: Some(trellis_engine::stub(item)),
                ..Draft { tests: self.draft.tests.clone(), ..Draft::default() }
            }),
            RunMode::Green | RunMode::Again => Cow::Borrowed(&self.draft),
        };
        let built = self.assemble(&draft)?;
        let targets = built.tests.get(&item.id).cloned().unwrap_or_default();
        let targets = if targets.is_empty() { vec![item.test_path.clone()] } else { targets };
        self.repeats = if run == RunMode::Again { self.repeats + 1 } else { 0 };
        // Measuring coverage is worth its time only after a failure.
        let (report, files) = self.run_tests(built, targets, self.repeats == 1).await;
        let observed = convert::test_run(&report, &|path| files.get(path).cloned())?;
        (self.passed, self.failed) = (observed.passed(), observed.failed());
        self.log(self.test_run(run, &observed, report.duration.as_millis() as u64))?;
        if run == RunMode::Green && observed.is_clean() {
            // Only results of text that will be on the disk are emitted; failing drafts are
            // reported as stages.
            let root = &run_context.root;
            report.tests.iter().for_each(|test| {
                run_context.reporter.emit(Progress::Test { root, test, text_of: None })
            });
        }
        if !observed.proves() && (report.coverage.is_some() || self.repeats == 0) {
            self.last = Some((report, files));
        }
        Ok(node::Event::Tests(observed))
    }

    /// Returns the journal's event of a run.
    fn test_run(&self, run: RunMode, observed: &TestRun, milliseconds: u64) -> Event {
        let is_first_failure = run == RunMode::Green && !observed.is_clean();
        Event::TestRun {
            node: self.id(),
            red: run == RunMode::Red,
            outcome: observed.summary(),
            passed: self.passed,
            failed: self.failed,
            milliseconds,
            failing: observed.first_failing().map(str::to_owned),
            output: (run == RunMode::Red).then(|| trellis_engine::failures::summarize(observed)),
            implementation: is_first_failure.then(|| source(&self.draft.implementation)),
            failure: (run != RunMode::Red).then(|| first_failure(observed)).flatten(),
        }
    }

    /// Runs the tests of amended nodes and of all accepted nodes that see one (V1).
    pub(super) async fn regression(&mut self) -> Result<node::Event, WorkerError> {
        let run_context = self.run_context.clone();
        let work = &run_context.work;
        let settled: Vec<NodeIx> = work
            .leaves
            .iter()
            .copied()
            .filter(|ix| self.accepted_drafts.borrow().draft(*ix).is_some())
            .collect();
        let mut built = self.built(&self.draft, &settled, |_| true)?;
        let affected = self.affected(&settled);
        self.repeats = 0;
        let mut targets: Vec<String> = self.affected_flows(&affected, &mut built);
        for ix in affected.iter().chain([&self.node]) {
            let item = &work.items[ix];
            match built.tests.get(&item.id).filter(|tests| !tests.is_empty()) {
                Some(tests) => targets.extend(tests.iter().cloned()),
                // A person took the file over.
                None if built.files.contains_key(&item.test_path) => {
                    targets.push(item.test_path.clone());
                }
                None => {}
            }
        }
        let (report, files) = self.run_tests(built, targets, false).await;
        let observed = convert::test_run(&report, &|path| files.get(path).cloned())?;
        self.cost.regressions += 1;
        self.cost.regressions_passed += usize::from(observed.is_clean());
        self.log(Event::Regression {
            node: self.id(),
            modified: self.draft.amended.keys().cloned().collect(),
            rerun: affected.iter().map(|ix| work.plan.id(*ix).to_owned()).collect(),
            outcome: observed.summary(),
            passed: observed.passed(),
            failed: observed.failed(),
        })?;
        Ok(node::Event::Tests(observed))
    }

    /// Returns settled nodes that are amended or see an amended node.
    fn affected(&self, settled: &[NodeIx]) -> Vec<NodeIx> {
        let work = &self.run_context.work;
        let amended: BTreeSet<NodeIx> =
            self.draft.amended.keys().filter_map(|id| work.plan.find(id)).collect();
        let sees = |ix: &NodeIx| {
            let accepted_drafts = self.accepted_drafts.borrow();
            let more: BTreeSet<NodeIx> = (accepted_drafts.draft(*ix).iter())
                .flat_map(|draft| draft.implementation.iter().chain(&draft.tests))
                .flat_map(|fragment| work.imported(*ix, fragment))
                .collect();
            amended.contains(ix) || work.view(*ix, &more).iter().any(|it| amended.contains(it))
        };
        settled.iter().copied().filter(sees).collect()
    }

    /// Returns the integration test paths of subgraphs with an affected node and adds their files
    /// to `built`.
    fn affected_flows(&self, affected: &[NodeIx], built: &mut Sources) -> Vec<String> {
        let plan = &self.run_context.work.plan;
        let subgraphs: BTreeSet<&str> = affected
            .iter()
            .map(|ix| plan.node(*ix).subgraph.as_deref().unwrap_or("main"))
            .collect();
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        let flows =
            accepted_drafts.flows().iter().filter(|(name, _)| subgraphs.contains(name.as_str()));
        flows
            .map(|(_, flow)| {
                built.files.insert(flow.path.clone(), flow.text.to_string());
                flow.path.clone()
            })
            .collect()
    }

    pub(super) async fn run_tests(
        &mut self,
        built: Sources,
        targets: Vec<String>,
        coverage: bool,
    ) -> (Report, Files) {
        let files = self.run_context.tree(&built.files);
        let request = Request {
            targets,
            test_timeout: self.run_context.test_timeout,
            coverage,
            // Forks of one interpreter share hash seeds, and with them the order of sets.
            cold: self.repeats > 1,
            hash_seed: self.repeats,
            ..self.run_context.runner.request(Tree::Files(files.clone()))
        };
        let report = self.run_context.runner.run(&request, &self.run_context.cancel).await;
        self.cost.runs += 1;
        (report, files)
    }
}

/// Returns the first failure of a run, with shortened texts.
fn first_failure(observed: &TestRun) -> Option<Box<RecordedFailure>> {
    let Failure { exception, message, path, line, compared, .. } = observed.failures().next()?;
    let compared = compared.as_ref().map(|it| RecordedComparison {
        operator: it.operator.clone(),
        left: cut_middle(&it.left, FAILURE_TEXT),
        right: cut_middle(&it.right, FAILURE_TEXT),
    });
    let (exception, path) = (exception.clone(), path.clone());
    let message = cut_middle(message, FAILURE_TEXT);
    Some(Box::new(RecordedFailure { exception, message, path, line: *line, compared }))
}
