//! What the model is told.

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
        Votes("A A A A A"),
        worse(1),
        fail(),
        fail(),
        Votes("A A A A A"),
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
        &["return 0.0", "def test_one():", "Traceback: AssertionError", "A, B or C only"],
    );
    check_prompt(
        &played,
        3,
        &["return 0.0", "Tests (read-only)", "Traceback: AssertionError", "<<<<<<< SEARCH"],
    );
    check_prompt(
        &played,
        5,
        &["return 1.5", "## Earlier attempts failed with\n- AssertionError: assert 0.0 == 1.5"],
    );
}

#[test]
fn a_long_failure_is_cut_in_the_middle() {
    let long =
        Failure { traceback: format!("first {} last", "é".repeat(9000)), ..failure("E", "m") };
    let script = vec![tests(), red(), bad(), fails(long.clone()), fails(long)];
    let played = play(&item(), &Policy::generate(), script);
    check_prompt(&played, 2, &["first é", "é last", "bytes left out"]);
    assert!(played.prompts[2].len() < 9000);
}
