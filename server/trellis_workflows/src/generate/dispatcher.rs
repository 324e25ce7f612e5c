//! The dispatcher owns the state of a run: it starts workers, takes in their results and writes
//! them down.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use trellis_engine::{Cause, Draft, Outcome};
use trellis_plan::{NodeIx, Schedule, Skipped};
use trellis_python::contract_holds;

use crate::budget::BudgetExceeded;
use crate::fault::Fault;
use crate::generate::acceptance_state::AcceptanceState;
use crate::generate::accepted::AcceptedDrafts;
use crate::generate::memory;
use crate::generate::prepare::GenerateRequest;
use crate::generate::progress::RunProgress;
use crate::generate::subgraph_commits::subgraphs;
use crate::generate::wait_queue::WaitQueue;
use crate::generate::worker::{NodeResult, RunContext, WaitReason, WorkerError, source, work_on};
use crate::reporter::Reporter;
use trellis_git::git::Git;
use trellis_store::Writer;
use trellis_store::checkpoint::{Checkpoint, ModelCost, TestResults};
use trellis_store::cost::Cost;
use trellis_store::journal::{AcceptanceTests, Accepted, Event, IntegrationResult};
use trellis_store::lock::Lock;
use trellis_store::replay::ReplayedState;

/// Beginning of the recorded reason of a node that a person has to look at.
pub(super) const NEEDS_HUMAN: &str = "needs_human";

/// Receiving ends of the channels that the dispatcher's loop reads.
pub(super) struct Channels {
    pub accepted_drafts: watch::Receiver<AcceptedDrafts>,
    /// Notices of workers that gave their slot back.
    pub wake: mpsc::UnboundedReceiver<WaitReason>,
}

/// Result of a finished job.
pub(super) enum JobDone {
    Node(Box<NodeResult>),
    Subgraph(Box<IntegrationResult>),
    Acceptance(Box<AcceptanceTests>),
}

/// Reason for which the dispatcher's loop ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LoopEnd {
    Finished,
    Interrupted,
}

pub(super) struct Dispatcher {
    pub run_context: Arc<RunContext>,
    pub schedule: Schedule,
    pub accepted_drafts: watch::Sender<AcceptedDrafts>,
    pub writer: Writer,
    pub git: Option<Git>,
    pub root: PathBuf,
    pub order: GenerateRequest,
    pub accepted: BTreeMap<String, Accepted>,
    /// Drafts of an earlier start that are tested again, because a dependency changed.
    pub unproven: BTreeMap<NodeIx, Draft>,
    /// Number of drafts that passed when they were tested again.
    pub kept: usize,
    pub past: ReplayedState,
    pub checkpoint: Checkpoint,
    pub cost: Cost,
    pub progress: RunProgress,
    pub warnings: Vec<String>,
    /// Number of nodes that passed since the last flush.
    pub unwritten: usize,
    /// The checkpoint on the disk is older than the one in memory.
    pub(super) unsaved: bool,
    pub committed: BTreeSet<String>,
    /// Nodes of the last subgraph commit, by id.
    pub(super) last_committed: BTreeSet<String>,
    /// File texts that this run's subgraph commits contain, by path.
    pub(super) in_history: BTreeMap<String, String>,
    pub started: BTreeSet<NodeIx>,
    pub resting: WaitQueue,
    /// Set once the budget is spent; no new node is started after that.
    exhausted: Option<BudgetExceeded>,
    /// Leaves by subgraph, in the order of their last leaf.
    pub subgraphs: Arc<[(String, Vec<NodeIx>)]>,
    /// Subgraphs whose integration tests are under way.
    pub integrating: BTreeSet<String>,
    /// Integration results by subgraph.
    pub integrated: BTreeMap<String, IntegrationResult>,
    pub acceptance: AcceptanceState,
    /// This run adopted files that a person had changed.
    has_new_edits: bool,
    /// This run committed at least one subgraph.
    pub(super) has_new_commits: bool,
    /// This run wrote at least one file.
    pub wrote: bool,
    /// Nodes that passed alone but fail in the whole suite, with the reason.
    pub broken: BTreeMap<String, String>,
    _lock: Lock,
}

