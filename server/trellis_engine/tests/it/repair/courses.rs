//! Tests of all paths through the repair loop, without its I/O.

use trellis_engine::localize::Ranking;
use trellis_engine::repair::{
    Action, Decision, Event, FixScore, Group, Limits, Outcome, ProposalDecision, RepairMachine,
    Size, SuspectedCause, Trial,
};

fn group(tests: &[&str]) -> Group {
    let tests = tests.iter().map(|it| (*it).to_owned()).collect();
    Group { tests, cause: SuspectedCause::default(), ranking: Ranking::default() }
}

fn good(lines: usize) -> Event {
    let size = Size { lines, most: lines, files: 1 };
    Event::Tried(Trial::Good(FixScore { size, solved: 1, ..FixScore::default() }))
}

fn cheat() -> Event {
    let shortcuts = vec!["a.py:1: a special case".to_owned()];
    Event::Tried(Trial::Good(FixScore { shortcuts, solved: 1, ..FixScore::default() }))
}

fn bad() -> Event {
    Event::Tried(Trial::Bad("breaks b".to_owned()))
}

fn unusable() -> Event {
    Event::Unusable("no blocks".to_owned())
}

fn suggests(suggestions: usize) -> Event {
    Event::Diagnosed { suggestions }
}

fn keep() -> Event {
    Event::Decided(Decision::Keep)
}

fn reject() -> Event {
    Event::Decided(Decision::Reject { why: "too clever".to_owned() })
}

fn stale() -> Event {
    Event::Stale("a.py was changed".to_owned())
}

fn surveyed(groups: &[&[&str]]) -> Event {
    Event::Surveyed(groups.iter().map(|it| group(it)).collect())
}

/// Renders an action as a word.
fn word(next: &Action) -> String {
    match next {
        Action::Survey => "survey".to_owned(),
        Action::Diagnose(group) => format!("diagnose {}", group.first_test()),
        Action::Suggested { suggestion } => format!("suggested {suggestion}"),
        Action::Ask { attempt, complaint: None } => format!("ask {attempt}"),
        Action::Ask { attempt, complaint: Some(why) } => format!("ask {attempt} after {why}"),
        Action::Decide { candidate, iteration } => format!("decide {candidate} at {iteration}"),
        Action::Write { candidate } => format!("write {candidate}"),
        Action::CheckProposals { wait: false } => "hear".to_owned(),
        Action::CheckProposals { wait: true } => "wait".to_owned(),
        Action::End(Outcome { kept, given_up, waiting, is_stopped }) => {
            let named = |all: &[(Group, String)]| -> String {
                let one = |(group, why): &(Group, String)| format!(" {}={why}", group.first_test());
                all.iter().map(one).collect()
            };
            let stopped = if *is_stopped { " stopped" } else { "" };
            format!("end {kept}{}{}{stopped}", named(given_up), named(waiting))
        }
    }
}

fn played(limits: Limits, seen: Vec<Event>) -> Vec<String> {
    let (mut machine, first) = RepairMachine::new(limits);
    let rest = seen.into_iter().map(|it| word(&machine.step(it)));
    std::iter::once(word(&first)).chain(rest).collect()
}

const ONE: Limits = Limits { iterations: 3, candidates: 1 };
const TWO: Limits = Limits { iterations: 4, candidates: 2 };

