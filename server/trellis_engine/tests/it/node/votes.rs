//! Tests of votes on a failure and their consequences (V3, V4).

use trellis_engine::{Diagnosis, VoteRule, VoteTally};

use super::*;

/// Inputs up to the first failing run of the implementation.
fn failed_with(failing: fn() -> In) -> Vec<In> {
    vec![tests(), red(), bad(), failing(), failing()]
}

const START: &str =
    "ask tests 0; run red; ask implementation 0; run green; run again; vote; [voted];";

#[track_caller]
fn check_votes(letters: &'static str, more: Vec<In>, expect: &str) -> Played {
    let mut script = failed_with(fail);
    script.push(Votes(letters));
    script.extend(more);
    check(script, &format!("{START} {expect}"))
}

const AS_NEEDED: VoteRule = VoteRule::AsNeeded { most: 5 };

#[test]
fn the_verdict_is_the_vote_else_the_first_letter_standing_alone() {
    use Diagnosis::{Environment, Implementation, Test};
    let table = [
        ("A", Some(Implementation)),
        ("B", Some(Test)),
        ("C", Some(Environment)),
        ("B) a test issue", Some(Test)),
        ("**C**", Some(Environment)),
        ("The answer is B, not A.", Some(Test)),
        ("Answer:C\n", Some(Environment)),
        ("A test calls it with 3.\nVERDICT: B\nSURE: low", Some(Test)),
        ("VERDICT: A? No.\n**VERDICT:** `C`\n", Some(Environment)),
        ("VERDICT: none of them\nB", Some(Test)),
        ("ABC", None),
        ("b", None),
        ("it is an assertion", None),
        ("", None),
        ("D", None),
    ];
    for (reply, expect) in table {
        let mut votes = trellis_engine::Votes::default();
        votes.add(reply);
        let standing = votes.standing(VoteRule::Exactly(1));
        let expect = expect.map_or(VoteTally::Split, VoteTally::Decided);
        assert_eq!((standing, votes.cast()), (expect, 1), "{reply:?}");
    }
}

fn counted(letters: &str) -> trellis_engine::Votes {
    let mut all = trellis_engine::Votes::default();
    for letter in letters.split_whitespace() {
        all.add(&voice(letter).unwrap_or_default());
    }
    all
}

/// The seed's scenarios: 5-0, 4-1, 3-2, 2-2-1.
#[test]
fn three_of_five_decide() {
    use Diagnosis::{Environment, Implementation, Test};
    let table = [
        ("A A A A A", Some(Implementation), "A 5, B 0, C 0"),
        ("B B A B B", Some(Test), "A 1, B 4, C 0"),
        ("C A C A C", Some(Environment), "A 2, B 0, C 3"),
        ("A A B B C", None, "A 2, B 2, C 1"),
        ("A A ? ? ?", None, "A 2, B 0, C 0, none 3"),
        ("A ? A ? A", Some(Implementation), "A 3, B 0, C 0, none 2"),
    ];
    for (letters, winner, tally) in table {
        let expect = winner.map_or(VoteTally::Split, VoteTally::Decided);
        for rule in [VoteRule::Exactly(5), AS_NEEDED] {
            let all = counted(letters);
            assert_eq!((all.standing(rule), all.tally()), (expect, tally.to_owned()), "{letters}");
        }
    }
}

#[test]
fn one_who_is_sure_decides_and_else_another_one_is_asked() {
    use Diagnosis::{Implementation, Test};
    let table = [
        ("", VoteTally::Open(1)),
        ("A!", VoteTally::Decided(Implementation)),
        ("A", VoteTally::Open(1)),
        ("?", VoteTally::Open(1)),
        ("A A", VoteTally::Open(1)),
        ("A B", VoteTally::Open(1)),
        ("A A A", VoteTally::Decided(Implementation)),
        // Against another sure vote, a third is requested.
        ("A! B!", VoteTally::Open(1)),
        ("A! B! B!", VoteTally::Decided(Test)),
        ("A! A", VoteTally::Open(1)),
        ("A B B!", VoteTally::Decided(Test)),
        ("A A B B", VoteTally::Open(1)),
    ];
    for (letters, expect) in table {
        assert_eq!(counted(letters).standing(AS_NEEDED), expect, "{letters}");
    }
    assert_eq!(counted("A! A!").standing(VoteRule::Exactly(5)), VoteTally::Open(3));
}

