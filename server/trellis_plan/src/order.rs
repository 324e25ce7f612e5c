//! Computes the order in which nodes are generated. The order is the same on every run and
//! independent of the order in the file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;
use rustc_hash::FxHashMap;

use crate::csr::Csr;
use crate::edge::Role;
use crate::node::NodeIx;
use crate::plan::Plan;

/// A link ignored in the order because it closes a cycle: `node` does not come after `needs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IgnoredEdge {
    pub node: NodeIx,
    pub needs: NodeIx,
    pub role: Role,
}

/// All nodes of a plan, composites included, each after the nodes that it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Nodes in order: first those without needs that others need, by id; then the nodes in
    /// between, by smallest id among the ready ones; last those that no node needs, by id. Ids are
    /// compared as bytes.
    pub sequence: Vec<NodeIx>,
    /// Ignored links; empty for plans without cycles. In each knot of nodes that need each other,
    /// data flow is ignored first; if cycles remain, every other link inside the knot is ignored as
    /// well.
    pub set_aside: Vec<IgnoredEdge>,
    /// Circles that remain without data flow, each sorted by id. The sequence has each one without
    /// other nodes between.
    pub circles: Vec<Vec<NodeIx>>,
}

/// Orders a plan. Never fails, so that any graph can be displayed; generation requires a plan
/// without cycles.
pub fn order(plan: &Plan) -> Order {
    let graph = &plan.graph;
    let mut set_aside = Vec::new();
    let first = knots(plan, &graph.needs);
    if first.is_empty() {
        let sequence = sequence(plan, &graph.needs, &graph.needed_by);
        return Order { sequence, set_aside, circles: Vec::new() };
    }
    let is_flow = |role| role == Role::DataFlow;
    let needs = cut(plan, &graph.needs, &first, is_flow, &mut set_aside);
    let circles = knots(plan, &needs);
    cut(plan, &needs, &circles, |_| true, &mut set_aside);
    Order { sequence: with_circles(plan, &needs, &circles), set_aside, circles }
}

/// Orders a plan as if each circle was its first node, and puts the others behind that one.
fn with_circles(plan: &Plan, needs: &Csr, circles: &[Vec<NodeIx>]) -> Vec<NodeIx> {
    let mut first: Vec<NodeIx> = plan.indices().collect();
    for circle in circles {
        circle.iter().for_each(|ix| first[ix.index()] = circle[0]);
    }
    let contracted = needs.pairs().map(|(node, other)| (first[node.index()], first[other.index()]));
    let contracted = contracted.filter(|(node, other)| node != other);
    let needs = Csr::from_pairs(needs.rows(), contracted);
    let circle_of: FxHashMap<NodeIx, &Vec<NodeIx>> =
        circles.iter().map(|circle| (circle[0], circle)).collect();
    let mut out = Vec::with_capacity(first.len());
    for ix in sequence(plan, &needs, &needs.transposed()) {
        match circle_of.get(&ix) {
            Some(circle) => out.extend(circle.iter()),
            None if first[ix.index()] == ix => out.push(ix),
            None => {}
        }
    }
    out
}

fn sequence(plan: &Plan, needs: &Csr, needed_by: &Csr) -> Vec<NodeIx> {
    let by_id = plan.by_id();
    let mut rank = vec![0u32; by_id.len()];
    for (place, ix) in by_id.iter().enumerate() {
        rank[ix.index()] = place as u32;
    }
    let mut sequence = Vec::with_capacity(by_id.len());
    let roots = |ix: &&NodeIx| needs.row(**ix).is_empty() && !needed_by.row(**ix).is_empty();
    sequence.extend(by_id.iter().filter(roots).copied());

    let mut waits: Vec<u32> = plan.indices().map(|ix| needs.row(ix).len() as u32).collect();
    let mut ready = BinaryHeap::new();
    let mut release = |done: NodeIx, ready: &mut BinaryHeap<Reverse<u32>>| {
        for next in needed_by.row(done) {
            waits[next.index()] -= 1;
            if waits[next.index()] == 0 && !needed_by.row(*next).is_empty() {
                ready.push(Reverse(rank[next.index()]));
            }
        }
    };
    sequence.iter().for_each(|&root| release(root, &mut ready));
    while let Some(Reverse(place)) = ready.pop() {
        let ix = by_id[place as usize];
        sequence.push(ix);
        release(ix, &mut ready);
    }

    sequence.extend(by_id.iter().filter(|ix| needed_by.row(**ix).is_empty()));
    sequence
}

