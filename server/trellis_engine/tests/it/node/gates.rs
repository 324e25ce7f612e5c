//! Tests of the red gate: accepted and rejected tests.

use super::*;

#[test]
fn tests_first_then_code_then_accepted() {
    let played = check(
        vec![tests(), red(), good(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; passed",
    );
    assert_eq!(played.state.fixes(), 0);
    assert_eq!(played.implementation(), GOOD);
    assert!(played.prompts[1].contains("No module named 'pkg.stats'"), "the red output is shown");
}

#[test]
fn tests_that_pass_without_code_are_sent_back() {
    let played = check(
        vec![tests(), pass(), tests(), red(), good(), pass()],
        "ask tests 0; run red; [tests-sent-back]; ask tests 1; run red; ask implementation 0; run green; passed",
    );
    assert!(played.prompts[1].contains("Write meaningful tests first: they pass without"));
    assert_eq!(played.state.fixes(), 0);
}

#[test]
fn two_re_asks_and_no_more() {
    check(
        vec![tests(), pass(), tests(), pass(), tests(), pass()],
        "ask tests 0; run red; [tests-sent-back]; ask tests 1; run red; [tests-sent-back]; ask tests 2; run red; \
         revert; failed: no meaningful tests after asking again twice: they pass without the implementation",
    );
    check(
        vec![tests(), pass(), Silence],
        "ask tests 0; run red; [tests-sent-back]; ask tests 1; \
         revert; failed: no recorded reply for stats.mean tests 1",
    );
}

/// Red runs, and whether each fails for the right reason.
#[test]
fn only_the_missing_implementation_is_a_good_reason_not_to_be_collected() {
    let cannot_import = |name: &str, module: Option<&str>| Failure {
        missing_attribute: Some(name.to_owned()),
        missing_module: module.map(str::to_owned),
        ..failure("ImportError", &format!("cannot import name '{name}' from '{module:?}'"))
    };
    let no_attribute = |name: &str, owner: &str| Failure {
        missing_attribute: Some(name.to_owned()),
        ..failure("AttributeError", &format!("{owner} has no attribute '{name}'"))
    };
    let function: &[(Failure, bool)] = &[
        (no_module("pkg.stats"), true),
        (no_module("pkg"), true),
        (no_module("pkg.other"), false),
        (no_module("pk"), false),
        (no_module("hypothesis"), false),
        (cannot_import("mean", Some("pkg.stats")), true),
        (cannot_import("mean", Some("pkg")), true),
        (cannot_import("mean", None), true),
        (cannot_import("stats", Some("pkg")), true),
        (cannot_import("median", Some("pkg.stats")), false),
        (cannot_import("mean", Some("statistics")), false),
        (no_attribute("mean", "module 'pkg.stats'"), true),
        (no_attribute("stats", "module 'pkg'"), true),
        (no_attribute("median", "module 'pkg.stats'"), false),
        (failure("SyntaxError", "invalid syntax"), false),
        (failure("Failed", "fixture 'mean' not found"), false),
    ];
    for (failure, is_red) in function {
        check_red(&item(), failure, *is_red);
    }
    let method_cases: &[(Failure, bool)] = &[
        (no_attribute("fit", "type object 'Model'"), true),
        (cannot_import("Model", Some("pkg.stats")), true),
        (no_attribute("predict", "type object 'Model'"), false),
    ];
    for (failure, is_red) in method_cases {
        check_red(&method(), failure, *is_red);
    }
}

fn check_red(item: &Item, failure: &Failure, is_red: bool) {
    let tests = python(&TESTS.replace("mean(", &format!("{}(", item.name)));
    let played = play(item, &Policy::generate(), vec![tests, uncollected(failure.clone())]);
    let next = played.trace.rsplit("; ").next().unwrap_or_default();
    let expect = if is_red { "ask implementation 0" } else { "ask tests 1" };
    assert_eq!(next, expect, "{}: {}", failure.exception, failure.message);
}

#[test]
fn a_red_run_that_does_not_fail_as_tests_do_is_sent_back() {
    let collected_nothing = TestRun { collection: Vec::new(), ..run(RunOutcome::CollectionError) };
    let endings = [
        (run(RunOutcome::NoTests), "no test was collected"),
        (run(RunOutcome::TimedOut { why: None }), "timed out"),
        (
            run(RunOutcome::TimedOut { why: Some("the run was stopped after 9 s".to_owned()) }),
            "the run was stopped after 9 s",
        ),
        (
            run(RunOutcome::Crashed { how: "by signal 11".to_owned(), signal: Some(11) }),
            "the test process ended early: by signal 11",
        ),
        (collected_nothing, "the tests could not be collected"),
    ];
    for (ending, why) in endings {
        let played = play(&item(), &Policy::generate(), vec![tests(), Run(ending)]);
        assert!(
            played.trace.ends_with("[tests-sent-back]; ask tests 1"),
            "{why}: {}",
            played.trace
        );
        assert!(
            played.note("tests-sent-back").ends_with(why),
            "{}",
            played.note("tests-sent-back")
        );
    }
}

#[test]
fn tests_that_partly_pass_are_taken_with_a_note() {
    let played = check(
        vec![tests(), fail(), good(), pass()],
        "ask tests 0; run red; [weak-tests]; ask implementation 0; run green; passed",
    );
    assert_eq!(played.note("weak-tests"), "1 tests pass without the implementation");
}

#[test]
fn the_plan_may_skip_the_red_gate() {
    check_item(
        &Item { red_gate: false, ..item() },
        vec![tests(), good(), pass()],
        "ask tests 0; [red-gate-skipped]; ask implementation 0; run green; passed",
    );
}

const ONE: &str = "from pkg.stats import mean\n\ndef test_one():\n    assert mean([1]) == 1\n";

#[test]
fn too_few_cases_are_asked_for_once_more() {
    let two = "from pkg.stats import mean\n\ndef test_one():\n    assert mean([1]) == 1\n\ndef test_two():\n    assert mean([2]) == 2\n";
    let asked = "ask tests 0; [few-tests]; ask tests 1;";
    let rest = "run red; ask implementation 0; run green; passed";
    let table = [
        // More tests came.
        (vec![python(ONE), tests()], format!("{asked} {rest}"), TESTS.matches("def test").count()),
        // No tests came: the existing ones stay.
        (vec![python(ONE), Silence], format!("{asked} [few-tests]; {rest}"), 1),
        (vec![python(ONE), say("Sorry.")], format!("{asked} [few-tests]; {rest}"), 1),
        // Still too few, but more; and fewer than before.
        (vec![python(ONE), python(two)], format!("{asked} [few-tests]; {rest}"), 2),
        (vec![python(two), python(ONE)], format!("{asked} [few-tests]; {rest}"), 2),
    ];
    for (mut script, expect, kept) in table {
        script.extend([red(), good(), pass()]);
        let played = check(script, &expect);
        assert_eq!(played.tests().matches("def test").count(), kept);
    }
}

#[test]
fn cases_are_counted_row_by_row() {
    let rows = |decorator: &str| {
        format!(
            "import pytest\nfrom pkg.stats import mean\n\n{decorator}\ndef test_all(a, b):\n    assert mean(a) == b\n"
        )
    };
    let enough = [
        rows("@pytest.mark.parametrize('a, b', [([1], 1), ([2], 2), ([3], 3)])"),
        rows("@pytest.mark.parametrize(['a', 'b'], [([1], 1), ([2], 2), ([3], 3)])"),
        rows("@pytest.mark.parametrize('a', [[1], [2]])\n@pytest.mark.parametrize('b', (1, 2))"),
        TESTS.replace("def ", "async def "),
        "from pkg.stats import mean\nclass TestMean:\n    def test_a(self): mean(1)\n    def test_b(self): mean(2)\n    def test_c(self): mean(3)\n".to_owned(),
    ];
    for source in enough {
        let played = play(&item(), &Policy::generate(), vec![python(&source)]);
        assert_eq!(played.trace, "ask tests 0; run red", "{source}");
    }
    let few = [
        rows("@pytest.mark.parametrize('a, b', [([1], 1), ([2], 2)])  # ([3], 3), ([4], 4)"),
        rows("@pytest.mark.parametrize(['a', 'b', 'c', 'd'], [([1], '[', ',', 1)])"),
        format!(
            "{ONE}\n@pytest.fixture\ndef test_data():\n    return 1\n\n\n'''\ndef test_quoted(): pass\n'''\n"
        ),
        ONE.to_owned(),
    ];
    for source in few {
        let played = play(&item(), &Policy::generate(), vec![python(&source)]);
        assert_eq!(played.trace, "ask tests 0; [few-tests]; ask tests 1", "{source}");
    }
}

#[test]
fn unusable_tests_are_sent_back_with_the_reason() {
    let table = [
        (say("I cannot do that."), "Write meaningful tests first: the reply holds no Python code"),
        (
            python("def test_mean(:\n    pass\n"),
            "Write meaningful tests first: syntax error: line 1",
        ),
    ];
    for (reply, complaint) in table {
        let played = check(
            vec![reply, tests(), red(), good(), pass()],
            "ask tests 0; [tests-sent-back]; ask tests 1; run red; ask implementation 0; run green; passed",
        );
        assert!(played.prompts[1].contains(complaint), "{}", played.prompts[1]);
    }
    check(
        vec![say("No."), say("No."), say("No.")],
        "ask tests 0; [tests-sent-back]; ask tests 1; [tests-sent-back]; ask tests 2; \
         revert; failed: no meaningful tests after asking again twice: the reply holds no Python code",
    );
}

#[test]
fn a_use_is_a_use_under_any_name() {
    let aliased = TESTS.replace("import mean", "import mean as m").replace(" mean(", " m(");
    let by_module = TESTS
        .replace("from pkg.stats import mean", "import pkg.stats")
        .replace("mean(", "pkg.stats.mean(");
    for source in [aliased, by_module] {
        check(vec![python(&source)], "ask tests 0; run red");
    }
    // Special methods are not called by name.
    let special = Item { name: "__len__".to_owned(), ..method() };
    let source = TESTS.replace("mean", "Model");
    check_item(&special, vec![python(&source)], "ask tests 0; run red");
    // Without a red run the text has to name the item.
    let unseen = Item { red_gate: false, ..method() };
    check_item(&unseen, vec![python(&source)], "ask tests 0; [tests-sent-back]; ask tests 1");
}

/// The text of tests alone does not show which code they reach: a method may be reached through the
/// constructor, a function through another one.
#[test]
fn what_tests_reach_is_seen_in_the_red_run() {
    const STATS: &str = "src/pkg/stats.py";
    let source = TESTS.replace("mean", "Model");
    let stub = Failure {
        frames: vec![frame(STATS, "__init__"), frame(STATS, "fit")],
        ..failure("NotImplementedError", "")
    };
    let behind = Failure {
        frames: vec![frame(STATS, "fit"), frame("src/pkg/sums.py", "total")],
        ..failure("ValueError", "no")
    };
    let elsewhere = Failure {
        frames: vec![frame("tests/test_stats.py", "test_one")],
        ..failure("AssertionError", "assert 1 == 2")
    };
    let namesake =
        Failure { frames: vec![frame("src/pkg/other.py", "fit")], ..failure("ValueError", "no") };
    for (failure, reached) in [(stub, true), (behind, true), (elsewhere, false), (namesake, false)]
    {
        let played = play(&method(), &Policy::generate(), vec![python(&source), fails(failure)]);
        let wanted = match reached {
            true => "ask tests 0; run red; [weak-tests]; ask implementation 0",
            false => "ask tests 0; run red; [tests-sent-back]; ask tests 1",
        };
        assert_eq!(played.trace, wanted);
        if !reached {
            let why = "the tests never use `Model.fit`";
            assert!(played.prompts[1].contains(why), "{}", played.prompts[1]);
        }
    }
    // Tests that name the item and fail elsewhere stay as they are: they may be right.
    let named =
        python(&TESTS.replace("import mean", "import Model").replace("mean(", "Model.fit("));
    let elsewhere = fails(failure("AssertionError", "assert 1 == 2"));
    check_item(
        &method(),
        vec![named, elsewhere],
        "ask tests 0; run red; [weak-tests]; ask implementation 0",
    );
}

#[test]
fn the_import_under_test_is_put_right() {
    let table = [
        (TESTS.replace("pkg.stats", "stats"), "from pkg.stats import mean\n", "[tests-adjusted]; "),
        (
            TESTS.replace("from pkg.stats", "from ..pkg.stats"),
            "from pkg.stats import mean\n",
            "[tests-adjusted]; ",
        ),
        (
            TESTS.replace("from pkg.stats import mean\n", ""),
            "from pkg.stats import mean\n",
            "[tests-adjusted]; ",
        ),
        // A reference for comparison is no mistake.
        (
            TESTS.replace("from pkg", "from statistics import mean as known\nfrom pkg"),
            "from statistics import mean as known\n",
            "",
        ),
    ];
    for (source, import, note) in table {
        let played = check(
            vec![python(&source), red()],
            &format!("ask tests 0; {note}run red; ask implementation 0"),
        );
        assert!(played.tests().contains(import), "{}", played.tests());
    }
}

#[test]
fn what_a_person_wrote_is_tested_and_never_fixed() {
    let start = |script| play_from(State::written_by_hand(), &item(), &Policy::generate(), script);
    let played = start(vec![tests(), pass()]);
    assert_eq!(played.trace, "ask tests 0; [red-gate-skipped]; run green; passed");
    let played = start(vec![tests(), fail(), fail(), Votes("A!")]);
    assert!(
        played
            .trace
            .contains("vote; [voted]; explain; revert; needs human: the code written by hand"),
        "{}",
        played.trace
    );
}

/// No event out of turn opens a gate or panics, and the machine goes on after it.
#[test]
fn an_event_out_of_turn_is_refused_and_changes_nothing() {
    let (item, policy, around) = (item(), Policy::generate(), ItemContext::default());
    let mut machine = NodeMachine::new(&item, &policy, &around, State::default());
    machine.step(Event::Started).expect("begins");
    let waiting = machine.state().clone();
    let Run(passed) = pass() else { unreachable!() };
    for event in [Event::Started, Event::Tests(passed), Event::Exclusive, Event::Votes(Vec::new())]
    {
        let refused = machine.step(event).expect_err("it waits for tests");
        assert_eq!(refused.expected, "tests");
        assert_eq!(*machine.state(), waiting);
    }
    let reply = Event::Reply(Reply::Failed { reason: "no one is there".to_owned() });
    assert!(matches!(machine.step(reply).expect("in turn").last(), Some(Action::Finish(_))));
}
