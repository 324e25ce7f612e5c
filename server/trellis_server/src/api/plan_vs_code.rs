//! Compares a planning graph with the existing code.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_plan::Plan;
use trellis_python::Index;

use super::plan::DialectName;
use super::symbols::reasoned;
use trellis_project::symbols::plan_comparison;

/// Compares the planned dependencies of a graph with those of the code.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CheckPlannedParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Folder with the code; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
}

/// A planning graph compared with the code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckPlannedResult {
    /// The share of planned dependencies found in the code, 0 to 1; null if none could be checked.
    pub confirmed_share: Option<f64>,
    /// The number of checked dependencies.
    pub planned: usize,
    /// Planned and found in the code.
    pub confirmed: Vec<Dependency>,
    /// Planned, but not found in the code.
    pub missing: Vec<MissingDependency>,
    /// In the code, but not planned.
    pub unplanned: Vec<UnplannedDependency>,
    /// Ids of nodes that only tests use; entry points are among them.
    pub unused: Vec<String>,
    /// Ids of nodes without a definition.
    pub absent: Vec<String>,
    /// Nodes found in another file than planned.
    pub moved: Vec<MovedNode>,
    /// The number of planned dependencies that cannot be checked, because an end of them is not a definition.
    pub unchecked: usize,
    /// Whether every file could be read.
    pub complete: bool,
    /// Which could not, as sentences.
    pub reasons: Vec<String>,
}

reasoned!(CheckPlannedResult);

/// A dependency between two nodes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    /// Id of the dependent node.
    pub from: String,
    /// Id of the node that it depends on.
    pub to: String,
}

/// A planned dependency that is not in the code.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingDependency {
    /// Id of the dependent node.
    pub from: String,
    /// Id of the node that it depends on.
    pub to: String,
    /// A use of unknown type may be this dependency.
    pub possible: bool,
}

/// A dependency in the code that is not planned.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UnplannedDependency {
    /// Id of the node that uses the other.
    pub from: String,
    /// Id of the used node.
    pub to: String,
    /// The place of the first use, relative to the folder.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
}

/// A node found in another file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MovedNode {
    pub id: String,
    /// The file that defines it, relative to the folder.
    pub file: String,
}

impl From<plan_comparison::PlanComparison> for CheckPlannedResult {
    fn from(it: plan_comparison::PlanComparison) -> CheckPlannedResult {
        CheckPlannedResult {
            confirmed_share: it.confirmed_share,
            planned: it.planned,
            confirmed: it.confirmed.into_iter().map(Into::into).collect(),
            missing: it.missing.into_iter().map(Into::into).collect(),
            unplanned: it.unplanned.into_iter().map(Into::into).collect(),
            unused: it.unused,
            absent: it.absent,
            moved: it.moved.into_iter().map(Into::into).collect(),
            unchecked: it.unchecked,
            complete: it.complete,
            reasons: it.reasons,
        }
    }
}

impl From<plan_comparison::Dependency> for Dependency {
    fn from(it: plan_comparison::Dependency) -> Dependency {
        Dependency { from: it.from, to: it.to }
    }
}

impl From<plan_comparison::MissingDependency> for MissingDependency {
    fn from(it: plan_comparison::MissingDependency) -> MissingDependency {
        MissingDependency { from: it.from, to: it.to, possible: it.possible }
    }
}

impl From<plan_comparison::UnplannedDependency> for UnplannedDependency {
    fn from(it: plan_comparison::UnplannedDependency) -> UnplannedDependency {
        UnplannedDependency { from: it.from, to: it.to, file: it.file, line: it.line }
    }
}

impl From<plan_comparison::MovedNode> for MovedNode {
    fn from(it: plan_comparison::MovedNode) -> MovedNode {
        MovedNode { id: it.id, file: it.file }
    }
}

/// Compares a plan with an index.
pub fn check_planned(index: &Index, plan: &Plan) -> CheckPlannedResult {
    plan_comparison::compare(index, plan).into()
}
