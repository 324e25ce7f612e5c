//! The loop without its I/O: what was seen comes in, what to do next comes out.
//!
//! ```text
//! survey ──> group ──> diagnose ──> ask ──> try ──> decide ──> write ──> survey
//!                         │          ^        │        │
//!                         │          └────────┴────────┘  what would not do is told
//!                         └─ suggested ──> try
//! ```
//!
//! Each fix that is kept makes a failing test pass and breaks none, so the loop ends. A group that has been given up is not
//! begun again.

use std::collections::{HashMap, HashSet, VecDeque};

use super::groups::Group;
use super::merit::Merit;

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fixes that are tried for one group.
    pub iterations: u32,
    /// Fixes that pass among which the best is chosen.
    pub candidates: usize,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    /// The failing tests that a change of the code could mend.
    Surveyed(Vec<Group>),
    /// With so many fixes that the diagnosis suggests and that can be tried as they are.
    Diagnosed {
        suggestions: usize,
    },
    /// There will be no answer.
    NoReply(String),
    /// The answer could not be used, for this reason.
    Unusable(String),
    /// What came of the answer's change.
    Tried(Try),
    Decided(Decision),
    /// It is in the tree.
    Written,
    /// The tree is another than the fix was made for.
    Stale(String),
    /// What was decided about a fix that waits, by its name; none where nothing was.
    Heard(Option<(String, Answer)>),
}

/// What was decided about a fix that waited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is in the tree.
    Accepted,
    /// Another one may be made.
    Rejected,
}

/// A change on a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Try {
    /// It makes a failing test pass and breaks none.
    Good(Merit),
    /// Why it will not do, with the change.
    Bad(String),
}

/// What a person, or a rule in place of one, makes of a fix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Keep,
    Reject {
        /// In the person's words; empty where there are none.
        why: String,
    },
    /// It waits under this name, and the work goes on.
    Waits(String),
    /// This group is left as it is.
    Skip,
    /// Nothing more is to be done.
    Stop,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Run the tests, and put what fails into groups.
    Survey,
    /// Say what is known of the group, and ask a model for its opinion.
    Diagnose(Group),
    /// Try a fix that the diagnosis suggests.
    Suggested {
        /// From 0, the likeliest first.
        suggestion: usize,
    },
    /// Ask for a fix.
    Ask {
        /// From 0, within the group.
        attempt: u32,
        /// Why the last answer could not be used, if it could not.
        complaint: Option<String>,
    },
    /// Ask whether a fix may stay.
    Decide {
        /// Among those that passed for the group, in the order in which they were tried.
        candidate: usize,
        /// From 1.
        iteration: u32,
    },
    /// Hear what was decided about fixes that wait.
    Hear {
        /// Until something is, for there is nothing else to do.
        wait: bool,
    },
    /// Write it.
    Write {
        candidate: usize,
    },
    End(End),
}

/// How it ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct End {
    /// Fixes that were kept.
    pub kept: usize,
    /// Groups that still fail, each with the reason.
    pub given_up: Vec<(Group, String)>,
    /// Groups whose fix waits for a person, with its name.
    pub waiting: Vec<(Group, String)>,
    /// A person wanted no more.
    pub is_stopped: bool,
}

struct Work {
    group: Group,
    /// Suggestions of the diagnosis, and how many of them were tried.
    suggestions: usize,
    suggested: usize,
    /// Fixes that have been asked for.
    asked: u32,
    /// Those of them that were answered with nothing to try.
    unusable: u32,
    complaint: Option<String>,
    candidates: Vec<Merit>,
    /// Candidates that a person does not want.
    refused: Vec<usize>,
    /// The one that is being decided about.
    deciding: usize,
}

/// Where the loop stands.
pub struct Course {
    limits: Limits,
    queue: VecDeque<Group>,
    work: Option<Work>,
    end: End,
    /// Surveys in a row that were made anew because the tree had changed.
    stale: u32,
    /// Somebody decides about fixes that wait, sooner or later.
    hears: bool,
    /// Nothing was decided as of just now.
    is_silent: bool,
    /// Tests that failed when they ran last.
    failing: HashSet<String>,
    /// Fixes that were asked for, of groups whose fix waits or was rejected, by their first tests.
    asked: HashMap<String, u32>,
}

/// Surveys in a row after which a tree that others change is left alone.
const STALE: u32 = 3;

impl Course {
    pub fn new(limits: Limits) -> (Course, Next) {
        let course = Course {
            limits,
            queue: VecDeque::new(),
            work: None,
            end: End::default(),
            stale: 0,
            hears: false,
            is_silent: false,
            failing: HashSet::new(),
            asked: HashMap::new(),
        };
        (course, Next::Survey)
    }

    /// The same where somebody decides about fixes that wait: it ends when all of them are decided.
    #[must_use]
    pub fn hearing(self) -> Course {
        Course { hears: true, ..self }
    }

