//! `planNode`: one node of a planning graph in detail, such as for a form that edits it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_plan::{Dialect, Plan};
use trellis_workflows::fault::Fault;

use super::plan::{DialectName, PlanProblem, ids, problem, unknown};

/// Shows one node of a planning graph: its description, its examples, its neighbours, and its problems.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanNodeParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// The id of the node.
    pub node: String,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// A node of a graph in detail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanNodeResult {
    pub id: String,
    pub name: String,
    /// What it is, such as `function`.
    pub kind: String,
    /// The planned file, relative to the project.
    pub file_path: Option<String>,
    pub subgraph: Option<String>,
    pub signature: Option<String>,
    pub docstring: Option<String>,
    pub examples: Vec<String>,
    /// Third-party requirements.
    pub libraries: Vec<String>,
    /// Ids of the nodes it depends on.
    pub depends_on: Vec<String>,
    /// Ids of the nodes that depend on it.
    pub used_by: Vec<String>,
    /// Problems of the graph at this node.
    pub problems: Vec<PlanProblem>,
    /// Whether `editPlan` can change the graph, which only the format `rpg` allows.
    pub editable: bool,
}

pub fn plan_node(plan: &Plan, params: &PlanNodeParams) -> Result<PlanNodeResult, Fault> {
    let ix = plan.find(&params.node).ok_or_else(|| unknown(plan, &params.node))?;
    let node = plan.node(ix);
    let problems = trellis_plan::check(plan).into_iter().filter(|it| *it.node == *node.id);
    Ok(PlanNodeResult {
        id: node.id.to_string(),
        name: node.name.to_string(),
        kind: node.kind.name().to_owned(),
        file_path: node.file_path.as_deref().map(str::to_owned),
        subgraph: node.subgraph.as_deref().map(str::to_owned),
        signature: node.signature.as_deref().map(str::to_owned),
        docstring: node.docstring.as_deref().map(str::to_owned),
        examples: node.examples.clone(),
        libraries: node.libraries.clone(),
        depends_on: ids(plan, plan.depends_on(ix)),
        used_by: ids(plan, plan.dependents(ix)),
        problems: problems.map(problem).collect(),
        editable: plan.dialect() == Dialect::Rpg,
    })
}
