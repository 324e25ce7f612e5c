//! A list of tasks on its way to a repository, without its I/O: what was seen comes in, what to do next comes out.
//!
//! ```text
//! PENDING ──> SCAFFOLDING ──> GENERATING ──> INTEGRATING ──> COMPLETE
//!                  │               │               │
//!                  └───────────────┴───────────────┴──> FAILED
//! ```
//!
//! A task begins as soon as what it needs is merged and a worker is free, the heaviest chain first. Merges happen one at a
//! time; all that wait for one go together. Where more than half of the tasks have failed, or wait for one that has, nothing
//! new is begun, and what is under way is brought to its end, so that no work is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plan::{NodeIx, Order, Plan, Schedule, Status};

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Pending,
    Scaffolding,
    Generating,
    Integrating,
    Complete,
    Failed,
}

impl Phase {
    /// In capitals, as in `GENERATING`.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Pending => "PENDING",
            Phase::Scaffolding => "SCAFFOLDING",
            Phase::Generating => "GENERATING",
            Phase::Integrating => "INTEGRATING",
            Phase::Complete => "COMPLETE",
            Phase::Failed => "FAILED",
        }
    }
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// There is a project whose first test passes; or why there is none.
    Scaffolded(Result<(), String>),
    /// A task passed its gates, and waits for its merge.
    Made(NodeIx),
    /// A task came to nothing, for this reason.
    Failed(NodeIx, String),
    /// What became of a merge: each task that was to be merged is in one of the lists.
    Merged { done: Vec<NodeIx>, refused: Vec<(NodeIx, String)> },
    /// All of it works together; or why it does not.
    Integrated(Result<(), String>),
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Scaffold,
    Start(NodeIx),
    /// In the order in which they were made.
    Merge(Vec<NodeIx>),
    Integrate,
    End(Phase),
}

/// Where all of it stands, tasks by their ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Why it failed, where it did.
    pub reason: Option<String>,
    /// Share of the tasks that are merged, in percent, rounded down.
    pub percent: u8,
    pub total: usize,
    /// Merged.
    pub completed: Vec<String>,
    /// Under way, or waiting for their merge.
    pub current: Vec<String>,
    /// Each with its reason.
    pub failed: BTreeMap<String, String>,
    /// Those that wait for one that has failed, each with the reason.
    pub blocked: BTreeMap<String, String>,
}

/// Where a list of tasks stands.
#[derive(Clone, Debug)]
pub struct Campaign {
    schedule: Schedule,
    phase: Phase,
    /// Why it failed.
    reason: Option<String>,
    /// Tasks under way at once.
    workers: usize,
    working: BTreeSet<NodeIx>,
    /// Those that wait for their merge, in the order in which they were made.
    made: Vec<NodeIx>,
    /// Those that are being merged.
    merging: Vec<NodeIx>,
}

impl Campaign {
    /// `merged` are the tasks that an earlier start has brought to the target; none where there is no project yet.
    ///
    /// # Panics
    ///
    /// Where there is no worker: nothing would ever end.
    pub fn new(
        plan: Arc<Plan>,
        order: Order,
        workers: usize,
        merged: Option<&[NodeIx]>,
    ) -> (Campaign, Vec<Next>) {
        assert!(workers > 0, "at least one worker is needed");
        let mut campaign = Campaign {
            schedule: Schedule::new(plan, order),
            phase: Phase::Pending,
            reason: None,
            workers,
            working: BTreeSet::new(),
            made: Vec::new(),
            merging: Vec::new(),
        };
        let next = match merged {
            Some(merged) => {
                merged.iter().for_each(|&it| campaign.schedule.pass(it));
                campaign.phase = Phase::Generating;
                campaign.go_on()
            }
            None => {
                campaign.phase = Phase::Scaffolding;
                vec![Next::Scaffold]
            }
        };
        (campaign, next)
    }

