//! Tests of the state machine: scripted replies and runs in, the trace of actions out.
//!
//! [`check`] and [`play`] are the only callers of `step`. A localization is answered automatically.

mod approvals;
mod earlier;
mod fixes;
mod gates;
mod import_fixes;
mod prompts;
mod replies;
mod routes;
mod snapshots;
mod tools;
mod upstream;
mod votes;

use std::collections::BTreeMap;

use trellis_engine::node::{Action, Event, NodeMachine, State};
use trellis_engine::{
    DebugContext, Decision, Dependency, Draft, EditedFiles, Failure, Frame, Item, ItemContext,
    ItemKind, Localization, Machine as _, ModelRequest, Outcome, Policy, Prompt, Reply, RunOutcome,
    TestCase, TestRun,
};
use trellis_python::Signature;

/// Scripted input of the state machine.
enum In {
    Say(String),
    /// Votes in order: a letter, with `!` if the model is sure; `?` is no letter, `-` no answer.
    /// Letters beyond the requested votes remain unused.
    Votes(&'static str),
    /// No reply.
    Silence,
    /// A reply without a text.
    Unusable(&'static str),
    /// Files as changed by tools, and as the model received them.
    Left(EditedFiles),
    Run(TestRun),
    /// A person's decision on a fix.
    Decided(Decision),
}

use In::{Decided, Left, Run, Silence, Unusable, Votes};

fn say(text: &str) -> In {
    In::Say(text.to_owned())
}

fn python(code: &str) -> In {
    In::Say(format!("Here it is:\n\n```python\n{code}```\nThat should do.\n"))
}

/// Three tests of `mean`.
const TESTS: &str = "import pytest\nfrom pkg.stats import mean\n\ndef test_one():\n    assert mean([1]) == 1\n\ndef test_two():\n    assert mean([1, 2]) == 1.5\n\ndef test_none():\n    with pytest.raises(ValueError):\n        mean([])\n";
const GOOD: &str =
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values)\n";
const BAD: &str = "def mean(values: list[float]) -> float:\n    return 0.0\n";

fn tests() -> In {
    python(TESTS)
}

fn good() -> In {
    python(GOOD)
}

fn bad() -> In {
    python(BAD)
}

/// Returns a reply that differs from every other one.
fn worse(n: usize) -> In {
    python(&format!("def mean(values: list[float]) -> float:\n    return {n}.5\n"))
}

fn item() -> Item {
    Item {
        id: "stats.mean".to_owned(),
        kind: ItemKind::Function,
        name: "mean".to_owned(),
        class: None,
        planned_methods: Vec::new(),
        path: "src/pkg/stats.py".to_owned(),
        module: "pkg.stats".to_owned(),
        test_path: "tests/test_stats.py".to_owned(),
        signature: Some(
            Signature::parse("def mean(values: list[float]) -> float").expect("parses"),
        ),
        docstring: "The arithmetic mean.".to_owned(),
        examples: vec!["mean([1, 2]) == 1.5".to_owned()],
        libraries: vec!["numpy>=1.24".to_owned()],
        shares_tests: false,
        red_gate: true,
        dependencies: vec![dependency("total", "pkg.sums"), dependency("spread", "pkg.stats")],
        dependents: Vec::new(),
    }
}

fn dependency(name: &str, module: &str) -> Dependency {
    Dependency {
        is_direct: true,
        id: format!("{module}.{name}"),
        import_name: name.to_owned(),
        module: module.to_owned(),
        signature: format!("def {name}(values)"),
        summary: format!("The {name}."),
    }
}

/// Returns the method `Model.fit`.
fn method() -> Item {
    Item {
        id: "stats.Model.fit".to_owned(),
        kind: ItemKind::Method,
        name: "fit".to_owned(),
        class: Some("Model".to_owned()),
        planned_methods: vec!["fit".to_owned(), "predict".to_owned()],
        signature: Some(Signature::parse("def fit(self, rows)").expect("parses")),
        dependencies: vec![dependency("Model", "pkg.stats")],
        ..item()
    }
}

fn class() -> Item {
    Item {
        id: "stats.Model".to_owned(),
        kind: ItemKind::Class,
        name: "Model".to_owned(),
        planned_methods: vec!["fit".to_owned(), "predict".to_owned()],
        signature: None,
        ..item()
    }
}

// --- runs ------------------------------------------------------------------------------------

fn case(id: &str, failure: Option<Failure>) -> TestCase {
    let id = format!("tests/test_stats.py::{id}");
    TestCase { id, passed: failure.is_none(), set_aside: false, failure }
}

fn run(ending: RunOutcome) -> TestRun {
    TestRun {
        ending,
        stack: Vec::new(),
        cases: Vec::new(),
        collection: Vec::new(),
        output: String::new(),
    }
}

/// A run in which all three tests pass.
fn pass() -> In {
    let cases = ["test_one", "test_two", "test_none"].map(|id| case(id, None)).to_vec();
    Run(TestRun { cases, ..run(RunOutcome::Passed) })
}

fn fails(failure: Failure) -> In {
    let cases = vec![case("test_one", None), case("test_two", Some(failure))];
    Run(TestRun { cases, ..run(RunOutcome::Failed) })
}

/// A run with a failed assertion.
fn fail() -> In {
    fails(failure("AssertionError", "assert 0.0 == 1.5"))
}

fn uncollected(failure: Failure) -> In {
    Run(TestRun { collection: vec![failure], ..run(RunOutcome::CollectionError) })
}

/// The run before every implementation: the module does not exist.
fn red() -> In {
    uncollected(no_module("pkg.stats"))
}

fn failure(exception: &str, message: &str) -> Failure {
    Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        path: "src/pkg/stats.py".to_owned(),
        line: 2,
        traceback: format!("Traceback: {exception}: {message}"),
        ..Failure::default()
    }
}