/// A vote that is not sure does not decide alone.
#[test]
fn votes_are_held_until_it_is_clear() {
    let played = check_votes(
        "A A A",
        vec![good(), pass()],
        "vote; [voted]; vote; [voted]; search; ask fix 0; run green; passed",
    );
    assert_eq!(played.note("voted"), "A 1, B 0, C 0");
    check_votes(
        "A B B B",
        vec![tests(), red(), pass()],
        "vote; [voted]; vote; [voted]; vote; [voted]; [tests-judged-wrong]; ask tests 1; run red; run green; passed",
    );
}

/// A failed fix makes a decision doubtful: each adds one vote, until no vote could change the
/// result.
#[test]
fn a_fix_that_fails_asks_for_another_opinion() {
    let mut more: Vec<In> = (0..3).flat_map(|n| [worse(n), fail(), fail()]).collect();
    more.extend([good(), pass()]);
    let round = "run green; run again;";
    let played = check_votes(
        "A! A! A!",
        more,
        &format!(
            "search; ask fix 0; {round} vote; [voted]; search; ask fix 1; {round} vote; [voted]; search; \
             ask fix 2; {round} search; ask fix 3; run green; passed"
        ),
    );
    assert_eq!(played.state.fixes(), 4);
    // The second vote finds the test wrong, and a third agrees.
    check_votes(
        "A! B! B!",
        vec![worse(0), fail(), fail(), tests(), red(), pass()],
        &format!(
            "search; ask fix 0; {round} vote; [voted]; vote; [voted]; [tests-judged-wrong]; ask tests 1; run red; \
             run green; passed"
        ),
    );
}

const WRONG: &str = "TEST IS WRONG: test_two; \"The arithmetic mean.\"";

#[test]
fn a_fix_may_say_that_a_test_is_wrong_and_a_judge_looks_again() {
    let played = check_votes(
        "A! B! B!",
        vec![say(WRONG), tests(), red(), pass()],
        "search; ask fix 0; [test-called-wrong]; vote; [voted]; vote; [voted]; [tests-judged-wrong]; ask tests 1; \
         run red; run green; passed",
    );
    assert!(played.prompts[4].contains("An objection"), "{}", played.prompts[4]);
    assert!(played.prompts[4].contains(WRONG), "{}", played.prompts[4]);
    assert_eq!(played.state.fixes(), 0);
    // The vote confirms the tests; it is requested once and no further.
    let played = check_votes(
        "A! A!",
        vec![say(WRONG), say(WRONG), good(), pass()],
        "search; ask fix 0; [test-called-wrong]; vote; [voted]; [malformed]; ask fix 1; [test-called-wrong]; [malformed]; \
         ask fix 2; run green; passed",
    );
    assert!(played.prompts[5].contains("the tests were judged right"), "{}", played.prompts[5]);
    // With code the reply is a fix like any other.
    let both = python(&format!("# TEST IS WRONG: no.\n{GOOD}"));
    check_votes("A!", vec![both, pass()], "search; ask fix 0; run green; passed");
}

