//! The state machine: `step(state, observation) -> (state, actions)`.
//!
//! ```text
//! tests ─► red run ─► implementation ─► green run ─► accepted
//!   ▲  sent back │                         │ fails
//!   └────────────┘     missing import ◄────┤ mended, run again
//!   ▲                                      ▼
//!   └──────── test issue ◄───────────── votes ──► environment: skipped; split: a person
//!                                          ▼ implementation
//!                          green run ◄── fix ◄── search
//! ```

use crate::diagnosis::{Diagnosis, Votes};
use crate::draft::{self, Draft, DraftError, Normalised};
use crate::item::Item;
use crate::mend;
use crate::observation::{Ending, Failure, Frame, TestRun};
use crate::policy::Policy;
use crate::prompt::{self, FixFacts, Message, Stage, Surroundings};

/// Longest failure text handed to a model, in bytes.
const FAILURE_BYTES: usize = 6000;
/// Temperature of everything but votes.
const STEADY: f32 = 0.0;

/// What the world said.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Work on the item begins.
    Begin,
    /// The model's text.
    Reply(String),
    /// No reply can be had.
    NoReply {
        reason: String,
    },
    Ran(TestRun),
    Found(Localized),
    /// Nobody is there to decide.
    NoHuman,
}

/// What a localization brought (L5; its depth is the driver's).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Localized {
    pub suspects: Vec<Suspect>,
}

/// A place that may hold the bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub path: String,
    pub line: u32,
    pub symbol: String,
    pub why: String,
}

/// What to localize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub failures: Vec<Failure>,
    /// The stack at the deadline of a run that timed out.
    pub stack: Vec<Frame>,
}

/// One question to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub stage: Stage,
    /// Counted from 0 within the stage of the item; for a diagnosis the vote.
    pub attempt: u32,
    pub temperature: f32,
    pub messages: Vec<Message>,
}

/// Something worth a line in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub what: &'static str,
    pub text: String,
}

/// How an item ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed {
        reason: String,
    },
    /// A person has to look; `failed` with the reason `needs_human: …`.
    NeedsHuman {
        reason: String,
    },
    /// An environment issue.
    Skipped {
        reason: String,
    },
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    AskModel(Ask),
    /// Replaces the item's draft in the buffer.
    Edit(Draft),
    /// Runs the item's tests on the tree plus the draft; `red`: without the draft's implementation.
    RunTests {
        red: bool,
    },
    Search(Query),
    AskHuman {
        question: String,
    },
    /// Accepts the draft into the workspace.
    Commit,
    /// Takes the draft back.
    Revert,
    Note(Note),
    Finish(Verdict),
}

/// Why tests are being asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Want {
    First,
    /// The tests at hand are too few; they stay if nothing better comes.
    More,
    /// The red gate or a missing name sent them back.
    Better,
    /// A diagnosis said that they are wrong.
    Again,
}

#[derive(Clone, Debug, PartialEq)]
enum Phase {
    Idle,
    AwaitTests(Want),
    RedRun,
    AwaitImplementation,
    GreenRun,
    Voting,
    Searching,
    AwaitFix,
    AwaitHuman,
    Done,
}

/// Where an item stands.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    phase: Phase,
    draft: Draft,
    red_output: String,
    complaint: String,
    tests_asked: u32,
    implementation_asked: u32,
    fixes_asked: u32,
    fixes: u32,
    red_reasks: u32,
    regenerations: u32,
    malformed: u32,
    mends: u32,
    asked_for_more: bool,
    votes: Votes,
    failure: String,
    reason: String,
    earlier: Vec<String>,
    query: Query,
    suspects: Vec<Suspect>,
}

