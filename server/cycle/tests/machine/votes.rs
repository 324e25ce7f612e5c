//! What a failure means: votes, and where they lead (V3, V4).

use cycle::{Diagnosis, Votes};

use super::*;

/// Up to the first failing run of the implementation.
fn failed_with(failing: fn() -> In) -> Vec<In> {
    vec![tests(), red(), bad(), failing(), failing()]
}

const START: &str = "ask tests 0; run red; ask implementation 0; run green; run green;";

fn votes(letters: &str) -> Vec<In> {
    letters.split_whitespace().map(say).collect()
}

#[track_caller]
fn check_votes(letters: &str, more: Vec<In>, expect: &str) -> Played {
    let mut script = failed_with(fail);
    script.extend(votes(letters));
    script.extend(more);
    check(script, &format!("{START} {expect}"))
}

#[test]
fn the_first_letter_standing_alone_is_the_vote() {
    use Diagnosis::{Environment, Implementation, Test};
    let table = [
        ("A", Some(Implementation)),
        ("B", Some(Test)),
        ("C", Some(Environment)),
        ("B) a test issue", Some(Test)),
        ("**C**", Some(Environment)),
        ("The answer is B, not A.", Some(Test)),
        ("Answer:C\n", Some(Environment)),
        ("ABC", None),
        ("b", None),
        ("it is an assertion", None),
        ("", None),
        ("D", None),
    ];
    for (reply, expect) in table {
        let mut votes = Votes::default();
        votes.add(reply);
        assert_eq!(
            (votes.winner(1), votes.cast(), votes.is_split(1)),
            (expect, 1, expect.is_none()),
            "{reply:?}"
        );
    }
}

#[test]
fn three_of_five_decide_as_soon_as_they_are_there() {
    let table = [
        ("A A A", 3, false),
        ("A B A C A", 5, false),
        ("B A C", 3, false),
        ("A B C ?", 4, true),
        ("A A B B", 4, false),
        ("A A B B C", 5, true),
        ("? ? ?", 3, true),
    ];
    for (letters, cast, split) in table {
        let mut all = Votes::default();
        for letter in letters.split_whitespace() {
            assert!(all.winner(5).is_none() && !all.is_split(5), "{letters} ends early");
            all.add(letter);
        }
        assert_eq!((all.cast(), all.is_split(5)), (cast, split), "{letters}");
    }
}

#[test]
fn an_implementation_bug_is_searched_and_fixed() {
    let played = check_votes(
        "A A A",
        vec![good(), pass()],
        "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; search; ask fix 0; run green; commit; passed",
    );
    assert_eq!(played.state.fixes(), 1);
    assert_eq!(played.implementation(), GOOD);
}

#[test]
fn wrong_tests_are_written_anew_and_must_be_red_again() {
    let played = check_votes(
        "B A B B",
        vec![tests(), red(), pass()],
        "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; ask diagnosis 3; [tests-judged-wrong]; \
         ask tests 1; run red; run green; commit; passed",
    );
    assert_eq!(played.state.fixes(), 0, "regenerations are no fixes");
    assert_eq!(played.implementation(), BAD, "the implementation stays");
    assert!(played.prompts[6].contains("assert 0.0 == 1.5"), "{}", played.prompts[6]);
    check_votes(
        "B B B",
        vec![tests(), pass(), tests(), red(), pass()],
        "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; [tests-judged-wrong]; ask tests 1; run red; \
         [tests-sent-back]; ask tests 2; run red; run green; commit; passed",
    );
}

#[test]
fn tests_are_written_anew_twice_at_most() {
    let again = || vec![tests(), red(), fail(), fail(), say("B"), say("B"), say("B")];
    let mut more = again();
    more.extend(again());
    let judged = "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2;";
    let played = check_votes(
        "B B B",
        more,
        &format!(
            "{judged} [tests-judged-wrong]; ask tests 1; run red; run green; run green; {judged} [tests-judged-wrong]; \
             ask tests 2; run red; run green; run green; {judged} revert; \
             needs human: the tests were judged wrong 3 times: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)"
        ),
    );
    assert_eq!(played.state.fixes(), 0);
}

#[test]
fn the_environment_is_nobody_s_failure() {
    check_votes(
        "C C C",
        vec![],
        "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; revert; \
         skipped: environment: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)",
    );
}

