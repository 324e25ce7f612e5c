//! State machine of the repair loop, without I/O: events come in, actions come out.
//!
//! ```text
//! survey ──> group ──> diagnose ──> ask ──> try ──> decide ──> write ──> survey
//!                         │          ^        │        │
//!                         │          └────────┴────────┘  with the reason of the failure
//!                         └─ suggested ──> try
//! ```
//!
//! Each accepted fix makes a failing test pass and breaks none, so the loop ends. A group that was
//! given up is not started again.

use std::collections::{HashMap, HashSet, VecDeque};

use super::fix_score::FixScore;
use super::groups::Group;

/// Limits of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of fixes tried for one group.
    pub iterations: u32,
    /// Number of passing fixes from which the best is chosen.
    pub candidates: usize,
}

/// Inputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The failing tests that a change of the code could fix.
    Surveyed(Vec<Group>),
    /// The group was diagnosed, with this number of suggested fixes that can be tried.
    Diagnosed {
        suggestions: usize,
    },
    /// The request failed for good.
    NoReply(String),
    /// The answer was unusable, for this reason.
    Unusable(String),
    /// Result of trying the answer's change.
    Tried(Trial),
    Decided(Decision),
    /// The fix is in the tree.
    Written,
    /// The tree has changed since the fix was made.
    Stale(String),
    /// Decision on a proposal, with its name; `None` if none was made.
    ProposalDecided(Option<(String, ProposalDecision)>),
}

/// Decision on a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProposalDecision {
    /// The fix is in the tree.
    Accepted,
    /// Another fix may be made.
    Rejected,
}

/// Result of a change on a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// The change makes a failing test pass and breaks none.
    Good(FixScore),
    /// The reason why the change fails, with the change.
    Bad(String),
}

/// Decision on a fix by a person, or by a rule in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Keep,
    Reject {
        /// The person's reason; empty if there is none.
        why: String,
    },
    /// The fix becomes a proposal of this name, and the loop continues.
    Waits(String),
    /// The group is left as it is.
    Skip,
    /// The loop ends.
    Stop,
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Run the tests, and group the failing ones.
    Survey,
    /// Diagnose the group, and ask a model for its opinion.
    Diagnose(Group),
    /// Try a fix that the diagnosis suggests.
    Suggested {
        /// Index of the suggestion, the likeliest first.
        suggestion: usize,
    },
    /// Request a fix.
    Ask {
        /// Number of the request within the group, from 0.
        attempt: u32,
        /// Reason why the last answer was unusable, if it was.
        complaint: Option<String>,
    },
    /// Ask whether a fix may be accepted.
    Decide {
        /// Index among the passing fixes of the group, in the order of their trials.
        candidate: usize,
        /// Number of the iteration, from 1.
        iteration: u32,
    },
    /// Ask for decisions on proposals.
    CheckProposals {
        /// True if the loop has to wait for a decision because it has no other work.
        wait: bool,
    },
    /// Write the fix to the tree.
    Write {
        candidate: usize,
    },
    End(Outcome),
}

/// Final outcome of the loop.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Number of accepted fixes.
    pub kept: usize,
    /// Groups that still fail, each with the reason.
    pub given_up: Vec<(Group, String)>,
    /// Groups with a proposal, each with its name.
    pub waiting: Vec<(Group, String)>,
    /// True if a person stopped the loop.
    pub is_stopped: bool,
}

