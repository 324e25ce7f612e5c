//! State machine of one node of a planning graph, without I/O: from its first tests to a draft that
//! passes them.
//!
//! ```text
//! tests ─► red run ─► implementation ─► green run ─► accepted ◄── green run of an earlier draft
//!   ▲  sent back │                         │ fails        ▲
//!   └────────────┘     missing import ◄────┤ added        │ flaky: passes unchanged
//!   ▲                                      ▼              │
//!   │                                 run again ──────────┘
//!   │                                      ▼ fails again
//!   └──────── test issue ◄──────── rules, else votes ──► environment: skipped; split: a person
//!                                          ▼ implementation
//!                          green run ◄── fix ◄── search
//! ```

mod cause;
mod debug;
mod failure;
mod red;
mod state;
mod upstream;
mod vocabulary;

use std::collections::BTreeMap;

use crate::diagnosis::{Flakiness, RerunHistory, uses_nondeterminism};
use crate::draft::{self, DraftError, NormalizedReply};
use crate::failures;
use crate::item::Item;
use crate::missing_imports;
use crate::observation::TestRun;
use crate::policy::{FixWith, Policy};
use crate::prompt::{self, ItemContext, Prompt, prompts};
use crate::routing::{self, Route};
use crate::state_machine::{Machine, OutOfTurn};
use crate::vocabulary::{Decision, ModelRequest, Note, Outcome, Query, Reply, RunMode, Stage};

pub use cause::Cause;
use failure::stack_text;
pub use state::State;
pub use vocabulary::{Action, Event};

/// Temperatures of all requests except votes, by the number of unusable answers in a row: from the
/// second unusable answer on the temperature rises, so that the next answer differs.
const TEMPERATURES: [f32; 5] = [0.0, 0.0, 0.4, 0.6, 0.8];

/// Complaint about edited files in reply to a request without tools.
const NOT_ASKED_TO_EDIT: &str = "files were edited where a text was asked for";

/// Reason for a request for tests.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TestsWanted {
    First,
    /// The current tests are too few; they stay if no better ones come.
    More,
    /// The red gate or a missing name sent the tests back.
    Better,
    /// A diagnosis judged the tests wrong.
    Again,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Idle,
    AwaitTests(TestsWanted),
    RedRun,
    AwaitImplementation,
    GreenRun,
    Voting,
    Localizing,
    AwaitFix,
    /// The fix changes code that other items build on.
    AwaitTurn,
    RegressionRun,
    AwaitDecision,
    Done,
}

impl Phase {
    fn waits_for(&self) -> &'static str {
        match self {
            Phase::Idle => "its beginning",
            Phase::AwaitTests(_) => "tests",
            Phase::RedRun | Phase::GreenRun => "a test run",
            Phase::AwaitImplementation => "an implementation",
            Phase::Voting => "a vote",
            Phase::Localizing => "a localization",
            Phase::AwaitFix => "a fix",
            Phase::AwaitTurn => "its turn",
            Phase::RegressionRun => "a regression run",
            Phase::AwaitDecision => "a decision",
            Phase::Done => "nothing",
        }
    }
}

/// The work on one node.
pub struct NodeMachine<'a> {
    item: &'a Item,
    policy: &'a Policy,
    around: &'a ItemContext,
    state: State,
    /// Actions of the running step.
    actions: Vec<Action>,
}

impl Machine for NodeMachine<'_> {
    type Event = Event;
    type Action = Action;

    fn step(&mut self, event: Event) -> Result<Vec<Action>, OutOfTurn> {
        self.take(event)?;
        Ok(std::mem::take(&mut self.actions))
    }
}