#[test]
fn a_split_vote_goes_to_a_person() {
    check_votes(
        "A A B B C",
        vec![],
        "ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; ask diagnosis 3; ask diagnosis 4; ask a person; revert; \
         needs human: the votes on a failure are split: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)",
    );
}

#[test]
fn a_missing_vote_ends_the_work() {
    let mut script = failed_with(fail);
    script.push(Silence);
    check(
        script,
        &format!(
            "{START} ask diagnosis 0; revert; failed: no recorded reply for stats.mean diagnosis 0"
        ),
    );
}

#[test]
fn a_test_that_passes_unchanged_is_flaky_and_no_vote_is_held() {
    let played = check(
        vec![tests(), red(), good(), fail(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; run green; [flaky]; commit; passed",
    );
    assert!(played.note("flaky").contains("assert 0.0 == 1.5"), "{}", played.note("flaky"));
}

#[test]
fn crashes_and_memory_are_voted_on() {
    let crash = run(Ending::Crashed { how: "by signal 11".to_owned() });
    let table = [
        (crash, "the test process ended early: by signal 11"),
        (run(Ending::KilledForMemory), "killed for using too much memory"),
    ];
    for (failing, why) in table {
        let mut script = vec![tests(), red(), bad(), Run(failing)];
        script.extend(votes("A A A"));
        let played = check(
            script,
            "ask tests 0; run red; ask implementation 0; run green; \
             ask diagnosis 0; ask diagnosis 1; ask diagnosis 2; search; ask fix 0",
        );
        assert!(played.prompts[5].contains(why), "{}", played.prompts[5]);
    }
}

#[test]
fn where_a_run_stood_at_the_deadline_decides() {
    let table = [
        (vec![frame("tests/test_stats.py", "test_one"), frame("src/pkg/stats.py", "mean")], true),
        (vec![frame("tests/test_stats.py", "test_one"), frame("src/pkg/sums.py", "total")], true),
        (
            vec![
                frame("tests/test_stats.py", "test_one"),
                frame("src/pkg/stats.py", "mean"),
                frame("/usr/lib/python3/random.py", "random"),
                frame("<frozen importlib>", "load"),
            ],
            true,
        ),
        (
            vec![
                frame("tests/test_stats.py", "test_one"),
                frame("/usr/lib/python3/time.py", "sleep"),
            ],
            false,
        ),
        (vec![frame("src/pkg/stats.py", "mean"), frame("tests/conftest.py", "wait")], false),
        (vec![], false),
    ];
    for (stack, is_loop) in table {
        let script = vec![tests(), red(), bad(), Run(run(Ending::TimedOut { stack }))];
        let played = play(&item(), &Policy::generate(), script);
        let start = "ask tests 0; run red; ask implementation 0; run green;";
        if is_loop {
            assert_eq!(played.trace, format!("{start} [endless-loop]; search; ask fix 0"));
        } else {
            let verdict = played.trace.strip_prefix(start).unwrap_or_default();
            assert!(
                verdict.starts_with(" revert; skipped: environment: timed out"),
                "{}",
                played.trace
            );
        }
    }
}

#[test]
fn an_endless_loop_is_fixed_like_any_bug() {
    let stack =
        || vec![frame("tests/test_stats.py", "test_one"), frame("src/pkg/stats.py", "mean")];
    let played = check(
        vec![tests(), red(), bad(), Run(run(Ending::TimedOut { stack: stack() })), good(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; [endless-loop]; search; ask fix 0; run green; \
         commit; passed",
    );
    assert!(
        played.prompts[2].contains("timed out in mean (src/pkg/stats.py:3)"),
        "the stack goes to the model"
    );
    assert!(
        played.prompts[2].contains("tests/test_stats.py:3 in test_one"),
        "{}",
        played.prompts[2]
    );
}

#[test]
fn a_run_without_a_single_passing_test_proves_nothing() {
    let aside = Case { set_aside: true, ..case("test_one", None) };
    let skipped = TestRun { cases: vec![Case { passed: false, ..aside }], ..run(Ending::Passed) };
    let script = vec![tests(), red(), good(), Run(skipped)];
    let played = play(&item(), &Policy::generate(), script);
    assert!(!played.trace.contains("commit"), "{}", played.trace);
}
