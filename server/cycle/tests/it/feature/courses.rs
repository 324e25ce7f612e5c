//! Every way from words to a merged change.

use cycle::feature::{Asked, Course, End, Ending, Limits, Next, Review, Seen};

/// What is to be done, in a word.
fn word(next: &Next) -> String {
    match next {
        Next::Ask { what, attempt, complaint } => {
            let what = match what {
                Asked::Scaffold => "tests",
                Asked::Code => "code",
                Asked::Fix => "fix",
            };
            let after = complaint.as_ref().map(|why| format!(" after {why}")).unwrap_or_default();
            format!("{what} {attempt}{after}")
        }
        Next::Red => "red".to_owned(),
        Next::Green => "green".to_owned(),
        Next::Lint => "lint".to_owned(),
        Next::Report => "report".to_owned(),
        Next::Review => "review".to_owned(),
        Next::Merge => "merge".to_owned(),
        Next::End(End { ending, history }) => match ending {
            Ending::Merged => format!("merged, {} in vain", history.len()),
            Ending::NeedsPerson(why) => format!("person: {why}; {} in vain", history.len()),
            Ending::Left => "left".to_owned(),
            Ending::Failed(why) => format!("failed: {why}"),
        },
    }
}

/// What was seen, by a word.
fn seen(word: &str) -> Seen {
    let (word, why) = word.split_once(' ').unwrap_or((word, ""));
    match word {
        "w" => Seen::Written,
        "u" => Seen::Unusable(why.to_owned()),
        "n" => Seen::NoReply(why.to_owned()),
        "+" => Seen::Passed,
        "holds" => Seen::Holds,
        "-" => Seen::Failed(why.to_owned()),
        "yes" => Seen::Reviewed(Review::Approve),
        "edit" => Seen::Reviewed(Review::Edited),
        "no" => Seen::Reviewed(Review::SendBack(why.to_owned())),
        "leave" => Seen::Reviewed(Review::Leave),
        "nobody" => Seen::Reviewed(Review::Nobody),
        "merged" => Seen::Merged,
        "stuck" => Seen::NotMerged(why.to_owned()),
        other => panic!("{other}"),
    }
}

/// What was seen, one after the other, and what comes of the last.
fn walk(sights: &str) -> (Vec<String>, String) {
    let (mut course, first) = Course::new(Limits::implement(3));
    let mut words = vec![word(&first)];
    for it in sights.split(", ") {
        words.push(word(&course.step(seen(it))));
    }
    let last = words.last().cloned().unwrap_or_default();
    (words, last)
}

/// To the review: tests, red, code, green, lint, reports.
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
        // The red gate sends tests back, with the reason, twice.
        ("w, - all pass", "tests 1 after all pass"),
        ("w, - all pass, w, - all pass", "tests 2 after all pass"),
        (
            "w, - all pass, w, - all pass, w, - again",
            "person: there are no tests that fail: again; 3 in vain",
        ),
        // An answer that cannot be used is asked for again; one that can be used starts the count anew.
        ("u no file", "tests 1 after no file"),
        (
            "u a, u b, u c",
            "person: 3 answers in a row could not be used, the last since c; 3 in vain",
        ),
        ("u a, u b, w, +, u c, u d", "code 2 after d"),
        ("n no recorded reply", "failed: no recorded reply"),
        // Three fixes; the fourth attempt that does not do goes to a person.
        ("w, +, w, - f0", "fix 0"),
        ("w, +, w, - f0, w, - f1, w, - f2", "fix 2"),
        (
            "w, +, w, - f0, w, - f1, w, - f2, w, - f3",
            "person: 4 attempts failed, the last because f3; 4 in vain",
        ),
        ("w, +, w, - f0, u no block", "fix 1 after no block"),
        // Linters and reviews send back as gates do, within the same number.
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
fn the_whole_history_is_told_in_order() {
    let (mut course, _) = Course::new(Limits::implement(1));
    let sights = ["w", "- they pass", "w", "+", "u no file", "w", "- f0\ntrace", "w", "- f1"];
    let ends = sights.map(|it| course.step(seen(it)));
    let Some(Next::End(End { history, .. })) = ends.last() else { panic!("{ends:?}") };
    let wanted = ["red gate: they pass", "an answer could not be used: no file", "f0\ntrace", "f1"];
    assert_eq!(history, &wanted);
}

#[test]
#[should_panic(expected = "does not answer")]
fn a_gate_that_was_not_asked_about_opens_nothing() {
    let (mut course, _) = Course::new(Limits::implement(3));
    course.step(Seen::Passed);
}

#[test]
fn tests_of_all_together_that_pass_need_no_code() {
    let (words, last) = walk("w, holds, +, +, w, yes, merged");
    assert_eq!(words[1..4], ["red", "green", "lint"]);
    assert_eq!(last, "merged, 0 in vain");
    // Or they are there already, from an earlier time.
    assert_eq!(walk("holds").1, "merged, 0 in vain");
}