impl Default for State {
    fn default() -> Self {
        State {
            phase: Phase::Idle,
            draft: Draft::default(),
            red_output: String::new(),
            complaint: String::new(),
            tests_asked: 0,
            implementation_asked: 0,
            fixes_asked: 0,
            fixes: 0,
            red_reasks: 0,
            regenerations: 0,
            malformed: 0,
            mends: 0,
            asked_for_more: false,
            votes: Votes::default(),
            failure: String::new(),
            reason: String::new(),
            earlier: Vec::new(),
            query: Query { failures: Vec::new(), stack: Vec::new() },
            suspects: Vec::new(),
        }
    }
}

impl State {
    /// Fixes applied so far: the checkpoint's `retry_count`.
    pub fn fixes(&self) -> u32 {
        self.fixes
    }

    pub fn draft(&self) -> &Draft {
        &self.draft
    }
}

/// One step. The actions are to be performed in order; the last of them leads to the next observation.
pub fn step(
    item: &Item,
    policy: &Policy,
    around: &Surroundings,
    state: State,
    observation: Observation,
) -> (State, Vec<Action>) {
    let mut turn = Turn { item, policy, around, state, actions: Vec::new() };
    turn.take(observation);
    (turn.state, turn.actions)
}

struct Turn<'a> {
    item: &'a Item,
    policy: &'a Policy,
    around: &'a Surroundings,
    state: State,
    actions: Vec<Action>,
}

