//! Workers that wait for others, and the worker that works alone.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio::sync::oneshot;
use trellis_plan::NodeIx;

use crate::generate::worker::WaitReason;

/// Workers that gave their slot back.
#[derive(Default)]
pub(super) struct WaitQueue {
    /// Workers that wait for nodes to be settled, with those nodes.
    waiting: HashMap<NodeIx, Vec<NodeIx>>,
    /// Workers that wait to be alone, by their place in the plan's order.
    turns: BTreeMap<usize, (NodeIx, oneshot::Sender<()>)>,
    /// Workers that wait for a person.
    persons: HashSet<NodeIx>,
    /// The node whose worker is alone now.
    pub alone: Option<NodeIx>,
}

impl WaitQueue {
    pub(super) fn take(&mut self, rest: WaitReason, place: impl Fn(&NodeIx) -> usize) {
        match rest {
            WaitReason::Dependencies { node, needed } => {
                self.ended(node);
                self.waiting.insert(node, needed);
            }
            WaitReason::Exclusive { node, go } => drop(self.turns.insert(place(&node), (node, go))),
            WaitReason::Approval { node } => drop(self.persons.insert(node)),
            WaitReason::Resumed { node } => drop(self.persons.remove(&node)),
        }
    }

    pub(super) fn ended(&mut self, node: NodeIx) {
        self.waiting.remove(&node);
        self.persons.remove(&node);
        self.alone.take_if(|alone| *alone == node);
    }

    /// Returns whether all workers are waiting.
    pub(super) fn is_everyone_waiting(&self, at_work: usize) -> bool {
        at_work <= self.waiting.len() + self.turns.len() + self.persons.len()
    }

    pub(super) fn give_turn(&mut self, at_work: usize, is_settled: impl Fn(&[NodeIx]) -> bool) {
        self.waiting.retain(|_, needed| !is_settled(needed));
        if self.alone.is_some() || !self.is_everyone_waiting(at_work) {
            return;
        }
        if let Some((_, (node, go))) = self.turns.pop_first() {
            self.alone = Some(node);
            // A worker that is gone has cancelled everything.
            let _ = go.send(());
        }
    }
}
