//! The way from words to a merged change, without its I/O: what was seen comes in, what to do next comes out.
//!
//! ```text
//! scaffold ──> red gate ──> code ──> green gate ──> lint ──> reports ──> review ──> merge
//!    ^            │           ^           │           │                     │
//!    └────────────┘           └── fix <───┴───────────┴─────────────────────┘
//! ```
//!
//! Only what a run or a person said moves it on; a model's word never does.

/// How far it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Fixes after the first code, whatever they are for.
    pub retries: u32,
    /// How often tests that prove nothing are sent back.
    pub red_reasks: u32,
    /// How often an answer that cannot be used is asked for again, in a row.
    pub malformed_reasks: u32,
}

impl Limits {
    /// Those of the `implement` door, which escalates on the fourth attempt.
    pub fn implement(retries: u32) -> Limits {
        Limits { retries, red_reasks: 2, malformed_reasks: 2 }
    }
}

/// What a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Tests of what is not there yet.
    Scaffold,
    /// What makes them pass.
    Code,
    /// What the last code lacks.
    Fix,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The answer's files are in the worktree.
    Written,
    /// The answer could not be used, for this reason; nothing was written.
    Unusable(String),
    /// There will be no answer.
    NoReply(String),
    /// A gate holds, or the linters have nothing to say.
    Passed,
    /// Tests of what was made together pass as they are, or are there already: there is nothing to write.
    Holds,
    /// Why a gate does not hold, or what the linters say.
    Failed(String),
    Reviewed(Review),
    /// It is on the branch that it was made for.
    Merged,
    /// Nothing was merged; the work is on its own branch.
    NotMerged(String),
}

/// What a person, or a rule in place of one, makes of the change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    Approve,
    /// The worktree holds other text than before: it has to prove itself again.
    Edited,
    /// In the person's words.
    SendBack(String),
    /// It stays on its branch.
    Leave,
    /// Nobody is there to look.
    Nobody,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Ask {
        what: Asked,
        /// From 0, among questions for the same.
        attempt: u32,
        /// Why the last answer could not be used, or why its tests were sent back.
        complaint: Option<String>,
    },
    /// Run the new tests, which have to fail.
    Red,
    /// Run them with the code, and whatever passed before.
    Green,
    Lint,
    /// Write down what was done and what was seen.
    Report,
    Review,
    Merge,
    End(End),
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    pub ending: Ending,
    /// What did not do, in the order in which it was tried.
    pub history: Vec<String>,
}

/// In a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Merged,
    /// A person has to look at it, for this reason.
    NeedsPerson(String),
    /// A person did, and left it on its branch.
    Left,
    /// Nothing came of it, for this reason.
    Failed(String),
}

/// What is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Asking(Asked),
    Red,
    Green,
    Lint,
    Report,
    Review,
    Merge,
    Ended,
}

/// Where a piece of work stands.
#[derive(Clone, Debug)]
pub struct Course {
    limits: Limits,
    stage: Stage,
    scaffolds: u32,
    /// Questions for the first code.
    codes: u32,
    /// Questions for a fix, unusable answers among them.
    fixes: u32,
    /// Fixes that were begun, each for something that was seen.
    retries: u32,
    /// How often tests were sent back.
    sent_back: u32,
    /// Unusable answers in a row.
    malformed: u32,
    history: Vec<String>,
}

impl Course {
    pub fn new(limits: Limits) -> (Course, Next) {
        let mut course = Course::at(Stage::Ended, limits);
        let next = course.ask(Asked::Scaffold, None);
        (course, next)
    }

    /// For work whose tests and code are there, as a person has made them.
    pub fn with_code(limits: Limits) -> (Course, Next) {
        (Course::at(Stage::Green, limits), Next::Green)
    }

    /// For work that passed its gates and waits for a review, after so many questions for a fix.
    pub fn waiting(limits: Limits, fixes: u32) -> (Course, Next) {
        // Whoever sends it back gets one more.
        let retries = fixes.min(limits.retries.saturating_sub(1));
        (Course { fixes, retries, ..Course::at(Stage::Green, limits) }, Next::Green)
    }

