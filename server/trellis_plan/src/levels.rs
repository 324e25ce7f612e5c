//! Computes the leaves that can be worked on in parallel, and the chain that more workers cannot
//! shorten.

use std::cmp::Ordering;

use crate::node::NodeIx;
use crate::order::order;
use crate::plan::Plan;

/// The leaves of a plan by level, and its heaviest chain. Links in cycles that the
/// [`order`](crate::order()) violates are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Levels, each sorted by id as bytes. A leaf of the first level needs no other leaf. A leaf of
    /// a later level needs one of the level before and none of its own or a later level; composites
    /// in between do not count.
    pub levels: Vec<Vec<NodeIx>>,
    /// The heaviest sequence of leaves, each needing the one before. Of several such chains, the
    /// choice does not depend on the order of the file.
    pub chain: Vec<NodeIx>,
    /// Weight of the chain: the least total time with any number of workers. See [`Plan::weight`].
    pub chain_weight: u32,
    /// The weight of all leaves.
    pub weight: u32,
}

/// Sorts the leaves into levels, in one pass over the order of the plan.
pub fn levels(plan: &Plan) -> Levels {
    let sequence = order(plan).sequence;
    let mut walk = Traversal::new(plan, &sequence);
    let mut levels: Vec<Vec<NodeIx>> = Vec::new();
    for &ix in &sequence {
        let level = walk.reach(ix);
        if plan.node(ix).is_leaf() {
            levels.resize_with(levels.len().max(level + 1), Vec::new);
            levels[level].push(ix);
        }
    }
    for level in &mut levels {
        level.sort_by(|&a, &b| plan.id(a).cmp(plan.id(b)).then(a.cmp(&b)));
    }
    let end = sequence.iter().copied().max_by(|&a, &b| walk.compare(a, b));
    Levels {
        levels,
        chain: end.map_or_else(Vec::new, |end| walk.chain(end)),
        chain_weight: end.map_or(0, |end| walk.heaviest[end.index()]),
        weight: plan.indices().map(|ix| plan.weight(ix)).sum(),
    }
}

/// State of the nodes visited so far.
struct Traversal<'a> {
    plan: &'a Plan,
    /// Position of every node in the order.
    place: Vec<u32>,
    level: Vec<usize>,
    /// Weight of the heaviest chain that ends with each node, and the previous node on that chain.
    heaviest: Vec<u32>,
    before: Vec<Option<NodeIx>>,
}

impl<'a> Traversal<'a> {
    fn new(plan: &'a Plan, sequence: &[NodeIx]) -> Self {
        let count = sequence.len();
        let mut place = vec![0; count];
        for (at, ix) in sequence.iter().enumerate() {
            place[ix.index()] = at as u32;
        }
        let (level, heaviest, before) = (vec![0; count], vec![0; count], vec![None; count]);
        Traversal { plan, place, level, heaviest, before }
    }

    /// Visits a node whose needs were visited, and returns its level.
    fn reach(&mut self, ix: NodeIx) -> usize {
        let is_kept = |need: &&NodeIx| self.place[need.index()] < self.place[ix.index()];
        let needs = || self.plan.needs(ix).iter().filter(is_kept).copied();
        let after =
            |need: NodeIx| self.level[need.index()] + usize::from(self.plan.node(need).is_leaf());
        let level = needs().map(after).max().unwrap_or(0);
        let before = needs().max_by(|&a, &b| self.compare(a, b));
        let weight = before.map_or(0, |need| self.heaviest[need.index()]);
        self.level[ix.index()] = level;
        self.heaviest[ix.index()] = weight + self.plan.weight(ix);
        self.before[ix.index()] = before;
        level
    }

    /// Compares the heaviest chains that end with two nodes. Of equal chains, the one of the
    /// smaller id counts as heavier.
    fn compare(&self, a: NodeIx, b: NodeIx) -> Ordering {
        let weights = self.heaviest[a.index()].cmp(&self.heaviest[b.index()]);
        weights.then_with(|| self.plan.id(b).cmp(self.plan.id(a)))
    }

    fn chain(&self, end: NodeIx) -> Vec<NodeIx> {
        let all = std::iter::successors(Some(end), |ix| self.before[ix.index()]);
        let mut chain: Vec<NodeIx> = all.filter(|&ix| self.plan.node(ix).is_leaf()).collect();
        chain.reverse();
        chain
    }
}
