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
    /// The answer's files are in the worktree.
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
    Reviewed(Review),
    /// The change is on its target branch.
    Merged,
    /// The merge failed; the work is on its own branch.
    NotMerged(String),
}

/// Decision on the change by a person, or by a rule in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    Approve,
    /// The worktree holds edited text that has to pass the gates again.
    Edited,
    /// Request for changes, in the person's words.
    SendBack(String),
    /// The change stays on its branch.
    Leave,
    /// No person is available to review.
    Nobody,
}

/// Outputs of the state machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Ask {
        what: PromptKind,
        /// Number of the request, counted from 0 for its kind.
        attempt: u32,
        /// Reason why the last answer was unusable, or why its tests were sent back.
        complaint: Option<String>,
    },
    /// Run the new tests, which have to fail.
    Red,
    /// Run the new tests with the code, and all tests that passed before.
    Green,
    Lint,
    /// Write the reports on the change and the runs.
    Report,
    Review,
    Merge,
    End(Outcome),
}

/// Final outcome of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub ending: OutcomeKind,
    /// Failed attempts, in order.
    pub history: Vec<String>,
}

/// Kinds of outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    Merged,
    /// A person has to look, for this reason.
    NeedsPerson(String),
    /// A person reviewed the change and left it on its branch.
    Left,
    /// The work failed, for this reason.
    Failed(String),
}

/// The running action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asking(PromptKind),
    Red,
    Green,
    Lint,
    Report,
    Review,
    Merge,
    Ended,
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
    pub fn new(limits: Limits) -> (IssueMachine, Action) {
        let mut machine = IssueMachine::at(Stage::Ended, limits);
        let next = machine.ask(PromptKind::Scaffold, None);
        (machine, next)
    }

    /// Creates the machine for work whose tests and code exist, written by a person.
    pub fn with_code(limits: Limits) -> (IssueMachine, Action) {
        (IssueMachine::at(Stage::Green, limits), Action::Green)
    }

    /// Creates the machine for work that passed its gates and waits for a review, after `fixes`
    /// requests for a fix.
    pub fn waiting(limits: Limits, fixes: u32) -> (IssueMachine, Action) {
        // A reviewer who sends the change back gets at least one more fix.
        let retries = fixes.min(limits.retries.saturating_sub(1));
        (IssueMachine { fixes, retries, ..IssueMachine::at(Stage::Green, limits) }, Action::Green)
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

    /// Returns the action after an event.
    ///
    /// # Panics
    ///
    /// Panics if the event does not answer the running action, since no gate may be passed without
    /// a check.
    pub fn step(&mut self, seen: Event) -> Action {
        match (self.stage, seen) {
            (Stage::Asking(what), seen) => self.answered(what, seen),
            (Stage::Red, Event::Passed) => self.ask(PromptKind::Code, None),
            (Stage::Red, Event::Failed(why)) => self.meaningless(why),
            (Stage::Red, Event::Holds) => self.go(Stage::Green, Action::Green),
            (Stage::Green, Event::Passed) => self.go(Stage::Lint, Action::Lint),
            (Stage::Lint, Event::Passed) => self.go(Stage::Report, Action::Report),
            (Stage::Green | Stage::Lint, Event::Failed(why)) => self.fix(why),
            (Stage::Report, Event::Written) => self.go(Stage::Review, Action::Review),
            (Stage::Review, Event::Reviewed(review)) => self.reviewed(review),
            (Stage::Merge, Event::Merged) => self.end(OutcomeKind::Merged),
            (Stage::Merge, Event::NotMerged(why)) => self.end(OutcomeKind::NeedsPerson(why)),
            (stage, seen) => panic!("{seen:?} does not answer {stage:?}"),
        }
    }

    fn answered(&mut self, what: PromptKind, seen: Event) -> Action {
        match seen {
            Event::Written => {
                self.malformed = 0;
                match what {
                    PromptKind::Scaffold => self.go(Stage::Red, Action::Red),
                    PromptKind::Code | PromptKind::Fix => self.go(Stage::Green, Action::Green),
                }
            }
            Event::Unusable(why) => self.unusable(what, why),
            Event::NoReply(why) => self.end(OutcomeKind::Failed(why)),
            Event::Holds => self.end(OutcomeKind::Merged),
            seen => panic!("{seen:?} does not answer a prompt for {what:?}"),
        }
    }

    fn unusable(&mut self, what: PromptKind, why: String) -> Action {
        self.history.push(format!("an answer could not be used: {why}"));
        self.malformed += 1;
        if self.malformed <= self.limits.malformed_reasks {
            return self.ask(what, Some(why));
        }
        let times = self.malformed;
        self.end(OutcomeKind::NeedsPerson(format!(
            "{times} answers in a row could not be used, the last since {why}"
        )))
    }

    fn meaningless(&mut self, why: String) -> Action {
        self.history.push(format!("red gate: {why}"));
        self.sent_back += 1;
        match self.sent_back <= self.limits.red_reasks {
            true => self.ask(PromptKind::Scaffold, Some(why)),
            false => {
                self.end(OutcomeKind::NeedsPerson(format!("there are no tests that fail: {why}")))
            }
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
        self.end(OutcomeKind::NeedsPerson(why))
    }

    fn reviewed(&mut self, review: Review) -> Action {
        match review {
            Review::Approve => self.go(Stage::Merge, Action::Merge),
            Review::Edited => self.go(Stage::Green, Action::Green),
            Review::SendBack(words) => self.fix(format!("review: {words}")),
            Review::Leave => self.end(OutcomeKind::Left),
            Review::Nobody => self.end(OutcomeKind::NeedsPerson(
                "look at the change, then approve it or request changes".to_owned(),
            )),
        }
    }

    fn ask(&mut self, what: PromptKind, complaint: Option<String>) -> Action {
        let count = match what {
            PromptKind::Scaffold => &mut self.scaffolds,
            PromptKind::Code => &mut self.codes,
            PromptKind::Fix => &mut self.fixes,
        };
        let attempt = *count;
        *count += 1;
        self.go(Stage::Asking(what), Action::Ask { what, attempt, complaint })
    }

    fn go(&mut self, stage: Stage, next: Action) -> Action {
        self.stage = stage;
        next
    }

    fn end(&mut self, ending: OutcomeKind) -> Action {
        let history = std::mem::take(&mut self.history);
        self.go(Stage::Ended, Action::End(Outcome { ending, history }))
    }
}