impl<'a> NodeMachine<'a> {
    pub fn new(
        item: &'a Item,
        policy: &'a Policy,
        around: &'a ItemContext,
        state: State,
    ) -> NodeMachine<'a> {
        NodeMachine { item, policy, around, state, actions: Vec::new() }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    fn take(&mut self, event: Event) -> Result<(), OutOfTurn> {
        let phase = self.state.phase.clone();
        match (phase, event) {
            (Phase::Idle, Event::Started) if self.state.rechecks => self.run(RunMode::Green),
            (Phase::Idle, Event::Started) => self.ask_tests(TestsWanted::First),
            (Phase::AwaitTests(want), Event::Reply(reply)) => self.tests_reply(want, reply),
            (Phase::RedRun, Event::Tests(run)) => self.red(&run),
            (Phase::AwaitImplementation, Event::Reply(reply)) => self.implementation_reply(reply),
            (Phase::GreenRun, Event::Tests(run)) => self.green(run),
            (Phase::Voting, Event::Votes(replies)) => self.votes(replies),
            (Phase::Localizing, Event::Localized(found)) => {
                self.state.localized = found;
                self.ask_fix(None);
            }
            (Phase::Localizing, Event::Exhausted(attempts)) => self.exhausted(attempts),
            (Phase::AwaitTurn, Event::Exclusive) => {
                self.state.alone = true;
                self.run(RunMode::Green);
            }
            (Phase::RegressionRun, Event::Tests(run)) => self.regression(run),
            (Phase::AwaitFix, Event::Reply(reply)) => self.fix_reply(reply),
            (Phase::AwaitFix, Event::Exhausted(attempts)) => {
                self.state.localized.attempts = attempts;
                self.nothing_found();
            }
            (Phase::AwaitDecision, Event::Decided(decision)) => self.decided(decision),
            (phase, event) => return Err(OutOfTurn::new(event.phrase(), phase.waits_for())),
        }
        Ok(())
    }

    fn tests_reply(&mut self, want: TestsWanted, reply: Reply) {
        match reply {
            Reply::Text(text) => self.tests(want, &text),
            Reply::Failed { .. } | Reply::Unusable { .. } if want == TestsWanted::More => {
                self.accept_few_tests();
            }
            Reply::Unusable { why } => self.send_tests_back(why),
            Reply::Edited(_) => self.send_tests_back(NOT_ASKED_TO_EDIT.to_owned()),
            Reply::Failed { reason } => self.no_reply(reason),
        }
    }