impl Dispatcher {
    #[allow(
        clippy::too_many_arguments,
        reason = "called once, with everything `open` has made ready"
    )]
    pub(super) fn new(
        run_context: RunContext,
        schedule: Schedule,
        accepted_drafts: watch::Sender<AcceptedDrafts>,
        writer: Writer,
        git: Option<Git>,
        root: PathBuf,
        order: GenerateRequest,
        accepted: BTreeMap<String, Accepted>,
        unproven: BTreeMap<NodeIx, Draft>,
        past: ReplayedState,
        lock: Lock,
        progress: RunProgress,
        has_new_edits: bool,
    ) -> Dispatcher {
        let mut cost = Cost::default();
        accepted.values().for_each(|accepted| cost += &accepted.cost);
        let mut acceptance = AcceptanceState::of(&run_context.work, &past, &run_context.kept);
        // While code is missing, tests that need it belong neither to the folder nor to a commit.
        if accepted.len() == run_context.work.leaves.len() && unproven.is_empty() {
            accepted_drafts.send_modify(|drafts| acceptance.restore(&past, drafts));
        }
        if order.only.is_some() || order.start_from.is_some() {
            acceptance.write_none();
        }
        acceptance.costs().for_each(|it| cost += it);
        let last_committed = past.nodes_after(past.committed.len());
        Dispatcher {
            resting: WaitQueue::default(),
            exhausted: None,
            subgraphs: subgraphs(&run_context.work),
            run_context: Arc::new(run_context),
            schedule,
            accepted_drafts,
            writer,
            git,
            root,
            order,
            accepted,
            unproven,
            kept: 0,
            past,
            checkpoint: Checkpoint::new(),
            cost,
            progress,
            warnings: Vec::new(),
            unwritten: 0,
            unsaved: false,
            committed: BTreeSet::new(),
            last_committed,
            in_history: BTreeMap::new(),
            started: BTreeSet::new(),
            integrating: BTreeSet::new(),
            integrated: BTreeMap::new(),
            acceptance,
            has_new_edits,
            has_new_commits: false,
            wrote: false,
            broken: BTreeMap::new(),
            _lock: lock,
        }
    }

    /// Runs until every leaf is settled, the run is interrupted, or an error occurs.
    pub(super) async fn run(
        &mut self,
        mut receivers: Channels,
        reporter: &Reporter,
    ) -> Result<LoopEnd, Fault> {
        self.first_checkpoint()?;
        if self.has_new_edits {
            // A person's text must be safe in the history before anything builds on it.
            self.commit("chore: keep edits made by hand");
        }
        self.flush()?;
        let mut workers: JoinSet<Result<JobDone, WorkerError>> = JoinSet::new();
        let cancel = self.run_context.cancel.clone();
        loop {
            if let Some(exhausted) = &self.exhausted {
                // Requests under way are paid for, so their workers continue until their next
                // request.
                if self.resting.is_everyone_waiting(workers.len()) {
                    let fault = exhausted.clone().into();
                    workers.shutdown().await;
                    return Err(fault);
                }
            } else {
                self.start_acceptance(&mut workers);
                // Acceptance tests are written before any node.
                if self.acceptance.is_written() {
                    self.start_integrations(&mut workers);
                    self.start_workers(&mut workers, &receivers.accepted_drafts)?;
                }
            }
            let is_done = self.schedule.is_finished() && self.acceptance.is_written();
            if is_done && workers.is_empty() && self.is_integrated() {
                break;
            }
            self.save()?;
            self.give_turn(workers.len());
            if workers.is_empty() {
                return Err(Fault::internal("no node is ready, and none is running")
                    .hint("please report this, with .trellis/journal.jsonl"));
            }
            tokio::select! {
                Some(rest) = receivers.wake.recv() => {
                    let place = |node: &NodeIx| self.run_context.work.place[node];
                    self.resting.take(rest, place);
                }
                () = cancel.cancelled() => {
                    workers.shutdown().await;
                    return Ok(LoopEnd::Interrupted);
                }
                Some(joined) = workers.join_next() => {
                    let outcome = joined.map_err(|e| Fault::internal(format!("a worker crashed: {e}")))?;
                    match outcome {
                        Ok(JobDone::Node(outcome)) => self.record_result(*outcome, reporter)?,
                        Ok(JobDone::Subgraph(integrated)) => self.take_integrated(*integrated)?,
                        Ok(JobDone::Acceptance(tests)) => self.take_acceptance(*tests),
                        Err(WorkerError::Cancelled) => return Ok(LoopEnd::Interrupted),
                        Err(WorkerError::Budget(exhausted)) => self.exhausted = Some(exhausted),
                        Err(error @ (WorkerError::Fault(_) | WorkerError::OutOfTurn(_))) => {
                            workers.shutdown().await;
                            return Err(error.into_fault());
                        }
                        Err(WorkerError::Journal { node, error }) => {
                            workers.shutdown().await;
                            return Err(self.cannot_write(node, ".trellis/journal.jsonl", &error));
                        }
                    }
                }
            }
        }
        self.commit_subgraphs()?;
        self.save()?;
        self.progress.clear();
        Ok(LoopEnd::Finished)
    }

    /// Writes the checkpoint if it changed. Called once per turn, so that settled and started nodes
    /// reach the disk together.
    pub(super) fn save(&mut self) -> Result<(), Fault> {
        if std::mem::take(&mut self.unsaved) { self.write_checkpoint() } else { Ok(()) }
    }

    /// Starts workers while slots are free. With one job, nodes start in the plan's order; with
    /// more, those with the longest chain of dependents start first. A node starts only when
    /// everything in its view is settled.
    fn start_workers(
        &mut self,
        workers: &mut JoinSet<Result<JobDone, WorkerError>>,
        accepted_drafts: &watch::Receiver<AcceptedDrafts>,
    ) -> Result<(), Fault> {
        while self.resting.alone.is_none()
            && let Ok(permit) = self.run_context.slots.clone().try_acquire_owned()
        {
            let visible = |ix: &NodeIx| {
                let view = self.run_context.work.view(*ix, &BTreeSet::new());
                !self.started.contains(ix) && accepted_drafts.borrow().has_all(&view)
            };
            let next = match self.order.jobs {
                1 => self.schedule.ready().find(visible),
                _ => self.schedule.urgent().find(visible),
            };
            let Some(node) = next else { return Ok(()) };
            self.started.insert(node);
            self.schedule.start(node);
            self.mark(node, "in_progress", None)?;
            self.state(node, "in_progress", "its dependencies are done", None)?;
            let earlier = self.unproven.remove(&node);
            let context = self.run_context.clone();
            let work = work_on(context, node, earlier, accepted_drafts.clone(), permit);
            workers.spawn(async { work.await.map(|outcome| JobDone::Node(Box::new(outcome))) });
        }
        Ok(())
    }

    /// Gives the next waiting worker its exclusive turn once all others are settled or waiting.
    fn give_turn(&mut self, at_work: usize) {
        let accepted_drafts = self.accepted_drafts.borrow().clone();
        self.resting.give_turn(at_work, |needed| accepted_drafts.has_all(needed));
    }

    fn record_result(&mut self, outcome: NodeResult, reporter: &Reporter) -> Result<(), Fault> {
        self.cost += &outcome.cost;
        let node = outcome.node;
        self.resting.ended(node);
        let results = TestResults { passed: outcome.tests_passed, failed: outcome.tests_failed };
        let mut outcome = outcome;
        self.add_earlier(&mut outcome);
        self.entry(node).test_results = results;
        self.entry(node).retry_count = outcome.fixes;
        self.entry(node).flaky = outcome.flaky.clone();
        self.entry(node).model = ModelCost::of(&outcome.cost);
        match outcome.verdict.clone() {
            Outcome::Passed => self.accept(node, &outcome)?,
            Outcome::Failed { reason } => self.fail(node, reason, outcome.cause)?,
            Outcome::NeedsHuman { reason } => {
                self.fail(node, format!("{NEEDS_HUMAN}: {reason}"), outcome.cause)?;
            }
            Outcome::Deferred => {
                self.fail(node, format!("{NEEDS_HUMAN}: its change was left"), outcome.cause)?;
            }
            Outcome::Skipped { reason } => {
                let skipped = self.schedule.skip(node, reason.clone());
                self.put_aside(node, "skipped", reason, outcome.cause, skipped)?;
            }
        }
        if self.unwritten >= self.order.batch || memory::is_short() {
            self.flush()?;
        }
        self.commit_subgraphs()?;
        self.progress.show(self.schedule.counts().settled(), reporter);
        Ok(())
    }

    /// Adds what earlier starts spent on a draft that is kept.
    fn add_earlier(&mut self, outcome: &mut NodeResult) {
        let earlier = self.past.accepted.get(&self.id(outcome.node)).filter(|_| outcome.is_kept);
        let Some(earlier) = earlier else { return };
        self.kept += 1;
        self.cost += &earlier.cost;
        outcome.cost += &earlier.cost;
        outcome.fixes = earlier.fixes;
        outcome.flaky.extend(earlier.flaky.iter().cloned());
        outcome.flaky.sort();
        outcome.flaky.dedup();
    }

    /// Accepts a node's draft. The text is on the disk before anything says `passed` (W13).
    fn accept(&mut self, node: NodeIx, outcome: &NodeResult) -> Result<(), Fault> {
        let accepted = Accepted {
            node: self.id(node),
            specification: self.run_context.work.specification(node),
            tests: source(&outcome.draft.tests),
            implementation: source(&outcome.draft.implementation),
            tests_passed: outcome.tests_passed,
            fixes: outcome.fixes,
            flaky: outcome.flaky.clone(),
            cost: outcome.cost.clone(),
        };
        let mut draft = outcome.draft.clone();
        let amended = self.amended(std::mem::take(&mut draft.amended));
        // One write for all events: a crash leaves all of them or none.
        let all = amended.iter().chain([&accepted]);
        let outdated: BTreeMap<NodeIx, String> =
            all.clone().flat_map(|it| self.outdated_by(it)).collect();
        let mut events: Vec<Event> = all.cloned().map(Event::Accepted).collect();
        events.extend(
            outdated
                .iter()
                .map(|(ix, reason)| Event::Outdated { node: self.id(*ix), reason: reason.clone() }),
        );
        if let Err(error) = self.run_context.journal.commit_all(&events) {
            return Err(self.cannot_write(Some(node), ".trellis/journal.jsonl", &error));
        }
        self.unproven.retain(|ix, _| !outdated.contains_key(ix));
        for accepted in amended.into_iter().chain([accepted]) {
            self.accepted.insert(accepted.node.clone(), accepted);
        }
        self.schedule.pass(node);
        self.store_draft(node, Some(Arc::new(draft)));
        self.mark(node, "passed", None)?;
        self.unwritten += 1;
        Ok(())
    }

    /// Returns the drafts of an earlier start that use a node whose contract is not that of then,
    /// with the reason: their tests may replace what they call.
    fn outdated_by(&self, accepted: &Accepted) -> Vec<(NodeIx, String)> {
        let changed = &accepted.node;
        let Some(old) = self.past.accepted.get(changed) else { return Vec::new() };
        if contract_holds(&old.implementation, &accepted.implementation).is_ok_and(|it| it) {
            return Vec::new();
        }
        let work = &self.run_context.work;
        let uses = |ix: NodeIx, draft: &Draft| {
            let is_planned =
                work.items[&ix].dependencies.iter().any(|it| it.is_direct && it.id == *changed);
            let mut fragments = draft.implementation.iter().chain(&draft.tests);
            let imports = |it| work.imported(ix, it).iter().any(|it| work.plan.id(*it) == changed);
            is_planned || fragments.any(imports)
        };
        let users = self.unproven.iter().filter(|(ix, draft)| uses(**ix, draft));
        users.map(|(ix, _)| (*ix, format!("the signature of {changed} changed"))).collect()
    }

    /// Returns updated records of nodes that passed before and that the draft amends. Puts their
    /// new text among the accepted drafts at once.
    fn amended(&self, texts: BTreeMap<String, trellis_python::Fragment>) -> Vec<Accepted> {
        let mut out = Vec::new();
        for (id, text) in texts {
            let (Some(old), Some(ix)) =
                (self.accepted.get(&id), self.run_context.work.plan.find(&id))
            else {
                continue;
            };
            let implementation = Some(text);
            out.push(Accepted { implementation: source(&implementation), ..old.clone() });
            let settled = self.accepted_drafts.borrow().draft(ix);
            let tests = settled.and_then(|draft| draft.tests.clone());
            self.store_draft(
                ix,
                Some(Arc::new(Draft { tests, implementation, ..Draft::default() })),
            );
        }
        out
    }

    fn fail(&mut self, node: NodeIx, reason: String, cause: Option<Cause>) -> Result<(), Fault> {
        let skipped = self.schedule.fail(node, reason.clone());
        self.put_aside(node, "failed", reason, cause, skipped)
    }

    fn put_aside(
        &mut self,
        node: NodeIx,
        status: &str,
        reason: String,
        cause: Option<Cause>,
        skipped: Vec<Skipped>,
    ) -> Result<(), Fault> {
        self.state(node, status, &reason, cause)?;
        self.mark(node, status, Some(reason))?;
        self.store_draft(node, None);
        for skip in skipped {
            self.state(skip.node, "skipped", &skip.reason, None)?;
            self.mark(skip.node, "skipped", Some(skip.reason))?;
            self.store_draft(skip.node, None);
        }
        Ok(())
    }

    pub(super) fn store_draft(&self, node: NodeIx, draft: Option<Arc<Draft>>) {
        self.accepted_drafts.send_modify(|accepted_drafts| accepted_drafts.put(node, draft));
    }

    pub(super) fn id(&self, node: NodeIx) -> String {
        self.run_context.work.plan.id(node).to_owned()
    }

    fn state(
        &mut self,
        node: NodeIx,
        status: &str,
        reason: &str,
        cause: Option<Cause>,
    ) -> Result<(), Fault> {
        let event = Event::State {
            node: self.id(node),
            status: status.to_owned(),
            reason: reason.to_owned(),
            cause: cause.map(|it| it.as_str().to_owned()),
        };
        let logged = self.run_context.journal.log(event);
        logged.map_err(|e| self.cannot_write(Some(node), ".trellis/journal.jsonl", &e))
    }

    /// Returns whether this run did nothing: everything had passed before and the documents say so.
    pub(super) fn had_nothing_to_do(&self) -> bool {
        let is_same =
            !self.wrote && !self.has_new_edits && !self.has_new_commits && !self.acceptance.is_new;
        self.started.is_empty() && self.past.finished && is_same
    }

    /// Leaves the folder in order: writes accepted text and sets nodes in hand to pending.
    pub(super) fn stop(&mut self, reason: &str) -> Result<(), Fault> {
        for ix in self.started.clone() {
            if self.schedule.status(ix) == Some(trellis_plan::Status::InProgress) {
                self.mark(ix, "pending", None)?;
            }
        }
        let flushed = self.flush();
        self.write_checkpoint()?;
        let logged = self.run_context.journal.commit(Event::Stopped { reason: reason.to_owned() });
        flushed.and(logged.map_err(|e| self.cannot_write(None, ".trellis/journal.jsonl", &e)))
    }
}
