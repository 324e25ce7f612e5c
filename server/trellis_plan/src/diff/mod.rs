//! Compares two plans: nodes, edges, metadata, and what a regeneration would do.

use crate::dialect::Dialect;
use crate::node::NodeIx;
use crate::plan::Plan;

mod edges;
mod fields;
mod pairing;
mod regeneration;

pub use edges::{EdgeChange, EdgeChangeKind};
pub use fields::FieldChange;
pub use regeneration::Regeneration;

/// The differences between two plans, in the order of their files.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanDiff {
    /// Nodes that only the new plan has.
    pub added: Vec<NodeIx>,
    /// Nodes that only the old plan has, as indexes of the old plan.
    pub removed: Vec<NodeIx>,
    /// Nodes of both plans whose fields differ.
    pub changed: Vec<NodeChange>,
    /// Edges by the ids of the new plan; removed nodes keep their ids.
    pub edges: Vec<EdgeChange>,
    /// Fields of `metadata`, and fields beside `nodes` and `edges`.
    pub metadata: Vec<FieldChange>,
    /// Work of the next run; `None` for a list of tasks, which cannot be generated.
    pub regeneration: Option<Regeneration>,
}

/// A node of both plans, with the fields that differ.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeChange {
    /// Index in the old plan.
    pub old: NodeIx,
    /// Index in the new plan.
    pub new: NodeIx,
    /// Named as in the dialect `rpg`; never empty.
    pub fields: Vec<FieldChange>,
}

impl NodeChange {
    /// Returns whether a field differs.
    pub fn has(&self, field: &str) -> bool {
        self.fields.iter().any(|it| it.name == field)
    }
}

impl PlanDiff {
    /// Returns whether the plans plan the same.
    pub fn is_empty(&self) -> bool {
        let nodes = self.added.len() + self.removed.len() + self.changed.len();
        nodes + self.edges.len() + self.metadata.len() == 0
    }
}

/// Compares two plans of any dialects, in linear time.
///
/// Nodes belong together by id, or else by what is left of their name, file, signature and
/// docstring. Plans of two dialects are compared without the fields that only one dialect has. Where
/// code stands (`lines`) and what a run made of a node (`status`, `metadata.generation`) is no
/// difference.
pub fn diff(old: &Plan, new: &Plan) -> PlanDiff {
    let pairs = pairing::pair(old, new);
    let same_dialect = old.dialect() == new.dialect();
    let changed = pairs.both().filter_map(|(a, b)| {
        let fields = fields::of_nodes((old, a), (new, b), same_dialect);
        (!fields.is_empty()).then_some(NodeChange { old: a, new: b, fields })
    });
    let changed: Vec<NodeChange> = changed.collect();
    let added: Vec<NodeIx> = new.indices().filter(|&ix| pairs.old_of(ix).is_none()).collect();
    let edges = edges::changes(old, new, &pairs, same_dialect);
    let regeneration =
        (new.dialect() != Dialect::Tasks).then(|| regeneration::of(new, &added, &changed, &edges));
    PlanDiff {
        removed: old.indices().filter(|&ix| pairs.new_of(ix).is_none()).collect(),
        metadata: fields::of_metadata(old, new, same_dialect),
        added,
        changed,
        edges,
        regeneration,
    }
}
