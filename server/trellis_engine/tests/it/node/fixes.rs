//! Tests of fixes: formats, refusals and limits (T5, T8).

use super::*;

const START: &str = "ask tests 0; run red; ask implementation 0;";
const FAILED: &str = "run green; run again; vote; [voted]; search;";

/// A failing run, the same again, and five votes for a bug.
fn failed() -> Vec<In> {
    vec![fail(), fail(), Votes("A!")]
}

/// `code` fails, then `replies` follow.
fn after(code: &str, replies: Vec<In>) -> Vec<In> {
    let mut script = vec![tests(), red(), python(code)];
    script.extend(failed());
    script.extend(replies);
    script
}

/// Checks that one fix turns `before` into `expect`.
#[track_caller]
fn check_fix(item: &Item, before: &str, reply: &str, expect: &str) {
    let tests = python(&TESTS.replace("mean", item.import_name()).replace("== 1\n", ".fit == 1\n"));
    let mut script = vec![tests, red(), python(before)];
    script.extend(failed());
    script.extend([say(reply), pass()]);
    let played = play(item, &Policy::generate(), script);
    assert!(played.trace.ends_with("search; ask fix 0; run green; passed"), "{}", played.trace);
    assert_eq!(played.implementation(), expect);
    assert_eq!(played.state.fixes(), 1);
}

const WITH_HELPER: &str = "import math\n\n\ndef _check(values):\n    return bool(values)\n\n\ndef mean(values: list[float]) -> float:\n    return math.fsum(values)\n";

#[test]
fn a_fix_comes_as_definitions_blocks_or_json() {
    let fixed = WITH_HELPER.replace("fsum(values)", "fsum(values) / len(values)");
    let block = "<<<<<<< SEARCH\n    return math.fsum(values)\n=======\n    return math.fsum(values) / len(values)\n>>>>>>> REPLACE\n";
    let change = "{\"file_path\": \"src/pkg/stats.py\", \"search_text\": \"fsum(values)\", \"replace_text\": \"fsum(values) / len(values)\"}";
    let table = [
        "```python\ndef mean(values: list[float]) -> float:\n    return math.fsum(values) / len(values)\n```".to_owned(),
        format!("src/pkg/stats.py\n{block}"),
        format!("**`./src/pkg/stats.py`**:\n```\n{block}```\n"),
        format!("pkg/stats.py\n{block}"),
        block.to_owned(),
        format!("```json\n{change}\n```"),
        format!("```json\n{{\"changes\": [{change}]}}\n```"),
        format!("[{change}]"),
    ];
    for reply in table {
        check_fix(&item(), WITH_HELPER, &reply, &fixed);
    }
}

/// Failures and suspects show the files, in which every text is formatted as by black.
#[test]
fn a_fix_may_search_for_what_stands_in_the_files() {
    let call =
        "combined([first for first in values if first], [last for last in values if not last])";
    let before = format!("def mean(values: list[float]) -> float:\n    return {call}\n");
    let laid_out = trellis_python::formatted(&before).expect("Python");
    let (_, search) = laid_out.split_once('\n').expect("lines");
    let replace = "    return sum(values) / len(values)\n";
    let block = format!("<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n");
    let fixed = format!("def mean(values: list[float]) -> float:\n{replace}");
    check_fix(&item(), &before, &block, &fixed);
}

#[test]
fn a_fix_replaces_by_name_and_adds_what_is_new() {
    check_fix(
        &item(),
        WITH_HELPER,
        "```python\nimport re\n\ndef _check(values):\n    return _new(values)\n\ndef _new(values):\n    return re.X\n```",
        "import math\nimport re\n\n\ndef _new(values):\n    return re.X\n\n\ndef _check(values):\n    return _new(values)\n\n\ndef mean(values: list[float]) -> float:\n    return math.fsum(values)\n",
    );
    // The newer import of a name is the intended one.
    check_fix(
        &item(),
        "from glob import glob\n\n\ndef mean(values: list[float]) -> float:\n    return glob.glob(values)\n",
        "```python\nimport glob\n\ndef mean(values: list[float]) -> float:\n    return glob.glob(values) + 1\n```",
        "import glob\n\n\ndef mean(values: list[float]) -> float:\n    return glob.glob(values) + 1\n",
    );
}

