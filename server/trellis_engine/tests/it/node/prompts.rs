//! Tests of the prompts.

use trellis_engine::{
    Dependent, FixWith, IntegrationTarget, Stage, Suspect, Upstream, ask_integration_tests,
};

use super::*;

#[track_caller]
fn check_prompt(played: &Played, index: usize, parts: &[&str]) {
    for part in parts {
        assert!(played.prompts[index].contains(part), "no `{part}` in:\n{}", played.prompts[index]);
    }
}

#[test]
fn every_question_carries_what_its_answer_needs() {
    let script = vec![
        tests(),
        red(),
        bad(),
        fail(),
        fail(),
        Votes("A!"),
        worse(1),
        fail(),
        fail(),
        Votes("A!"),
        worse(2),
        fail(),
        fail(),
        Votes("A!"),
    ];
    let played = play(&item(), &Policy::generate(), script);
    let specification = [
        "def mean(values: list[float]) -> float",
        "The arithmetic mean.",
        "`mean([1, 2]) == 1.5`",
        "from pkg.sums import total",
        "numpy>=1.24",
    ];
    for question in [0, 1, 3] {
        check_prompt(&played, question, &specification);
    }
    check_prompt(
        &played,
        0,
        &[
            "from pkg.stats import mean",
            "at least 3 test functions",
            "Do not write the implementation",
        ],
    );
    check_prompt(&played, 1, &["def test_one():", "No module named 'pkg.stats'"]);
    check_prompt(
        &played,
        2,
        &["return 0.0", "def test_one():", "Traceback: AssertionError", "VERDICT: A, B or C"],
    );
    check_prompt(
        &played,
        3,
        &["return 0.0", "Tests (read-only)", "Traceback: AssertionError", "<<<<<<< SEARCH"],
    );
    check_prompt(
        &played,
        5,
        &[
            "return 1.5",
            "## Earlier attempts, and what they gave\n- AssertionError: assert 0.0 == 1.5",
        ],
    );
    // From the second prompt on, with the changes of earlier attempts.
    check_prompt(
        &played,
        7,
        &["(src/pkg/stats.py:2), after\n```diff\n@@", "-    return 0.0\n+    return 1.5\n"],
    );
}

#[test]
fn a_long_failure_is_cut_in_the_middle() {
    let long =
        Failure { traceback: format!("first {} last", "é".repeat(9000)), ..failure("E", "m") };
    let script = vec![tests(), red(), bad(), fails(long.clone()), fails(long), Votes("A!")];
    let played = play(&item(), &Policy::generate(), script);
    check_prompt(&played, 2, &["first é", "é last", "bytes left out"]);
    assert!(played.prompts[2].len() < 9000);
}

/// Returns every request about an item with more text than the budget allows.
fn questions() -> Vec<ModelRequest> {
    let item = Item { docstring: "The arithmetic mean. ".repeat(300), ..item() };
    let around = ItemContext {
        file: "SIZE = 1\n".repeat(1000),
        context: vec![("STYLE.md".to_owned(), "Be brief.\n".repeat(2000))],
        ..ItemContext::default()
    };
    let suspect = Suspect {
        path: "src/pkg/sums.py".to_owned(),
        symbol: "total".to_owned(),
        source: "x = 1\n".repeat(500),
        ..Suspect::default()
    };
    let found = Localization { suspects: vec![suspect; 3], ..Localization::default() };
    let long = || {
        let traceback = format!("first {} last", "E ".repeat(9000));
        fails(Failure { traceback, ..failure("AssertionError", "m") })
    };
    let script = vec![say("No."), tests(), red(), bad(), long(), long(), Votes("A!")];
    let found = Event::Localized(found);
    let policy = Policy::generate();
    let mut asks = play_in(&around, found, State::default(), &item, &policy, script).asks;
    let parts = [("load", "The rows."), ("fit", "The model.")].map(|(name, docstring)| Item {
        id: name.to_owned(),
        name: name.to_owned(),
        docstring: docstring.repeat(900),
        ..item.clone()
    });
    let none = BTreeMap::new();
    let flows = [parts.iter().collect()];
    let target = IntegrationTarget { subgraph: "main", flows: &flows, files: &none };
    asks.push(ask_integration_tests(&target, &[], Some("no test"), 1));
    asks
}