struct GroupState {
    group: Group,
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

/// State of the repair loop.
pub struct RepairMachine {
    limits: Limits,
    queue: VecDeque<Group>,
    work: Option<GroupState>,
    end: Outcome,
    /// Number of surveys in a row repeated because the tree had changed.
    stale: u32,
    /// True if proposals get decided during the run.
    hears: bool,
    /// True if the last check found no decision.
    is_silent: bool,
    /// Tests that failed in the last run.
    failing: HashSet<String>,
    /// Number of requested fixes of groups with a pending or rejected proposal, by their first
    /// test.
    asked: HashMap<String, u32>,
}

/// Maximum number of surveys in a row of a tree that others keep changing.
const STALE: u32 = 3;

impl RepairMachine {
    pub fn new(limits: Limits) -> (RepairMachine, Action) {
        let machine = RepairMachine {
            limits,
            queue: VecDeque::new(),
            work: None,
            end: Outcome::default(),
            stale: 0,
            hears: false,
            is_silent: false,
            failing: HashSet::new(),
            asked: HashMap::new(),
        };
        (machine, Action::Survey)
    }

    /// Makes the machine wait for decisions on proposals: the loop ends when all of them are
    /// decided.
    #[must_use]
    pub fn awaiting_proposals(self) -> RepairMachine {
        RepairMachine { hears: true, ..self }
    }

    /// Returns the action after an event.
    pub fn step(&mut self, seen: Event) -> Action {
        match seen {
            Event::Surveyed(groups) => self.surveyed(groups),
            Event::Diagnosed { suggestions } => self.diagnosed(suggestions),
            Event::NoReply(why) => self.best_or(why),
            Event::Unusable(why) => self.again(Some(why)),
            Event::Tried(Trial::Bad(_)) => self.again(None),
            Event::Tried(Trial::Good(score)) => self.passed(score),
            Event::Decided(decision) => self.decided(decision),
            Event::Written => self.written(),
            Event::Stale(why) => self.surveyed_anew(why),
            Event::ProposalDecided(None) => {
                self.is_silent = true;
                self.next_group()
            }
            Event::ProposalDecided(Some((name, answer))) => self.received(&name, &answer),
        }
    }

    fn surveyed(&mut self, groups: Vec<Group>) -> Action {
        let is_settled = |it: &Group| {
            let mut settled = self.end.given_up.iter().chain(&self.end.waiting);
            settled.any(|(known, _)| it.tests.iter().all(|test| known.tests.contains(test)))
        };
        self.failing = groups.iter().flat_map(|it| &it.tests).cloned().collect();
        self.queue = groups.into_iter().filter(|it| !is_settled(it)).collect();
        self.next_group()
    }

    fn next_group(&mut self) -> Action {
        self.work = None;
        if self.hears && !self.end.waiting.is_empty() && !self.is_silent {
            return Action::CheckProposals { wait: self.queue.is_empty() };
        }
        self.is_silent = false;
        let Some(group) = self.queue.pop_front() else { return self.finish() };
        let asked = self.asked.remove(group.first_test()).unwrap_or_default();
        self.work = Some(GroupState {
            group: group.clone(),
            suggestions: 0,
            suggested: 0,
            asked,
            unusable: 0,
            complaint: None,
            candidates: Vec::new(),
            refused: Vec::new(),
            deciding: 0,
        });
        Action::Diagnose(group)
    }

    fn finish(&mut self) -> Action {
        self.work = None;
        Action::End(std::mem::take(&mut self.end))
    }

    fn diagnosed(&mut self, suggestions: usize) -> Action {
        if let Some(work) = &mut self.work {
            work.suggestions = suggestions;
        }
        self.ask()
    }

    /// Requests the next fix; suggestions of the diagnosis are tried first.
    fn ask(&mut self) -> Action {
        let limit = self.limits.iterations;
        let Some(work) = &mut self.work else { return self.finish() };
        if work.suggested < work.suggestions {
            work.suggested += 1;
            return Action::Suggested { suggestion: work.suggested - 1 };
        }
        if work.asked >= limit {
            let why = match work.unusable == limit {
                true => {
                    let replies = if limit == 1 { "reply" } else { "replies" };
                    format!("no usable fix in {limit} {replies}; try another model")
                }
                false => used_up(limit),
            };
            return self.best_or(why);
        }
        let next = Action::Ask { attempt: work.asked, complaint: work.complaint.take() };
        work.asked += 1;
        next
    }

