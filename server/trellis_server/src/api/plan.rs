//! Queries on a planning graph that [`read`] has loaded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::assembly::planned_cycles;
use trellis_plan::{
    Dialect, Direction, Exploration, Flow, FlowKind, NodeIx, Plan, Problem, Status, flows,
};

use trellis_project::plan_file;
use trellis_workflows::fault::Fault;
use trellis_workflows::node_status::NodeStatuses;

/// Maximum number of similar nodes named for an unknown id.
const NEAR: usize = 5;

/// A published format of planning graphs or lists of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum DialectName {
    #[serde(rename = "rpg")]
    Rpg,
    #[serde(rename = "zerorepo")]
    ZeroRepo,
    #[serde(rename = "codermind")]
    CoderMind,
    #[serde(rename = "rpg-encoder")]
    RpgEncoder,
    #[serde(rename = "tasks")]
    Tasks,
}

impl From<Dialect> for DialectName {
    fn from(dialect: Dialect) -> DialectName {
        match dialect {
            Dialect::Rpg => DialectName::Rpg,
            Dialect::ZeroRepo => DialectName::ZeroRepo,
            Dialect::CoderMind => DialectName::CoderMind,
            Dialect::RpgEncoder => DialectName::RpgEncoder,
            Dialect::Tasks => DialectName::Tasks,
        }
    }
}

impl From<DialectName> for Dialect {
    fn from(name: DialectName) -> Dialect {
        match name {
            DialectName::Rpg => Dialect::Rpg,
            DialectName::ZeroRepo => Dialect::ZeroRepo,
            DialectName::CoderMind => Dialect::CoderMind,
            DialectName::RpgEncoder => Dialect::RpgEncoder,
            DialectName::Tasks => Dialect::Tasks,
        }
    }
}

/// Reads the graph named by the parameters.
pub fn read(graph: &Path, dialect: Option<DialectName>) -> Result<Plan, Fault> {
    Ok(plan_file::read(graph, dialect.map(Into::into))?)
}

/// Reports all problems of a planning graph.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanCheckParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// Whether a graph is valid.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanCheckResult {
    /// The format of the graph.
    pub dialect: &'static str,
    /// How many there are.
    pub nodes: usize,
    /// How many there are.
    pub edges: usize,
    /// In a fixed order; empty for a valid graph.
    pub problems: Vec<PlanProblem>,
    /// What a graph may have but should not: files that would import each other in a circle, the shortest first.
    pub warnings: Vec<String>,
}

/// A problem of a graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanProblem {
    /// The kind of problem, such as `duplicate-id`.
    pub kind: &'static str,
    /// The id of the node to check first.
    pub node: String,
    /// What is wrong.
    pub message: String,
    /// How to fix it.
    pub hint: String,
}

pub fn check(plan: &Plan) -> PlanCheckResult {
    let mut imports = planned_cycles(plan);
    imports.sort_by_key(|it| it.files.len());
    PlanCheckResult {
        dialect: plan.dialect().name(),
        nodes: plan.nodes().len(),
        edges: plan.edge_count(),
        problems: problems(plan),
        warnings: imports.iter().map(|it| format!("circular import {it}")).collect(),
    }
}

fn problems(plan: &Plan) -> Vec<PlanProblem> {
    trellis_plan::check(plan).into_iter().map(problem).collect()
}

pub(super) fn problem(it: Problem) -> PlanProblem {
    PlanProblem { kind: it.kind.code(), node: it.node, message: it.message, hint: it.hint }
}

/// Returns the order in which nodes are generated.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanOrderParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// An order of generation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanOrderResult {
    /// Ids of nodes, dependencies first.
    pub order: Vec<String>,
    /// Ids of nodes that need each other, by circle; `order` has each circle in one piece.
    pub circles: Vec<Vec<String>>,
    /// In a fixed order; empty for a valid graph.
    pub problems: Vec<PlanProblem>,
}

pub fn order(plan: &Plan) -> PlanOrderResult {
    let order = trellis_plan::order(plan);
    PlanOrderResult {
        order: ids(plan, &order.sequence),
        circles: order.circles.iter().map(|it| ids(plan, it)).collect(),
        problems: problems(plan),
    }
}

