//! Differences between two planning graphs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use trellis_plan::{
    EdgeChange, EdgeChangeKind, FieldChange, NodeChange, NodeIx, Plan, PlanDiff, diff,
};
use trellis_workflows::fault::Fault;

use super::plan::{DialectName, ids, read};

/// Compares two planning graphs or lists of tasks.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanDiffParams {
    /// The graph before the change, a JSON file.
    pub old: PathBuf,
    /// The graph after the change, a JSON file.
    pub new: PathBuf,
    /// Read both in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// The differences between two graphs, each list in the order of the file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDiffResult {
    /// Whether the graphs plan the same.
    pub same: bool,
    /// The formats of both graphs.
    pub dialects: [&'static str; 2],
    /// Nodes that only the new graph has.
    pub added: Vec<DiffNode>,
    /// Nodes that only the old graph has.
    pub removed: Vec<DiffNode>,
    /// Nodes of both graphs with fields that differ.
    pub changed: Vec<ChangedNode>,
    /// Edges that differ; `dependencies` count as edges.
    pub edges: Vec<ChangedEdge>,
    /// Fields of `metadata`, and unknown fields of the graph.
    pub metadata: Vec<ChangedField>,
    /// What the next run does; null for lists of tasks.
    pub regeneration: Option<PlanRegeneration>,
}

/// A node that only one graph has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffNode {
    pub id: String,
    /// For a method, with its class in front.
    pub name: String,
    /// What it is, such as `function`.
    pub kind: String,
    /// The planned file, relative to the project.
    pub file_path: Option<String>,
}

/// A node of both graphs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedNode {
    /// Its id in the new graph.
    pub id: String,
    /// Its id in the old graph.
    pub old_id: String,
    pub change: NodeChangeKind,
    /// The fields that differ.
    pub fields: Vec<ChangedField>,
}

/// The largest change of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum NodeChangeKind {
    /// Another id or another name.
    Renamed,
    /// Another file.
    Moved,
    /// Other fields.
    Changed,
}

/// A field with two values.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedField {
    /// Named as in the format `rpg`.
    pub field: String,
    /// Null if the old graph does not have it.
    pub old: Option<Value>,
    /// Null if the new graph does not have it.
    pub new: Option<Value>,
}

/// An edge that differs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedEdge {
    pub change: PlanEdgeChangeKind,
    /// The id in the new graph, or that of a removed node.
    pub source: String,
    /// The id in the new graph, or that of a removed node.
    pub target: String,
    /// `dependency`, `data_flow`, `hierarchy` or `related`.
    pub role: &'static str,
    /// Types of the edge in the old graph; empty for an entry of `dependencies`.
    pub old_types: Vec<String>,
    /// Types of the edge in the new graph; empty for an entry of `dependencies`.
    pub new_types: Vec<String>,
}

/// How an edge differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PlanEdgeChangeKind {
    Added,
    Removed,
    /// The same edge with another type, or with other fields.
    Changed,
}

/// What the next run of `generate` does, if the old graph was generated.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanRegeneration {
    /// Ids of nodes that are new, or whose own description or dependencies changed.
    pub again: Vec<String>,
    /// Ids of nodes that did not change, but build on those.
    pub dependents: Vec<String>,
    /// Ids of nodes whose code is removed; a run asks for `--drop-removed` before that.
    pub removed: Vec<String>,
}

pub fn plan_diff(params: &PlanDiffParams) -> Result<PlanDiffResult, Fault> {
    let [old, new] = [&params.old, &params.new].map(|path| read(path, params.dialect));
    let (old, new) = (old?, new?);
    Ok(result(&old, &new, diff(&old, &new)))
}

fn result(old: &Plan, new: &Plan, found: PlanDiff) -> PlanDiffResult {
    let nodes = |plan, list: &[NodeIx]| list.iter().map(|&ix| node(plan, ix)).collect();
    // A run knows nodes by their ids alone.
    let gone = |ix: &NodeIx| old.node(*ix).is_leaf() && new.find(old.id(*ix)).is_none();
    let gone: Vec<NodeIx> = old.indices().filter(gone).collect();
    PlanDiffResult {
        same: found.is_empty(),
        dialects: [old.dialect().name(), new.dialect().name()],
        added: nodes(new, &found.added),
        removed: nodes(old, &found.removed),
        changed: found.changed.into_iter().map(|it| changed(old, new, it)).collect(),
        edges: found.edges.into_iter().map(edge).collect(),
        metadata: found.metadata.into_iter().map(field).collect(),
        regeneration: found.regeneration.map(|it| PlanRegeneration {
            again: ids(new, &it.again),
            dependents: ids(new, &it.dependents),
            removed: ids(old, &gone),
        }),
    }
}

fn node(plan: &Plan, ix: NodeIx) -> DiffNode {
    let node = plan.node(ix);
    DiffNode {
        id: node.id.to_string(),
        name: plan.qualified_name(ix).into_owned(),
        kind: node.kind.name().to_owned(),
        file_path: node.file_path.as_deref().map(str::to_owned),
    }
}

fn changed(old: &Plan, new: &Plan, it: NodeChange) -> ChangedNode {
    let change = match () {
        () if it.has("id") || it.has("name") => NodeChangeKind::Renamed,
        () if it.has("file_path") => NodeChangeKind::Moved,
        () => NodeChangeKind::Changed,
    };
    ChangedNode {
        id: new.id(it.new).to_owned(),
        old_id: old.id(it.old).to_owned(),
        change,
        fields: it.fields.into_iter().map(field).collect(),
    }
}

fn field(it: FieldChange) -> ChangedField {
    ChangedField { field: it.name, old: it.old, new: it.new }
}

fn edge(it: EdgeChange) -> ChangedEdge {
    let change = match it.kind {
        EdgeChangeKind::Added => PlanEdgeChangeKind::Added,
        EdgeChangeKind::Removed => PlanEdgeChangeKind::Removed,
        EdgeChangeKind::Changed => PlanEdgeChangeKind::Changed,
    };
    ChangedEdge {
        change,
        source: it.source,
        target: it.target,
        role: it.role.name(),
        old_types: it.old_types,
        new_types: it.new_types,
    }
}
