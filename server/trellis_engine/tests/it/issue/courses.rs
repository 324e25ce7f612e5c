//! Tests of all paths from an issue to a merged change.

use trellis_engine::issue::{Action, Event, IssueMachine, Limits, PromptKind};
use trellis_engine::{Decision, EditedFiles, Machine as _, Outcome};

/// Renders an action as a word.
fn word(next: &Action, history: &[String]) -> String {
    match next {
        Action::Complete { kind, attempt, complaint } => {
            let what = match kind {
                PromptKind::Scaffold => "tests",
                PromptKind::Code => "code",
                PromptKind::Fix => "fix",
            };
            let after = complaint.as_ref().map(|why| format!(" after {why}")).unwrap_or_default();
            format!("{what} {attempt}{after}")
        }
        Action::RunRed => "red".to_owned(),
        Action::RunGreen => "green".to_owned(),
        Action::Lint => "lint".to_owned(),
        Action::Report => "report".to_owned(),
        Action::Review => "review".to_owned(),
        Action::Merge => "merge".to_owned(),
        Action::Finish(Outcome::Passed) => format!("merged, {} in vain", history.len()),
        Action::Finish(Outcome::NeedsHuman { reason }) => {
            format!("person: {reason}; {} in vain", history.len())
        }
        Action::Finish(Outcome::Deferred) => "left".to_owned(),
        Action::Finish(other) => match other {
            Outcome::Failed { reason } => format!("failed: {reason}"),
            other => panic!("{other:?}"),
        },
    }
}

/// Parses an event from a word.
fn seen(word: &str) -> Event {
    let (word, why) = word.split_once(' ').unwrap_or((word, ""));
    match word {
        "w" => Event::Written,
        "u" => Event::Unusable(why.to_owned()),
        "n" => Event::NoReply(why.to_owned()),
        "+" => Event::Passed,
        "holds" => Event::Holds,
        "-" => Event::Failed(why.to_owned()),
        "yes" => Event::Decided(Decision::Accept { by: "you".to_owned() }),
        "edit" => Event::Decided(Decision::AcceptEdited(EditedFiles::default())),
        "no" => Event::Decided(Decision::Reject { why: why.to_owned() }),
        "leave" => Event::Decided(Decision::Defer { proposal: "issue-1".to_owned() }),
        "nobody" => Event::Decided(Decision::NoReviewer),
        "merged" => Event::Merged,
        "stuck" => Event::NotMerged(why.to_owned()),
        other => panic!("{other}"),
    }
}

/// Returns the word of the only action after an event.
fn step(machine: &mut IssueMachine, event: Event) -> String {
    let actions = machine.step(event).expect("an event in turn");
    let [action] = &actions[..] else { panic!("{actions:?}") };
    word(action, machine.history())
}

/// Performs the events in order; returns all actions, and the last one.
fn walk(sights: &str) -> (Vec<String>, String) {
    let mut machine = IssueMachine::new(Limits::implement(3));
    let mut words = vec![step(&mut machine, Event::Started)];
    for it in sights.split(", ") {
        words.push(step(&mut machine, seen(it)));
    }
    let last = words.last().cloned().unwrap_or_default();
    (words, last)
}

/// Events up to the review: tests, red, code, green, lint, reports.
const MADE: &str = "w, +, w, +, +, w";

#[test]
fn tests_come_first_and_a_merge_last() {
    let (words, _) = walk(&format!("{MADE}, yes, merged"));
    let wanted = [
        "tests 0",
        "red",
        "code 0",
        "green",
        "lint",
        "report",
        "review",
        "merge",
        "merged, 0 in vain",
    ];
    assert_eq!(words, wanted);
}

#[test]
fn what_does_not_do_goes_back_and_at_last_to_a_person() {
    let table = [
        // The red gate sends tests back twice, with the reason.
        ("w, - all pass", "tests 1 after all pass"),
        ("w, - all pass, w, - all pass", "tests 2 after all pass"),
        (
            "w, - all pass, w, - all pass, w, - again",
            "person: there are no tests that fail: again; 3 in vain",
        ),
        // A request with an unusable answer is repeated; a usable answer resets the count.
        ("u no file", "tests 1 after no file"),
        (
            "u a, u b, u c",
            "person: 3 answers in a row could not be used, the last since c; 3 in vain",
        ),
        ("u a, u b, w, +, u c, u d", "code 2 after d"),
        ("n no recorded reply", "failed: no recorded reply"),
        // Three fixes; after the fourth failed attempt a person decides.
        ("w, +, w, - f0", "fix 0"),
        ("w, +, w, - f0, w, - f1, w, - f2", "fix 2"),
        (
            "w, +, w, - f0, w, - f1, w, - f2, w, - f3",
            "person: 4 attempts failed, the last because f3; 4 in vain",
        ),
        ("w, +, w, - f0, u no block", "fix 1 after no block"),
        // Failures of linters and reviews count as fixes like those of gates.
        ("w, +, w, +, - E501", "fix 0"),
        ("w, +, w, +, - E501, w", "green"),
        ("w, +, w, +, +, w, no too clever", "fix 0"),
        ("w, +, w, +, +, w, edit", "green"),
        ("w, +, w, +, +, w, leave", "left"),
        (
            "w, +, w, +, +, w, nobody",
            "person: look at the change, then approve it or request changes; 0 in vain",
        ),
        ("w, +, w, +, +, w, yes, stuck a conflict", "person: a conflict; 0 in vain"),
    ];
    for (sights, wanted) in table {
        assert_eq!(walk(sights).1, wanted, "{sights}");
    }
}

#[test]
fn the_whole_history_is_reported_in_order() {
    let mut machine = IssueMachine::new(Limits::implement(1));
    step(&mut machine, Event::Started);
    let sights = ["w", "- they pass", "w", "+", "u no file", "w", "- f0\ntrace", "w", "- f1"];
    sights.iter().for_each(|it| drop(step(&mut machine, seen(it))));
    let wanted = ["red gate: they pass", "an answer could not be used: no file", "f0\ntrace", "f1"];
    assert_eq!(machine.history(), &wanted);
}

#[test]
fn a_gate_that_was_not_asked_about_opens_nothing() {
    let mut machine = IssueMachine::new(Limits::implement(3));
    step(&mut machine, Event::Started);
    let refused = machine.step(Event::Passed).expect_err("it waits for a reply");
    assert_eq!(refused.to_string(), "a check came while the cycle waited for a reply");
    assert!(machine.step(Event::Started).is_err());
    assert_eq!(step(&mut machine, Event::Written), "red");
}

#[test]
fn tests_of_all_together_that_pass_need_no_code() {
    let (words, last) = walk("w, holds, +, +, w, yes, merged");
    assert_eq!(words[1..4], ["red", "green", "lint"]);
    assert_eq!(last, "merged, 0 in vain");
    // Or the tests exist already, from an earlier run.
    assert_eq!(walk("holds").1, "merged, 0 in vain");
}