/// Shows which nodes of a planning graph, or tasks of a list, can run at the same time, and the longest chain.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanLevelsParams {
    /// The planning graph or list of tasks, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// Which nodes can run at the same time. A task weighs its story points, every other node 1.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanLevelsResult {
    /// Ids by level, each level sorted by id: dependencies are in an earlier level.
    pub levels: Vec<Vec<String>>,
    /// Ids of the longest chain, in which each node depends on the one before.
    pub chain: Vec<String>,
    /// The weight of the chain: more workers do not make it shorter.
    pub chain_weight: u32,
    /// The weight of all nodes.
    pub weight: u32,
    /// In a fixed order; empty for a valid graph.
    pub problems: Vec<PlanProblem>,
}

pub fn levels(plan: &Plan) -> PlanLevelsResult {
    let found = trellis_plan::levels(plan);
    PlanLevelsResult {
        levels: found.levels.iter().map(|level| ids(plan, level)).collect(),
        chain: ids(plan, &found.chain),
        chain_weight: found.chain_weight,
        weight: found.weight,
        problems: problems(plan),
    }
}

/// Shows every node of a planning graph.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanShowParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// A graph's nodes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanShowResult {
    /// The format of the graph.
    pub dialect: &'static str,
    /// In the order of the file.
    pub nodes: Vec<PlanNode>,
    /// In a fixed order; empty for a valid graph.
    pub problems: Vec<PlanProblem>,
}

/// A node of a graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanNode {
    pub id: String,
    pub name: String,
    /// What it is, such as `function`.
    pub kind: String,
    /// Whether code is generated for it.
    pub leaf: bool,
    /// The planned file, relative to the project.
    pub file_path: Option<String>,
    pub subgraph: Option<String>,
    /// Ids of the nodes that group it.
    pub parents: Vec<String>,
    /// Ids of the nodes it depends on.
    pub depends_on: Vec<String>,
}

pub fn show(plan: &Plan) -> PlanShowResult {
    PlanShowResult {
        dialect: plan.dialect().name(),
        nodes: plan.indices().map(|ix| node(plan, ix)).collect(),
        problems: problems(plan),
    }
}

fn node(plan: &Plan, ix: NodeIx) -> PlanNode {
    let node = plan.node(ix);
    PlanNode {
        id: node.id.to_string(),
        name: node.name.to_string(),
        kind: node.kind.name().to_owned(),
        leaf: node.is_leaf(),
        file_path: node.file_path.as_deref().map(str::to_owned),
        subgraph: node.subgraph.as_deref().map(str::to_owned),
        parents: ids(plan, plan.parents(ix)),
        depends_on: ids(plan, plan.depends_on(ix)),
    }
}

pub(super) fn ids(plan: &Plan, nodes: &[NodeIx]) -> Vec<String> {
    nodes.iter().map(|&ix| plan.id(ix).to_owned()).collect()
}

/// Shows what depends on a node and what it depends on.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanDepsParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
    /// The id of the node.
    pub node: String,
    /// How many hops to follow; 2 if left out.
    #[serde(default = "two")]
    pub hops: usize,
    /// The folder of the run with the status of the nodes; default: that of the graph, if it is in the run's `docs`.
    #[serde(default)]
    pub status: Option<PathBuf>,
}

fn two() -> usize {
    2
}

/// The nodes around a node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDepsResult {
    /// The requested id.
    pub node: String,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown.
    pub status: Option<&'static str>,
    /// How many hops were followed.
    pub hops: usize,
    /// What depends on it, the nearest first.
    pub incoming: Vec<ReachedNode>,
    /// What it depends on, the nearest first.
    pub outgoing: Vec<ReachedNode>,
}

/// A node found from another node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReachedNode {
    pub id: String,
    /// For a method, with its class in front.
    pub name: String,
    /// The smallest number of hops from the requested node, from 1.
    pub hops: usize,
    /// The id of the node before it on this path.
    pub from: String,
    /// Why one of the two depends on the other: `dependency` or `data_flow`.
    pub role: &'static str,
    /// `pending`, `in_progress`, `passed`, `failed` or `skipped`; null if unknown.
    pub status: Option<&'static str>,
}

/// A node with its neighborhood.
pub struct Around {
    node: NodeIx,
    /// Status of the nodes.
    pub statuses: NodeStatuses,
    hops: usize,
    pub incoming: Exploration,
    pub outgoing: Exploration,
}