/// The essential sections are present at any budget, and the omissions are named.
#[test]
fn less_room_takes_away_what_tells_least() {
    let core: [(Stage, &[&str], &str); 5] = [
        (
            Stage::Tests,
            &["## Specification", "## Task\nWrite a pytest module for `mean`"],
            "STYLE.md",
        ),
        (
            Stage::Implementation,
            &["## Specification", "## Tests it must pass", "## Task\nWrite the function `mean`"],
            "STYLE.md",
        ),
        (
            Stage::Diagnosis,
            &["## Failure", "## Specification of `mean`", "VERDICT: A, B or C"],
            "## Implementation",
        ),
        (
            Stage::Fix,
            &[
                "## Failure",
                "first E",
                " last\n",
                "## Specification",
                "## Task\nFix `mean`",
                "<<<<<<< SEARCH",
            ],
            "STYLE.md",
        ),
        (
            Stage::IntegrationTests,
            &[
                "`load` -> `fit`",
                "## Your last tests could not be used\nno test",
                "## Task\nWrite a pytest",
            ],
            "## `fit`",
        ),
    ];
    for ask in questions() {
        let (_, core, spare) = core.iter().find(|(stage, ..)| *stage == ask.stage).expect("a row");
        let full = text(&ask.prompt, 100_000);
        assert!(full.contains(spare), "{full}");
        assert!(!full.contains("for want of room"), "{full}");
        for tokens in [8000, 4000, 2000, 1000, 500, 100, 0] {
            let cut = text(&ask.prompt, tokens);
            for part in *core {
                assert!(cut.contains(part), "no `{part}` in {tokens} tokens of:\n{cut}");
            }
            // The task, the minimum of the rest, and the note on omissions come on top.
            assert!(cut.len() <= tokens * 4 + 2500, "{} bytes in {tokens} tokens", cut.len());
            if tokens <= 1000 {
                assert!(cut.contains("(Cut or left out for want of room: "), "{cut}");
                assert!(!cut.contains(spare), "{tokens} tokens:\n{cut}");
            }
        }
    }
}

#[test]
fn the_file_and_the_context_go_before_what_was_found() {
    let asks = questions();
    let fix = asks.iter().find(|ask| ask.stage == Stage::Fix).expect("a fix");
    let sections = [
        "Tests (read-only)",
        "Suspect 1",
        "Suspect 3",
        "`src/pkg/stats.py` so far",
        "Project context",
    ];
    let shown = |tokens: usize| {
        let text = text(&fix.prompt, tokens);
        sections.iter().take_while(|it| text.contains(&format!("\n## {it}"))).count()
    };
    let counts: Vec<usize> = [100_000, 7000, 5000, 4300, 3000].map(shown).to_vec();
    assert_eq!(counts, [5, 4, 2, 2, 0]);
}

#[test]
fn what_every_test_of_a_stub_says_is_not_said() {
    let stubbed = || failure("NotImplementedError", "");
    let mut cases: Vec<TestCase> =
        (0..7).map(|n| case(&format!("test_{n}"), Some(stubbed()))).collect();
    cases.push(case("test_other", Some(failure("TypeError", "not callable"))));
    let red = Run(TestRun { cases, ..run(RunOutcome::Failed) });
    let played = play(&item(), &Policy::generate(), vec![tests(), red]);
    check_prompt(
        &played,
        1,
        &[
            "## Without an implementation they fail\n```\ntests/test_stats.py::test_other\nTraceback: TypeError: not callable\n```",
        ],
    );
    assert!(!played.prompts[1].contains("NotImplementedError"), "{}", played.prompts[1]);
}

#[test]
fn no_question_says_what_its_answer_does_not_need() {
    let script = vec![tests(), red(), bad(), fail(), fail(), Votes("A!")];
    let played = play(&item(), &Policy::generate(), script);
    for prompt in &played.prompts {
        assert_eq!(prompt.matches("The arithmetic mean.").count(), 1, "{prompt}");
    }
    assert!(!played.prompts[2].contains("numpy"), "{}", played.prompts[2]);
}