#[test]
fn every_way_ends_as_it_should() {
    let diagnosed = || Event::Diagnosed { suggestions: 0 };
    let table: Vec<(&str, Limits, Vec<Event>, &[&str])> = vec![
        ("nothing fails", ONE, vec![surveyed(&[])], &["survey", "end 0"]),
        (
            "the first fix does",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), good(1), keep(), Event::Written, surveyed(&[])],
            &["survey", "diagnose a", "ask 0", "decide 0 at 1", "write 0", "survey", "end 1"],
        ),
        (
            "what the diagnosis suggests is tried first, and nobody is asked",
            ONE,
            vec![
                surveyed(&[&["a"]]),
                suggests(2),
                bad(),
                good(1),
                keep(),
                Event::Written,
                surveyed(&[]),
            ],
            &[
                "survey",
                "diagnose a",
                "suggested 0",
                "suggested 1",
                "decide 0 at 2",
                "write 0",
                "survey",
                "end 1",
            ],
        ),
        (
            "replies of no use are not called fixes",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), unusable(), unusable(), unusable()],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "ask 1 after no blocks",
                "ask 2 after no blocks",
                "end 0 a=no usable fix in 3 replies; try another model",
            ],
        ),
        (
            "suggestions that will not do leave all fixes to be asked for",
            ONE,
            vec![surveyed(&[&["a"]]), suggests(2), unusable(), bad(), bad(), bad(), bad()],
            &[
                "survey",
                "diagnose a",
                "suggested 0",
                "suggested 1",
                "ask 0",
                "ask 1",
                "ask 2",
                "end 0 a=3 fixes were tried",
            ],
        ),
        (
            "complaints and failures count as fixes",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), unusable(), bad(), bad()],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "ask 1 after no blocks",
                "ask 2",
                "end 0 a=3 fixes were tried",
            ],
        ),
        (
            "what is given up is not begun again, and does not keep others",
            ONE,
            vec![
                surveyed(&[&["a"], &["b"]]),
                diagnosed(),
                Event::NoReply("gone".to_owned()),
                diagnosed(),
                good(1),
                keep(),
                Event::Written,
                surveyed(&[&["a"]]),
            ],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "diagnose b",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "survey",
                "end 1 a=gone",
            ],
        ),
        (
            "tests that are left of a group are a group of their own",
            ONE,
            vec![
                surveyed(&[&["a", "b"]]),
                diagnosed(),
                good(1),
                keep(),
                Event::Written,
                surveyed(&[&["b"]]),
                diagnosed(),
            ],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "survey",
                "diagnose b",
                "ask 0",
            ],
        ),
        (
            "the smaller of two that pass is put forward, and after it the other",
            TWO,
            vec![
                surveyed(&[&["a"]]),
                diagnosed(),
                good(9),
                good(2),
                reject(),
                Event::NoReply("gone".to_owned()),
                keep(),
            ],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "ask 1",
                "decide 1 at 2",
                "ask 2",
                "decide 0 at 3",
                "write 0",
            ],
        ),
        (
            "one that looks made for its tests is put forward where nothing better is found",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), cheat(), bad(), bad(), keep()],
            &["survey", "diagnose a", "ask 0", "ask 1", "ask 2", "decide 0 at 3", "write 0"],
        ),
        (
            "and not where something is, however large",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), cheat(), good(9), keep()],
            &["survey", "diagnose a", "ask 0", "ask 1", "decide 1 at 2", "write 1"],
        ),
        (
            "one that passes is enough where no other is found",
            TWO,
            vec![surveyed(&[&["a"]]), diagnosed(), good(9), bad(), bad(), bad(), keep()],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "ask 1",
                "ask 2",
                "ask 3",
                "decide 0 at 4",
                "write 0",
            ],
        ),
        (
            "a rejected fix is followed by another, up to the limit",
            ONE,
            vec![surveyed(&[&["a"]]), diagnosed(), good(1), reject(), good(1), reject(), bad()],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "ask 1",
                "decide 1 at 2",
                "ask 2",
                "end 0 a=3 fixes were tried",
            ],
        ),
        (
            "where nobody is there the fix waits, and the others go on",
            ONE,
            vec![
                surveyed(&[&["a"], &["b"]]),
                diagnosed(),
                good(1),
                Event::Decided(Decision::Waits("fix-1".to_owned())),
                diagnosed(),
                good(1),
                keep(),
                Event::Written,
                surveyed(&[&["a"]]),
            ],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "diagnose b",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "survey",
                "end 1 a=fix-1",
            ],
        ),
        (
            "a person skips one and stops at the next",
            ONE,
            vec![
                surveyed(&[&["a"], &["b"], &["c"]]),
                diagnosed(),
                good(1),
                Event::Decided(Decision::Skip),
                diagnosed(),
                good(1),
                Event::Decided(Decision::Stop),
            ],
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "diagnose b",
                "ask 0",
                "decide 0 at 1",
                "end 0 a=skipped in review b=stopped in review c=stopped in review stopped",
            ],
        ),
        (
            "a tree that goes on changing is left alone",
            Limits { iterations: 9, candidates: 1 },
            vec![vec![surveyed(&[&["a"]]), diagnosed(), good(1), keep(), stale()]; 3].concat(),
            &[
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "survey",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "end 0 a=a.py was changed",
            ],
        ),
    ];
    for (what, limits, seen, wanted) in table {
        assert_eq!(played(limits, seen), wanted, "{what}");
    }
}

