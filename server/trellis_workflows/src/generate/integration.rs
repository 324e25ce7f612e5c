//! Integration tests of a finished subgraph: requests, runs and keeps them if enough of them pass
//! (V2).

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use trellis_engine::assembly::{Contribution, Sources, sources};
use trellis_engine::localize::rank;
use trellis_engine::{
    Draft, FlowItems, Integration, IntegrationTarget, LIBRARY, ModelRequest, NO_FLOWS, RunOutcome,
    TestRun, ask_integration_tests, integration_tests,
};
use trellis_plan::{FlowKind, NodeIx, flows};
use trellis_python::Fragment;
use trellis_sandbox::{Report, Request, Tree};

use crate::convert::{self, Files};
use crate::fault::Fault;
use crate::generate::accepted::AcceptedDrafts;
use crate::generate::ask_tests::{WrittenTests, ask_tests};
use crate::generate::items::WorkGraph;
use crate::generate::test_function_counts;
use crate::generate::test_paths::{free_path, plain_name};
use crate::generate::worker::run_index::RunIndex;
use crate::generate::worker::{RunContext, WorkerError};
use crate::localize::evidence;
use trellis_store::cost::Cost;
use trellis_store::disk;
use trellis_store::journal::{Event, IntegrationResult};

/// Maximum number of flows to test per subgraph, or for the whole library.
const FLOWS: usize = 5;
/// Maximum number of suspects to name if too few tests pass.
const SUSPECTS: usize = 3;

/// Returns the path of a subgraph's integration tests.
fn path(run_context: &RunContext, subgraph: &str) -> String {
    let subgraph = if subgraph == LIBRARY { "library" } else { subgraph };
    let mut name = plain_name(subgraph);
    let is_plain = name == subgraph;
    // Two subgraph names may differ only in characters that file names do not keep.
    let suffix = if is_plain { String::new() } else { format!("_{}", &disk::hash(subgraph)[..6]) };
    name += &suffix;
    free_path(&run_context.work, "integration", name, "flow")
}

/// Returns a hash of the plan's text for a subgraph's leaves. Integration tests stay valid as long
/// as it stays the same.
pub(super) fn specification(work: &WorkGraph, leaves: &[NodeIx]) -> String {
    specification_with(work, leaves, WorkGraph::specification)
}

/// Returns whether the plan's text for a subgraph's leaves is that of a recorded hash.
pub(super) fn is_specified(work: &WorkGraph, leaves: &[NodeIx], recorded: &str) -> bool {
    let known: [fn(&WorkGraph, NodeIx) -> String; 2] =
        [WorkGraph::specification, WorkGraph::old_specification];
    known.into_iter().any(|of| specification_with(work, leaves, of) == recorded)
}

fn specification_with(
    work: &WorkGraph,
    leaves: &[NodeIx],
    of: fn(&WorkGraph, NodeIx) -> String,
) -> String {
    let part = |ix: &NodeIx| format!("{} {}", work.plan.id(*ix), of(work, *ix));
    disk::hash(leaves.iter().map(part).collect::<Vec<_>>().join("\n"))
}

