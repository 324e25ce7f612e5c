//! Derives relations from nodes and edges: needs, containment, and the class of each method.

use std::sync::Arc;

use crate::csr::Csr;
use crate::edge::{Edge, EdgeKind, Role};
use crate::method_owners;
use crate::node::{Node, NodeIx};

/// The adjacency of a plan, each relation in both directions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Nodes that must go first: dependencies, feeding nodes, parents.
    pub(crate) needs: Csr,
    pub(crate) needed_by: Csr,
    /// Dependencies alone, including a method's class.
    pub(crate) depends_on: Csr,
    pub(crate) dependents: Csr,
    pub(crate) parents: Csr,
    pub(crate) children: Csr,
    pub(crate) class_of: Vec<Option<NodeIx>>,
}

impl Graph {
    /// Computes the relations, and gives each leaf without a subgraph that of its nearest composite
    /// ancestor.
    pub(crate) fn new(
        nodes: &mut [Node],
        listed: &Csr,
        edges: &[Edge],
        kinds: &[EdgeKind],
    ) -> Self {
        let count = nodes.len();
        let in_role = |role| {
            let fits = move |edge: &&Edge| kinds[edge.kind as usize].role == role;
            edges.iter().filter(fits).filter_map(move |edge| role.needs(edge.source, edge.target))
        };
        let parents = Csr::from_pairs(count, in_role(Role::Hierarchy));
        let class_of = method_owners::classes(nodes, &parents);
        let to_class =
            class_of.iter().enumerate().filter_map(|(i, class)| Some((NodeIx::new(i), (*class)?)));
        let depends = listed.pairs().chain(in_role(Role::Dependency)).chain(to_class);
        let depends_on = Csr::from_pairs(count, depends);
        let needs = depends_on.pairs().chain(in_role(Role::DataFlow)).chain(parents.pairs());
        let needs = Csr::from_pairs(count, needs);
        inherit_subgraphs(nodes, &parents, &class_of);
        Graph {
            needed_by: needs.transposed(),
            dependents: depends_on.transposed(),
            children: parents.transposed(),
            needs,
            depends_on,
            parents,
            class_of,
        }
    }

    /// Returns the reason why `node` needs `other`; the strongest one if there are several.
    pub(crate) fn reason(&self, node: NodeIx, other: NodeIx) -> Role {
        if self.depends_on.contains(node, other) {
            Role::Dependency
        } else if self.parents.contains(node, other) {
            Role::Hierarchy
        } else {
            Role::DataFlow
        }
    }
}

fn inherit_subgraphs(nodes: &mut [Node], parents: &Csr, class_of: &[Option<NodeIx>]) {
    // Groups of the nodes already looked up: `Some(None)` means that there is no group.
    let mut known: Vec<Option<Option<NodeIx>>> = vec![None; nodes.len()];
    let mut names: Vec<Option<Arc<str>>> = vec![None; nodes.len()];
    for leaf in 0..nodes.len() {
        if !nodes[leaf].is_leaf() || nodes[leaf].subgraph.is_some() {
            continue;
        }
        let above = |ix: NodeIx| parents.row(ix).first().copied().or(class_of[ix.index()]);
        if let Some(group) = group_above(NodeIx::new(leaf), nodes, &mut known, above) {
            let node = &nodes[group.index()];
            let declared = node.subgraph.clone().filter(|_| node.is_leaf());
            let name = declared.unwrap_or_else(|| {
                names[group.index()].get_or_insert_with(|| (*node.id).into()).clone()
            });
            nodes[leaf].subgraph = Some(name);
        }
    }
}

/// Returns the nearest node above that is composite or has a subgraph. Climbs until such a node, a
/// known answer, the top, or a node already visited (parents may form a ring).
fn group_above(
    leaf: NodeIx,
    nodes: &[Node],
    known: &mut [Option<Option<NodeIx>>],
    above: impl Fn(NodeIx) -> Option<NodeIx>,
) -> Option<NodeIx> {
    let mut path = Vec::new();
    let mut at = leaf;
    let answer = loop {
        if let Some(answer) = known[at.index()] {
            break answer;
        }
        // Marked before climbing: reaching this node again means that the ring has no group.
        known[at.index()] = Some(None);
        path.push(at);
        match above(at) {
            Some(next)
                if !nodes[next.index()].is_leaf() || nodes[next.index()].subgraph.is_some() =>
            {
                break Some(next);
            }
            Some(next) => at = next,
            None => break None,
        }
    };
    for passed in path {
        known[passed.index()] = Some(answer);
    }
    answer
}