fn no_module(module: &str) -> Failure {
    let message = format!("No module named '{module}'");
    Failure {
        missing_module: Some(module.to_owned()),
        path: "tests/test_stats.py".to_owned(),
        ..failure("ModuleNotFoundError", &message)
    }
}

fn no_name(path: &str, name: &str) -> Failure {
    let message = format!("name '{name}' is not defined");
    Failure {
        missing_name: Some(name.to_owned()),
        path: path.to_owned(),
        ..failure("NameError", &message)
    }
}

fn frame(path: &str, function: &str) -> Frame {
    Frame { path: path.to_owned(), line: 3, function: function.to_owned(), source: String::new() }
}

// --- the player ------------------------------------------------------------------------------

/// Renders a prompt as sent.
fn text(prompt: &Prompt, tokens: usize) -> String {
    let messages = prompt.messages(tokens);
    messages.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n")
}

struct Played {
    trace: String,
    state: State,
    /// Texts of all prompts, in order.
    prompts: Vec<String>,
    /// The requests as data; of a vote the first.
    asks: Vec<ModelRequest>,
    /// Journal notes: kind and text.
    notes: Vec<(String, String)>,
    draft: Draft,
    /// The page for a person.
    explained: Option<DebugContext>,
    /// Result of every localization.
    found: Event,
}

impl Played {
    fn implementation(&self) -> String {
        self.draft
            .implementation
            .as_ref()
            .map(trellis_python::Fragment::to_source)
            .unwrap_or_default()
    }

    fn tests(&self) -> String {
        self.draft.tests.as_ref().map(trellis_python::Fragment::to_source).unwrap_or_default()
    }

    fn note(&self, what: &str) -> &str {
        let note = self.notes.iter().find(|(it, _)| it == what);
        &note.unwrap_or_else(|| panic!("no note {what} in {:?}", self.notes)).1
    }
}

fn play(item: &Item, policy: &Policy, script: Vec<In>) -> Played {
    play_from(State::default(), item, policy, script)
}

fn play_from(state: State, item: &Item, policy: &Policy, script: Vec<In>) -> Played {
    play_found(Event::Localized(Localization::default()), state, item, policy, script)
}

/// Plays a script; every localization has the same result.
fn play_found(found: Event, state: State, item: &Item, policy: &Policy, script: Vec<In>) -> Played {
    play_in(&ItemContext::default(), found, state, item, policy, script)
}

fn play_in(
    around: &ItemContext,
    found: Event,
    state: State,
    item: &Item,
    policy: &Policy,
    script: Vec<In>,
) -> Played {
    let mut script = script.into_iter();
    let mut machine = NodeMachine::new(item, policy, around, state);
    let mut played = Played {
        trace: String::new(),
        state: State::default(),
        prompts: Vec::new(),
        asks: Vec::new(),
        notes: Vec::new(),
        draft: Draft::default(),
        explained: None,
        found,
    };
    let mut words: Vec<String> = Vec::new();
    let mut voices: Vec<&str> = Vec::new();
    let mut event = Some(Event::Started);
    while let Some(observed) = event.take() {
        for action in machine.step(observed).expect("an event in turn") {
            let (word, wanted) = played.perform(action);
            words.push(word);
            event = match wanted {
                Wanted::Nothing => event,
                Wanted::Input => script.next().map(|input| input.event(item, &words)),
                Wanted::This(it) => Some(it),
                Wanted::Voices(first, count) => {
                    if first == 0 || voices.is_empty() {
                        let Some(Votes(letters)) = script.next() else {
                            panic!("no votes: {words:?}")
                        };
                        voices = letters.split(' ').collect();
                    }
                    Some(Event::Votes(voices.drain(..count).map(voice).collect()))
                }
            };
        }
    }
    assert_eq!(script.count(), 0, "inputs nobody asked for, after: {}", words.join("; "));
    played.state = machine.state().clone();
    played.trace = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join("; ");
    played
}