/// Returns a hash of the nodes of flows.
fn flows_hash(flows: &[FlowItems<'_>]) -> String {
    let way =
        |flow: &FlowItems<'_>| flow.iter().map(|it| it.id.as_str()).collect::<Vec<_>>().join("\n");
    disk::hash(flows.iter().map(way).collect::<Vec<_>>().join("\n\n"))
}

/// Makes the integration tests of one subgraph, from the request to the journaled result. Tests of
/// the same flows that an `earlier` start accepted stay if they pass.
pub(super) async fn integrate(
    run_context: Arc<RunContext>,
    subgraph: String,
    leaves: Vec<NodeIx>,
    earlier: Option<IntegrationResult>,
    accepted_drafts: AcceptedDrafts,
    _permit: OwnedSemaphorePermit,
) -> Result<IntegrationResult, WorkerError> {
    let ways = select_flows(&run_context.work, &subgraph, &leaves);
    let items = |flow: &trellis_plan::Flow| -> Option<FlowItems<'_>> {
        flow.nodes
            .iter()
            .map(|ix| accepted_drafts.draft(*ix).and_then(|_| run_context.work.items.get(ix)))
            .collect()
    };
    let flows: Vec<FlowItems<'_>> = ways.iter().filter_map(items).collect();
    let out = IntegrationResult {
        subgraph: subgraph.clone(),
        specification: specification(&run_context.work, &leaves),
        flows: flows_hash(&flows),
        path: path(&run_context, &subgraph),
        ..IntegrationResult::default()
    };
    let mut job = IntegrationJob {
        run_context: &run_context,
        subgraph: &subgraph,
        leaves: &leaves,
        accepted_drafts: &accepted_drafts,
        flows,
        first: None,
        out,
    };
    if !job.keeps(earlier).await? {
        job.run().await?;
    }
    let integrated = job.out;
    run_context
        .journal
        .commit(Event::Integration(integrated.clone()))
        .map_err(|error| WorkerError::Journal { node: None, error })?;
    Ok(integrated)
}

/// Returns the flows to test. For the whole library, only flows that cross subgraphs count.
fn select_flows(work: &WorkGraph, subgraph: &str, leaves: &[NodeIx]) -> Vec<trellis_plan::Flow> {
    if subgraph != LIBRARY {
        return flows(&work.plan, leaves, FlowKind::Both, FLOWS);
    }
    let subgraphs = |flow: &trellis_plan::Flow| -> BTreeSet<Option<String>> {
        flow.nodes
            .iter()
            .map(|ix| work.plan.node(*ix).subgraph.as_deref().map(str::to_owned))
            .collect()
    };
    let all = flows(&work.plan, leaves, FlowKind::Both, usize::MAX);
    all.into_iter().filter(|flow| subgraphs(flow).len() > 1).take(FLOWS).collect()
}

/// Returns whether the library has flows that cross subgraphs.
pub(super) fn is_connected(work: &WorkGraph, leaves: &[NodeIx]) -> bool {
    !select_flows(work, LIBRARY, leaves).is_empty()
}

struct IntegrationJob<'a> {
    run_context: &'a RunContext,
    subgraph: &'a str,
    leaves: &'a [NodeIx],
    accepted_drafts: &'a AcceptedDrafts,
    flows: Vec<FlowItems<'a>>,
    /// Result of the first tests, which were sent back because they use names or calls that do not
    /// exist.
    first: Option<IntegrationDone>,
    out: IntegrationResult,
}

impl WrittenTests for IntegrationJob<'_> {
    fn request(&self, complaint: Option<&str>, attempt: u32) -> Result<ModelRequest, WorkerError> {
        let layout = &self.run_context.work.layout;
        let files = self.assemble()?.files.into_iter();
        let files = files.map(|(path, text)| (layout.module(&path), text)).collect();
        let (subgraph, flows) = (self.subgraph, &self.flows[..]);
        let target = IntegrationTarget { subgraph, flows, files: &files };
        let conventions = &self.run_context.conventions;
        Ok(ask_integration_tests(&target, conventions, complaint, attempt))
    }

    async fn take(&mut self, reply: &str) -> Result<Option<String>, WorkerError> {
        match integration_tests(self.subgraph, &self.flows, reply) {
            Ok(tests) => self.try_tests(&tests).await,
            Err(why) => Ok(Some(why)),
        }
    }
}

/// Result of running one version of the tests.
struct IntegrationDone {
    integration: Integration,
    tests: Fragment,
    suspects: Option<String>,
}