    /// What to do after what was seen.
    pub fn step(&mut self, seen: Seen) -> Next {
        match seen {
            Seen::Surveyed(groups) => self.surveyed(groups),
            Seen::Diagnosed { suggestions } => self.diagnosed(suggestions),
            Seen::NoReply(why) => self.best_or(why),
            Seen::Unusable(why) => self.again(Some(why)),
            Seen::Tried(Try::Bad(_)) => self.again(None),
            Seen::Tried(Try::Good(merit)) => self.passed(merit),
            Seen::Decided(decision) => self.decided(decision),
            Seen::Written => self.written(),
            Seen::Stale(why) => self.surveyed_anew(why),
            Seen::Heard(None) => {
                self.is_silent = true;
                self.next_group()
            }
            Seen::Heard(Some((name, answer))) => self.heard(&name, &answer),
        }
    }

    fn surveyed(&mut self, groups: Vec<Group>) -> Next {
        let is_settled = |it: &Group| {
            let mut settled = self.end.given_up.iter().chain(&self.end.waiting);
            settled.any(|(known, _)| it.tests.iter().all(|test| known.tests.contains(test)))
        };
        self.failing = groups.iter().flat_map(|it| &it.tests).cloned().collect();
        self.queue = groups.into_iter().filter(|it| !is_settled(it)).collect();
        self.next_group()
    }

    fn next_group(&mut self) -> Next {
        self.work = None;
        if self.hears && !self.end.waiting.is_empty() && !self.is_silent {
            return Next::Hear { wait: self.queue.is_empty() };
        }
        self.is_silent = false;
        let Some(group) = self.queue.pop_front() else { return self.finish() };
        let asked = self.asked.remove(group.lead()).unwrap_or_default();
        self.work = Some(Work {
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
        Next::Diagnose(group)
    }

    fn finish(&mut self) -> Next {
        self.work = None;
        Next::End(std::mem::take(&mut self.end))
    }

    fn diagnosed(&mut self, suggestions: usize) -> Next {
        if let Some(work) = &mut self.work {
            work.suggestions = suggestions;
        }
        self.ask()
    }

    /// What was suggested is tried before anything is asked for.
    fn ask(&mut self) -> Next {
        let limit = self.limits.iterations;
        let Some(work) = &mut self.work else { return self.finish() };
        if work.suggested < work.suggestions {
            work.suggested += 1;
            return Next::Suggested { suggestion: work.suggested - 1 };
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
        let next = Next::Ask { attempt: work.asked, complaint: work.complaint.take() };
        work.asked += 1;
        next
    }

    fn again(&mut self, complaint: Option<String>) -> Next {
        if let Some(work) = self.work.as_mut().filter(|it| it.asked > 0) {
            work.unusable += u32::from(complaint.is_some());
            work.complaint = complaint;
        }
        self.ask()
    }

    fn passed(&mut self, merit: Merit) -> Next {
        let wanted = self.limits.candidates.max(1);
        let Some(work) = &mut self.work else { return self.finish() };
        work.candidates.push(merit);
        let candidates = work.candidates.iter().enumerate();
        // One that looks made for its tests alone is taken where nothing better is found.
        let sound = candidates.filter(|(at, it)| !work.refused.contains(at) && !it.is_suspicious());
        match sound.count() < wanted {
            true => self.ask(),
            false => self.best_or(String::new()),
        }
    }

    /// Puts the best candidate before whoever decides; without one the group is given up.
    fn best_or(&mut self, why: String) -> Next {
        let Some(work) = &mut self.work else { return self.finish() };
        let left = (0..work.candidates.len()).filter(|it| !work.refused.contains(it));
        // Of equal ones the first.
        let best = left.rev().max_by(|a, b| work.candidates[*a].compare(&work.candidates[*b]));
        let Some(candidate) = best else { return self.abandon(why) };
        work.deciding = candidate;
        Next::Decide { candidate, iteration: work.asked + work.suggested as u32 }
    }

    fn abandon(&mut self, why: String) -> Next {
        self.end.given_up.extend(self.work.take().map(|it| (it.group, why)));
        self.next_group()
    }

    fn decided(&mut self, decision: Decision) -> Next {
        let Some(work) = &mut self.work else { return self.finish() };
        match decision {
            Decision::Keep => Next::Write { candidate: work.deciding },
            Decision::Reject { .. } => {
                work.refused.push(work.deciding);
                self.ask()
            }
            Decision::Waits(name) => {
                self.asked.insert(work.group.lead().to_owned(), work.asked);
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

    /// A fix that waited was decided about; the tests of one that is rejected fail on.
    fn heard(&mut self, name: &str, answer: &Answer) -> Next {
        let place = self.end.waiting.iter().position(|it| it.1 == name);
        let Some((group, _)) = place.map(|it| self.end.waiting.remove(it)) else {
            return self.next_group();
        };
        let asked = self.asked.get(group.lead()).copied().unwrap_or_default();
        match answer {
            Answer::Accepted => return self.written(),
            // Another fix has mended it.
            Answer::Rejected if !group.tests.iter().any(|it| self.failing.contains(it)) => {}
            Answer::Rejected if asked < self.limits.iterations => self.queue.push_front(group),
            Answer::Rejected => {
                let why = used_up(self.limits.iterations);
                self.end.given_up.push((group, why));
            }
        }
        self.next_group()
    }

    fn written(&mut self) -> Next {
        self.end.kept += 1;
        self.stale = 0;
        self.work = None;
        Next::Survey
    }

    fn surveyed_anew(&mut self, why: String) -> Next {
        self.stale += 1;
        if self.stale < STALE {
            self.work = None;
            return Next::Survey;
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
