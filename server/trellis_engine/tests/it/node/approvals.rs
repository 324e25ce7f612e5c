//! Tests of fixes that need a review (R4).

use super::*;

const FIRST: &str = "ask tests 0; run red; ask implementation 0; run green;";
const FIXED: &str = "run again; vote; [voted]; search; ask fix 0; run green; review;";

/// Plays a passing fix and the given decisions on it.
fn decided(then: Vec<In>) -> Played {
    let mut script = vec![tests(), red(), bad(), fail(), fail(), Votes("A!"), good(), pass()];
    script.extend(then);
    let policy = Policy { approve_fixes: true, ..Policy::generate() };
    play(&item(), &policy, script)
}

#[test]
fn a_fix_is_accepted_only_as_a_person_wants_it() {
    let mine = "def mean(values: list[float]) -> float:\n    return my_own(values)\n";
    let approved = || Decided(Decision::Accept { by: "a person".to_owned() });
    let declined = || Decided(Decision::Reject { why: "too clever".to_owned() });
    let file = |text: &str| BTreeMap::from([(item().path, text.to_owned())]);
    let before = || decided(Vec::new()).implementation();
    let rewritten = |text: &str| {
        let (files, before) = (file(text), file(&before()));
        Decided(Decision::AcceptEdited(EditedFiles { files, before }))
    };
    let table = [
        (vec![approved()], "[approved]; passed"),
        (vec![declined()], "explain; revert; needs human: the fix was declined: too clever"),
        (
            vec![Decided(Decision::NoReviewer)],
            "explain; revert; needs human: the fix needs your review",
        ),
        // A person's edit has to pass as well, and no model changes it.
        (vec![rewritten(mine), pass()], "[rewritten]; run green; passed"),
        (
            vec![rewritten(mine), fail(), fail()],
            "[rewritten]; run green; run again; explain; revert; needs human: the fix as edited \
             in review fails: ",
        ),
        (
            vec![rewritten("def mean(:\n")],
            "[rewritten]; explain; revert; needs human: cannot use the fix as edited in \
             review: ",
        ),
    ];
    for (then, ending) in table {
        let played = decided(then);
        let start = format!("{FIRST} {FIXED} {ending}");
        assert!(played.trace.starts_with(&start), "{} is not {start}", played.trace);
    }
    assert_eq!(decided(vec![rewritten(mine), pass()]).implementation(), mine);
}

#[test]
fn what_passes_at_once_is_put_before_nobody() {
    let policy = Policy { approve_fixes: true, ..Policy::generate() };
    let played = play(&item(), &policy, vec![tests(), red(), good(), pass()]);
    assert_eq!(played.trace, format!("{FIRST} passed"));
}
