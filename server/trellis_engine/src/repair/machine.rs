//! State machine of the repair loop, without I/O: events come in, actions come out.
//!
//! ```text
//! all tests ──> group ──> diagnose ──> opinion ──> ask ──> try ──> decide ──> write ──> all tests
//!                            │           │  ^        ^        │        │
//!                            │           │  │        └────────┴────────┘  with the reason of the failure
//!                            │           └──┼─ suggested ──> try
//!                            └─ proven ──> try
//! ```
//!
//! A fix that a trial of small edits proves is tried first: only if it fails or is rejected, a
//! model is asked.
//!
//! Each accepted fix makes a failing test pass and breaks none, so the loop ends. A group that was
//! given up is not started again.

use std::collections::{HashMap, HashSet, VecDeque};

use super::fix_score::FixScore;
use super::groups::Group;
use super::vocabulary::{
    Action, AttemptResult, Event, GroupWork, ProposalCheck, ProposalDecision, RepairSummary,
    Waiting,
};
use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::Decision;

/// Limits of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of fixes tried for one group.
    pub iterations: u32,
    /// Number of passing fixes from which the best is chosen.
    pub candidates: usize,
}

/// Progress on the current group.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// True if the running attempt is that of a fix found by a trial.
    is_proving: bool,
    /// Number of such attempts.
    proven: u32,
    /// True if a model was asked for its opinion, or is not to be asked.
    has_opinion: bool,
    /// Number of suggestions of the diagnosis, and of those that were tried.
    suggestions: usize,
    suggested: usize,
    /// Number of requested fixes.
    asked: u32,
    /// Number of unusable answers to these requests.
    unusable: u32,
    complaint: Option<String>,
    candidates: Vec<FixScore>,
    /// Indexes of candidates that a person rejected.
    refused: Vec<usize>,
    /// Index of the candidate under review.
    deciding: usize,
}

impl Progress {
    /// Returns the index of the best candidate that no person rejected; of equal ones, the first.
    fn best(&self) -> Option<usize> {
        let left = (0..self.candidates.len()).filter(|it| !self.refused.contains(it));
        left.rev().max_by(|a, b| self.candidates[*a].compare(&self.candidates[*b]))
    }

    /// Returns the number of candidates to choose from. A fix that looks tailored to its tests is
    /// used only if nothing better is found.
    fn sound(&self) -> usize {
        let candidates = self.candidates.iter().enumerate();
        candidates.filter(|(at, it)| !self.refused.contains(at) && !it.is_suspicious()).count()
    }
}

/// The running action.
#[derive(Clone, Debug)]
enum Phase {
    Idle,
    RunningAll,
    Diagnosing(Progress),
    AwaitingOpinion(Progress),
    Trying(Progress),
    Deciding(Progress),
    Writing,
    CheckingProposals,
    Ended,
}

impl Phase {
    fn waits_for(&self) -> &'static str {
        match self {
            Phase::Idle => "its beginning",
            Phase::RunningAll => "a run of all tests",
            Phase::Diagnosing(_) => "a diagnosis",
            Phase::AwaitingOpinion(_) => "a model's diagnosis",
            Phase::Trying(_) => "a tried fix",
            Phase::Deciding(_) => "a decision",
            Phase::Writing => "a write",
            Phase::CheckingProposals => "a check of proposals",
            Phase::Ended => "nothing",
        }
    }
}

/// State of the repair loop.
#[derive(Clone, Debug)]
pub struct RepairMachine<W> {
    limits: Limits,
    phase: Phase,
    queue: VecDeque<Group>,
    /// Work whose fix waits for a decision.
    waiting: Vec<Waiting<W>>,
    /// Work whose fix a person rejected, until it is taken up again.
    rejected: Vec<W>,
    given_up: Vec<(Group, String)>,
    kept: usize,
    /// Number of runs of all tests in a row that were repeated because the tree had changed.
    stale: u32,
    /// True if proposals get decided during the run.
    awaits_proposals: bool,
    /// True if the last check found no decision.
    is_checked: bool,
    /// Tests that failed in the last run.
    failing: HashSet<String>,
    /// Number of requested fixes of groups with a pending or rejected proposal, by their first
    /// test.
    asked: HashMap<String, u32>,
}

/// Maximum number of runs of all tests in a row for a tree that others keep changing.
const STALE: u32 = 3;

impl<W: GroupWork> RepairMachine<W> {
    pub fn new(limits: Limits) -> RepairMachine<W> {
        RepairMachine {
            limits,
            phase: Phase::Idle,
            queue: VecDeque::new(),
            waiting: Vec::new(),
            rejected: Vec::new(),
            given_up: Vec::new(),
            kept: 0,
            stale: 0,
            awaits_proposals: false,
            is_checked: false,
            failing: HashSet::new(),
            asked: HashMap::new(),
        }
    }