#[test]
fn a_method_is_fixed_in_or_out_of_its_class() {
    let before = "def fit(self, rows):\n    return rows\n";
    let fixed = "def fit(self, rows):\n    return self\n";
    let table = [
        "```python\nclass Model:\n    def fit(self, rows):\n        return self\n\n    def predict(self):\n        return 0\n```",
        "```python\ndef fit(self, rows):\n    return self\n```",
        "src/pkg/stats.py\n<<<<<<< SEARCH\n    def fit(self, rows):\n        return rows\n=======\n    def fit(self, rows):\n        return self\n>>>>>>> REPLACE\n",
    ];
    for reply in table {
        check_fix(&method(), before, reply, fixed);
    }
}

#[test]
fn tests_and_other_files_are_read_only() {
    let edit = |path: &str| {
        say(&format!(
            "{path}\n<<<<<<< SEARCH\nassert mean([1]) == 1\n=======\nassert True\n>>>>>>> REPLACE\n"
        ))
    };
    let table = [
        (
            "tests/test_stats.py",
            "the edit of tests/test_stats.py was refused: tests are read-only while the implementation is fixed; change src/pkg/stats.py",
        ),
        (
            "tests/conftest.py",
            "the edit of tests/conftest.py was refused: tests are read-only while the implementation is fixed; change src/pkg/stats.py",
        ),
        (
            "src/pkg/sums.py",
            "the edit of src/pkg/sums.py was refused: it belongs to other nodes; change src/pkg/stats.py",
        ),
        (
            "src/pkg/stats.py",
            "the edit of src/pkg/stats.py was refused: neither the search text nor anything \
             similar is in the file; copy its lines exactly",
        ),
    ];
    for (path, why) in table {
        let played = check(
            after(BAD, vec![edit(path), good(), pass()]),
            &format!(
                "{START} {FAILED} ask fix 0; [attempt-unusable]; search; ask fix 1; run green; passed"
            ),
        );
        assert_eq!(played.note("attempt-unusable"), why);
        assert_eq!(played.state.fixes(), 2, "a refused fix counts");
        assert_eq!(
            played.tests(),
            play(&item(), &Policy::generate(), vec![tests(), red()]).tests()
        );
        let prompt = &played.prompts[4];
        assert!(prompt.contains(why), "the refusal is told: {prompt}");
        assert!(
            prompt.contains("Traceback: AssertionError"),
            "the failure is still told: {prompt}"
        );
    }
}

#[test]
fn a_fix_that_changes_nothing_is_an_attempt() {
    let played = check(
        after(BAD, vec![bad(), bad(), good(), pass()]),
        &format!(
            "{START} {FAILED} ask fix 0; [attempt-unusable]; search; ask fix 1; [attempt-unusable]; search; \
             ask fix 2; run green; passed"
        ),
    );
    assert_eq!(played.state.fixes(), 3);
    assert!(
        played
            .notes
            .iter()
            .filter(|(what, _)| what == "attempt-unusable")
            .all(|(_, text)| text == "the answer changes nothing"),
        "{:?}",
        played.notes
    );
    assert!(played.prompts[5].contains("Traceback: AssertionError"), "the failure is still told");
}

#[test]
fn eight_fixes_and_no_more() {
    let replies = |n: usize| -> Vec<In> {
        // Three agreeing votes are enough.
        let round = |n: usize| if n < 2 { failed() } else { vec![fail(), fail()] };
        (0..n).flat_map(|n| std::iter::once(worse(n)).chain(round(n))).collect()
    };
    let mut expect = format!("{START} {FAILED}");
    for n in 0..7 {
        let failed = if n < 2 { FAILED } else { "run green; run again; search;" };
        expect += &format!(" ask fix {n}; {failed}");
    }
    expect += " ask fix 7; run green; run again; revert; failed: \
               AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2) (after 8 fixes)";
    let played = check(after(BAD, replies(8)), &expect);
    assert_eq!(played.state.fixes(), 8);
}

