//! Tracks the nodes that are ready to be worked on, and the effect of a failure on the others. Pure
//! state: the driver does the work.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::node::NodeIx;
use crate::order::Order;
use crate::plan::Plan;
use crate::status::{Counts, Skipped, Status, UnmetDependencies};

/// The state of a run over a plan. A leaf is ready when its dependencies have passed and all its
/// other needs are settled; composites are settled automatically.
#[derive(Clone, Debug)]
pub struct Schedule {
    plan: Arc<Plan>,
    sequence: Vec<NodeIx>,
    /// Position of every node in `sequence`.
    place: Vec<u32>,
    status: Vec<Status>,
    /// Number of unsettled needs of each node.
    waits: Vec<u32>,
    critical: Vec<u32>,
    reasons: FxHashMap<NodeIx, String>,
    /// Positions of the leaves that are ready.
    ready: BTreeSet<u32>,
    /// The same leaves, most urgent first.
    urgent: BTreeSet<(Reverse<u32>, u32)>,
    /// Urgency of each node, greater first; by default the weight of the heaviest chain of
    /// dependents.
    urgency: Vec<u32>,
    counts: Counts,
}

impl Schedule {
    /// Creates a schedule with all leaves pending. `order` must be that of `plan`; links that it
    /// ignores are not waited for.
    pub fn new(plan: Arc<Plan>, order: Order) -> Self {
        let count = plan.nodes().len();
        let mut schedule = Schedule {
            place: vec![0; count],
            status: vec![Status::Pending; count],
            waits: vec![0; count],
            critical: vec![0; count],
            reasons: FxHashMap::default(),
            ready: BTreeSet::new(),
            urgent: BTreeSet::new(),
            urgency: Vec::new(),
            counts: Counts::default(),
            sequence: order.sequence,
            plan,
        };
        for (place, ix) in schedule.sequence.iter().enumerate() {
            schedule.place[ix.index()] = place as u32;
        }
        schedule.measure();
        schedule.urgency.clone_from(&schedule.critical);
        schedule.counts.total = schedule.plan.nodes().iter().filter(|node| node.is_leaf()).count();
        schedule.counts.pending = schedule.counts.total;
        let free = schedule.sequence.iter().copied().filter(|ix| schedule.waits[ix.index()] == 0);
        let free: Vec<NodeIx> = free.collect();
        schedule.release(free);
        schedule
    }

    /// Fills `waits` and `critical`.
    fn measure(&mut self) {
        for &ix in self.sequence.iter().rev() {
            let after = self
                .plan
                .needed_by(ix)
                .iter()
                .filter(|next| self.place[next.index()] > self.place[ix.index()]);
            let longest = after.map(|next| self.critical[next.index()]).max().unwrap_or(0);
            self.critical[ix.index()] = longest + self.plan.weight(ix);
            let before = self
                .plan
                .needs(ix)
                .iter()
                .filter(|need| self.place[need.index()] < self.place[ix.index()]);
            self.waits[ix.index()] = before.count() as u32;
        }
    }

    /// Returns the plan of this run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Returns all nodes in the order of the plan.
    pub fn sequence(&self) -> &[NodeIx] {
        &self.sequence
    }

    /// Returns the status of a leaf; `None` for composites.
    pub fn status(&self, ix: NodeIx) -> Option<Status> {
        self.plan.node(ix).is_leaf().then(|| self.status[ix.index()])
    }

    /// Returns the reason why a leaf failed or was skipped.
    pub fn reason(&self, ix: NodeIx) -> Option<&str> {
        self.reasons.get(&ix).map(String::as_str)
    }

    /// Returns the leaves that can be worked on now, in the order of the plan.
    pub fn ready(&self) -> impl Iterator<Item = NodeIx> {
        self.ready.iter().map(|&place| self.sequence[place as usize])
    }

    /// Returns the same leaves, most urgent first: by default those with the heaviest chain of
    /// dependents.
    pub fn urgent(&self) -> impl Iterator<Item = NodeIx> {
        self.urgent.iter().map(|&(_, place)| self.sequence[place as usize])
    }

    /// Raises the urgency of leaves, for callers that know of longer chains than those of the plan.
    /// No leaf becomes less urgent.
    pub fn set_urgency(&mut self, urgency: impl Fn(NodeIx) -> Option<u32>) {
        for &ix in &self.sequence {
            if let Some(urgency) = urgency(ix) {
                self.urgency[ix.index()] = urgency.max(self.critical[ix.index()]);
            }
        }
        let entry = |&place: &u32| {
            let ix = self.sequence[place as usize];
            (Reverse(self.urgency[ix.index()]), place)
        };
        self.urgent = self.ready.iter().map(entry).collect();
    }