enum Wanted {
    Nothing,
    Input,
    This(Event),
    /// This many votes, from this number on.
    Voices(usize, usize),
}

impl Played {
    fn asked(&mut self, ask: ModelRequest) {
        self.prompts.push(text(&ask.prompt, Policy::generate().context_tokens));
        self.asks.push(ask);
    }

    /// Performs an action; returns its name, and the input that it needs.
    fn perform(&mut self, action: Action) -> (String, Wanted) {
        match action {
            Action::Complete(ask) => {
                let word = format!("ask {} {}", ask.stage.as_str(), ask.attempt);
                self.asked(ask);
                (word, Wanted::Input)
            }
            Action::Apply(draft) => {
                self.draft = draft;
                (String::new(), Wanted::Nothing)
            }
            Action::Vote(asks) => {
                assert!(asks.windows(2).all(|it| it[0].attempt + 1 == it[1].attempt));
                assert!(asks.windows(2).all(|it| it[0].temperature < it[1].temperature));
                let (first, count) = (asks[0].attempt, asks.len());
                asks.into_iter().take(1).for_each(|ask| self.asked(ask));
                let word = if count == 1 { "vote".to_owned() } else { format!("vote {count}") };
                (word, Wanted::Voices(first as usize, count))
            }
            Action::RunTests(run) => {
                let word = match run {
                    trellis_engine::RunMode::Red => "run red",
                    trellis_engine::RunMode::Green => "run green",
                    trellis_engine::RunMode::Again => "run again",
                };
                (word.to_owned(), Wanted::Input)
            }
            Action::Localize(_) => {
                let found = self.found.clone();
                ("search".to_owned(), Wanted::This(found))
            }
            Action::AwaitExclusive => ("wait".to_owned(), Wanted::This(Event::Exclusive)),
            Action::RunRegressionTests => ("run regression".to_owned(), Wanted::Input),
            Action::Explain(context) => {
                self.explained = Some(*context);
                ("explain".to_owned(), Wanted::Nothing)
            }
            Action::Review => ("review".to_owned(), Wanted::Input),
            Action::Revert => ("revert".to_owned(), Wanted::Nothing),
            Action::Note(note) => {
                self.notes.push((note.what.to_owned(), note.text));
                (format!("[{}]", note.what), Wanted::Nothing)
            }
            Action::Finish(verdict) => (ending(verdict), Wanted::Nothing),
        }
    }
}

impl In {
    /// Converts the input to an event. A missing reply is named after the request, as in a
    /// recording.
    fn event(self, item: &Item, words: &[String]) -> Event {
        match self {
            In::Say(text) => Event::Reply(Reply::Text(text)),
            Votes(letters) => panic!("nobody asked for votes: {letters}"),
            Run(run) => Event::Tests(run),
            Decided(decision) => Event::Decided(decision),
            Left(edit) => Event::Reply(Reply::Edited(edit)),
            Unusable(why) => Event::Reply(Reply::Unusable { why: why.to_owned() }),
            Silence => {
                let ask = words.last().and_then(|word| word.strip_prefix("ask "));
                let what = ask.unwrap_or("?");
                let reason = format!("no recorded reply for {} {what}", item.id);
                Event::Reply(Reply::Failed { reason })
            }
        }
    }
}

fn voice(letter: &str) -> Result<String, String> {
    match letter {
        "-" => Err("no recorded reply for stats.mean diagnosis".to_owned()),
        letter => Ok(match letter.strip_suffix('!') {
            Some(letter) => format!("It says so.\n\nVERDICT: {letter}\nSURE: high\n"),
            None => letter.to_owned(),
        }),
    }
}

fn ending(verdict: Outcome) -> String {
    match verdict {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed { reason } => format!("failed: {reason}"),
        Outcome::NeedsHuman { reason } => format!("needs human: {reason}"),
        Outcome::Skipped { reason } => format!("skipped: {reason}"),
        Outcome::Deferred => "deferred".to_owned(),
    }
}

/// Plays a script for `mean` and compares the trace; returns all results.
#[track_caller]
fn check(script: Vec<In>, expect: &str) -> Played {
    check_item(&item(), script, expect)
}

#[track_caller]
fn check_item(item: &Item, script: Vec<In>, expect: &str) -> Played {
    let played = play(item, &Policy::generate(), script);
    let expect = expect.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(played.trace, expect);
    played
}