#[test]
fn a_body_that_does_nothing_needs_no_judge() {
    let empty = "def mean(values: list[float]) -> float:\n    \"\"\"The arithmetic mean.\"\"\"\n";
    check(
        vec![tests(), red(), python(empty), fail(), fail(), good(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; run again; [diagnosed]; search; ask fix 0; run green; \
         passed",
    );
}

#[test]
fn so_many_votes_as_a_person_wants_are_held_at_once() {
    let policy = Policy { votes: VoteRule::Exactly(3), ..Policy::generate() };
    let mut script = failed_with(fail);
    script.extend([Votes("A B A"), good(), pass()]);
    let played = play(&item(), &policy, script);
    let wanted = START.replace("vote", "vote 3").replace("[vote 3d]", "[voted]");
    assert_eq!(played.trace, format!("{wanted} search; ask fix 0; run green; passed"));
}

#[test]
fn an_implementation_bug_is_searched_and_fixed() {
    let played = check_votes("A!", vec![good(), pass()], "search; ask fix 0; run green; passed");
    assert_eq!(played.state.fixes(), 1);
    assert_eq!(played.implementation(), GOOD);
}

#[test]
fn wrong_tests_are_written_anew_and_must_be_red_again() {
    let played = check_votes(
        "B A B B",
        vec![tests(), red(), pass()],
        "vote; [voted]; vote; [voted]; vote; [voted]; [tests-judged-wrong]; ask tests 1; run red; run green; passed",
    );
    assert_eq!(played.state.fixes(), 0, "regenerations are no fixes");
    assert_eq!(played.implementation(), BAD, "the implementation stays");
    assert!(played.prompts[3].contains("assert 0.0 == 1.5"), "{}", played.prompts[3]);
    check_votes(
        "B!",
        vec![tests(), pass(), tests(), red(), pass()],
        "[tests-judged-wrong]; ask tests 1; run red; \
         [tests-sent-back]; ask tests 2; run red; run green; passed",
    );
}

#[test]
fn tests_are_written_anew_twice_at_most() {
    let again = || vec![tests(), red(), fail(), fail(), Votes("B!")];
    let mut more = again();
    more.extend(again());
    let judged = "run again; vote; [voted]; [tests-judged-wrong];";
    let played = check_votes(
        "B!",
        more,
        &format!(
            "[tests-judged-wrong]; ask tests 1; run red; run green; {judged} ask tests 2; run red; run green; run again; vote; [voted]; explain; revert; \
             needs human: the tests were judged wrong 3 times: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)"
        ),
    );
    assert_eq!(played.state.fixes(), 0);
}

#[test]
fn the_environment_is_nobody_s_failure() {
    check_votes(
        "C!",
        vec![],
        "revert; \
         skipped: environment: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)",
    );
}

#[test]
fn a_split_vote_goes_to_a_person() {
    check_votes(
        "A A B B C",
        vec![],
        "vote; [voted]; vote; [voted]; vote; [voted]; vote; [voted]; explain; revert; \
         needs human: the votes on a failure are split: AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)",
    );
}

#[test]
fn a_vote_that_never_came_counts_for_nothing() {
    check_votes(
        "A - A - A",
        vec![good(), pass()],
        "vote; [voted]; vote; [voted]; vote; [voted]; vote; [voted]; search; ask fix 0; run green; passed",
    );
    check_votes(
        "A - A - -",
        vec![],
        "vote; [voted]; vote; [voted]; vote; [voted]; vote; [voted]; explain; revert; needs human: the votes on a failure are split: \
         AssertionError: assert 0.0 == 1.5 (src/pkg/stats.py:2)",
    );
    let mut script = failed_with(fail);
    script.push(Votes("-"));
    check(
        script,
        "ask tests 0; run red; ask implementation 0; run green; run again; vote; revert; \
         failed: no recorded reply for stats.mean diagnosis",
    );
}

#[test]
fn a_test_that_passes_unchanged_is_flaky_and_no_vote_is_held() {
    let played = check(
        vec![tests(), red(), good(), fail(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; run again; [flaky]; passed",
    );
    assert!(played.note("flaky").contains("assert 0.0 == 1.5"), "{}", played.note("flaky"));
    assert_eq!(played.state.flaky(), ["tests/test_stats.py::test_two"]);
}

/// Two tests that never pass together have each passed.
#[test]
fn every_test_has_to_pass_once() {
    let other = || {
        let failing = case("test_one", Some(failure("AssertionError", "assert 1 == 2")));
        Run(TestRun { cases: vec![failing, case("test_two", None)], ..run(RunOutcome::Failed) })
    };
    let start = "ask tests 0; run red; ask implementation 0; run green; run again;";
    check(vec![tests(), red(), good(), fail(), other()], &format!("{start} [flaky]; passed"));
    // Runs that differ from each other are repeated five times at most.
    let differing = |n: usize| fails(failure("AssertionError", &format!("assert {n} == 7")));
    let mut script = vec![tests(), red(), good()];
    script.extend((0..6).map(differing));
    script.push(Votes("A!"));
    let played = play(&item(), &Policy::generate(), script);
    assert_eq!(played.trace.matches("run again").count(), 5, "{}", played.trace);
    assert!(played.trace.ends_with("vote; [voted]; search; ask fix 0"), "{}", played.trace);
    // An object's address is no difference.
    let at =
        |at: &str| fails(failure("AssertionError", &format!("<Cart object at 0x{at}> is None")));
    let script = vec![tests(), red(), good(), at("7f12"), at("7ab0"), Votes("A!")];
    let played = play(&item(), &Policy::generate(), script);
    assert_eq!(played.trace.matches("run again").count(), 1, "{}", played.trace);
}

/// The seed's scenario: a test that fails half of the time fails its node in 1 of 20 cases at most.
#[test]
fn a_flaky_test_does_not_fail_its_node() {
    let random = TESTS.replace("import pytest\n", "import pytest\nimport random\n");
    let mut failed = 0;
    for seed in 0..20u64 {
        let mut coin = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut toss = || {
            coin ^= coin << 13;
            coin ^= coin >> 7;
            coin ^= coin << 17;
            coin & 0x100 == 0
        };
        let mut script = vec![python(&random), red(), good()];
        let runs: Vec<bool> = (0..6).map(|_| toss()).collect();
        let until = runs.iter().position(|passes| *passes);
        script.extend(
            runs[..until.map_or(6, |at| at + 1)].iter().map(|it| if *it { pass() } else { fail() }),
        );
        let played = play(&item(), &Policy::generate(), script);
        assert!(played.trace.matches("run again").count() <= 5, "{}", played.trace);
        failed += usize::from(!played.trace.ends_with("; passed"));
    }
    assert!(failed <= 1, "{failed} of 20 nodes failed");
}

#[test]
fn crashes_and_memory_are_looked_at_again() {
    let crash = || run(RunOutcome::Crashed { how: "with exit status 3".to_owned(), signal: None });
    let table: [(&dyn Fn() -> TestRun, &str); 2] = [
        (&crash, "the test process ended early: with exit status 3"),
        (&|| run(RunOutcome::KilledForMemory), "killed for using too much memory"),
    ];
    for (failing, why) in table {
        let script = vec![tests(), red(), bad(), Run(failing()), Run(failing()), Votes("A!")];
        let played = check(script, &format!("{START} search; ask fix 0"));
        assert!(played.prompts[3].contains(why), "{}", played.prompts[3]);
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
        let timed_out =
            || Run(TestRun { stack: stack.clone(), ..run(RunOutcome::TimedOut { why: None }) });
        let start = "ask tests 0; run red; ask implementation 0; run green;";
        if is_loop {
            let script = vec![tests(), red(), bad(), timed_out()];
            let played = play(&item(), &Policy::generate(), script);
            assert_eq!(played.trace, format!("{start} [diagnosed]; search; ask fix 0"));
        } else {
            // A waiting run may wait for something that the code should have done: the stack does
            // not show it.
            let script = vec![tests(), red(), bad(), timed_out(), timed_out(), Votes("A!")];
            let played = play(&item(), &Policy::generate(), script);
            let verdict = played.trace.strip_prefix(start).unwrap_or_default();
            assert!(verdict.starts_with(" run again; vote"), "{}", played.trace);
        }
    }
}

#[test]
fn an_endless_loop_is_fixed_like_any_bug() {
    let stack = || {
        let library = |name| frame("/usr/lib/python3.11/threading.py", name);
        let mut all =
            vec![frame("tests/test_stats.py", "test_one"), library("join"), library("wait")];
        all.push(frame("src/pkg/stats.py", "mean"));
        all
    };
    let timed_out = TestRun { stack: stack(), ..run(RunOutcome::TimedOut { why: None }) };
    let played = check(
        vec![tests(), red(), bad(), Run(timed_out), good(), pass()],
        "ask tests 0; run red; ask implementation 0; run green; [diagnosed]; search; ask fix 0; run green; \
         passed",
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
    assert!(played.prompts[2].contains("[… 2 frames of libraries …]"), "{}", played.prompts[2]);
    assert!(!played.prompts[2].contains("threading.py"), "{}", played.prompts[2]);
}

/// After two failed fixes a rule's diagnosis is put to the vote.
#[test]
fn a_rule_is_not_believed_for_ever() {
    let typed = || fails(failure("TypeError", "can only concatenate str"));
    let round = |n: usize| vec![worse(n), typed(), typed()];
    let mut script = vec![tests(), red(), bad(), typed(), typed()];
    script.extend(round(1));
    script.extend(round(2));
    script.push(Votes("B!"));
    let fixed = "[diagnosed]; search; ask fix";
    check(
        script,
        &format!(
            "ask tests 0; run red; ask implementation 0; run green; run again; {fixed} 0; run green; run again; \
             {fixed} 1; run green; run again; vote; [voted]; [tests-judged-wrong]; ask tests 1"
        ),
    );
}

#[test]
fn a_run_without_a_single_passing_test_proves_nothing() {
    let aside = TestCase { set_aside: true, ..case("test_one", None) };
    let skipped =
        TestRun { cases: vec![TestCase { passed: false, ..aside }], ..run(RunOutcome::Passed) };
    let script = vec![tests(), red(), good(), Run(skipped)];
    let played = play(&item(), &Policy::generate(), script);
    assert!(!played.trace.ends_with("; passed"), "{}", played.trace);
}

/// The cause of giving an item up is known as a kind, not only as text.
#[test]
fn an_item_given_up_knows_its_cause() {
    use trellis_engine::Cause;
    let voted = |letters: &'static str| {
        let mut script = failed_with(fail);
        script.push(Votes(letters));
        script
    };
    let table = [
        (vec![Silence], Some(Cause::NoAnswer)),
        (voted("A A B B C"), Some(Cause::SplitVote)),
        (voted("C!"), Some(Cause::Environment)),
        (vec![tests(), red(), good(), pass()], None),
    ];
    for (script, cause) in table {
        let played = play(&item(), &Policy::generate(), script);
        assert_eq!(played.state.cause(), cause, "{}", played.trace);
    }
}