impl Turn<'_> {
    fn take(&mut self, observation: Observation) {
        let phase = std::mem::replace(&mut self.state.phase, Phase::Done);
        match (phase, observation) {
            (Phase::Idle, Observation::Begin) => self.ask_tests(Want::First),
            (Phase::AwaitTests(want), Observation::Reply(text)) => self.tests(want, &text),
            (Phase::AwaitTests(Want::More), Observation::NoReply { .. }) => {
                self.note("few-tests", "no more tests came; the few there are were taken");
                self.red_gate();
            }
            (Phase::RedRun, Observation::Ran(run)) => self.red(&run),
            (Phase::AwaitImplementation, Observation::Reply(text)) => self.implementation(&text),
            (Phase::AwaitImplementation, Observation::NoReply { .. })
                if self.state.malformed > 0 =>
            {
                self.attempt_failed("the reply holds no Python code".to_owned());
            }
            (Phase::GreenRun, Observation::Ran(run)) => self.green(run),
            (Phase::Voting, Observation::Reply(text)) => self.vote(&text),
            (Phase::Searching, Observation::Found(found)) => {
                self.state.suspects = found.suspects;
                self.ask_fix();
            }
            (Phase::AwaitFix, Observation::Reply(text)) => self.fix(&text),
            (Phase::AwaitHuman, Observation::NoHuman) => {
                let reason = self.state.reason.clone();
                self.give_up(Verdict::NeedsHuman { reason });
            }
            (_, Observation::NoReply { reason }) => self.give_up(Verdict::Failed { reason }),
            (phase, observation) => {
                let reason = format!("{observation:?} makes no sense while {phase:?}");
                self.give_up(Verdict::Failed { reason });
            }
        }
    }

    fn note(&mut self, what: &'static str, text: impl Into<String>) {
        self.actions.push(Action::Note(Note { what, text: text.into() }));
    }

    fn notes(&mut self, what: &'static str, texts: Vec<String>) {
        texts.into_iter().for_each(|text| self.note(what, text));
    }

    fn give_up(&mut self, verdict: Verdict) {
        self.state.phase = Phase::Done;
        self.actions.push(Action::Revert);
        self.actions.push(Action::Finish(verdict));
    }

    fn ask(&mut self, stage: Stage, attempt: u32, temperature: f32, messages: Vec<Message>) {
        self.actions.push(Action::AskModel(Ask { stage, attempt, temperature, messages }));
    }

    fn run(&mut self, red: bool) {
        self.actions.push(Action::Edit(self.state.draft.clone()));
        self.actions.push(Action::RunTests { red });
        self.state.phase = if red { Phase::RedRun } else { Phase::GreenRun };
    }

    // --- tests first -------------------------------------------------------------------------

    fn ask_tests(&mut self, want: Want) {
        let old = source(&self.state.draft.tests);
        let complaint =
            (want != Want::First).then_some((self.state.complaint.as_str(), old.as_str()));
        let messages = prompt::tests(self.item, self.around, self.policy, complaint);
        let attempt = self.state.tests_asked;
        self.state.tests_asked += 1;
        self.ask(Stage::Tests, attempt, STEADY, messages);
        self.state.phase = Phase::AwaitTests(want);
    }

    fn tests(&mut self, want: Want, text: &str) {
        let found = match draft::tests(self.item, text) {
            Ok(found) => found,
            Err(_) if want == Want::More => return self.red_gate(),
            Err(error) => return self.send_tests_back(error.to_string()),
        };
        self.notes("tests-adjusted", found.notes);
        self.state.draft.tests = Some(found.fragment);
        if found.cases < self.policy.least_cases && !self.state.asked_for_more {
            self.state.asked_for_more = true;
            let (least, cases) = (self.policy.least_cases, found.cases);
            self.state.complaint =
                format!("at least {least} test cases are wanted, there are {cases}");
            self.note("few-tests", self.state.complaint.clone());
            return self.ask_tests(Want::More);
        }
        self.red_gate();
    }

    fn send_tests_back(&mut self, why: String) {
        if self.state.red_reasks >= self.policy.red_reasks {
            let reason =
                format!("no meaningful tests after {} re-asks: {why}", self.state.red_reasks);
            return self.give_up(Verdict::Failed { reason });
        }
        self.state.red_reasks += 1;
        self.note("tests-sent-back", why.clone());
        self.state.complaint = format!("Write meaningful tests first: {why}");
        self.ask_tests(Want::Better);
    }

    fn red_gate(&mut self) {
        if self.item.red_gate {
            return self.run(true);
        }
        self.note("red-gate-skipped", "the plan skips the red gate for this node");
        self.after_red();
    }

    fn red(&mut self, run: &TestRun) {
        self.state.red_output = failure_text(run);
        match judge_red(self.item, run) {
            Red::Red => {
                let passing = run.passed();
                if passing > 0 {
                    let text = format!("{passing} tests pass without the implementation");
                    self.note("weak-tests", text);
                }
                self.after_red();
            }
            Red::Broken(why) if !self.mended(run) => self.send_tests_back(why),
            Red::Broken(_) => self.run(true),
            Red::Meaningless => {
                let why = "they pass without the implementation".to_owned();
                self.send_tests_back(why);
            }
        }
    }

    /// New tests lead to the implementation; tests written anew meet the one that is there.
    fn after_red(&mut self) {
        match self.state.draft.implementation {
            Some(_) => self.run(false),
            None => self.ask_implementation(None),
        }
    }

    // --- then code ---------------------------------------------------------------------------

    fn ask_implementation(&mut self, complaint: Option<&str>) {
        let tests = source(&self.state.draft.tests);
        let red = &self.state.red_output;
        let messages = prompt::implementation(self.item, self.around, &tests, red, complaint);
        let attempt = self.state.implementation_asked;
        self.state.implementation_asked += 1;
        self.ask(Stage::Implementation, attempt, STEADY, messages);
        self.state.phase = Phase::AwaitImplementation;
    }

    fn implementation(&mut self, text: &str) {
        match draft::implementation(self.item, text) {
            Ok(found) => self.try_out(found),
            Err(DraftError::NoCode) if self.state.malformed < self.policy.malformed_reasks => {
                self.state.malformed += 1;
                self.ask_implementation(Some("it holds no Python code"));
            }
            Err(error) => self.attempt_failed(error.to_string()),
        }
    }

    fn try_out(&mut self, found: Normalised) {
        self.notes("implementation-adjusted", found.notes);
        self.state.malformed = 0;
        self.state.mends = 0;
        if self.state.draft.implementation.as_ref() == Some(&found.fragment) {
            let again = self.state.reason.clone();
            return self.attempt_failed(format!("the answer changes nothing; still {again}"));
        }
        self.state.draft.implementation = Some(found.fragment);
        self.run(false);
    }

    fn green(&mut self, run: TestRun) {
        if run.proves() {
            self.state.phase = Phase::Done;
            self.actions.extend([Action::Commit, Action::Finish(Verdict::Passed)]);
            return;
        }
        if self.mended(&run) {
            return self.run(false);
        }
        self.state.failure = failure_text(&run);
        self.state.reason = run.summary();
        self.state.query = Query { failures: run.failures().cloned().collect(), stack: Vec::new() };
        match run.ending {
            Ending::TimedOut { stack } if in_code_under_test(self.item, &stack) => {
                self.note("endless-loop", self.state.reason.clone());
                self.state.query.stack = stack;
                self.search();
            }
            Ending::TimedOut { .. } => {
                let reason = format!("environment: {}", self.state.reason);
                self.give_up(Verdict::Skipped { reason });
            }
            _ => self.ask_vote(Votes::default()),
        }
    }

    fn mended(&mut self, run: &TestRun) -> bool {
        let mend = mend::find(self.item, &self.state.draft, run);
        if mend.is_empty() || self.state.mends >= self.policy.mends {
            return false;
        }
        self.state.mends += 1;
        self.note("import-added", mend.names().join("; "));
        let draft = &mut self.state.draft;
        draft.implementation.iter_mut().for_each(|it| it.add_imports(mend.implementation.clone()));
        draft.tests.iter_mut().for_each(|it| it.add_imports(mend.tests.clone()));
        true
    }

    // --- what is wrong, and the fix ----------------------------------------------------------

    fn ask_vote(&mut self, votes: Votes) {
        let draft = &self.state.draft;
        let (tests, implementation) = (source(&draft.tests), source(&draft.implementation));
        let messages = prompt::diagnosis(self.item, &tests, &implementation, &self.state.failure);
        let vote = votes.cast();
        self.state.votes = votes;
        self.ask(Stage::Diagnosis, vote, 0.3 + 0.1 * vote as f32, messages);
        self.state.phase = Phase::Voting;
    }

    fn vote(&mut self, text: &str) {
        let mut votes = self.state.votes;
        votes.add(text);
        match votes.winner(self.policy.votes) {
            Some(Diagnosis::Implementation) => self.search(),
            Some(Diagnosis::Test) => self.regenerate(),
            Some(Diagnosis::Environment) => {
                let reason = format!("environment: {}", self.state.reason);
                self.give_up(Verdict::Skipped { reason });
            }
            None if votes.is_split(self.policy.votes) => self.ask_human(),
            None => self.ask_vote(votes),
        }
    }

    fn ask_human(&mut self) {
        let question = format!("the votes on a failure are split: {}", self.state.reason);
        self.state.reason = question.clone();
        self.state.phase = Phase::AwaitHuman;
        self.actions.push(Action::AskHuman { question });
    }

    fn regenerate(&mut self) {
        if self.state.regenerations >= self.policy.regenerations {
            let reason = format!(
                "the tests were judged wrong {} times: {}",
                self.state.regenerations + 1,
                self.state.reason
            );
            return self.give_up(Verdict::NeedsHuman { reason });
        }
        self.state.regenerations += 1;
        self.note("tests-judged-wrong", self.state.reason.clone());
        self.state.complaint = format!("They are wrong:\n{}", self.state.failure);
        self.ask_tests(Want::Again);
    }

    fn search(&mut self) {
        if self.state.fixes >= self.policy.fixes {
            let reason = format!("{} (after {} fixes)", self.state.reason, self.state.fixes);
            return self.give_up(Verdict::Failed { reason });
        }
        self.state.phase = Phase::Searching;
        self.actions.push(Action::Search(self.state.query.clone()));
    }

    fn ask_fix(&mut self) {
        let draft = &self.state.draft;
        let facts = FixFacts {
            tests: &source(&draft.tests),
            implementation: &source(&draft.implementation),
            failure: &self.state.failure,
            earlier: &self.state.earlier,
            suspects: &self.state.suspects,
        };
        let messages = prompt::fix(self.item, self.around, &facts);
        let attempt = self.state.fixes_asked;
        self.state.fixes_asked += 1;
        self.ask(Stage::Fix, attempt, STEADY, messages);
        self.state.phase = Phase::AwaitFix;
    }

    fn fix(&mut self, text: &str) {
        if let Err(DraftError::NoCode) = draft::fix(self.item, &self.state.draft, text)
            && self.state.malformed < self.policy.malformed_reasks
        {
            self.state.malformed += 1;
            self.note("malformed", "the fix holds neither code nor an edit");
            return self.ask_fix();
        }
        self.state.fixes += 1;
        let reason = self.state.reason.clone();
        self.state.earlier.push(reason);
        match draft::fix(self.item, &self.state.draft, text) {
            Ok(found) => self.try_out(found),
            Err(error) => self.attempt_failed(error.to_string()),
        }
    }

    /// An answer that could not even be run failed like one that ran red.
    fn attempt_failed(&mut self, why: String) {
        self.note("attempt-unusable", why.clone());
        self.state.failure = why.clone();
        self.state.reason = why;
        self.state.query = Query { failures: Vec::new(), stack: Vec::new() };
        self.search();
    }
}

