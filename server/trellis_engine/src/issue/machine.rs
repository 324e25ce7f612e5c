//! State machine from an issue's text to a merged change, without I/O: events come in, actions come
//! out.
//!
//! ```text
//! scaffold ──> red gate ──> code ──> green gate ──> lint ──> reports ──> review ──> merge
//! ^            │           ^           │           │                     │
//! └────────────┘           └── fix <───┴───────────┴─────────────────────┘
//! ```
//!
//! Only results of runs and decisions of a person advance the machine, never a model's claim.

use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::{Decision, Outcome};

/// Limits on the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of fixes after the first code, for any reason.
    pub retries: u32,
    /// Maximum number of times that meaningless tests are sent back.
    pub red_reasks: u32,
    /// Maximum number of repeated requests after unusable answers in a row.
    pub malformed_reasks: u32,
}

impl Limits {
    /// Returns the limits of the `implement` workflow, which escalates on the fourth attempt.
    pub fn implement(retries: u32) -> Limits {
        Limits { retries, red_reasks: 2, malformed_reasks: 2 }
    }
}

/// Kinds of requests to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptKind {
    /// Tests of missing behavior.
    Scaffold,
    /// Code that makes the tests pass.
    Code,
    /// Fix of the last code.
    Fix,
}

/// Inputs of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    Started,
    /// The answer's files, or the reports, are in the worktree.
    Written,
    /// The answer was unusable, for this reason; no file was written.
    Unusable(String),
    /// The request failed for good.
    NoReply(String),
    /// A gate is open, or the linters report nothing.
    Passed,
    /// Tests of the tasks together pass without changes, or exist already: no code is needed.
    Holds,
    /// Reason why a gate is shut, or the reports of the linters.
    Failed(String),
    Decided(Decision),
    /// The change is on its target branch.
    Merged,
    /// The merge failed; the work is on its own branch.
    NotMerged(String),
}

impl Event {
    fn phrase(&self) -> &'static str {
        match self {
            Event::Started => "a beginning",
            Event::Written => "written files",
            Event::Unusable(_) => "an unusable reply",
            Event::NoReply(_) => "no reply",
            Event::Passed | Event::Failed(_) => "a check",
            Event::Holds => "a test run without new code",
            Event::Decided(_) => "a decision",
            Event::Merged | Event::NotMerged(_) => "a merge",
        }
    }
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Complete {
        kind: PromptKind,
        /// Number of the request, counted from 0 for its kind.
        attempt: u32,
        /// Reason why the last answer was unusable, or why its tests were sent back.
        complaint: Option<String>,
    },
    /// Runs the new tests, which have to fail.
    RunRed,
    /// Runs the new tests with the code, and all tests that passed before.
    RunGreen,
    Lint,
    /// Writes the reports on the change and the runs.
    Report,
    Review,
    Merge,
    Finish(Outcome),
}

/// The running action, or the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nothing exists yet.
    New,
    /// Tests and code exist.
    WithCode,
    Asking(PromptKind),
    Red,
    Green,
    Lint,
    Report,
    Review,
    Merge,
    Ended,
}

impl Stage {
    fn waits_for(self) -> &'static str {
        match self {
            Stage::New | Stage::WithCode => "its beginning",
            Stage::Asking(_) => "a reply",
            Stage::Red | Stage::Green => "a test run",
            Stage::Lint => "the linters",
            Stage::Report => "the reports",
            Stage::Review => "a decision",
            Stage::Merge => "a merge",
            Stage::Ended => "nothing",
        }
    }
}

/// State of the work on an issue.
#[derive(Clone, Debug)]
pub struct IssueMachine {
    limits: Limits,
    stage: Stage,
    scaffolds: u32,
    /// Number of requests for the first code.
    codes: u32,
    /// Number of requests for a fix, including those with unusable answers.
    fixes: u32,
    /// Number of fixes begun, each for one failure.
    retries: u32,
    /// Number of times that tests were sent back.
    sent_back: u32,
    /// Number of unusable answers in a row.
    malformed: u32,
    history: Vec<String>,
}

impl IssueMachine {
    pub fn new(limits: Limits) -> IssueMachine {
        IssueMachine::at(Stage::New, limits)
    }

    /// Creates the machine for work whose tests and code exist, written by a person.
    pub fn with_code(limits: Limits) -> IssueMachine {
        IssueMachine::at(Stage::WithCode, limits)
    }

    /// Creates the machine for work that passed its gates and waits for a review, after `fixes`
    /// requests for a fix.
    pub fn waiting(limits: Limits, fixes: u32) -> IssueMachine {
        // A reviewer who sends the change back gets at least one more fix.
        let retries = fixes.min(limits.retries.saturating_sub(1));
        IssueMachine { fixes, retries, ..IssueMachine::at(Stage::WithCode, limits) }
    }

    /// Returns whether the work begins with tests and code that exist.
    pub fn begins_with_code(&self) -> bool {
        self.stage == Stage::WithCode
    }

