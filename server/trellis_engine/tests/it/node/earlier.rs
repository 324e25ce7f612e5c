//! Drafts of an earlier start that a changed dependency made doubtful.

use super::*;

/// Plays a script for `mean` with an earlier draft that is to be tested again.
#[track_caller]
fn check_earlier(begin: State, script: Vec<In>, expect: &str) -> Played {
    let fragment = |text| Some(trellis_python::Fragment::parse(text).expect("Python"));
    let (tests, implementation) = (fragment(TESTS), fragment(GOOD));
    let implementation = begin.draft().implementation.clone().or(implementation);
    let state = begin.rechecking(Draft { tests, implementation, ..Draft::default() });
    let played = play_from(state, &item(), &Policy::generate(), script);
    assert_eq!(played.trace, expect);
    played
}

#[test]
fn an_earlier_draft_whose_tests_pass_is_kept_and_nothing_is_asked() {
    let played = check_earlier(State::default(), vec![pass()], "run green; passed");
    assert!(played.state.is_kept());
    assert_eq!(played.implementation(), GOOD);
}

#[test]
fn a_failure_that_passes_unchanged_does_not_cost_the_earlier_draft() {
    let script = vec![fail(), pass()];
    let played = check_earlier(State::default(), script, "run green; run again; [flaky]; passed");
    assert!(played.state.is_kept());
}

#[test]
fn a_failing_earlier_draft_is_discarded_and_the_item_begins_with_its_tests() {
    let script = vec![fail(), fail(), tests(), red(), good(), pass()];
    let played = check_earlier(
        State::default(),
        script,
        "run green; run again; [outdated]; revert; ask tests 0; run red; ask implementation 0; run green; passed",
    );
    assert!(!played.state.is_kept());
    assert_eq!(played.state.fixes(), 0);
    assert!(played.notes[0].1.contains("fail since a dependency changed"), "{:?}", played.notes);
}

#[test]
fn a_cause_outside_the_item_does_not_cost_the_earlier_draft_and_asks_nothing() {
    let missing = || fails(no_module("numpy"));
    let played = check_earlier(
        State::default(),
        vec![missing(), missing()],
        "run green; run again; [diagnosed]; revert; skipped: environment: ModuleNotFoundError: No module named 'numpy' (tests/test_stats.py:2)",
    );
    assert!(played.asks.is_empty());
}

#[test]
fn no_import_is_added_to_an_earlier_draft() {
    let missing = || fails(failure("NameError", "name 'math' is not defined"));
    let script = vec![missing(), missing(), tests(), red(), good(), pass()];
    let played = check_earlier(
        State::default(),
        script,
        "run green; run again; [outdated]; revert; ask tests 0; run red; ask implementation 0; run green; passed",
    );
    assert_eq!(played.implementation(), GOOD);
}

#[test]
fn code_written_by_hand_is_tested_again_as_well_and_never_overwritten() {
    let script = vec![fail(), fail(), tests(), pass()];
    let begin = State::written_by_hand();
    let expect = "run green; run again; [outdated]; revert; ask tests 0; [red-gate-skipped]; run green; passed";
    let played = check_earlier(begin, script, expect);
    assert_eq!(played.implementation(), "");
}