impl Around {
    pub fn of(plan: &Plan, params: &PlanDepsParams) -> Result<Around, Fault> {
        let statuses = match &params.status {
            Some(run) => NodeStatuses::of_run(run)?,
            None => NodeStatuses::of_exported_plan(&params.graph)?,
        };
        let (id, hops) = (&params.node, params.hops);
        let node = plan.find(id).ok_or_else(|| unknown(plan, id))?;
        let incoming = trellis_plan::explore(plan, node, hops, Direction::Incoming);
        let outgoing = trellis_plan::explore(plan, node, hops, Direction::Outgoing);
        Ok(Around { node, statuses, hops, incoming, outgoing })
    }

    pub fn result(&self, plan: &Plan) -> PlanDepsResult {
        PlanDepsResult {
            node: plan.id(self.node).to_owned(),
            status: self.statuses.of(plan, self.node).map(Status::name),
            hops: self.hops,
            incoming: self.reached(plan, &self.incoming),
            outgoing: self.reached(plan, &self.outgoing),
        }
    }

    fn reached(&self, plan: &Plan, exploration: &Exploration) -> Vec<ReachedNode> {
        let entry = |step: &trellis_plan::Step| ReachedNode {
            id: plan.id(step.node).to_owned(),
            name: plan.qualified_name(step.node).into_owned(),
            hops: step.hops,
            from: plan.id(step.from).to_owned(),
            role: step.role.name(),
            status: self.statuses.of(plan, step.node).map(Status::name),
        };
        exploration.nodes(plan).iter().map(entry).collect()
    }
}

pub(super) fn unknown(plan: &Plan, id: &str) -> Fault {
    let fault = Fault::input(format_args!("the plan has no node `{id}`"));
    let near: Vec<&str> = plan.near(id, NEAR).into_iter().map(|ix| plan.id(ix)).collect();
    let all = || "`trellis plan show` lists the nodes with their ids".to_owned();
    fault.hint(trellis_plan::did_you_mean(&near).unwrap_or_else(all))
}

/// Shows the paths through each subgraph that integration tests follow, from where data enters.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanFlowsParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
    /// Which links to follow; both if left out.
    #[serde(default)]
    pub along: Links,
    /// The number of flows per subgraph; 5 if left out.
    #[serde(default = "five")]
    pub top: usize,
}

fn five() -> usize {
    5
}

/// Links between nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Links {
    /// Data flow alone.
    DataFlow,
    /// Dependencies alone.
    Structure,
    #[default]
    Both,
}

/// Paths through subgraphs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanFlowsResult {
    /// Sorted by id.
    pub subgraphs: Vec<SubgraphFlows>,
}

/// Paths through one subgraph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubgraphFlows {
    pub id: String,
    /// The number of its nodes with generated code.
    pub nodes: usize,
    /// How many of those are part of a flow.
    pub covered: usize,
    /// Ids of nodes; each passes data to the next.
    pub flows: Vec<Vec<String>>,
}

pub fn ways(plan: &Plan, params: &PlanFlowsParams) -> PlanFlowsResult {
    let along = match params.along {
        Links::DataFlow => FlowKind::DataFlow,
        Links::Structure => FlowKind::Structure,
        Links::Both => FlowKind::Both,
    };
    let shape = |(id, leaves): (&str, Vec<NodeIx>)| {
        let found = flows(plan, &leaves, along, params.top);
        SubgraphFlows {
            id: id.to_owned(),
            nodes: leaves.len(),
            covered: seen(plan, id, &found),
            flows: found.iter().map(|flow| ids(plan, &flow.nodes)).collect(),
        }
    };
    PlanFlowsResult { subgraphs: leaves(plan).into_iter().map(shape).collect() }
}

fn leaves(plan: &Plan) -> BTreeMap<&str, Vec<NodeIx>> {
    let mut out: BTreeMap<&str, Vec<NodeIx>> = BTreeMap::new();
    for ix in plan.indices().filter(|ix| plan.node(*ix).is_leaf()) {
        out.entry(subgraph(plan, ix)).or_default().push(ix);
    }
    out
}

fn subgraph(plan: &Plan, ix: NodeIx) -> &str {
    plan.node(ix).subgraph.as_deref().unwrap_or("main")
}

/// Returns the number of the subgraph's nodes that lie on a flow.
fn seen(plan: &Plan, name: &str, flows: &[Flow]) -> usize {
    let nodes = flows.iter().flat_map(|flow| &flow.nodes);
    nodes.filter(|ix| subgraph(plan, **ix) == name).collect::<BTreeSet<_>>().len()
}