#[test]
fn unusable_answers_run_out_like_others() {
    let refused = (0..8).map(|_| bad()).collect();
    let played = play(&item(), &Policy::generate(), after(BAD, refused));
    assert!(
        played.trace.ends_with(
            "ask fix 7; [attempt-unusable]; revert; failed: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2) (after 8 fixes)"
        ),
        "{}",
        played.trace
    );
}

#[test]
fn where_fixes_run_out_the_node_fails_with_that_reason() {
    check(
        after(BAD, vec![worse(0), fail(), fail(), Votes("A!"), Silence]),
        &format!(
            "{START} {FAILED} ask fix 0; {FAILED} ask fix 1; revert; failed: no recorded reply for stats.mean fix 1"
        ),
    );
    check(vec![Silence], "ask tests 0; revert; failed: no recorded reply for stats.mean tests 0");
    check(
        vec![tests(), red(), Silence],
        &format!("{START} revert; failed: no recorded reply for stats.mean implementation 0"),
    );
}

#[test]
fn an_implementation_that_is_no_python_is_fixed() {
    let broken = python("def mean(values:\n    return 1\n");
    let played = check(
        vec![tests(), red(), broken, good(), pass()],
        &format!("{START} [attempt-unusable]; search; ask fix 0; run green; passed"),
    );
    assert_eq!(played.state.fixes(), 1);
    assert!(played.note("attempt-unusable").starts_with("syntax error: line "));
    assert!(played.prompts[2].contains("def mean(values:\n    return 1"), "{}", played.prompts[2]);
}

#[test]
fn answers_without_code_are_asked_for_again_twice() {
    let sorry = || say("I am sorry.");
    let played = check(
        vec![tests(), red(), sorry(), sorry(), good(), pass()],
        "ask tests 0; run red; ask implementation 0; ask implementation 1; ask implementation 2; run green; passed",
    );
    assert_eq!(played.state.fixes(), 0, "asking again is no fix");
    assert!(played.prompts[2].contains("it holds no Python code"));
    let cut_off = || say("stats.py\n<<<<<<< SEARCH\n    return 1\n=======\n    return 2\n");
    let played = check(
        vec![
            tests(),
            red(),
            cut_off(),
            bad(),
            fail(),
            fail(),
            Votes("A!"),
            cut_off(),
            good(),
            pass(),
        ],
        &format!(
            "ask tests 0; run red; ask implementation 0; ask implementation 1; {FAILED} ask fix 0; [malformed]; ask fix 1; run green; passed"
        ),
    );
    for at in [2, played.prompts.len() - 1] {
        assert!(played.prompts[at].contains("has no end"), "{}", played.prompts[at]);
    }
    check(
        vec![tests(), red(), sorry(), sorry(), sorry(), good(), pass()],
        "ask tests 0; run red; ask implementation 0; ask implementation 1; ask implementation 2; [attempt-unusable]; \
         search; ask fix 0; run green; passed",
    );
    check(
        vec![tests(), red(), sorry(), Silence, good(), pass()],
        "ask tests 0; run red; ask implementation 0; ask implementation 1; [attempt-unusable]; \
         search; ask fix 0; run green; passed",
    );
    let played = check(
        after(BAD, vec![sorry(), sorry(), sorry(), good(), pass()]),
        &format!(
            "{START} {FAILED} ask fix 0; [malformed]; ask fix 1; [malformed]; ask fix 2; [attempt-unusable]; search; \
             ask fix 3; run green; passed"
        ),
    );
    assert_eq!(played.state.fixes(), 2);
    for again in [4, 5] {
        let prompt = &played.prompts[again];
        assert!(
            prompt.contains("It could not be used: it holds neither code nor an edit"),
            "{prompt}"
        );
    }
    for fresh in [3, 6] {
        assert!(!played.prompts[fresh].contains("sent back"), "{}", played.prompts[fresh]);
    }
}