    fn implementation_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Text(text) => self.implementation(&text),
            Reply::Unusable { why } => self.no_implementation(why.clone(), why, ""),
            Reply::Edited(_) => {
                let why = NOT_ASKED_TO_EDIT.to_owned();
                self.no_implementation(why.clone(), why, "");
            }
            Reply::Failed { .. } if self.state.malformed > 0 => {
                self.attempt_failed(self.state.complaint.clone(), "");
            }
            Reply::Failed { reason } => self.no_reply(reason),
        }
    }

    fn fix_reply(&mut self, reply: Reply) {
        match reply {
            Reply::Text(text) => self.fix(&text),
            Reply::Edited(edit) => self.edited(&edit.files, &edit.before),
            Reply::Unusable { why } => self.no_fix(why.clone(), why, ""),
            Reply::Failed { reason } => self.no_reply(reason),
        }
    }

    fn no_reply(&mut self, reason: String) {
        self.give_up(Cause::NoAnswer, Outcome::Failed { reason });
    }

    fn decided(&mut self, decision: Decision) {
        match decision {
            Decision::Accept { by } => self.approved(&by),
            Decision::AcceptEdited(edit) => self.rewritten(&edit.files, &edit.before),
            Decision::Reject { why } => {
                let reason = format!("the fix was declined: {why}");
                self.give_up(Cause::Declined, Outcome::NeedsHuman { reason });
            }
            Decision::Defer { .. } | Decision::Skip | Decision::Stop | Decision::NoReviewer => {
                let reason = "the fix needs your review".to_owned();
                self.give_up(Cause::Unapproved, Outcome::NeedsHuman { reason });
            }
        }
    }

    fn note(&mut self, what: &'static str, text: impl Into<String>) {
        self.actions.push(Action::Note(Note { what, text: text.into() }));
    }

    fn notes(&mut self, what: &'static str, texts: Vec<String>) {
        texts.into_iter().for_each(|text| self.note(what, text));
    }

    fn give_up(&mut self, cause: Cause, verdict: Outcome) {
        self.state.phase = Phase::Done;
        self.state.cause = Some(cause);
        if let Outcome::NeedsHuman { reason } = &verdict {
            let context = self.debug_context(reason);
            self.actions.push(Action::Explain(Box::new(context)));
        }
        self.actions.push(Action::Revert);
        self.actions.push(Action::Finish(verdict));
    }

    fn ask(&mut self, stage: Stage, attempt: u32, prompt: Prompt, route: Route) {
        let tools = stage == Stage::Fix && self.policy.fix_with == FixWith::Tools;
        self.actions.push(Action::Complete(ModelRequest {
            stage,
            attempt,
            temperature: TEMPERATURES[self.state.unusable.min(TEMPERATURES.len() - 1)],
            prompt,
            prompt_version: prompt::words(stage, tools).version(),
            tier: route.tier,
            why: route.why,
            tools,
        }));
    }

    fn run(&mut self, run: RunMode) {
        self.state.repeats = RerunHistory::default();
        self.actions.push(Action::Apply(self.state.draft.clone()));
        self.actions.push(Action::RunTests(run));
        self.state.phase = if run == RunMode::Red { Phase::RedRun } else { Phase::GreenRun };
    }

    fn ask_implementation(&mut self, complaint: Option<&str>) {
        let tests = source(&self.state.draft.tests);
        let red = &self.state.red_output;
        let prompt = prompts::implementation(self.item, self.around, &tests, red, complaint);
        let attempt = self.state.implementation_asked;
        self.state.implementation_asked += 1;
        let route = routing::of_item(self.item, self.state.malformed);
        self.ask(Stage::Implementation, attempt, prompt, route);
        self.state.phase = Phase::AwaitImplementation;
    }

    fn implementation(&mut self, text: &str) {
        match draft::implementation(self.item, text) {
            Ok(found) => self.try_out(found),
            Err(error @ DraftError::NoCode) => {
                self.no_implementation(
                    "it holds no Python code".to_owned(),
                    error.to_string(),
                    text,
                );
            }
            Err(DraftError::Unusable(why)) => self.no_implementation(why.clone(), why, text),
            Err(error) => self.attempt_failed(error.to_string(), text),
        }
    }

    /// Sends an answer without usable code back with `complaint`. Once `malformed_reasks` is used
    /// up, the attempt fails with `reason`.
    fn no_implementation(&mut self, complaint: String, reason: String, text: &str) {
        if !self.may_send_back(&reason) {
            return self.attempt_failed(reason, text);
        }
        self.ask_implementation(Some(&complaint));
    }

    /// Counts answers sent back, and returns whether one more is allowed. `reason` is the item's
    /// reason for failure if no further reply comes.
    fn may_send_back(&mut self, reason: &str) -> bool {
        let may = self.state.malformed < self.policy.malformed_reasks;
        self.state.unusable += 1;
        if may {
            self.state.malformed += 1;
            self.state.complaint = reason.to_owned();
        }
        may
    }

    fn try_out(&mut self, found: NormalizedReply) {
        self.notes("implementation-adjusted", found.notes);
        self.state.malformed = 0;
        self.state.import_fixes = 0;
        let same = self.state.draft.implementation.as_ref() == Some(&found.fragment);
        if same && found.amended.iter().all(|(id, text)| self.is_current(id, text)) {
            return self.attempt_failed("the answer changes nothing".to_owned(), "");
        }
        let text = found.fragment.to_source();
        if found.amended.is_empty() {
            if self.state.tried.contains(&text) {
                return self.attempt_failed("the answer is one that failed before".to_owned(), "");
            }
            self.state.tried.push(text);
        }
        self.state.unusable = 0;
        self.state.before = self.state.draft.clone();
        self.state.draft.implementation = Some(found.fragment);
        self.state.draft.amended = found.amended;
        match self.state.draft.amended.is_empty() || self.state.alone {
            true => self.run(RunMode::Green),
            false => self.await_turn(),
        }
    }

    fn green(&mut self, run: TestRun) {
        if run.proves() && self.state.repeats.is_empty() {
            return self.accept();
        }
        let may_change = self.state.repeats.is_empty() && !self.state.rechecks;
        if may_change && self.adds_missing_imports(&run) {
            return self.run(RunMode::Green);
        }
        if !run.proves() {
            self.state.reason = run.summary();
        }
        self.state.repeats.push(run.clone());
        let doubtful = uses_nondeterminism(&source(&self.state.draft.tests))
            || uses_nondeterminism(&source(&self.state.draft.implementation));
        match self.state.repeats.judge(self.policy.reruns, doubtful) {
            Flakiness::Flaky(tests) => {
                let text =
                    format!("{} passed unchanged after: {}", tests.join(", "), self.state.reason);
                self.note("flaky", text);
                self.state.flaky = tests;
                self.accept();
            }
            Flakiness::Unknown if !self.is_endless(&run) => {
                self.actions.push(Action::RunTests(RunMode::Again));
                self.state.phase = Phase::GreenRun;
            }
            _ => self.failed(&run),
        }
    }

    /// Accepts the draft. Tests of items that build on an amended one have to pass first (V1).
    fn accept(&mut self) {
        if !self.state.draft.amended.is_empty() {
            self.state.repeats = RerunHistory::default();
            return self.run_regression();
        }
        self.commit();
    }

    fn commit(&mut self) {
        if self.policy.approve_fixes && self.state.fixes > 0 && !self.state.approved {
            self.state.phase = Phase::AwaitDecision;
            return self.actions.push(Action::Review);
        }
        self.state.phase = Phase::Done;
        self.actions.push(Action::Finish(Outcome::Passed));
    }

    fn approved(&mut self, by: &str) {
        self.note("approved", by);
        self.state.approved = true;
        self.commit();
    }

    /// Applies a person's edit of the fix. The edit needs no approval, but has to pass the tests.
    fn rewritten(&mut self, files: &BTreeMap<String, String>, before: &BTreeMap<String, String>) {
        self.note("rewritten", "the fix was edited in review");
        let upstream = &self.state.localized.upstream;
        match draft::files(self.item, &self.state.draft, upstream, before, files) {
            Ok(found) => {
                self.state.approved = true;
                self.state.rewritten = true;
                self.state.draft.implementation = Some(found.fragment);
                self.state.draft.amended.extend(found.amended);
                self.run(RunMode::Green);
            }
            Err(error) => {
                let reason = format!("cannot use the fix as edited in review: {error}");
                self.give_up(Cause::Rewritten, Outcome::NeedsHuman { reason });
            }
        }
    }

    /// Handles a draft that fails in every run: gives up on a person's edit, else diagnoses the
    /// failure.
    fn failed(&mut self, run: &TestRun) {
        if self.state.rewritten {
            // A model's fix would overwrite the person's edit.
            let reason = format!("the fix as edited in review fails: {}", run.summary());
            return self.give_up(Cause::Rewritten, Outcome::NeedsHuman { reason });
        }
        if self.state.rechecks && !self.is_environment(run) {
            return self.begin_again(run);
        }
        self.take_back_amendments();
        self.state.failure = failures::summarize(run) + &stack_text(&run.stack);
        self.state.query =
            Query { failures: run.failures().cloned().collect(), stack: run.stack.clone() };
        self.diagnose(run);
    }

    /// Discards the draft of an earlier start, whose tests fail since a dependency changed.
    fn begin_again(&mut self, run: &TestRun) {
        self.note(
            "outdated",
            format!("its tests fail since a dependency changed: {}", run.summary()),
        );
        self.actions.push(Action::Revert);
        self.state = match self.state.by_hand {
            true => State::written_by_hand(),
            false => State::default(),
        };
        self.ask_tests(TestsWanted::First);
    }

    fn adds_missing_imports(&mut self, run: &TestRun) -> bool {
        let import_fix = missing_imports::find(self.item, &self.state.draft, run);
        if import_fix.is_empty() || self.state.import_fixes >= self.policy.import_fixes {
            return false;
        }
        self.state.import_fixes += 1;
        self.note("import-added", import_fix.names().join("; "));
        let draft = &mut self.state.draft;
        draft
            .implementation
            .iter_mut()
            .for_each(|it| it.add_imports(import_fix.implementation.clone()));
        draft.tests.iter_mut().for_each(|it| it.add_imports(import_fix.tests.clone()));
        true
    }
}

fn source(fragment: &Option<trellis_python::Fragment>) -> String {
    fragment.as_ref().map(trellis_python::Fragment::to_source).unwrap_or_default()
}
