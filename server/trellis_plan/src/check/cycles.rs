//! Finds cycles: one problem for each knot (nodes that need each other), with the shortest cycle in
//! it.

use std::collections::VecDeque;

use super::{Problem, ProblemKind};
use crate::csr::Csr;
use crate::node::NodeIx;
use crate::order::knots;
use crate::plan::Plan;

/// Largest number of edges that the search for shorter cycles visits, over all knots. After that
/// the best cycle found is reported even if a shorter one may exist. The number gives an exact
/// answer in any knot of a thousand nodes.
const WORK: usize = 20_000_000;

/// Largest number of ids of a cycle in a message.
const SPELLED: usize = 50;

pub(super) fn check(plan: &Plan, found: &mut Vec<Problem>) {
    let knots = knots(plan, &plan.graph.needs);
    if knots.is_empty() {
        return;
    }
    let mut search = Search::new(&plan.graph.needs, plan.nodes().len());
    for (number, knot) in knots.iter().enumerate() {
        search.enter(knot, number as u32 + 1);
        let cycle = from_smallest_id(plan, search.shortest(knot));
        found.push(describe(plan, cycle, knot.len()));
    }
}

fn from_smallest_id(plan: &Plan, mut cycle: Vec<NodeIx>) -> Vec<NodeIx> {
    let smallest = (0..cycle.len()).min_by_key(|&i| plan.id(cycle[i])).unwrap_or(0);
    cycle.rotate_left(smallest);
    cycle
}

fn describe(plan: &Plan, cycle: Vec<NodeIx>, knot: usize) -> Problem {
    let mut ids: Vec<&str> = cycle.iter().take(SPELLED).map(|&ix| plan.id(ix)).collect();
    let first = ids[0];
    let more = format!("({} more)", cycle.len() - ids.len());
    if cycle.len() > SPELLED {
        ids.push(&more);
    }
    ids.push(first);
    let mut message = match cycle.len() {
        1 => format!("depends on itself: {}", ids.join(" -> ")),
        n => format!("cycle of {n} nodes, each depending on the next: {}", ids.join(" -> ")),
    };
    if knot > cycle.len() {
        message += &format!("; {knot} nodes here depend on each other");
    }
    let last = plan.id(cycle[cycle.len() - 1]);
    let reason = plan.reason(cycle[cycle.len() - 1], cycle[0]).name();
    let hint = match cycle.len() {
        1 => format!("remove the {reason} of `{first}` on itself"),
        _ => format!(
            "remove one of these links, e.g. the {reason} through which `{last}` depends on \
             `{first}`"
        ),
    };
    let (kind, node) = (ProblemKind::Cycle, first.to_owned());
    Problem { kind, node, message, hint, unknown: None, related: cycle }
}

/// Breadth-first search for cycles. All knots share its arrays.
struct Search<'a> {
    needs: &'a Csr,
    /// Knot of each node, from 1; 0 for none.
    knot: Vec<u32>,
    /// For each node, the last search that visited it, and the node from which it was reached.
    seen: Vec<u32>,
    from: Vec<NodeIx>,
    round: u32,
    work: usize,
}

impl<'a> Search<'a> {
    fn new(needs: &'a Csr, nodes: usize) -> Self {
        let (knot, seen, from) = (vec![0; nodes], vec![0; nodes], vec![NodeIx::new(0); nodes]);
        Search { needs, knot, seen, from, round: 0, work: WORK }
    }

    fn enter(&mut self, knot: &[NodeIx], number: u32) {
        for ix in knot {
            self.knot[ix.index()] = number;
        }
    }

    /// Returns the shortest cycle of a knot, as far as the work limit allows. Every node of a knot
    /// is on a cycle, so the first search finds one, regardless of the limit.
    fn shortest(&mut self, knot: &[NodeIx]) -> Vec<NodeIx> {
        if let Some(&itself) = knot.iter().find(|&&ix| self.needs.contains(ix, ix)) {
            return vec![itself];
        }
        // Every cycle passes a node with two links inside the knot, unless the knot is a plain
        // ring.
        let forks = |ix: &&NodeIx| self.inner(**ix).nth(1).is_some();
        let forks: Vec<NodeIx> = knot.iter().filter(forks).copied().collect();
        let mut best: Option<Vec<NodeIx>> = None;
        for &start in if forks.is_empty() { &knot[..1] } else { &forks } {
            let below = best.as_ref().map(Vec::len);
            // No node needs itself, so two is the shortest possible length.
            if below == Some(2) || (below.is_some() && self.work == 0) {
                break;
            }
            best = self.cycle_through(start, below).or(best);
        }
        best.unwrap_or_else(|| knot[..1].to_vec())
    }

    fn inner(&self, ix: NodeIx) -> impl Iterator<Item = NodeIx> {
        let number = self.knot[ix.index()];
        let inside = move |other: &NodeIx| self.knot[other.index()] == number;
        self.needs.row(ix).iter().copied().filter(inside)
    }

    /// Returns the shortest cycle through `start`. With `below`, returns only a cycle of fewer
    /// nodes, and stops at the work limit.
    fn cycle_through(&mut self, start: NodeIx, below: Option<usize>) -> Option<Vec<NodeIx>> {
        self.round += 1;
        let number = self.knot[start.index()];
        let mut open = VecDeque::from([(start, 1)]);
        while let Some((at, length)) = open.pop_front() {
            if below.is_some_and(|below| length >= below || self.work == 0) {
                return None;
            }
            for &next in self.needs.row(at) {
                self.work = self.work.saturating_sub(1);
                if next == start {
                    return Some(self.path(start, at));
                }
                if self.knot[next.index()] == number && self.seen[next.index()] != self.round {
                    self.seen[next.index()] = self.round;
                    self.from[next.index()] = at;
                    open.push_back((next, length + 1));
                }
            }
        }
        None
    }

    fn path(&self, start: NodeIx, end: NodeIx) -> Vec<NodeIx> {
        let mut path = vec![end];
        while let Some(&at) = path.last().filter(|&&at| at != start) {
            path.push(self.from[at.index()]);
        }
        path.reverse();
        path
    }
}
