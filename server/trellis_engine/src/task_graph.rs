//! State machine of a list of tasks, without I/O: events come in, actions come out.
//!
//! ```text
//! PENDING ──> SCAFFOLDING ──> GENERATING ──> INTEGRATING ──> COMPLETE
//!                  │               │               │
//!                  └───────────────┴───────────────┴──> FAILED
//! ```
//!
//! A task starts as soon as its dependencies are merged and a worker is free, the heaviest chain
//! first. Merges happen one at a time; all tasks that wait for a merge are merged together. If more
//! than half of the tasks failed or depend on a failed one, no further task starts, but running
//! tasks are finished, so that no work is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::Outcome;
use trellis_plan::{NodeIx, Order, Plan, Schedule, Status};

/// Phases of the task graph.
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
    /// Returns the name in capitals, such as `GENERATING`.
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

/// Inputs of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Started,
    /// The project exists and its first test passes, or the error.
    Scaffolded(Result<(), String>),
    /// A task passed its gates and waits for its merge.
    Made(NodeIx),
    /// A task failed, with the reason.
    Failed(NodeIx, String),
    /// Result of a merge: each task of the merge is in one of the lists.
    Merged {
        done: Vec<NodeIx>,
        refused: Vec<(NodeIx, String)>,
    },
    /// All tasks work together, or the error.
    Integrated(Result<(), String>),
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Scaffold,
    StartWork(NodeIx),
    /// Tasks in the order in which they were completed.
    Merge(Vec<NodeIx>),
    Integrate,
    Finish(Outcome),
}

/// Progress of the whole task graph, with tasks by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    pub phase: Phase,
    /// Reason of the failure, if it failed.
    pub reason: Option<String>,
    /// Percentage of merged tasks, rounded down.
    pub percent: u8,
    pub total: usize,
    /// Merged tasks.
    pub completed: Vec<String>,
    /// Tasks in work, or waiting for their merge.
    pub current: Vec<String>,
    /// Failed tasks, each with its reason.
    pub failed: BTreeMap<String, String>,
    /// Tasks that depend on a failed one, each with the reason.
    pub blocked: BTreeMap<String, String>,
}

/// State of a list of tasks.
#[derive(Clone, Debug)]
pub struct TaskGraphMachine {
    schedule: Schedule,
    phase: Phase,
    /// True if an earlier run created the project.
    has_project: bool,
    /// Reason of the failure, if it failed.
    reason: Option<String>,
    /// Maximum number of tasks in work at once.
    workers: usize,
    working: BTreeSet<NodeIx>,
    /// Tasks that wait for their merge, in the order in which they were completed.
    made: Vec<NodeIx>,
    /// Tasks of the merge in progress.
    merging: Vec<NodeIx>,
}

impl TaskGraphMachine {
    /// Creates the machine. `merged`: the tasks that an earlier run
    /// has merged into the target; `None` if there is no project yet.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is 0.
    pub fn new(
        plan: Arc<Plan>,
        order: Order,
        workers: usize,
        merged: Option<&[NodeIx]>,
    ) -> TaskGraphMachine {
        assert!(workers > 0, "at least one worker is needed");
        let mut machine = TaskGraphMachine {
            schedule: Schedule::new(plan, order),
            phase: Phase::Pending,
            has_project: merged.is_some(),
            reason: None,
            workers,
            working: BTreeSet::new(),
            made: Vec::new(),
            merging: Vec::new(),
        };
        merged.unwrap_or_default().iter().for_each(|&it| machine.schedule.pass(it));
        machine
    }

    fn started(&mut self) -> Vec<Action> {
        if !self.has_project {
            self.phase = Phase::Scaffolding;
            return vec![Action::Scaffold];
        }
        self.phase = Phase::Generating;
        self.go_on()
    }

    /// Takes over the result of a merge: each task of the merge is merged or refused.
    fn merged(&mut self, done: &[NodeIx], refused: Vec<(NodeIx, String)>) -> Result<(), OutOfTurn> {
        let reported: BTreeSet<NodeIx> =
            done.iter().chain(refused.iter().map(|it| &it.0)).copied().collect();
        let expected: BTreeSet<NodeIx> = self.merging.iter().copied().collect();
        if expected.is_empty() || reported != expected {
            return Err(self.out_of_turn("a merge of other tasks"));
        }
        self.merging.clear();
        done.iter().for_each(|&it| self.schedule.pass(it));
        refused.into_iter().for_each(|(it, why)| drop(self.schedule.fail(it, why)));
        Ok(())
    }

    fn go_on(&mut self) -> Vec<Action> {
        let mut out = Vec::new();
        if self.merging.is_empty() && !self.made.is_empty() {
            self.merging = std::mem::take(&mut self.made);
            out.push(Action::Merge(self.merging.clone()));
        }
        while !self.is_hopeless() && self.working.len() < self.workers {
            let Some(task) = self.schedule.urgent().next() else { break };
            self.schedule.start(task);
            self.working.insert(task);
            out.push(Action::StartWork(task));
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
        vec![Action::Integrate]
    }

    /// Returns whether more than half of the tasks failed or depend on a failed one.
    fn is_hopeless(&self) -> bool {
        let counts = self.schedule.counts();
        2 * (counts.failed + counts.skipped) > counts.total
    }

    fn fail(&mut self, why: String) -> Vec<Action> {
        self.reason = Some(why.clone());
        self.phase = Phase::Failed;
        vec![Action::Finish(Outcome::Failed { reason: why })]
    }

    fn complete(&mut self) -> Vec<Action> {
        self.phase = Phase::Complete;
        vec![Action::Finish(Outcome::Passed)]
    }

    fn took(&mut self, task: NodeIx) -> Result<(), OutOfTurn> {
        match self.working.remove(&task) {
            true => Ok(()),
            false => Err(self.out_of_turn("the result of a task that is not running")),
        }
    }

    fn is_in(&self, phase: Phase, event: &str) -> Result<(), OutOfTurn> {
        if self.phase == phase { Ok(()) } else { Err(self.out_of_turn(event)) }
    }

    fn out_of_turn(&self, event: &str) -> OutOfTurn {
        OutOfTurn::new(event, format!("the results of {}", self.phase.as_str()))
    }

    /// Returns the status of a task; `InProgress` until the task is merged.
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

impl Machine for TaskGraphMachine {
    type Event = Event;
    type Action = Action;

    /// Returns the actions after an event; none if a running action has to end first.
    fn step(&mut self, event: Event) -> Result<Vec<Action>, OutOfTurn> {
        match event {
            Event::Started => {
                self.is_in(Phase::Pending, "a beginning")?;
                return Ok(self.started());
            }
            Event::Scaffolded(result) => {
                self.is_in(Phase::Scaffolding, "a scaffold")?;
                match result {
                    Ok(()) => self.phase = Phase::Generating,
                    Err(why) => return Ok(self.fail(why)),
                }
            }
            Event::Made(task) => {
                self.took(task)?;
                self.made.push(task);
            }
            Event::Failed(task, why) => {
                self.took(task)?;
                self.schedule.fail(task, why);
            }
            Event::Merged { done, refused } => self.merged(&done, refused)?,
            Event::Integrated(result) => {
                self.is_in(Phase::Integrating, "an integration")?;
                return Ok(match result {
                    Ok(()) => self.complete(),
                    Err(why) => self.fail(why),
                });
            }
        }
        Ok(self.go_on())
    }
}