#[test]
fn the_better_fix_is_the_one_with_fewer_shortcuts_then_the_one_that_fixes_more() {
    let score = |shortcuts: usize, solved, lines, coverage| FixScore {
        shortcuts: vec!["x".to_owned(); shortcuts],
        solved,
        size: Size { lines, most: lines, files: 1 },
        coverage,
    };
    let ordered = [
        score(1, 9, 1, 1.0),
        score(0, 1, 1, 1.0),
        score(0, 2, 30, 1.0),
        score(0, 2, 3, 0.5),
        score(0, 2, 3, 0.9),
    ];
    for pair in ordered.windows(2) {
        assert!(pair[0].compare(&pair[1]).is_lt(), "{pair:?}");
    }
}

#[test]
fn fixes_wait_while_others_are_looked_for_and_are_decided_in_any_order() {
    let waits = |fix: &str| Event::Decided(Decision::Waits(fix.to_owned()));
    let received = |fix: &str, answer: ProposalDecision| {
        Event::ProposalDecided(Some((fix.to_owned(), answer)))
    };
    let (machine, first) = RepairMachine::new(Limits { iterations: 2, candidates: 1 });
    let mut machine = machine.awaiting_proposals();
    let mut words = vec![word(&first)];
    for seen in [
        surveyed(&[&["a"], &["b"]]),
        suggests(0),
        good(1),
        waits("fix-1"),
        Event::ProposalDecided(None),
        suggests(0),
        good(1),
        waits("fix-2"),
        // The proposal that was made first is decided last.
        received("fix-2", ProposalDecision::Rejected),
        Event::ProposalDecided(None),
        suggests(0),
        good(1),
        waits("fix-3"),
        received("fix-3", ProposalDecision::Rejected),
        received("fix-1", ProposalDecision::Accepted),
        surveyed(&[&["b"]]),
    ] {
        words.push(word(&machine.step(seen)));
    }
    let wanted = [
        "survey",
        "diagnose a",
        "ask 0",
        "decide 0 at 1",
        "hear",
        "diagnose b",
        "ask 0",
        "decide 0 at 1",
        "wait",
        "hear",
        "diagnose b",
        "ask 1",
        "decide 0 at 2",
        "wait",
        "wait",
        "survey",
        "end 1 b=2 fixes were tried",
    ];
    assert_eq!(words, wanted);
}

#[test]
fn a_rejected_fix_of_tests_that_another_one_has_fixed_is_followed_by_none() {
    let waits = |fix: &str| Event::Decided(Decision::Waits(fix.to_owned()));
    let received = |fix: &str, answer: ProposalDecision| {
        Event::ProposalDecided(Some((fix.to_owned(), answer)))
    };
    let (machine, _) = RepairMachine::new(Limits { iterations: 2, candidates: 1 });
    let mut machine = machine.awaiting_proposals();
    let mut last = None;
    for seen in [
        surveyed(&[&["a"], &["b"]]),
        suggests(0),
        good(1),
        waits("fix-1"),
        Event::ProposalDecided(None),
        suggests(0),
        good(1),
        waits("fix-2"),
        received("fix-2", ProposalDecision::Accepted),
        surveyed(&[]),
        received("fix-1", ProposalDecision::Rejected),
    ] {
        last = Some(word(&machine.step(seen)));
    }
    assert_eq!(last.as_deref(), Some("end 1"));
}
