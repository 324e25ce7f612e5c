//! The neighbourhood of a node: who needs it, what it needs, a few hops far.

use std::collections::VecDeque;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::edge::Role;
use crate::node::NodeIx;
use crate::plan::Plan;
use crate::status::Status;

/// Which way to look from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Who depends on the node or is fed by it.
    Incoming,
    /// What the node depends on or is fed by.
    Outgoing,
}

/// One line of an exploration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub node: NodeIx,
    /// The node this one was reached from.
    pub from: NodeIx,
    /// The least number of hops from the start, from 1.
    pub hops: usize,
    /// Why one of the two needs the other: a dependency or a data flow.
    pub role: Role,
    /// Whether the node has another line, under the first node that reaches it; what is beyond stands only there.
    pub is_repeated: bool,
}

/// What was found around a node. Hierarchy is left out: it is what [`tree`](crate::tree()) shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exploration {
    pub start: NodeIx,
    pub direction: Direction,
    pub hops: usize,
    /// In the order of the printed tree: under each node what is reached from it, by id.
    pub steps: Vec<Step>,
}

/// Looks `hops` hops far (0 finds nothing). Cycles end where they meet a node already reached; so does all work, at
/// one look at each link.
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

/// Linked nodes by id, each with the reason.
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
    /// Every node reached, once, nearest first and then by id.
    pub fn nodes(&self, plan: &Plan) -> Vec<Step> {
        let mut nodes: Vec<Step> =
            self.steps.iter().filter(|step| !step.is_repeated).copied().collect();
        nodes
            .sort_by(|a, b| a.hops.cmp(&b.hops).then_with(|| plan.id(a.node).cmp(plan.id(b.node))));
        nodes
    }

    /// Writes an ASCII tree; where `status` knows a node to have failed, it is marked as a possible root cause.
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

/// How deep each line stands in the tree, from 1. A line that repeats a node knows only the hops of the first one.
fn depths(steps: &[Step]) -> Vec<usize> {
    let mut hops: FxHashMap<NodeIx, usize> = FxHashMap::default();
    let first = steps.iter().filter(|step| !step.is_repeated);
    hops.extend(first.map(|step| (step.node, step.hops)));
    steps.iter().map(|step| hops.get(&step.from).map_or(1, |hops| hops + 1)).collect()
}

/// Whether each line is the last one below its parent.
pub(crate) fn last_of_siblings(depths: &[usize]) -> Vec<bool> {
    let mut last = vec![false; depths.len()];
    // What was seen further down, per depth; a line closes every deeper level.
    let mut seen: Vec<bool> = Vec::new();
    for (i, &depth) in depths.iter().enumerate().rev() {
        seen.resize(depth + 1, false);
        last[i] = !std::mem::replace(&mut seen[depth], true);
    }
    last
}
