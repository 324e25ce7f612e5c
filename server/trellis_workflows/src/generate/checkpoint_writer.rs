//! Writes the checkpoint: the status of every node as the dispatcher knows it.

use jiff::Timestamp;
use trellis_plan::NodeIx;

use super::dispatcher::Dispatcher;
use crate::fault::Fault;
use crate::reporter::Progress;
use trellis_store::checkpoint::{self, Checkpoint, Entry, ModelCost, TestResults};
use trellis_store::disk;
use trellis_store::journal::Event;

impl Dispatcher {
    /// Writes the first checkpoint, which has an entry for every leaf.
    pub(super) fn first_checkpoint(&mut self) -> Result<(), Fault> {
        let before = checkpoint::read(&self.root).unwrap_or(checkpoint::Found::None);
        let before =
            if let checkpoint::Found::Good(before) = before { before } else { Checkpoint::new() };
        for ix in self.run_context.work.leaves.clone() {
            let id = self.id(ix);
            let entry = Entry {
                timestamp: Timestamp::now().to_string(),
                subgraph: self
                    .run_context
                    .work
                    .plan
                    .node(ix)
                    .subgraph
                    .as_deref()
                    .map(str::to_owned),
                ..Entry::default()
            };
            self.checkpoint.insert(id.clone(), entry);
            if let Some(accepted) = self.accepted.get(&id) {
                let (passed, fixes) = (accepted.tests_passed, accepted.fixes);
                let (flaky, model) = (accepted.flaky.clone(), ModelCost::of(&accepted.cost));
                let entry = self.entry(ix);
                (entry.flaky, entry.model) = (flaky, model);
                entry.test_results = TestResults { passed, failed: 0 };
                entry.retry_count = fixes;
            }
            let status = self.schedule.status(ix).map_or("pending", trellis_plan::Status::name);
            let reason = self.schedule.reason(ix).map(str::to_owned);
            if status == "skipped" {
                self.store_draft(ix, None);
            }
            self.mark(ix, status, reason)?;
            if let Some(old) = before.get(&id).filter(|old| old.status == status) {
                let stood = status == "failed";
                let entry = self.entry(ix);
                entry.timestamp.clone_from(&old.timestamp);
                entry.coverage = old.coverage;
                if stood {
                    (entry.retry_count, entry.test_results) = (old.retry_count, old.test_results);
                    entry.model = old.model;
                }
            }
        }
        self.unsaved = self.checkpoint != before;
        self.save()
    }

    pub(super) fn entry(&mut self, node: NodeIx) -> &mut Entry {
        let id = self.id(node);
        self.checkpoint.entry(id).or_default()
    }

    pub(super) fn mark(
        &mut self,
        node: NodeIx,
        status: &str,
        reason: Option<String>,
    ) -> Result<(), Fault> {
        self.run_context.reporter.emit(Progress::Node {
            node: self.run_context.work.plan.id(node),
            status,
            reason: reason.as_deref(),
            subgraph: self.run_context.work.plan.node(node).subgraph.as_deref(),
        });
        let entry = self.entry(node);
        entry.status = status.to_owned();
        entry.timestamp = Timestamp::now().to_string();
        entry.failure_reason = reason;
        self.unsaved = true;
        Ok(())
    }

    pub(super) fn write_checkpoint(&mut self) -> Result<(), Fault> {
        let written = checkpoint::write(&self.root, &self.checkpoint);
        written.map_err(|e| self.cannot_write(None, checkpoint::PATH, &e))
    }

    /// Turns a write error into a fault. A full disk also fails the node in hand; the released
    /// reserve makes room to record that in the checkpoint.
    pub(super) fn cannot_write(
        &mut self,
        node: Option<NodeIx>,
        path: &str,
        error: &std::io::Error,
    ) -> Fault {
        if !disk::is_full(error) {
            return Fault::internal(format!("cannot write {path}: {error}"));
        }
        disk::release_reserve(&self.root);
        let reason = format!("disk full while writing {path}");
        if let Some(node) = node {
            if self.schedule.status(node) == Some(trellis_plan::Status::InProgress) {
                // The run ends here; dependents of the node stay pending for the next run.
                self.schedule.fail(node, reason.clone());
            }
            let entry = self.entry(node);
            entry.status = "failed".to_owned();
            entry.failure_reason = Some(reason.clone());
            // The released reserve may not be enough; then the previous checkpoint stays valid.
            let _ = checkpoint::write(&self.root, &self.checkpoint);
        }
        let in_hand = node.map(|node| format!("; {} failed", self.id(node))).unwrap_or_default();
        Fault::new(
            crate::fault::Exit::TestsFailed,
            format!("{reason}{in_hand}; earlier files are intact"),
        )
        .hint("free some space and run the same command again to resume")
    }

    /// Marks a passed node as failed, in the journal and in the checkpoint.
    pub(super) fn break_node(&mut self, node: &str, reason: String) -> Result<(), Fault> {
        let event = Event::Broken { node: node.to_owned(), reason: reason.clone() };
        let logged = self.run_context.journal.commit(event);
        logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e))?;
        if let Some(entry) = self.checkpoint.get_mut(node) {
            entry.status = "failed".to_owned();
            entry.failure_reason = Some(reason.clone());
        }
        self.broken.insert(node.to_owned(), reason);
        self.write_checkpoint()
    }
}