    fn at(stage: Stage, limits: Limits) -> IssueMachine {
        IssueMachine {
            limits,
            stage,
            scaffolds: 0,
            codes: 0,
            fixes: 0,
            retries: 0,
            sent_back: 0,
            malformed: 0,
            history: Vec::new(),
        }
    }

    /// Returns the failed attempts so far, in order.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    fn answered(&mut self, kind: PromptKind, event: Event) -> Result<Action, OutOfTurn> {
        Ok(match event {
            Event::Written => {
                self.malformed = 0;
                match kind {
                    PromptKind::Scaffold => self.go(Stage::Red, Action::RunRed),
                    PromptKind::Code | PromptKind::Fix => self.go(Stage::Green, Action::RunGreen),
                }
            }
            Event::Unusable(why) => self.unusable(kind, why),
            Event::NoReply(reason) => self.end(Outcome::Failed { reason }),
            Event::Holds => self.end(Outcome::Passed),
            event => return Err(self.out_of_turn(&event)),
        })
    }

    fn out_of_turn(&self, event: &Event) -> OutOfTurn {
        OutOfTurn::new(event.phrase(), self.stage.waits_for())
    }

    fn unusable(&mut self, kind: PromptKind, why: String) -> Action {
        self.history.push(format!("an answer could not be used: {why}"));
        self.malformed += 1;
        if self.malformed <= self.limits.malformed_reasks {
            return self.ask(kind, Some(why));
        }
        let times = self.malformed;
        self.needs_human(format!(
            "{times} answers in a row could not be used, the last since {why}"
        ))
    }

    fn meaningless(&mut self, why: String) -> Action {
        self.history.push(format!("red gate: {why}"));
        self.sent_back += 1;
        match self.sent_back <= self.limits.red_reasks {
            true => self.ask(PromptKind::Scaffold, Some(why)),
            false => self.needs_human(format!("there are no tests that fail: {why}")),
        }
    }

    fn fix(&mut self, why: String) -> Action {
        self.history.push(why);
        if self.retries < self.limits.retries {
            self.retries += 1;
            return self.ask(PromptKind::Fix, None);
        }
        let last = self.history.last().map_or("", |it| it.lines().next().unwrap_or_default());
        let why = match self.retries {
            0 => format!("the only attempt failed, because {last}"),
            more => format!("{} attempts failed, the last because {last}", more + 1),
        };
        self.needs_human(why)
    }

    fn decided(&mut self, decision: Decision) -> Action {
        match decision {
            Decision::Accept { .. } => self.go(Stage::Merge, Action::Merge),
            Decision::AcceptEdited(_) => self.go(Stage::Green, Action::RunGreen),
            Decision::Reject { why } => self.fix(format!("review: {why}")),
            Decision::Defer { .. } | Decision::Skip | Decision::Stop => self.end(Outcome::Deferred),
            Decision::NoReviewer => self
                .needs_human("look at the change, then approve it or request changes".to_owned()),
        }
    }

    fn ask(&mut self, kind: PromptKind, complaint: Option<String>) -> Action {
        let count = match kind {
            PromptKind::Scaffold => &mut self.scaffolds,
            PromptKind::Code => &mut self.codes,
            PromptKind::Fix => &mut self.fixes,
        };
        let attempt = *count;
        *count += 1;
        self.go(Stage::Asking(kind), Action::Complete { kind, attempt, complaint })
    }

    fn go(&mut self, stage: Stage, next: Action) -> Action {
        self.stage = stage;
        next
    }

    fn needs_human(&mut self, reason: String) -> Action {
        self.end(Outcome::NeedsHuman { reason })
    }

    fn end(&mut self, outcome: Outcome) -> Action {
        self.go(Stage::Ended, Action::Finish(outcome))
    }
}

impl Machine for IssueMachine {
    type Event = Event;
    type Action = Action;

    fn step(&mut self, event: Event) -> Result<Vec<Action>, OutOfTurn> {
        let action = match (self.stage, event) {
            (Stage::New, Event::Started) => self.ask(PromptKind::Scaffold, None),
            (Stage::WithCode, Event::Started) => self.go(Stage::Green, Action::RunGreen),
            (Stage::Asking(kind), event) => self.answered(kind, event)?,
            (Stage::Red, Event::Passed) => self.ask(PromptKind::Code, None),
            (Stage::Red, Event::Failed(why)) => self.meaningless(why),
            (Stage::Red, Event::Holds) => self.go(Stage::Green, Action::RunGreen),
            (Stage::Green, Event::Passed) => self.go(Stage::Lint, Action::Lint),
            (Stage::Lint, Event::Passed) => self.go(Stage::Report, Action::Report),
            (Stage::Green | Stage::Lint, Event::Failed(why)) => self.fix(why),
            (Stage::Report, Event::Written) => self.go(Stage::Review, Action::Review),
            (Stage::Review, Event::Decided(decision)) => self.decided(decision),
            (Stage::Review, Event::NotMerged(why)) => self.needs_human(why),
            (Stage::Merge, Event::Merged) => self.end(Outcome::Passed),
            (Stage::Merge, Event::NotMerged(why)) => self.needs_human(why),
            (_, event) => return Err(self.out_of_turn(&event)),
        };
        Ok(vec![action])
    }
}