/// The prompt holds the surroundings of the item in the graph and in the project.
#[test]
fn the_model_sees_neighbours_and_conventions() {
    let around =
        ItemContext { conventions: vec!["Raise ValueError.".to_owned()], ..ItemContext::default() };
    let user = Dependent {
        name: "Report.lines".to_owned(),
        signature: "def lines(self)".to_owned(),
        summary: "The lines.".to_owned(),
    };
    let item = Item { dependents: vec![user], ..item() };
    let script = vec![tests(), red(), bad(), fail(), fail(), Votes("A!")];
    let found = Event::Localized(Localization::default());
    let played = play_in(&around, found, State::default(), &item, &Policy::generate(), script);
    for question in [0, 1, 3] {
        check_prompt(
            &played,
            question,
            &[
                "## Who will use it\n- `Report.lines`: `def lines(self)` The lines.\n",
                "## Conventions\n- Raise ValueError.\n",
            ],
        );
    }
    for prompt in play(&super::item(), &Policy::generate(), vec![tests(), red()]).prompts {
        assert!(
            !prompt.contains("## Who will use it") && !prompt.contains("## Conventions"),
            "{prompt}"
        );
    }
}

/// Returns the text of every kind of prompt as sent.
fn every_question() -> Vec<String> {
    let no = || say("No.");
    let upstream =
        vec![Upstream { item: item(), implementation: trellis_python::Fragment::default() }];
    let found = Event::Localized(Localization { upstream, ..Localization::default() });
    let tools = Policy { fix_with: FixWith::Tools, ..Policy::generate() };
    let script = || vec![tests(), red(), no(), bad(), fail(), fail(), Votes("A!"), no()];
    let one = "from pkg.stats import mean\n\ndef test_one():\n    assert mean([1]) == 1\n";
    let play_with =
        |policy: &Policy| play_found(found.clone(), State::default(), &item(), policy, script());
    let judged = vec![tests(), red(), bad(), fail(), fail(), Votes("B!")];
    let claimed = vec![
        tests(),
        red(),
        bad(),
        fail(),
        fail(),
        Votes("A! A!"),
        say("TEST IS WRONG: test_two; no sentence."),
    ];
    let class = Item {
        kind: ItemKind::Class,
        signature: None,
        planned_methods: vec!["fit".to_owned()],
        ..item()
    };
    let around = ItemContext { file: "SIZE = 1\n".to_owned(), ..ItemContext::default() };
    let play_class = || {
        let (found, policy) = (Event::Localized(Localization::default()), Policy::generate());
        play_in(&around, found, State::default(), &class, &policy, vec![tests(), red()])
    };
    let method_tests = TESTS.replace("import mean", "import Model").replace("mean(", "Model.fit(");
    let played = [
        play_with(&Policy::generate()),
        play_with(&tools),
        play(&item(), &Policy::generate(), judged),
        play(&item(), &Policy::generate(), claimed),
        play_class(),
        play(&item(), &Policy::generate(), vec![python(one)]),
        play(&method(), &Policy::generate(), vec![python(&method_tests), red()]),
    ];
    let asks = played.iter().flat_map(|it| &it.asks);
    asks.chain(&questions()).map(|ask| text(&ask.prompt, 100_000)).collect()
}

/// Returns the text of a part between its placeholders.
fn words(part: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut left = part;
    while let Some((before, rest)) = left.split_once('{') {
        let (_, after) = rest.split_once('}').expect("a placeholder");
        out.push(before);
        left = after;
    }
    out.push(left);
    out
}

#[test]
fn every_word_in_the_files_is_said_to_somebody() {
    let asked = every_question();
    for file in [
        include_str!("../../../prompts/tests.md"),
        include_str!("../../../prompts/implementation.md"),
        include_str!("../../../prompts/fix.md"),
        include_str!("../../../prompts/fix_with_tools.md"),
        include_str!("../../../prompts/diagnosis.md"),
        include_str!("../../../prompts/integration_tests.md"),
    ] {
        for part in file.split("\n# ").skip(1) {
            let (title, text) = part.split_once('\n').expect("a title");
            let words = words(text.trim());
            let said = |prompt: &&String| words.iter().all(|it| prompt.contains(it));
            assert!(asked.iter().any(|prompt| said(&prompt)), "nobody is told `{title}`: {text}");
        }
    }
}