    /// Makes the machine wait for decisions on proposals: the loop ends when all of them are
    /// decided.
    #[must_use]
    pub fn awaiting_proposals(self) -> RepairMachine<W> {
        RepairMachine { awaits_proposals: true, ..self }
    }

    fn go(&mut self, phase: Phase, action: Action<W>) -> Action<W> {
        self.phase = phase;
        action
    }

    fn run_all(&mut self) -> Action<W> {
        self.go(Phase::RunningAll, Action::RunAllTests)
    }

    fn ran_all(&mut self, groups: Vec<Group>) -> Action<W> {
        let is_settled = |it: &Group| {
            let waiting = self.waiting.iter().map(|it| it.work.group());
            let mut settled = self.given_up.iter().map(|it| &it.0).chain(waiting);
            settled.any(|known| it.tests.iter().all(|test| known.tests.contains(test)))
        };
        self.failing = groups.iter().flat_map(|it| &it.tests).cloned().collect();
        self.queue = groups.into_iter().filter(|it| !is_settled(it)).collect();
        self.next_group()
    }

    fn next_group(&mut self) -> Action<W> {
        if self.awaits_proposals && !self.waiting.is_empty() && !self.is_checked {
            let (waiting, wait) = (std::mem::take(&mut self.waiting), self.queue.is_empty());
            return self.go(Phase::CheckingProposals, Action::CheckProposals { waiting, wait });
        }
        self.is_checked = false;
        let Some(group) = self.queue.pop_front() else { return self.finish(false) };
        let asked = self.asked.remove(group.first_test()).unwrap_or_default();
        let place =
            self.rejected.iter().position(|it| it.group().first_test() == group.first_test());
        let earlier = place.map(|it| self.rejected.remove(it));
        let progress = Progress { asked, ..Progress::default() };
        self.go(Phase::Diagnosing(progress), Action::Diagnose { group, earlier })
    }

    fn finish(&mut self, is_stopped: bool) -> Action<W> {
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let summary = RepairSummary {
            kept: self.kept,
            given_up: std::mem::take(&mut self.given_up),
            waiting: waiting.map(|it| (it.work.group().clone(), it.proposal)).collect(),
            is_stopped,
        };
        self.go(Phase::Ended, Action::Finish(summary))
    }

    /// Tries what a trial of small edits found, if anything.
    fn diagnosed(&mut self, progress: Progress, work: W, is_proven: bool) -> Action<W> {
        match is_proven {
            true => {
                let progress = Progress { is_proving: true, proven: 1, ..progress };
                self.go(Phase::Trying(progress), Action::TryProven { work })
            }
            false => self.next_fix(progress, work),
        }
    }

    /// Requests the next fix; suggestions of a model's diagnosis are tried first.
    fn next_fix(&mut self, mut progress: Progress, work: W) -> Action<W> {
        if !progress.has_opinion {
            return self.go(Phase::AwaitingOpinion(progress), Action::RequestDiagnosis { work });
        }
        let limit = self.limits.iterations;
        if progress.suggested < progress.suggestions {
            let suggestion = progress.suggested;
            progress.suggested += 1;
            return self.go(Phase::Trying(progress), Action::TrySuggestion { work, suggestion });
        }
        if progress.asked >= limit {
            let why = match progress.unusable == limit {
                true => {
                    let replies = if limit == 1 { "reply" } else { "replies" };
                    format!("no usable fix in {limit} {replies}; try another model")
                }
                false => used_up(limit),
            };
            return self.best_or(progress, work, why);
        }
        let (attempt, complaint) = (progress.asked, progress.complaint.take());
        progress.asked += 1;
        self.go(Phase::Trying(progress), Action::RequestFix { work, attempt, complaint })
    }

    fn tried(&mut self, mut progress: Progress, work: W, result: AttemptResult) -> Action<W> {
        match result {
            AttemptResult::NoReply(why) => return self.best_or(progress, work, why),
            AttemptResult::Passed(score) => {
                progress.candidates.push(score);
                let wanted = if progress.is_proving { 1 } else { self.limits.candidates.max(1) };
                if progress.sound() >= wanted {
                    return self.best_or(progress, work, String::new());
                }
            }
            // A suggestion is no answer to a request.
            AttemptResult::Unusable(why) if progress.asked > 0 => {
                progress.unusable += 1;
                progress.complaint = Some(why);
            }
            AttemptResult::Failed | AttemptResult::Unusable(_) => {}
        }
        progress.is_proving = false;
        self.next_fix(progress, work)
    }