/// Removes the links inside each knot whose role `fits`.
fn cut(
    plan: &Plan,
    needs: &Csr,
    knots: &[Vec<NodeIx>],
    fits: fn(Role) -> bool,
    out: &mut Vec<IgnoredEdge>,
) -> Csr {
    let mut knot_of = vec![0u32; needs.rows()];
    for (number, knot) in knots.iter().enumerate() {
        for ix in knot {
            knot_of[ix.index()] = number as u32 + 1;
        }
    }
    let is_cut = |node: NodeIx, other: NodeIx| {
        let inside = knot_of[node.index()] != 0 && knot_of[node.index()] == knot_of[other.index()];
        inside && fits(plan.reason(node, other))
    };
    let aside = needs.pairs().filter(|&(node, other)| is_cut(node, other));
    out.extend(aside.map(|(node, needs)| IgnoredEdge {
        node,
        needs,
        role: plan.reason(node, needs),
    }));
    Csr::from_pairs(needs.rows(), needs.pairs().filter(|&(node, other)| !is_cut(node, other)))
}

/// Returns the knots: sets of nodes that need each other (or one that needs itself), each sorted by
/// id, all sorted by smallest id.
pub(crate) fn knots(plan: &Plan, needs: &Csr) -> Vec<Vec<NodeIx>> {
    let left = unordered(needs);
    if left.is_empty() {
        return Vec::new();
    }
    let mut place = vec![u32::MAX; needs.rows()];
    let mut graph = DiGraph::<NodeIx, (), u32>::with_capacity(left.len(), 0);
    for &ix in &left {
        place[ix.index()] = graph.add_node(ix).index() as u32;
    }
    for &ix in &left {
        for other in needs.row(ix).iter().filter(|other| place[other.index()] != u32::MAX) {
            graph.add_edge(place[ix.index()].into(), place[other.index()].into(), ());
        }
    }
    let mut knots = Vec::new();
    // Kosaraju's algorithm, because the recursion of petgraph's other algorithm is as deep as the
    // graph.
    for component in kosaraju_scc(&graph) {
        let mut knot: Vec<NodeIx> = component.into_iter().map(|i| graph[i]).collect();
        if knot.len() > 1 || needs.contains(knot[0], knot[0]) {
            knot.sort_by(|&a, &b| plan.id(a).cmp(plan.id(b)).then(a.cmp(&b)));
            knots.push(knot);
        }
    }
    knots.sort_by(|a, b| plan.id(a[0]).cmp(plan.id(b[0])).then(a[0].cmp(&b[0])));
    knots
}

/// Returns the nodes that Kahn's algorithm cannot order: the knots, and the nodes between and after
/// them.
fn unordered(needs: &Csr) -> Vec<NodeIx> {
    let mut is_waiting = vec![true; needs.rows()];
    // Removes nodes from the far end, which needs no second adjacency: a node is removed once no
    // remaining node needs it.
    let mut wanted = vec![0u32; needs.rows()];
    for (_, other) in needs.pairs() {
        wanted[other.index()] += 1;
    }
    let mut open: Vec<NodeIx> =
        (0..needs.rows()).map(NodeIx::new).filter(|ix| wanted[ix.index()] == 0).collect();
    while let Some(ix) = open.pop() {
        is_waiting[ix.index()] = false;
        for other in needs.row(ix) {
            wanted[other.index()] -= 1;
            if wanted[other.index()] == 0 {
                open.push(*other);
            }
        }
    }
    (0..needs.rows()).map(NodeIx::new).filter(|ix| is_waiting[ix.index()]).collect()
}