    /// Returns the weight (see [`Plan::weight`]) of the heaviest chain of leaves that starts with
    /// this node, each needing the one before: its number of leaves or its story points.
    pub fn critical_path(&self, ix: NodeIx) -> u32 {
        self.critical[ix.index()]
    }

    /// Returns the number of leaves by status, over the whole plan.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the counts of each subgraph, sorted by name; leaves without a subgraph come first,
    /// under `None`.
    pub fn counts_by_subgraph(&self) -> Vec<(Option<Arc<str>>, Counts)> {
        let mut counts: BTreeMap<Option<&Arc<str>>, Counts> = BTreeMap::new();
        for (i, node) in self.plan.nodes().iter().enumerate().filter(|(_, node)| node.is_leaf()) {
            counts.entry(node.subgraph.as_ref()).or_default().add(self.status[i]);
        }
        counts.into_iter().map(|(name, counts)| (name.cloned(), counts)).collect()
    }

    /// Returns whether every leaf is settled.
    pub fn is_finished(&self) -> bool {
        self.counts.settled() == self.counts.total
    }

    /// Marks a leaf as in progress.
    pub fn start(&mut self, ix: NodeIx) {
        if self.status[ix.index()] == Status::Pending {
            self.set(ix, Status::InProgress);
        }
    }

    /// Returns a leaf whose work ended without a result to pending; the leaf becomes ready again if
    /// it was ready.
    pub fn put_back(&mut self, ix: NodeIx) {
        if self.status[ix.index()] == Status::InProgress {
            self.set(ix, Status::Pending);
            if self.waits[ix.index()] == 0 {
                self.release(vec![ix]);
            }
        }
    }

    /// Marks a leaf as passed, now or in an earlier run. A leaf already settled is not changed.
    pub fn pass(&mut self, ix: NodeIx) {
        if !self.status[ix.index()].is_settled() {
            self.settle(vec![(ix, Status::Passed)]);
        }
    }

    /// Marks a leaf as failed. All nodes that depend on it, directly or not, are skipped and
    /// returned, nearest first. Nodes that it only feeds or contains continue. A leaf already
    /// settled is not changed.
    pub fn fail(&mut self, ix: NodeIx, reason: impl Into<String>) -> Vec<Skipped> {
        self.give_up(ix, Status::Failed, reason.into())
    }

    /// Skips a leaf for a reason of its own (its environment); its dependents are skipped as if it
    /// had failed.
    pub fn skip(&mut self, ix: NodeIx, reason: impl Into<String>) -> Vec<Skipped> {
        self.give_up(ix, Status::Skipped, reason.into())
    }

    /// Starts the run at a leaf: every leaf before it in the order that has not passed is skipped,
    /// with its dependents. Callers mark the leaves passed in earlier runs first. Fails with the
    /// names of the dependencies that have not passed, if there are any.
    pub fn start_from(&mut self, ix: NodeIx) -> Result<Vec<Skipped>, UnmetDependencies> {
        let unmet = self.unmet(ix);
        if !unmet.is_empty() {
            let unmet = unmet.into_iter().map(|ix| self.plan.id(ix).to_owned()).collect();
            return Err(UnmetDependencies { node: self.plan.id(ix).to_owned(), unmet });
        }
        let reason = format!("before the start node {}", self.plan.id(ix));
        let mut skipped = Vec::new();
        for place in 0..self.place[ix.index()] as usize {
            let earlier = self.sequence[place];
            if self.plan.node(earlier).is_leaf() && !self.status[earlier.index()].is_settled() {
                skipped.push(Skipped { node: earlier, reason: reason.clone() });
                skipped.extend(self.skip(earlier, reason.clone()));
            }
        }
        Ok(skipped)
    }

    /// Restricts the run to one leaf and its dependents. Every other leaf that has not passed is
    /// settled at once: with the failed or skipped status that `before` returns, else as skipped.
    /// Fails with the names of the dependencies that have not passed, if there are any.
    pub fn retry(
        &mut self,
        ix: NodeIx,
        before: impl Fn(NodeIx) -> Option<(Status, String)>,
    ) -> Result<(), UnmetDependencies> {
        let unmet = self.unmet(ix);
        if !unmet.is_empty() {
            let unmet = unmet.into_iter().map(|ix| self.plan.id(ix).to_owned()).collect();
            return Err(UnmetDependencies { node: self.plan.id(ix).to_owned(), unmet });
        }
        let behind = self.unsettled_dependents(ix).into_iter().map(|(node, _)| node);
        let wanted: rustc_hash::FxHashSet<NodeIx> = behind.chain([ix]).collect();
        for other in self.sequence.clone() {
            if self.plan.node(other).is_leaf() && !wanted.contains(&other) {
                let none = || format!("only {} was requested", self.plan.id(ix));
                match before(other) {
                    Some((Status::Failed, reason)) => drop(self.fail(other, reason)),
                    Some((Status::Skipped, reason)) => drop(self.skip(other, reason)),
                    _ => drop(self.skip(other, none())),
                }
            }
        }
        Ok(())
    }