impl IntegrationJob<'_> {
    /// Takes over tests of an earlier start if they are for the same flows and pass. Returns false
    /// if there are none or they fail.
    async fn keeps(&mut self, earlier: Option<IntegrationResult>) -> Result<bool, WorkerError> {
        let same = |it: &IntegrationResult| !it.text.is_empty() && it.flows == self.out.flows;
        let Some(earlier) = earlier.filter(same) else { return Ok(false) };
        let Ok(tests) = Fragment::parse(&earlier.text) else { return Ok(false) };
        let (_, _, run) = self.test(&tests, false).await?;
        let out = &mut self.out;
        if run.is_clean() && !run.cases.is_empty() {
            let (specification, path) = (out.specification.clone(), out.path.clone());
            *out = IntegrationResult { specification, path, ..earlier };
        }
        out.cost.runs += 1;
        Ok(!out.text.is_empty())
    }

    async fn run(&mut self) -> Result<(), WorkerError> {
        if self.flows.is_empty() {
            self.out.outcome = NO_FLOWS.to_owned();
            return Ok(());
        }
        let (context, subject) = (self.run_context, self.subgraph);
        let mut cost = Cost::default();
        let missing = ask_tests(context, subject, self, &mut cost).await?;
        self.out.cost += &cost;
        match missing {
            Some(reason) => {
                self.out.outcome = reason;
                self.record_results(None).await
            }
            None => Ok(()),
        }
    }

    /// Runs tests and records the results. Returns a complaint for the model if the tests cannot
    /// run, or if the first ones use names or calls that do not exist.
    async fn try_tests(&mut self, tests: &Fragment) -> Result<Option<String>, WorkerError> {
        let (report, files, mut run) = self.test(tests, true).await?;
        self.out.cost.runs += 1;
        if run.ending == RunOutcome::CollectionError || run.cases.is_empty() {
            return Ok(Some(format!("the tests cannot run: {}", run.summary())));
        }
        // A failure that passes on an unchanged rerun is flaky, not wrong.
        if !run.is_clean() {
            let (_, _, again) = self.test(tests, false).await?;
            self.out.cost.runs += 1;
            for case in run.cases.iter_mut().filter(|case| !case.passed) {
                let passed = again.cases.iter().any(|it| it.id == case.id && it.passed);
                (case.passed, case.set_aside) = (passed, case.set_aside && !passed);
            }
        }
        let came = IntegrationDone {
            integration: Integration::of(&run),
            tests: tests.clone(),
            suspects: suspects(&report, &files),
        };
        let misuse = Integration::misuse(&run, &self.out.path).filter(|_| self.first.is_none());
        if misuse.is_some() {
            self.first = Some(came);
            return Ok(misuse);
        }
        self.record_results(Some(came)).await?;
        Ok(None)
    }

    /// Records the better of the two results: the first tests or those that replaced them.
    async fn record_results(&mut self, last: Option<IntegrationDone>) -> Result<(), WorkerError> {
        let all = self.first.take().into_iter().chain(last);
        let Some(came) = all.max_by_key(|it| it.integration.passed) else { return Ok(()) };
        let IntegrationDone { integration, tests, suspects } = came;
        let out = &mut self.out;
        (out.passed, out.failed) = (integration.passed, integration.failures.len());
        out.functions = test_function_counts::functions(&tests.to_source());
        let failures = integration.failures.iter();
        out.left_out = failures.map(|(id, why)| format!("{id}: {why}")).collect();
        if integration.is_enough() {
            return self.keep(&integration, &tests).await;
        }
        out.outcome = "failed".to_owned();
        out.left_out.extend(suspects);
        Ok(())
    }

    /// Keeps the passing tests if they also pass without the others.
    async fn keep(
        &mut self,
        integration: &Integration,
        tests: &Fragment,
    ) -> Result<(), WorkerError> {
        let kept = integration.passing(tests);
        if !integration.failures.is_empty() {
            let (_, _, alone) = self.test(&kept, false).await?;
            let out = &mut self.out;
            out.cost.runs += 1;
            if !alone.is_clean() {
                out.outcome = "failed".to_owned();
                out.left_out
                    .push(format!("the tests that passed do not pass alone: {}", alone.summary()));
                return Ok(());
            }
        }
        (self.out.outcome, self.out.text) = ("passed".to_owned(), text(&kept));
        Ok(())
    }

    async fn test(
        &self,
        tests: &Fragment,
        coverage: bool,
    ) -> Result<(Report, Files, TestRun), WorkerError> {
        let mut files = self.run_context.tree(&self.assemble()?.files);
        files.insert(self.out.path.clone(), Arc::from(text(tests)));
        let request = Request {
            targets: vec![self.out.path.clone()],
            test_timeout: self.run_context.test_timeout,
            coverage,
            ..self.run_context.runner.request(Tree::Files(files.clone()))
        };
        let report = self.run_context.runner.run(&request, &self.run_context.cancel).await;
        let run = convert::test_run(&report, &|path| files.get(path).cloned())?;
        Ok((report, files, run))
    }

    /// Assembles the subgraph, the parts of its flows, and everything they build on, without unit
    /// tests.
    fn assemble(&self) -> Result<Sources, WorkerError> {
        let work = &self.run_context.work;
        let parts = self.flows.iter().flatten().filter_map(|item| work.plan.find(&item.id));
        let parts: Vec<NodeIx> = self.leaves.iter().copied().chain(parts).collect();
        let drafts: Vec<(NodeIx, Draft)> = (visible_nodes(work, self.accepted_drafts, &parts)
            .into_iter())
        .filter_map(|ix| {
            let implementation = self.accepted_drafts.draft(ix)?.implementation.clone();
            Some((ix, Draft { implementation, ..Draft::default() }))
        })
        .collect();
        let shares: Vec<Contribution<'_>> = drafts
            .iter()
            .map(|(ix, draft)| Contribution { item: &work.items[ix], draft })
            .collect();
        sources(&work.layout, &shares, &self.run_context.kept).map_err(|error| {
            let message = format!("the files of {} do not fit together: {error}", self.subgraph);
            WorkerError::Fault(Fault::internal(message))
        })
    }
}

