//! Explores the neighborhood of a node: the nodes that need it or that it needs, up to a number of
//! hops.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::edge::Role;
use crate::node::NodeIx;
use crate::plan::Plan;
use crate::status::Status;

/// Direction of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Nodes that depend on the start node or are fed by it.
    Incoming,
    /// Nodes that the start node depends on or is fed by.
    Outgoing,
}

/// One line of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub node: NodeIx,
    /// The node from which this one was reached.
    pub from: NodeIx,
    /// Smallest number of hops from the start, from 1.
    pub hops: usize,
    /// The reason why one of the two needs the other: a dependency or a data flow.
    pub role: Role,
    /// True if the node has another line, under the node that reaches it first; only that line is
    /// expanded.
    pub is_repeated: bool,
}

/// The nodes found around a node. Hierarchy is left out, because [`tree`](crate::tree()) shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    pub start: NodeIx,
    pub direction: Direction,
    pub hops: usize,
    /// Lines in the order of the printed tree: under each node the nodes reached from it, by id.
    pub steps: Vec<Step>,
}

/// Explores up to `hops` hops (0 finds nothing). Cycles end at a node that was already reached.
/// Each link is visited once.
pub fn explore(plan: &Plan, start: NodeIx, hops: usize, direction: Direction) -> Exploration {
    let mut reached: FxHashMap<NodeIx, usize> = FxHashMap::from_iter([(start, 0)]);
    let mut below: FxHashMap<NodeIx, Vec<Step>> = FxHashMap::default();
    let mut open = VecDeque::from([(start, 0)]);
    while let Some((from, far)) = open.pop_front() {
        if far == hops {
            continue;
        }
        let mut steps = Vec::new();
        for (node, role) in neighbours(plan, from, direction) {
            let is_repeated = reached.contains_key(&node);
            let hops = *reached.entry(node).or_insert(far + 1);
            if !is_repeated {
                open.push_back((node, far + 1));
            }
            steps.push(Step { node, from, hops, role, is_repeated });
        }
        below.insert(from, steps);
    }
    Exploration { start, direction, hops, steps: flatten(start, &below) }
}

/// Returns the linked nodes by id, each with the reason.
fn neighbours(plan: &Plan, ix: NodeIx, direction: Direction) -> Vec<(NodeIx, Role)> {
    let (all, reason): (_, fn(&Plan, NodeIx, NodeIx) -> Role) = match direction {
        Direction::Outgoing => (plan.needs(ix), |plan, ix, other| plan.reason(ix, other)),
        Direction::Incoming => (plan.needed_by(ix), |plan, ix, other| plan.reason(other, ix)),
    };
    let with_reason = all.iter().map(|&other| (other, reason(plan, ix, other)));
    let mut found: Vec<_> = with_reason.filter(|(_, role)| *role != Role::Hierarchy).collect();
    found.sort_by(|(a, _), (b, _)| plan.id(*a).cmp(plan.id(*b)));
    found
}

fn flatten(start: NodeIx, below: &FxHashMap<NodeIx, Vec<Step>>) -> Vec<Step> {
    let mut flat = Vec::new();
    let mut open: Vec<Step> = below.get(&start).into_iter().flatten().rev().copied().collect();
    while let Some(step) = open.pop() {
        flat.push(step);
        if !step.is_repeated {
            open.extend(below.get(&step.node).into_iter().flatten().rev());
        }
    }
    flat
}

impl Exploration {
    /// Returns every reached node once, nearest first and then by id.
    pub fn nodes(&self, plan: &Plan) -> Vec<Step> {
        let mut nodes: Vec<Step> =
            self.steps.iter().filter(|step| !step.is_repeated).copied().collect();
        nodes
            .sort_by(|a, b| a.hops.cmp(&b.hops).then_with(|| plan.id(a.node).cmp(plan.id(b.node))));
        nodes
    }

    /// Writes an ASCII tree. A node that failed according to `status` is marked as a possible root
    /// cause.
    pub fn render(
        &self,
        plan: &Plan,
        status: impl Fn(NodeIx) -> Option<Status>,
        out: &mut impl fmt::Write,
    ) -> fmt::Result {
        writeln!(out, "{}", label(plan, self.start))?;
        if self.steps.is_empty() {
            let nothing = match self.direction {
                Direction::Incoming => "nothing depends on it",
                Direction::Outgoing => "it depends on nothing",
            };
            return writeln!(out, "`-- ({nothing})");
        }
        let depths = depths(&self.steps);
        let last = last_of_siblings(&depths);
        let mut prefix: Vec<&str> = Vec::new();
        for (i, step) in self.steps.iter().enumerate() {
            prefix.truncate(depths[i] - 1);
            prefix.iter().try_for_each(|part| out.write_str(part))?;
            let branch = if last[i] { "`-- " } else { "|-- " };
            write!(out, "{branch}{}", label(plan, step.node))?;
            if step.role == Role::DataFlow {
                out.write_str(" [data flow]")?;
            }
            match status(step.node) {
                Some(Status::Failed) => out.write_str(" [failed: possible root cause]")?,
                Some(status) => write!(out, " [{status}]")?,
                None => {}
            }
            out.write_str(if step.is_repeated { " (shown elsewhere)\n" } else { "\n" })?;
            prefix.push(if last[i] { "    " } else { "|   " });
        }
        Ok(())
    }
}

fn label(plan: &Plan, ix: NodeIx) -> String {
    let node = plan.node(ix);
    let name = plan.qualified_name(ix);
    if *name == *node.id { node.id.to_string() } else { format!("{} {name}", node.id) }
}

/// Returns the depth of each line in the tree, from 1. The depth of a repeated line cannot be read
/// from its own `hops`, which are those of the first line.
fn depths(steps: &[Step]) -> Vec<usize> {
    let mut hops: FxHashMap<NodeIx, usize> = FxHashMap::default();
    let first = steps.iter().filter(|step| !step.is_repeated);
    hops.extend(first.map(|step| (step.node, step.hops)));
    steps.iter().map(|step| hops.get(&step.from).map_or(1, |hops| hops + 1)).collect()
}

/// Returns, for each line, whether it is the last one below its parent.
pub(crate) fn last_of_siblings(depths: &[usize]) -> Vec<bool> {
    let mut last = vec![false; depths.len()];
    // For each depth, whether a line at that depth follows; a line ends every deeper level.
    let mut seen: Vec<bool> = Vec::new();
    for (i, &depth) in depths.iter().enumerate().rev() {
        seen.resize(depth + 1, false);
        last[i] = !std::mem::replace(&mut seen[depth], true);
    }
    last
}
