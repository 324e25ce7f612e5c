//! Derives from the differences what the next run of `generate` does.

use super::NodeChange;
use super::edges::{EdgeChange, EdgeChangeKind};
use crate::edge::Role;
use crate::node::NodeIx;
use crate::plan::Plan;

/// Leaves of the new plan whose accepted code is not enough any more, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regeneration {
    /// Leaves that are new, or whose own description or dependencies changed.
    pub again: Vec<NodeIx>,
    /// Leaves that build on those, or on what a group of nodes lost, but did not change.
    pub dependents: Vec<NodeIx>,
}

/// Fields that accepted code depends on.
const SPECIFICATION: [&str; 8] =
    ["id", "name", "type", "node_type", "file_path", "signature", "docstring", "examples"];

pub(super) fn of(
    new: &Plan,
    added: &[NodeIx],
    changed: &[NodeChange],
    edges: &[EdgeChange],
) -> Regeneration {
    let specified = changed.iter().filter(|it| SPECIFICATION.iter().any(|name| it.has(name)));
    let users = edges.iter().filter_map(|it| user(new, it));
    let start: Vec<NodeIx> =
        added.iter().copied().chain(specified.map(|it| it.new)).chain(users).collect();
    let mut again = vec![false; new.nodes().len()];
    start.iter().for_each(|ix| again[ix.index()] = true);
    let groups = edges.iter().filter_map(|it| group(new, it));
    let start: Vec<NodeIx> = start.iter().copied().chain(groups).collect();
    let reached = dependents(new, start);
    let leaves = |wanted: &dyn Fn(usize) -> bool| -> Vec<NodeIx> {
        new.indices().filter(|ix| new.node(*ix).is_leaf() && wanted(ix.index())).collect()
    };
    Regeneration {
        again: leaves(&|at| again[at]),
        dependents: leaves(&|at| reached[at] && !again[at]),
    }
}

/// Returns the node whose dependencies an edge changes: its source, or a method whose class the
/// edge names. The words for an edge do not count, nor does data flow.
fn user(new: &Plan, edge: &EdgeChange) -> Option<NodeIx> {
    let of_class = || new.find(&edge.source).is_some_and(|it| new.node(it).is_leaf());
    match edge.role {
        _ if edge.kind == EdgeChangeKind::Changed => None,
        Role::Dependency => new.find(&edge.source),
        Role::Hierarchy if of_class() => new.find(&edge.target),
        _ => None,
    }
}

/// Returns the group that an edge gives a node or takes one from.
fn group(new: &Plan, edge: &EdgeChange) -> Option<NodeIx> {
    let is_other = edge.kind != EdgeChangeKind::Changed && edge.role == Role::Hierarchy;
    new.find(&edge.source).filter(|it| is_other && !new.node(*it).is_leaf())
}

/// Marks every node that builds on one of `start`. A dependency on a group is one on everything in
/// it.
fn dependents(plan: &Plan, start: Vec<NodeIx>) -> Vec<bool> {
    let mut reached = vec![false; plan.nodes().len()];
    let mut seen = vec![false; plan.nodes().len()];
    let mut left = start;
    while let Some(ix) = left.pop() {
        if std::mem::replace(&mut seen[ix.index()], true) {
            continue;
        }
        left.extend(plan.parents(ix).iter().filter(|it| !plan.node(**it).is_leaf()));
        for &dependent in plan.dependents(ix) {
            reached[dependent.index()] = true;
            left.push(dependent);
        }
    }
    reached
}