    fn at(stage: Stage, limits: Limits) -> Course {
        Course {
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

    /// What did not do so far, in the order in which it was tried.
    pub fn history(&self) -> &[String] {
        &self.history
    }

    /// What to do after what was seen.
    ///
    /// # Panics
    ///
    /// Where that is no answer to what was to be done: nobody may pass a gate that was not asked about.
    pub fn step(&mut self, seen: Seen) -> Next {
        match (self.stage, seen) {
            (Stage::Asking(what), seen) => self.answered(what, seen),
            (Stage::Red, Seen::Passed) => self.ask(Asked::Code, None),
            (Stage::Red, Seen::Failed(why)) => self.meaningless(why),
            (Stage::Red, Seen::Holds) => self.go(Stage::Green, Next::Green),
            (Stage::Green, Seen::Passed) => self.go(Stage::Lint, Next::Lint),
            (Stage::Lint, Seen::Passed) => self.go(Stage::Report, Next::Report),
            (Stage::Green | Stage::Lint, Seen::Failed(why)) => self.fix(why),
            (Stage::Report, Seen::Written) => self.go(Stage::Review, Next::Review),
            (Stage::Review, Seen::Reviewed(review)) => self.reviewed(review),
            (Stage::Merge, Seen::Merged) => self.end(Ending::Merged),
            (Stage::Merge, Seen::NotMerged(why)) => self.end(Ending::NeedsPerson(why)),
            (stage, seen) => panic!("{seen:?} does not answer {stage:?}"),
        }
    }

    fn answered(&mut self, what: Asked, seen: Seen) -> Next {
        match seen {
            Seen::Written => {
                self.malformed = 0;
                match what {
                    Asked::Scaffold => self.go(Stage::Red, Next::Red),
                    Asked::Code | Asked::Fix => self.go(Stage::Green, Next::Green),
                }
            }
            Seen::Unusable(why) => self.unusable(what, why),
            Seen::NoReply(why) => self.end(Ending::Failed(why)),
            Seen::Holds => self.end(Ending::Merged),
            seen => panic!("{seen:?} does not answer a prompt for {what:?}"),
        }
    }

    fn unusable(&mut self, what: Asked, why: String) -> Next {
        self.history.push(format!("an answer could not be used: {why}"));
        self.malformed += 1;
        if self.malformed <= self.limits.malformed_reasks {
            return self.ask(what, Some(why));
        }
        let times = self.malformed;
        self.end(Ending::NeedsPerson(format!(
            "{times} answers in a row could not be used, the last since {why}"
        )))
    }

    fn meaningless(&mut self, why: String) -> Next {
        self.history.push(format!("red gate: {why}"));
        self.sent_back += 1;
        match self.sent_back <= self.limits.red_reasks {
            true => self.ask(Asked::Scaffold, Some(why)),
            false => self.end(Ending::NeedsPerson(format!("there are no tests that fail: {why}"))),
        }
    }

    fn fix(&mut self, why: String) -> Next {
        self.history.push(why);
        if self.retries < self.limits.retries {
            self.retries += 1;
            return self.ask(Asked::Fix, None);
        }
        let last = self.history.last().map_or("", |it| it.lines().next().unwrap_or_default());
        let why = match self.retries {
            0 => format!("the only attempt failed, because {last}"),
            more => format!("{} attempts failed, the last because {last}", more + 1),
        };
        self.end(Ending::NeedsPerson(why))
    }

    fn reviewed(&mut self, review: Review) -> Next {
        match review {
            Review::Approve => self.go(Stage::Merge, Next::Merge),
            Review::Edited => self.go(Stage::Green, Next::Green),
            Review::SendBack(words) => self.fix(format!("review: {words}")),
            Review::Leave => self.end(Ending::Left),
            Review::Nobody => self.end(Ending::NeedsPerson(
                "look at the change, then approve it or request changes".to_owned(),
            )),
        }
    }

    fn ask(&mut self, what: Asked, complaint: Option<String>) -> Next {
        let count = match what {
            Asked::Scaffold => &mut self.scaffolds,
            Asked::Code => &mut self.codes,
            Asked::Fix => &mut self.fixes,
        };
        let attempt = *count;
        *count += 1;
        self.go(Stage::Asking(what), Next::Ask { what, attempt, complaint })
    }

    fn go(&mut self, stage: Stage, next: Next) -> Next {
        self.stage = stage;
        next
    }

    fn end(&mut self, ending: Ending) -> Next {
        let history = std::mem::take(&mut self.history);
        self.go(Stage::Ended, Next::End(End { ending, history }))
    }
}