enum Red {
    Red,
    Meaningless,
    Broken(String),
}

/// The red gate (T2): the tests must fail, and for the right reason.
fn judge_red(item: &Item, run: &TestRun) -> Red {
    match &run.ending {
        Ending::Passed => Red::Meaningless,
        Ending::CollectionError if run.collection.iter().all(|it| misses_item(item, it)) => {
            Red::Red
        }
        Ending::CollectionError => {
            Red::Broken(format!("they cannot be collected: {}", run.summary()))
        }
        Ending::Failed if run.failed() > 0 => Red::Red,
        _ => Red::Broken(format!("they do not fail as tests do: {}", run.summary())),
    }
}

/// Whether a collection failed because the item is not there yet.
fn misses_item(item: &Item, failure: &Failure) -> bool {
    let own_module = failure.missing_module.as_deref().is_some_and(|module| {
        item.module == module || item.module.starts_with(&format!("{module}."))
    });
    match &failure.missing_attribute {
        Some(name) => own_module && name == item.import_name(),
        None if failure.exception == "AttributeError" => failure.message.contains(&item.name),
        None => own_module,
    }
}

/// Whether the deepest frame inside the repository stands outside the tests (V4).
fn in_code_under_test(item: &Item, stack: &[Frame]) -> bool {
    let inside = |frame: &&Frame| !frame.path.starts_with('/') && !frame.path.starts_with('<');
    let deepest = stack.iter().rfind(inside);
    deepest.is_some_and(|frame| frame.path != item.test_path && !frame.path.starts_with("tests/"))
}

fn source(fragment: &Option<code::Fragment>) -> String {
    fragment.as_ref().map(code::Fragment::to_source).unwrap_or_default()
}

/// Tracebacks of the first failures, cut in the middle when long.
fn failure_text(run: &TestRun) -> String {
    let mut out = String::new();
    for failure in run.failures().take(5) {
        let text = if failure.traceback.is_empty() { &failure.message } else { &failure.traceback };
        out.push_str(text.trim_end());
        out.push_str("\n\n");
    }
    if out.is_empty() {
        out = format!("{}\n{}", run.summary(), run.output);
    }
    cut_middle(out.trim_end(), FAILURE_BYTES)
}

fn cut_middle(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(limit / 2);
    let tail = text.ceil_char_boundary(text.len() - limit / 2);
    format!("{}\n[… {} bytes left out …]\n{}", &text[..head], tail - head, &text[tail..])
}
