//! `node`: one node of a run in detail, above all the reasons for which it did not pass.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::assembly::Layout;
use trellis_plan::{Direction, NodeIx, Plan, Status, explore};
use trellis_project::plan_file;
use trellis_store::journal::RecordedFailure;
use trellis_workflows::fault::Fault;
use trellis_workflows::generate::{NodeAttempt, node_history};
use trellis_workflows::{node_status, tasks};

use super::files::past;

/// Shows one node of a run, or one task: why it failed, the failing test, the attempts with their outcomes, the last
/// texts, and what it blocks.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NodeParams {
    /// The output folder of the run.
    pub out: PathBuf,
    /// The id of the node or task.
    pub node: String,
}

/// A node or a task of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeResult {
    pub id: String,
    /// For a method, with its class in front.
    pub name: String,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`.
    pub status: String,
    /// Why it failed or was skipped.
    pub reason: Option<String>,
    /// The cause in a sentence, if it is known.
    pub cause: Option<String>,
    /// What you can do.
    pub recommendation: Option<String>,
    /// The planning graph or list of tasks.
    pub graph: PathBuf,
    /// The docstring of a node, or the description of a task.
    pub specification: Option<String>,
    /// The planned file, relative to the run's folder.
    pub path: Option<String>,
    /// The planned file of its tests, relative to the run's folder.
    pub test_path: Option<String>,
    /// The id of the test that failed last.
    pub test: Option<String>,
    pub failure: Option<NodeFailure>,
    /// Implementations in order, the first one first; empty for tasks.
    pub attempts: Vec<AttemptResult>,
    /// Stages of a task, in order.
    pub steps: Vec<NodeStep>,
    /// The last tests; empty if there are none. A failed node leaves no file.
    pub tests: String,
    /// The last implementation; empty if there is none.
    pub implementation: String,
    /// Nodes that have not passed and depend on it, directly or through others.
    pub blocks: Vec<BlockedNode>,
}

/// The last failure of a node's tests.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeFailure {
    pub exception: String,
    pub message: String,
    /// The deepest place in the project, relative to the run's folder; empty if unknown.
    pub path: String,
    /// From 1; 0 if unknown.
    pub line: u32,
    /// The right side of the comparison that failed: usually the expected value.
    pub expected: Option<String>,
    /// The left side.
    pub actual: Option<String>,
    /// The operator between both sides.
    pub operator: Option<String>,
}

/// One implementation, and what its tests gave.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptResult {
    /// What its tests gave, in a line.
    pub outcome: String,
    pub passed: usize,
    pub failed: usize,
    /// The first test that failed.
    pub test: Option<String>,
    /// The right side of the comparison that failed.
    pub expected: Option<String>,
    /// The left side.
    pub actual: Option<String>,
    /// The difference to the attempt before, as a unified diff; the whole text for the first one. Null if the text is
    /// not known: it could not be run, or an earlier version wrote the journal.
    pub change: Option<String>,
    /// Whether the answer held nothing that could be run.
    pub is_unusable: bool,
    /// How often the same text was run.
    pub runs: u32,
    /// The model that answered, if one was asked.
    pub model: Option<String>,
    /// The diagnosis of the failure.
    pub finding: Option<String>,
}

/// A stage of a task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeStep {
    pub stage: String,
    pub reason: String,
}

/// A node that waits for another one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlockedNode {
    pub id: String,
    /// For a method, with its class in front.
    pub name: String,
    /// `pending`, `in_progress`, `failed` or `skipped`.
    pub status: String,
}

/// Statuses and reasons of a run.
type Statuses = Box<dyn Fn(&str) -> (String, Option<String>)>;

/// Returns the details of a node.
pub fn node(params: &NodeParams) -> Result<NodeResult, Fault> {
    let out = &params.out;
    let (graph, statuses) = run(out)?;
    let plan = plan_file::read(&graph, None)?;
    let Some(ix) = plan.find(&params.node) else {
        return Err(super::plan::unknown(&plan, &params.node));
    };
    let (status, reason) = statuses(&params.node);
    let node = plan.node(ix);
    let name = plan.qualified_name(ix).into_owned();
    let path = node.file_path.as_deref();
    let history = node_history(out, &params.node, &name, path.unwrap_or_default());
    let last = history.attempts.iter().rev().find(|it| !it.is_unusable);
    Ok(NodeResult {
        id: params.node.clone(),
        status,
        reason,
        cause: history.cause,
        recommendation: history.recommendation,
        specification: node.docstring.as_deref().map(str::to_owned),
        test_path: path.map(|it| layout(&plan).test_path(it).to_owned()),
        path: path.map(str::to_owned),
        test: last.and_then(|it| it.test.clone()),
        failure: last.and_then(|it| it.failure.as_ref()).map(failure),
        attempts: attempts(path.unwrap_or(&name), &history.attempts),
        steps: history
            .steps
            .into_iter()
            .map(|(stage, reason)| NodeStep { stage, reason })
            .collect(),
        tests: history.tests,
        implementation: history.implementation,
        blocks: blocks(&plan, ix, &statuses),
        name,
        graph,
    })
}

/// Returns the graph of a run and the statuses of its nodes.
fn run(out: &Path) -> Result<(PathBuf, Statuses), Fault> {
    let pending = || (Status::Pending.name().to_owned(), None);
    if tasks::is_there(out) {
        let view = tasks::read(out)?;
        let graph = PathBuf::from(&view.file);
        let of = move |id: &str| {
            let has = |ids: &[String]| ids.iter().any(|it| it == id);
            match (view.failed.get(id), view.blocked.get(id)) {
                (Some(why), _) => (Status::Failed.name().to_owned(), Some(why.clone())),
                (_, Some(why)) => (Status::Skipped.name().to_owned(), Some(why.clone())),
                _ if has(&view.completed) => (Status::Passed.name().to_owned(), None),
                _ if has(&view.current) => (Status::InProgress.name().to_owned(), None),
                _ => pending(),
            }
        };
        return Ok((graph, Box::new(of)));
    }
    let checkpoint = node_status::checkpoint(out)?.ok_or_else(|| node_status::no_run(out))?;
    let options = past(out)?.options;
    let graph = options.as_ref().and_then(|it| it["graph"].as_str()).map(PathBuf::from);
    let graph = graph.unwrap_or_else(|| out.join("docs/rpg.json"));
    let of = move |id: &str| match checkpoint.get(id) {
        Some(entry) => (entry.status.clone(), entry.failure_reason.clone()),
        None => pending(),
    };
    Ok((graph, Box::new(of)))
}

fn layout(plan: &Plan) -> Layout {
    let leaves = plan.indices().map(|ix| plan.node(ix)).filter(|it| it.is_leaf());
    Layout::of(leaves.filter_map(|it| it.file_path.as_deref()))
}

fn failure(it: &RecordedFailure) -> NodeFailure {
    let compared = it.compared.as_ref();
    NodeFailure {
        exception: it.exception.clone(),
        message: it.message.clone(),
        path: it.path.clone(),
        line: it.line,
        expected: compared.map(|it| it.right.clone()),
        actual: compared.map(|it| it.left.clone()),
        operator: compared.map(|it| it.operator.clone()),
    }
}

/// Returns the attempts with the difference of each to the one before.
fn attempts(path: &str, all: &[NodeAttempt]) -> Vec<AttemptResult> {
    let mut before = "";
    let mut result = Vec::new();
    for it in all {
        let change = it.implementation.as_deref().map(|text| {
            let change = trellis_python::unified_diff(path, before, text);
            before = text;
            change
        });
        let compared = it.failure.as_ref().and_then(|it| it.compared.as_ref());
        result.push(AttemptResult {
            outcome: it.outcome.clone(),
            passed: it.passed,
            failed: it.failed,
            test: it.test.clone(),
            expected: compared.map(|it| it.right.clone()),
            actual: compared.map(|it| it.left.clone()),
            change,
            is_unusable: it.is_unusable,
            runs: it.runs,
            model: it.model.clone(),
            finding: it.finding.clone(),
        });
    }
    result
}

/// Returns the leaves that have not passed and build on a node, the nearest first.
fn blocks(plan: &Plan, ix: NodeIx, statuses: &Statuses) -> Vec<BlockedNode> {
    let reached = explore(plan, ix, usize::MAX, Direction::Incoming);
    let blocked = |node: NodeIx| {
        let (status, _) = statuses(plan.id(node));
        let is_open = plan.node(node).is_leaf() && status != Status::Passed.name();
        let (id, name) = (plan.id(node).to_owned(), plan.qualified_name(node).into_owned());
        is_open.then_some(BlockedNode { id, name, status })
    };
    reached.nodes(plan).iter().filter_map(|step| blocked(step.node)).collect()
}
