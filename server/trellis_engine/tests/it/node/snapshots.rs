//! Snapshots of every prompt about a node: for a function, a method and a class.

use std::collections::BTreeMap;

use trellis_engine::{
    AcceptanceTarget, FixWith, IntegrationTarget, LIBRARY, ask_acceptance_tests,
    ask_integration_tests,
};

use super::*;
use crate::snapshot;

const SUMS: &str = "\
RATE = 2


def total(values: list[float]) -> float:
    \"\"\"The sum.

    Times the rate, and more.

    Raises:
        TypeError: for what is no number.
    \"\"\"
    return sum(values) * RATE
";

const STATS: &str = "\
class Model:
    \"\"\"A line through points.\"\"\"

    def __init__(self, rows: list[float]):
        self.rows = rows


def spread(values: list[float]) -> float:
    \"\"\"The spread.\"\"\"
    return max(values) - min(values)
";

/// Returns surroundings with a finished file and an unfinished one.
fn around() -> ItemContext {
    ItemContext {
        file: STATS.to_owned(),
        written: [("pkg.sums".to_owned(), SUMS.to_owned())].into(),
        ..ItemContext::default()
    }
}

/// Returns a traceback in pytest's format, with a library frame.
fn traceback(function: &str) -> String {
    format!(
        "\
values = []

    def test_two():
>       assert {function}([1, 2]) == 1.5

tests/test_stats.py:9: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def dumps(obj):
>       return encode(obj)

/usr/lib/python3.11/json/__init__.py:231: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

values = [1, 2]

    def {function}(values):
>       assert values[0] == 1.5
E       assert 1 == 1.5

src/pkg/stats.py:2: AssertionError"
    )
}

fn failing(function: &str) -> In {
    let first =
        Failure { traceback: traceback(function), ..failure("AssertionError", "assert 1 == 1.5") };
    let other = |n: usize| {
        failure("AssertionError", &format!("assert {n} == 7\n +  where {n} = {function}([{n}])"))
    };
    let mut cases = vec![case("test_two", Some(first)), case("test_one", None)];
    cases.extend((0..12).map(|n| case(&format!("test_many[{n}]"), Some(other(n)))));
    Run(TestRun { cases, ..run(RunOutcome::Failed) })
}

fn scripts() -> [(&'static str, Item, &'static str, [String; 3]); 3] {
    let function =
        |n: usize| format!("def mean(values: list[float]) -> float:\n    return {n}.0\n");
    let method = |n: usize| format!("class Model:\n    def fit(self, rows):\n        return {n}\n");
    let class = |n: usize| {
        format!("class Model:\n    def __init__(self, rows):\n        self.rows = rows[{n}:]\n")
    };
    [
        ("function", item(), "mean", [0, 1, 2].map(function)),
        ("method", super::method(), "Model.fit", [0, 1, 2].map(method)),
        ("class", super::class(), "Model", [0, 1, 2].map(class)),
    ]
}

fn named(stage: trellis_engine::Stage, attempt: u32, case: &str) -> String {
    format!("{}_{attempt}_{case}", stage.as_str())
}

#[test]
fn questions_about_a_node() {
    for (name, item, function, codes) in scripts() {
        let tests = TESTS.replace("import mean", &format!("import {}", item.import_name()));
        let mut script = vec![python(&tests.replace("mean(", &format!("{function}("))), red()];
        for code in &codes {
            script.extend([python(code), failing(function), failing(function), Votes("A!")]);
        }
        script.push(say("TEST IS WRONG: test_two; \"The arithmetic mean.\""));
        let found = Event::Localized(Localization::default());
        let policy = Policy::generate();
        let played = play_in(&around(), found, State::default(), &item, &policy, script);
        for (ask, prompt) in played.asks.iter().zip(&played.prompts) {
            snapshot::check(&named(ask.stage, ask.attempt, name), prompt);
        }
    }
}

#[test]
fn questions_for_a_fix_with_tools() {
    let policy = Policy { fix_with: FixWith::Tools, ..Policy::generate() };
    for (name, item, function, codes) in scripts() {
        let tests = TESTS.replace("import mean", &format!("import {}", item.import_name()));
        let tests = python(&tests.replace("mean(", &format!("{function}(")));
        let script = vec![
            tests,
            red(),
            python(&codes[0]),
            failing(function),
            failing(function),
            Votes("A!"),
        ];
        let found = Event::Localized(Localization::default());
        let played = play_in(&around(), found, State::default(), &item, &policy, script);
        let prompt = played.prompts.last().expect("a question");
        snapshot::check(&format!("fix_with_tools_{name}"), prompt);
    }
}

#[test]
fn questions_for_integration_tests() {
    let total = Item {
        id: "sums.total".to_owned(),
        name: "total".to_owned(),
        module: "pkg.sums".to_owned(),
        path: "src/pkg/sums.py".to_owned(),
        ..item()
    };
    let (fit, spread) = (method(), Item { name: "spread".to_owned(), ..item() });
    type Row<'a> = (&'a str, Vec<Vec<&'a Item>>, Option<&'a str>);
    let table: [Row<'_>; 3] = [
        ("functions", vec![vec![&total, &spread]], None),
        ("class", vec![vec![&total, &fit], vec![&fit, &spread]], None),
        (
            "sent_back",
            vec![vec![&total, &fit]],
            Some(
                "they use what is not there; the parts are as shown above:\n- line 9: AttributeError: 'Model' object has no attribute 'fitted'",
            ),
        ),
    ];
    let files: BTreeMap<String, String> = [("pkg.sums", SUMS), ("pkg.stats", STATS)]
        .map(|(it, text)| (it.to_owned(), text.to_owned()))
        .into();
    for (name, flows, complaint) in table {
        for (subgraph, stage) in [("models", "integration_tests"), (LIBRARY, "library_tests")] {
            let target = IntegrationTarget { subgraph, flows: &flows, files: &files };
            let ask = ask_integration_tests(&target, &[], complaint, 0);
            snapshot::check(&format!("{stage}_{name}"), &text(&ask.prompt, 12_000));
        }
    }
}

#[test]
fn questions_for_acceptance_tests() {
    let sentence = |number, text: &str| trellis_plan::Sentence {
        number,
        kind: trellis_plan::SentenceKind::Sentence,
        text: text.to_owned(),
    };
    let all =
        [sentence(2, "The mean of no values is an error."), sentence(5, "A model fits a line.")];
    let (fit, mean) = (method(), item());
    for (name, complaint) in
        [("first", None), ("sent_back", Some("these pass although no part has code:\n- test_one"))]
    {
        let target = AcceptanceTarget {
            feature: "Statistics",
            sentences: &[&all[0], &all[1]],
            parts: &[&mean],
            others: &[&fit],
        };
        let ask = ask_acceptance_tests(&target, &["Plain pytest".to_owned()], complaint, 0);
        snapshot::check(&format!("acceptance_tests_{name}"), &text(&ask.prompt, 12_000));
    }
}