    /// Returns the leaves that `ix` depends on, directly or through composites, and that have not
    /// passed; in the order of the plan.
    pub fn unmet(&self, ix: NodeIx) -> Vec<NodeIx> {
        let mut unmet = BTreeSet::new();
        let mut open: Vec<NodeIx> = self.plan.depends_on(ix).to_vec();
        let mut passed_through = BTreeSet::new();
        while let Some(dependency) = open.pop() {
            if self.plan.node(dependency).is_leaf() {
                if self.status[dependency.index()] != Status::Passed {
                    unmet.insert(self.place[dependency.index()]);
                }
            } else if passed_through.insert(dependency) {
                open.extend(self.plan.depends_on(dependency));
            }
        }
        unmet.into_iter().map(|place| self.sequence[place as usize]).collect()
    }

    fn give_up(&mut self, ix: NodeIx, status: Status, reason: String) -> Vec<Skipped> {
        if self.status[ix.index()].is_settled() {
            return Vec::new();
        }
        let word = if status == Status::Failed { "failed" } else { "was skipped" };
        let culprit = format!("dependency {} {word}", self.plan.id(ix));
        self.reasons.insert(ix, reason);
        let behind = self.unsettled_dependents(ix);
        let mut settled = vec![(ix, status)];
        settled.extend(behind.iter().map(|&(node, _)| (node, Status::Skipped)));
        self.settle(settled);
        let mut skipped = Vec::new();
        for (node, through) in behind {
            let through = (through != ix).then(|| format!(" (through {})", self.plan.id(through)));
            let reason = culprit.clone() + &through.unwrap_or_default();
            self.reasons.insert(node, reason.clone());
            if self.plan.node(node).is_leaf() {
                skipped.push(Skipped { node, reason });
            }
        }
        skipped
    }

    /// Returns all unsettled nodes that depend on `ix`, breadth first, each with the dependency
    /// through which it was reached.
    fn unsettled_dependents(&self, ix: NodeIx) -> Vec<(NodeIx, NodeIx)> {
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::from_iter([ix]);
        let mut open = VecDeque::from([ix]);
        while let Some(at) = open.pop_front() {
            for &next in self.plan.dependents(at) {
                if !self.status[next.index()].is_settled() && seen.insert(next) {
                    found.push((next, at));
                    open.push_back(next);
                }
            }
        }
        found
    }

    /// Sets final statuses all at once, so that no node about to be skipped becomes ready in
    /// between.
    fn settle(&mut self, nodes: Vec<(NodeIx, Status)>) {
        for &(ix, status) in &nodes {
            self.set(ix, status);
        }
        let mut free = Vec::new();
        for (ix, _) in nodes {
            self.count_down(ix, &mut free);
        }
        self.release(free);
    }

    fn count_down(&mut self, settled: NodeIx, free: &mut Vec<NodeIx>) {
        for &next in self.plan.needed_by(settled) {
            if self.place[next.index()] > self.place[settled.index()] {
                self.waits[next.index()] -= 1;
                if self.waits[next.index()] == 0 {
                    free.push(next);
                }
            }
        }
    }

    /// Makes leaves without unsettled needs ready. Composites are settled, which may free more
    /// nodes.
    fn release(&mut self, mut free: Vec<NodeIx>) {
        while let Some(ix) = free.pop() {
            if self.status[ix.index()] != Status::Pending {
                continue;
            }
            if self.plan.node(ix).is_leaf() {
                let place = self.place[ix.index()];
                self.ready.insert(place);
                self.urgent.insert((Reverse(self.urgency[ix.index()]), place));
            } else {
                self.status[ix.index()] = Status::Passed;
                self.count_down(ix, &mut free);
            }
        }
    }

    fn set(&mut self, ix: NodeIx, status: Status) {
        let place = self.place[ix.index()];
        self.ready.remove(&place);
        self.urgent.remove(&(Reverse(self.urgency[ix.index()]), place));
        let before = std::mem::replace(&mut self.status[ix.index()], status);
        if self.plan.node(ix).is_leaf() {
            self.counts.change(before, status);
        }
    }
}