    /// What to do after what was seen; nothing where what is under way has to be waited for.
    ///
    /// # Panics
    ///
    /// Where that is no answer to what was to be done.
    pub fn step(&mut self, seen: Seen) -> Vec<Next> {
        match seen {
            Seen::Scaffolded(result) => {
                self.is_in(Phase::Scaffolding);
                match result {
                    Ok(()) => self.phase = Phase::Generating,
                    Err(why) => return self.fail(why),
                }
            }
            Seen::Made(task) => {
                self.took(task);
                self.made.push(task);
            }
            Seen::Failed(task, why) => {
                self.took(task);
                self.schedule.fail(task, why);
            }
            Seen::Merged { done, refused } => self.merged(&done, refused),
            Seen::Integrated(result) => {
                self.is_in(Phase::Integrating);
                return match result {
                    Ok(()) => self.end(Phase::Complete),
                    Err(why) => self.fail(why),
                };
            }
        }
        self.go_on()
    }

    fn merged(&mut self, done: &[NodeIx], refused: Vec<(NodeIx, String)>) {
        let mut told: Vec<NodeIx> =
            done.iter().chain(refused.iter().map(|it| &it.0)).copied().collect();
        let mut asked = std::mem::take(&mut self.merging);
        told.sort_unstable();
        asked.sort_unstable();
        assert!(told == asked && !asked.is_empty(), "each task of a merge is merged or refused");
        done.iter().for_each(|&it| self.schedule.pass(it));
        refused.into_iter().for_each(|(it, why)| drop(self.schedule.fail(it, why)));
    }

    fn go_on(&mut self) -> Vec<Next> {
        let mut out = Vec::new();
        if self.merging.is_empty() && !self.made.is_empty() {
            self.merging = std::mem::take(&mut self.made);
            out.push(Next::Merge(self.merging.clone()));
        }
        while !self.is_hopeless() && self.working.len() < self.workers {
            let Some(task) = self.schedule.urgent().next() else { break };
            self.schedule.start(task);
            self.working.insert(task);
            out.push(Next::Start(task));
        }
        if !out.is_empty() || !self.working.is_empty() || !self.merging.is_empty() {
            return out;
        }
        if self.is_hopeless() {
            let counts = self.schedule.counts();
            let (lost, total) = (counts.failed + counts.skipped, counts.total);
            return self
                .fail(format!("{lost} of {total} tasks failed, or depend on one that failed"));
        }
        self.phase = Phase::Integrating;
        vec![Next::Integrate]
    }

    /// Whether more than half of the tasks have failed, or wait for one that has.
    fn is_hopeless(&self) -> bool {
        let counts = self.schedule.counts();
        2 * (counts.failed + counts.skipped) > counts.total
    }

    fn fail(&mut self, why: String) -> Vec<Next> {
        self.reason = Some(why);
        self.end(Phase::Failed)
    }

    fn end(&mut self, phase: Phase) -> Vec<Next> {
        self.phase = phase;
        vec![Next::End(phase)]
    }

    fn took(&mut self, task: NodeIx) {
        assert!(self.working.remove(&task), "that task is not under way");
    }

    fn is_in(&self, phase: Phase) {
        assert!(self.phase == phase, "that is not an answer in {}", self.phase.as_str());
    }

    /// Where a task stands; `InProgress` until it is merged.
    pub fn status(&self, task: NodeIx) -> Option<Status> {
        self.schedule.status(task)
    }

    pub fn progress(&self) -> Progress {
        let counts = self.schedule.counts();
        let plan = self.schedule.plan();
        let of = |status: Status| {
            let tasks = self.schedule.sequence().iter().copied();
            tasks.filter(move |&it| self.schedule.status(it) == Some(status))
        };
        let id = |it: NodeIx| plan.id(it).to_owned();
        let why = |it: NodeIx| (id(it), self.schedule.reason(it).unwrap_or_default().to_owned());
        Progress {
            phase: self.phase,
            reason: self.reason.clone(),
            percent: (counts.passed * 100 / counts.total.max(1)) as u8,
            total: counts.total,
            completed: of(Status::Passed).map(id).collect(),
            current: of(Status::InProgress).map(id).collect(),
            failed: of(Status::Failed).map(why).collect(),
            blocked: of(Status::Skipped).map(why).collect(),
        }
    }
}