    fn again(&mut self, complaint: Option<String>) -> Action {
        if let Some(work) = self.work.as_mut().filter(|it| it.asked > 0) {
            work.unusable += u32::from(complaint.is_some());
            work.complaint = complaint;
        }
        self.ask()
    }

    fn passed(&mut self, score: FixScore) -> Action {
        let wanted = self.limits.candidates.max(1);
        let Some(work) = &mut self.work else { return self.finish() };
        work.candidates.push(score);
        let candidates = work.candidates.iter().enumerate();
        // A fix that looks tailored to its tests is used only if nothing better is found.
        let sound = candidates.filter(|(at, it)| !work.refused.contains(at) && !it.is_suspicious());
        match sound.count() < wanted {
            true => self.ask(),
            false => self.best_or(String::new()),
        }
    }

    /// Submits the best candidate for a decision; gives the group up if there is none.
    fn best_or(&mut self, why: String) -> Action {
        let Some(work) = &mut self.work else { return self.finish() };
        let left = (0..work.candidates.len()).filter(|it| !work.refused.contains(it));
        // Of equal candidates, the first.
        let best = left.rev().max_by(|a, b| work.candidates[*a].compare(&work.candidates[*b]));
        let Some(candidate) = best else { return self.abandon(why) };
        work.deciding = candidate;
        Action::Decide { candidate, iteration: work.asked + work.suggested as u32 }
    }

    fn abandon(&mut self, why: String) -> Action {
        self.end.given_up.extend(self.work.take().map(|it| (it.group, why)));
        self.next_group()
    }

    fn decided(&mut self, decision: Decision) -> Action {
        let Some(work) = &mut self.work else { return self.finish() };
        match decision {
            Decision::Keep => Action::Write { candidate: work.deciding },
            Decision::Reject { .. } => {
                work.refused.push(work.deciding);
                self.ask()
            }
            Decision::Waits(name) => {
                self.asked.insert(work.group.first_test().to_owned(), work.asked);
                self.end.waiting.extend(self.work.take().map(|it| (it.group, name)));
                self.next_group()
            }
            Decision::Skip => self.abandon("skipped in review".to_owned()),
            Decision::Stop => {
                let work = self.work.take().map(|it| it.group);
                let left = work.into_iter().chain(self.queue.drain(..));
                let left = left.map(|it| (it, "stopped in review".to_owned()));
                self.end.given_up.extend(left);
                self.end.is_stopped = true;
                self.finish()
            }
        }
    }

    /// Handles a decision on a proposal; after a rejection, the tests of the group still fail.
    fn received(&mut self, name: &str, answer: &ProposalDecision) -> Action {
        let place = self.end.waiting.iter().position(|it| it.1 == name);
        let Some((group, _)) = place.map(|it| self.end.waiting.remove(it)) else {
            return self.next_group();
        };
        let asked = self.asked.get(group.first_test()).copied().unwrap_or_default();
        match answer {
            ProposalDecision::Accepted => return self.written(),
            // Another fix has repaired the group.
            ProposalDecision::Rejected
                if !group.tests.iter().any(|it| self.failing.contains(it)) => {}
            ProposalDecision::Rejected if asked < self.limits.iterations => {
                self.queue.push_front(group)
            }
            ProposalDecision::Rejected => {
                let why = used_up(self.limits.iterations);
                self.end.given_up.push((group, why));
            }
        }
        self.next_group()
    }

    fn written(&mut self) -> Action {
        self.end.kept += 1;
        self.stale = 0;
        self.work = None;
        Action::Survey
    }

    fn surveyed_anew(&mut self, why: String) -> Action {
        self.stale += 1;
        if self.stale < STALE {
            self.work = None;
            return Action::Survey;
        }
        self.stale = 0;
        self.abandon(why)
    }
}

fn used_up(limit: u32) -> String {
    match limit {
        1 => "1 fix was tried".to_owned(),
        _ => format!("{limit} fixes were tried"),
    }
}