/// An unusable reply counts like a text without code, and the model gets the reason.
#[test]
fn an_answer_without_a_text_is_sent_back_with_its_reason() {
    let declined = || Unusable("the model declined to answer");
    let report = |played: &Played, index: usize| {
        let prompt = &played.prompts[index];
        assert!(prompt.contains("the model declined to answer"), "{prompt}");
    };
    let played = check(
        vec![declined(), tests(), red(), declined(), say("No."), declined(), good(), pass()],
        "ask tests 0; [tests-sent-back]; ask tests 1; run red; ask implementation 0; ask implementation 1; \
         ask implementation 2; [attempt-unusable]; search; ask fix 0; run green; passed",
    );
    report(&played, 1);
    report(&played, 3);
    assert!(
        !played.prompts[4].contains("declined"),
        "the last reason is told: {}",
        played.prompts[4]
    );
    assert_eq!(played.note("attempt-unusable"), "the model declined to answer");
    let played = check(
        after(BAD, vec![declined(), declined(), declined(), good(), pass()]),
        &format!(
            "{START} {FAILED} ask fix 0; [malformed]; ask fix 1; [malformed]; ask fix 2; [attempt-unusable]; search; \
             ask fix 3; run green; passed"
        ),
    );
    assert_eq!(played.state.fixes(), 2);
    (4..=6).for_each(|index| report(&played, index));
    let played = check(
        vec![declined(), declined(), declined()],
        "ask tests 0; [tests-sent-back]; ask tests 1; [tests-sent-back]; ask tests 2; \
         revert; failed: no meaningful tests after asking again twice: the model declined to answer",
    );
    report(&played, 2);
    // More tests were requested, and none came.
    let one = "from pkg.stats import mean\n\ndef test_one():\n    assert mean([1]) == 1\n";
    check(
        vec![python(one), declined(), red()],
        "ask tests 0; [few-tests]; ask tests 1; [few-tests]; run red; ask implementation 0",
    );
    // If no more replies come, the last reason stays.
    let played = play(&item(), &Policy::generate(), vec![tests(), red(), declined(), Silence]);
    assert_eq!(played.note("attempt-unusable"), "the model declined to answer");
}

#[test]
fn nobody_reaches_into_pytest() {
    let patch = "import _pytest.python\n_pytest.python.Function.runtest = lambda self: None\n";
    let code = format!("{patch}\n{BAD}");
    let played =
        play(&item(), &Policy::generate(), vec![tests(), red(), python(&code), good(), pass()]);
    assert!(
        played.trace.contains("ask implementation 0; [attempt-unusable]; search; ask fix 0"),
        "{}",
        played.trace
    );
}

/// An implementation that failed is not run again, and a repeated answer raises the temperature.
#[test]
fn the_same_answer_twice_is_not_run_twice() {
    let mut replies = vec![worse(0), fail(), fail(), Votes("A!")];
    replies.extend([bad(), worse(0), worse(0), good(), pass()]);
    let unusable = "[attempt-unusable]; search;";
    let played = check(
        after(BAD, replies),
        &format!(
            "{START} {FAILED} ask fix 0; {FAILED} ask fix 1; {unusable} ask fix 2; {unusable} ask fix 3; {unusable} \
             ask fix 4; run green; passed"
        ),
    );
    let fixes = played.asks.iter().filter(|it| it.stage == trellis_engine::Stage::Fix);
    let temperatures: Vec<f32> = fixes.map(|it| it.temperature).collect();
    assert_eq!(temperatures, [0.0, 0.0, 0.0, 0.4, 0.6]);
}
