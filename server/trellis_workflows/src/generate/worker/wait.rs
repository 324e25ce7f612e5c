//! Lets a worker wait for others: for nodes that its code uses, or for its exclusive turn.

use std::collections::{BTreeMap, BTreeSet};

use tokio::sync::oneshot;
use trellis_plan::NodeIx;

use crate::generate::worker::{Worker, WorkerError, source};
use trellis_store::disk;
use trellis_store::journal::Event;

/// The event that a worker without a slot waits for.
#[derive(Debug)]
pub(crate) enum WaitReason {
    /// Waits for the `needed` nodes to be settled.
    Dependencies { node: NodeIx, needed: Vec<NodeIx> },
    /// Waits for all other nodes to be settled or waiting.
    Exclusive { node: NodeIx, go: oneshot::Sender<()> },
    /// Waits for a person's decision.
    Approval { node: NodeIx },
    /// No longer waits: the person has decided.
    Resumed { node: NodeIx },
}

impl Worker {
    /// Waits for imported nodes that the plan does not name as dependencies but orders before this
    /// node. The result is then the same for any number of jobs.
    pub(super) async fn await_imported(&mut self) -> Result<(), WorkerError> {
        let work = &self.run_context.work;
        let fragments = self.draft.implementation.iter().chain(&self.draft.tests);
        let imported: BTreeSet<NodeIx> =
            fragments.flat_map(|fragment| work.imported(self.node, fragment)).collect();
        let view: BTreeSet<NodeIx> = work.view(self.node, &self.more).into_iter().collect();
        let new: BTreeSet<NodeIx> = imported.into_iter().filter(|ix| !view.contains(ix)).collect();
        if new.is_empty() {
            return Ok(());
        }
        let ids: Vec<&str> = new.iter().map(|ix| work.plan.id(*ix)).collect();
        let text = format!("uses {} without a planned dependency", ids.join(", "));
        self.log(Event::Note { node: self.id(), what: "unplanned-dependency".to_owned(), text })?;
        self.more.extend(new);
        let needed = work.view(self.node, &self.more);
        if self.accepted_drafts.borrow().has_all(&needed) {
            return Ok(());
        }
        self.has_turn = false;
        self.release_slot(WaitReason::Dependencies { node: self.node, needed: needed.clone() });
        let cancel = self.run_context.cancel.clone();
        tokio::select! {
            () = cancel.cancelled() => return Err(WorkerError::Cancelled),
            all = self.accepted_drafts.wait_for(|accepted_drafts| accepted_drafts.has_all(&needed)) => drop(all.map_err(|_| WorkerError::Cancelled)?),
        }
        self.resume().await
    }

    /// Waits until no other node is under way. A worker that changes text others build on must be
    /// alone, so that any number of jobs sees the change at the same moment.
    pub(super) async fn await_exclusive_turn(&mut self) -> Result<(), WorkerError> {
        let (go, turn) = oneshot::channel();
        self.release_slot(WaitReason::Exclusive { node: self.node, go });
        let cancel = self.run_context.cancel.clone();
        tokio::select! {
            () = cancel.cancelled() => return Err(WorkerError::Cancelled),
            turn = turn => turn.map_err(|_| WorkerError::Cancelled)?,
        }
        self.has_turn = true;
        self.resume().await
    }

    /// Returns hashes of the implementations in the planned view, by node id.
    pub(super) fn texts_of_view(&self) -> BTreeMap<String, String> {
        let work = &self.run_context.work;
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        let view = work.view(self.node, &BTreeSet::new()).into_iter();
        let text =
            |ix: NodeIx| Some(disk::hash(source(&accepted_drafts.draft(ix)?.implementation)));
        view.filter_map(|ix| Some((work.plan.id(ix).to_owned(), text(ix)?))).collect()
    }

    /// Discards the work on this node and starts over.
    pub(super) fn restart(&mut self) -> Result<(), WorkerError> {
        let text = "a dependency changed while it waited".to_owned();
        self.log(Event::Note { node: self.id(), what: "begun-again".to_owned(), text })?;
        self.begun_on = self.texts_of_view();
        (self.has_waited, self.repeats, self.last) = (false, 0, None);
        (self.draft, self.trail, self.tools, self.cost) = Default::default();
        (self.passed, self.failed) = (0, 0);
        self.more.clear();
        Ok(())
    }

    /// Gives the slot back until a person has decided.
    pub(super) fn wait_for_approval(&mut self) {
        self.release_slot(WaitReason::Approval { node: self.node });
    }

    /// Takes up work again after the person's decision.
    pub(super) async fn resume_after_approval(&mut self) -> Result<(), WorkerError> {
        // The dispatcher may be gone; then everything is cancelled.
        let _ = self.run_context.freed.send(WaitReason::Resumed { node: self.node });
        self.resume().await
    }

    /// Gives the slot back.
    fn release_slot(&mut self, rest: WaitReason) {
        self.permit = None;
        self.has_waited = true;
        // The dispatcher may be gone; then the wait ends by cancellation.
        let _ = self.run_context.freed.send(rest);
    }

    async fn resume(&mut self) -> Result<(), WorkerError> {
        let slot = self.run_context.slots.clone().acquire_owned().await;
        self.permit = Some(slot.map_err(|_| WorkerError::Cancelled)?);
        Ok(())
    }
}
