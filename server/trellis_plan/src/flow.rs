//! Finds flows through a part of a plan: paths from nodes that no node in it feeds to nodes that
//! feed no node in it (V2).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::edge::Role;
use crate::node::NodeIx;
use crate::plan::Plan;

/// Links that a flow follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowKind {
    /// Data-flow edges: the source feeds the target.
    DataFlow,
    /// Dependencies: the used node feeds its user.
    Structure,
    /// Both.
    Both,
}

/// One path, from entry to exit: at least two nodes, each feeding the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    pub nodes: Vec<NodeIx>,
}

impl Flow {
    /// Returns the first node, which receives the input.
    pub fn entry(&self) -> NodeIx {
        self.nodes[0]
    }

    /// Returns the last node, which has the result.
    pub fn exit(&self) -> NodeIx {
        self.nodes[self.nodes.len() - 1]
    }
}

/// Returns at most `limit` flows through `leaves` and through outside nodes that feed them with
/// data. The longest flow comes first, then always the one with the most nodes not yet in a flow;
/// ties are broken by node. Flows without new nodes are left out.
pub fn flows(plan: &Plan, leaves: &[NodeIx], along: FlowKind, limit: usize) -> Vec<Flow> {
    let fed = fed(plan, leaves, along);
    let targets: BTreeSet<NodeIx> = fed.values().flatten().copied().collect();
    let entries = fed.keys().copied().filter(|node| !targets.contains(node));
    let mut ways: Vec<Flow> = entries.flat_map(|entry| ways_from(entry, &fed)).collect();
    ways.sort_by(|a, b| b.nodes.len().cmp(&a.nodes.len()).then_with(|| a.nodes.cmp(&b.nodes)));
    let mut seen: BTreeSet<NodeIx> = BTreeSet::new();
    let mut out = Vec::new();
    while out.len() < limit {
        let new = |flow: &Flow| flow.nodes.iter().filter(|node| !seen.contains(node)).count();
        let Some(at) = (0..ways.len()).rev().max_by_key(|at| new(&ways[*at])) else { break };
        if new(&ways[at]) == 0 {
            break;
        }
        let flow = ways.remove(at);
        seen.extend(&flow.nodes);
        out.push(flow);
    }
    out
}

/// Returns the nodes that each node feeds. Methods of one class work on its state, so the class
/// feeds them by structure alone.
fn fed(plan: &Plan, leaves: &[NodeIx], along: FlowKind) -> BTreeMap<NodeIx, BTreeSet<NodeIx>> {
    let inside: BTreeSet<NodeIx> = leaves.iter().copied().collect();
    let mut fed: BTreeMap<NodeIx, BTreeSet<NodeIx>> = BTreeMap::new();
    for &leaf in leaves {
        for &other in plan.needs(leaf) {
            let wanted = match plan.reason(leaf, other) {
                Role::DataFlow => along != FlowKind::Structure && plan.node(other).is_leaf(),
                Role::Dependency => along != FlowKind::DataFlow && inside.contains(&other),
                Role::Hierarchy | Role::Related => false,
            };
            if wanted {
                fed.entry(other).or_default().insert(leaf);
            }
        }
    }
    fed
}

/// Returns the shortest path from an entry to each exit that it reaches.
fn ways_from(entry: NodeIx, fed: &BTreeMap<NodeIx, BTreeSet<NodeIx>>) -> Vec<Flow> {
    let mut from: BTreeMap<NodeIx, NodeIx> = BTreeMap::from([(entry, entry)]);
    let mut open = VecDeque::from([entry]);
    let mut exits = Vec::new();
    while let Some(node) = open.pop_front() {
        match fed.get(&node) {
            Some(next) => {
                for &next in next {
                    from.entry(next).or_insert_with(|| {
                        open.push_back(next);
                        node
                    });
                }
            }
            None => exits.push(node),
        }
    }
    let way = |exit: NodeIx| {
        let step = |node: &NodeIx| from.get(node).copied().filter(|before| before != node);
        let mut nodes: Vec<NodeIx> = std::iter::successors(Some(exit), step).collect();
        nodes.reverse();
        Flow { nodes }
    };
    exits.into_iter().map(way).filter(|flow| flow.nodes.len() > 1).collect()
}