/// Returns the nodes that integration tests of `parts` see: the parts, what they build on, and all
/// methods of the classes among these up to the last part in the plan's order, since tests may call
/// any method.
pub(super) fn visible_nodes(
    work: &WorkGraph,
    accepted_drafts: &AcceptedDrafts,
    parts: &[NodeIx],
) -> Vec<NodeIx> {
    let last = parts.iter().map(|ix| work.place[ix]).max().unwrap_or_default();
    let mut nodes: BTreeSet<usize> = BTreeSet::new();
    let mut left = parts.to_vec();
    while let Some(ix) = left.pop() {
        let draft = accepted_drafts.draft(ix);
        let more = draft.iter().flat_map(|it| &it.implementation);
        let more = more.flat_map(|fragment| work.imported(ix, fragment)).collect();
        for seen in work.view(ix, &more).into_iter().chain([ix]) {
            if nodes.insert(work.place[&seen]) {
                left.extend(work.methods(seen).filter(|it| work.place[it] <= last));
            }
        }
    }
    nodes.into_iter().map(|place| work.leaves[place]).collect()
}

/// Returns the text of a test file, formatted like all generated files.
pub(super) fn text(tests: &Fragment) -> String {
    let source = tests.to_source();
    trellis_python::formatted(&source).unwrap_or(source)
}

/// Returns a line that names suspects, ranked by coverage of the failing tests.
fn suspects(report: &Report, files: &Files) -> Option<String> {
    report.coverage.as_ref()?;
    let evidence = evidence(&RunIndex::of(files).index, std::slice::from_ref(report));
    let ranked = rank(&evidence, &[]).suspects.into_iter();
    let code = ranked.filter(|it| !evidence.files[it.file].is_test && !it.symbol.is_empty());
    let names: Vec<String> = code.take(SUSPECTS).map(|it| it.symbol).collect();
    (!names.is_empty()).then(|| format!("suspects: {}", names.join(", ")))
}