    /// Submits the best candidate for a decision; gives the group up if there is none.
    fn best_or(&mut self, mut progress: Progress, work: W, why: String) -> Action<W> {
        let Some(candidate) = progress.best() else { return self.abandon(work.group(), why) };
        progress.deciding = candidate;
        progress.is_proving = false;
        let iteration = progress.asked + progress.suggested as u32 + progress.proven;
        self.go(Phase::Deciding(progress), Action::Review { work, candidate, iteration })
    }

    fn abandon(&mut self, group: &Group, why: String) -> Action<W> {
        self.given_up.push((group.clone(), why));
        self.next_group()
    }

    fn decided(&mut self, mut progress: Progress, work: W, decision: Decision) -> Action<W> {
        let candidate = progress.deciding;
        match decision {
            Decision::Accept { .. } | Decision::AcceptEdited(_) => {
                self.go(Phase::Writing, Action::Write { work, candidate })
            }
            Decision::Reject { .. } => {
                progress.refused.push(candidate);
                self.next_fix(progress, work)
            }
            Decision::Defer { proposal } => {
                self.asked.insert(work.group().first_test().to_owned(), progress.asked);
                self.waiting.push(Waiting { proposal, work });
                self.next_group()
            }
            Decision::Skip | Decision::NoReviewer => {
                self.abandon(work.group(), "skipped in review".to_owned())
            }
            Decision::Stop => self.stop(work.group()),
        }
    }

    fn stop(&mut self, current: &Group) -> Action<W> {
        let left = std::iter::once(current.clone()).chain(self.queue.drain(..));
        self.given_up.extend(left.map(|it| (it, "stopped in review".to_owned())));
        self.finish(true)
    }

    /// Handles a check of proposals; after a rejection, the tests of the group still fail.
    fn checked(&mut self, check: ProposalCheck<W>) -> Action<W> {
        self.waiting = check.waiting;
        match check.decided {
            None => {
                self.is_checked = true;
                self.next_group()
            }
            Some((_, ProposalDecision::Accepted)) => self.written(),
            Some((work, ProposalDecision::Rejected)) => {
                self.refused(work);
                self.next_group()
            }
        }
    }

    /// Queues a group whose proposal was rejected, unless another fix has repaired it or all of its
    /// attempts are used up.
    fn refused(&mut self, work: W) {
        let (group, limit) = (work.group().clone(), self.limits.iterations);
        if !group.tests.iter().any(|it| self.failing.contains(it)) {
            return;
        }
        let asked = self.asked.get(group.first_test()).copied().unwrap_or_default();
        if asked < limit {
            self.rejected.push(work);
            self.queue.push_front(group);
        } else {
            self.given_up.push((group, used_up(limit)));
        }
    }

    fn written(&mut self) -> Action<W> {
        self.kept += 1;
        self.stale = 0;
        self.run_all()
    }

    fn stale_tree(&mut self, group: &Group, why: String) -> Action<W> {
        self.stale += 1;
        if self.stale < STALE {
            return self.run_all();
        }
        self.stale = 0;
        self.abandon(group, why)
    }
}

impl<W: GroupWork> Machine for RepairMachine<W> {
    type Event = Event<W>;
    type Action = Action<W>;

    fn step(&mut self, event: Event<W>) -> Result<Vec<Action<W>>, OutOfTurn> {
        let phase = std::mem::replace(&mut self.phase, Phase::Ended);
        let action = match (phase, event) {
            (Phase::Idle, Event::Started) => self.run_all(),
            (Phase::RunningAll, Event::RanAll(groups)) => self.ran_all(groups),
            (Phase::Diagnosing(progress), Event::Diagnosed { work, is_proven }) => {
                self.diagnosed(progress, work, is_proven)
            }
            (Phase::AwaitingOpinion(progress), Event::Suggested { work, suggestions }) => {
                self.next_fix(Progress { has_opinion: true, suggestions, ..progress }, work)
            }
            (Phase::Trying(progress), Event::Tried { work, result }) => {
                self.tried(progress, work, result)
            }
            (Phase::Deciding(progress), Event::Decided { work, decision }) => {
                self.decided(progress, work, decision)
            }
            (Phase::Writing, Event::Written) => self.written(),
            (Phase::Trying(_) | Phase::Writing, Event::Stale { work, why }) => {
                self.stale_tree(work.group(), why)
            }
            (Phase::CheckingProposals, Event::ProposalsChecked(check)) => self.checked(check),
            (phase, event) => {
                let error = OutOfTurn::new(event.phrase(), phase.waits_for());
                self.phase = phase;
                return Err(error);
            }
        };
        Ok(vec![action])
    }
}

fn used_up(limit: u32) -> String {
    match limit {
        1 => "1 fix was tried".to_owned(),
        _ => format!("{limit} fixes were tried"),
    }
}
