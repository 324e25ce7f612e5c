//! Tests of all paths through the repair loop, without its I/O.

use trellis_engine::localize::Ranking;
use trellis_engine::repair::{
    Action, AttemptResult, Event, FixScore, Group, GroupWork, Limits, ProposalCheck,
    ProposalDecision, RepairMachine, RepairSummary, Size, SuspectedCause, Waiting,
};
use trellis_engine::{Decision, Machine as _};

fn group(tests: &[&str]) -> Group {
    let tests = tests.iter().map(|it| (*it).to_owned()).collect();
    Group { tests, cause: SuspectedCause::default(), ranking: Ranking::default() }
}

/// The work of a driver that keeps nothing but the group.
#[derive(Clone, Debug, PartialEq)]
struct Work(Group);

impl GroupWork for Work {
    fn group(&self) -> &Group {
        &self.0
    }
}

/// Scripted result of an action; the work comes from the action.
#[derive(Clone)]
enum In {
    RanAll(Vec<Group>),
    /// A diagnosis without a proven fix, and the number of fixes that a model suggests.
    Diagnosed(usize),
    /// A diagnosis with a proven fix.
    Proven,
    /// The number of fixes that a model suggests after a proven fix.
    Suggested(usize),
    Tried(AttemptResult),
    Decided(Decision),
    Written,
    Stale,
    /// No proposal was decided, or the one of this id.
    Checked(Option<(&'static str, ProposalDecision)>),
}

fn good(lines: usize) -> In {
    let size = Size { lines, most: lines, files: 1 };
    In::Tried(AttemptResult::Passed(FixScore { size, solved: 1, ..FixScore::default() }))
}

fn cheat() -> In {
    let shortcuts = vec!["a.py:1: a special case".to_owned()];
    In::Tried(AttemptResult::Passed(FixScore { shortcuts, solved: 1, ..FixScore::default() }))
}

fn bad() -> In {
    In::Tried(AttemptResult::Failed)
}

fn unusable() -> In {
    In::Tried(AttemptResult::Unusable("no blocks".to_owned()))
}

fn gone() -> In {
    In::Tried(AttemptResult::NoReply("gone".to_owned()))
}

fn keep() -> In {
    In::Decided(Decision::Accept { by: "you".to_owned() })
}

fn reject() -> In {
    In::Decided(Decision::Reject { why: "too clever".to_owned() })
}

fn waits(proposal: &str) -> In {
    In::Decided(Decision::Defer { proposal: proposal.to_owned() })
}

fn received(proposal: &'static str, decision: ProposalDecision) -> In {
    In::Checked(Some((proposal, decision)))
}

fn ran_all(groups: &[&[&str]]) -> In {
    In::RanAll(groups.iter().map(|it| group(it)).collect())
}

/// Renders an action as a word.
fn word(next: &Action<Work>) -> String {
    match next {
        Action::RunAllTests => "all".to_owned(),
        Action::Diagnose { group, earlier: None } => format!("diagnose {}", group.first_test()),
        Action::Diagnose { group, earlier: Some(_) } => {
            format!("diagnose {} again", group.first_test())
        }
        Action::TryProven { .. } => "proven".to_owned(),
        Action::RequestDiagnosis { .. } => "opinion".to_owned(),
        Action::TrySuggestion { suggestion, .. } => format!("suggested {suggestion}"),
        Action::RequestFix { attempt, complaint: None, .. } => format!("ask {attempt}"),
        Action::RequestFix { attempt, complaint: Some(why), .. } => {
            format!("ask {attempt} after {why}")
        }
        Action::Review { candidate, iteration, .. } => format!("decide {candidate} at {iteration}"),
        Action::Write { candidate, .. } => format!("write {candidate}"),
        Action::CheckProposals { wait: false, .. } => "hear".to_owned(),
        Action::CheckProposals { wait: true, .. } => "wait".to_owned(),
        Action::Finish(RepairSummary { kept, given_up, waiting, is_stopped }) => {
            let named = |all: &[(Group, String)]| -> String {
                let one = |(group, why): &(Group, String)| format!(" {}={why}", group.first_test());
                all.iter().map(one).collect()
            };
            let stopped = if *is_stopped { " stopped" } else { "" };
            format!("end {kept}{}{}{stopped}", named(given_up), named(waiting))
        }
    }
}

/// Returns the event that a scripted result makes of an action.
fn event(action: Action<Work>, seen: In) -> Event<Work> {
    let work = match action {
        Action::CheckProposals { mut waiting, .. } => {
            let In::Checked(decided) = seen else { panic!("proposals are looked for") };
            let decided = decided.map(|(proposal, decision)| {
                let at = waiting.iter().position(|it| it.proposal == proposal).expect("it waits");
                let Waiting { work, .. } = waiting.remove(at);
                (work, decision)
            });
            return Event::ProposalsChecked(ProposalCheck { waiting, decided });
        }
        Action::RunAllTests | Action::Finish(_) => Work(group(&["none"])),
        Action::Diagnose { group, .. } => Work(group),
        Action::TryProven { work }
        | Action::RequestDiagnosis { work }
        | Action::TrySuggestion { work, .. }
        | Action::RequestFix { work, .. }
        | Action::Review { work, .. }
        | Action::Write { work, .. } => work,
    };
    match seen {
        In::RanAll(groups) => Event::RanAll(groups),
        In::Diagnosed(_) => Event::Diagnosed { work, is_proven: false },
        In::Proven => Event::Diagnosed { work, is_proven: true },
        In::Suggested(suggestions) => Event::Suggested { work, suggestions },
        In::Tried(result) => Event::Tried { work, result },
        In::Decided(decision) => Event::Decided { work, decision },
        In::Written => Event::Written,
        In::Stale => Event::Stale { work, why: "a.py was changed".to_owned() },
        In::Checked(_) => panic!("no proposal is looked for"),
    }
}

/// Plays a script; returns the words of all actions.
fn walked(mut machine: RepairMachine<Work>, seen: Vec<In>) -> Vec<String> {
    let step = |machine: &mut RepairMachine<Work>, event| {
        machine.step(event).expect("an event in turn").pop().expect("an action")
    };
    let mut action = step(&mut machine, Event::Started);
    let mut words = vec![word(&action)];
    for it in seen {
        let suggested =
            if let In::Diagnosed(count) = &it { Some(In::Suggested(*count)) } else { None };
        action = step(&mut machine, event(action, it));
        if let (Some(suggested), Action::RequestDiagnosis { .. }) = (suggested, &action) {
            action = step(&mut machine, event(action, suggested));
        }
        words.push(word(&action));
    }
    words
}

fn played(limits: Limits, seen: Vec<In>) -> Vec<String> {
    walked(RepairMachine::new(limits), seen)
}

const ONE: Limits = Limits { iterations: 3, candidates: 1 };
const TWO: Limits = Limits { iterations: 4, candidates: 2 };

#[test]
fn every_way_ends_as_it_should() {
    let diagnosed = || In::Diagnosed(0);
    let table: Vec<(&str, Limits, Vec<In>, &[&str])> = vec![
        ("nothing fails", ONE, vec![ran_all(&[])], &["all", "end 0"]),
        (
            "the first fix does",
            ONE,
            vec![ran_all(&[&["a"]]), diagnosed(), good(1), keep(), In::Written, ran_all(&[])],
            &["all", "diagnose a", "ask 0", "decide 0 at 1", "write 0", "all", "end 1"],
        ),
        (
            "what the diagnosis suggests is tried first, and nobody is asked",
            ONE,
            vec![
                ran_all(&[&["a"]]),
                In::Diagnosed(2),
                bad(),
                good(1),
                keep(),
                In::Written,
                ran_all(&[]),
            ],
            &[
                "all",
                "diagnose a",
                "suggested 0",
                "suggested 1",
                "decide 0 at 2",
                "write 0",
                "all",
                "end 1",
            ],
        ),
        (
            "what a trial has proven needs no model, even where several fixes are wanted",
            TWO,
            vec![ran_all(&[&["a"]]), In::Proven, good(1), keep(), In::Written, ran_all(&[])],
            &["all", "diagnose a", "proven", "decide 0 at 1", "write 0", "all", "end 1"],
        ),
        (
            "a model is asked where it fails",
            ONE,
            vec![ran_all(&[&["a"]]), In::Proven, bad(), In::Suggested(1), bad(), good(1), keep()],
            &[
                "all",
                "diagnose a",
                "proven",
                "opinion",
                "suggested 0",
                "ask 0",
                "decide 0 at 3",
                "write 0",
            ],
        ),
        (
            "or where it is rejected",
            ONE,
            vec![ran_all(&[&["a"]]), In::Proven, good(1), reject(), In::Suggested(0), good(1)],
            &["all", "diagnose a", "proven", "decide 0 at 1", "opinion", "ask 0", "decide 1 at 2"],
        ),
        (
            "or where it looks tailored to its tests, and then the better one is taken",
            ONE,
            vec![ran_all(&[&["a"]]), In::Proven, cheat(), In::Suggested(0), good(9), keep()],
            &["all", "diagnose a", "proven", "opinion", "ask 0", "decide 1 at 2", "write 1"],
        ),
        (
            "replies of no use are not called fixes",
            ONE,
            vec![ran_all(&[&["a"]]), diagnosed(), unusable(), unusable(), unusable()],
            &[
                "all",
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
            vec![ran_all(&[&["a"]]), In::Diagnosed(2), unusable(), bad(), bad(), bad(), bad()],
            &[
                "all",
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
            vec![ran_all(&[&["a"]]), diagnosed(), unusable(), bad(), bad()],
            &[
                "all",
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
                ran_all(&[&["a"], &["b"]]),
                diagnosed(),
                gone(),
                diagnosed(),
                good(1),
                keep(),
                In::Written,
                ran_all(&[&["a"]]),
            ],
            &[
                "all",
                "diagnose a",
                "ask 0",
                "diagnose b",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "all",
                "end 1 a=gone",
            ],
        ),
        (
            "tests that are left of a group are a group of their own",
            ONE,
            vec![
                ran_all(&[&["a", "b"]]),
                diagnosed(),
                good(1),
                keep(),
                In::Written,
                ran_all(&[&["b"]]),
                diagnosed(),
            ],
            &[
                "all",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "all",
                "diagnose b",
                "ask 0",
            ],
        ),
        (
            "the smaller of two that pass is put forward, and after it the other",
            TWO,
            vec![ran_all(&[&["a"]]), diagnosed(), good(9), good(2), reject(), gone(), keep()],
            &[
                "all",
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
            vec![ran_all(&[&["a"]]), diagnosed(), cheat(), bad(), bad(), keep()],
            &["all", "diagnose a", "ask 0", "ask 1", "ask 2", "decide 0 at 3", "write 0"],
        ),
        (
            "and not where something is, however large",
            ONE,
            vec![ran_all(&[&["a"]]), diagnosed(), cheat(), good(9), keep()],
            &["all", "diagnose a", "ask 0", "ask 1", "decide 1 at 2", "write 1"],
        ),
        (
            "one that passes is enough where no other is found",
            TWO,
            vec![ran_all(&[&["a"]]), diagnosed(), good(9), bad(), bad(), bad(), keep()],
            &["all", "diagnose a", "ask 0", "ask 1", "ask 2", "ask 3", "decide 0 at 4", "write 0"],
        ),
        (
            "a rejected fix is followed by another, up to the limit",
            ONE,
            vec![ran_all(&[&["a"]]), diagnosed(), good(1), reject(), good(1), reject(), bad()],
            &[
                "all",
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
                ran_all(&[&["a"], &["b"]]),
                diagnosed(),
                good(1),
                waits("fix-1"),
                diagnosed(),
                good(1),
                keep(),
                In::Written,
                ran_all(&[&["a"]]),
            ],
            &[
                "all",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "diagnose b",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "all",
                "end 1 a=fix-1",
            ],
        ),
        (
            "a person skips one and stops at the next",
            ONE,
            vec![
                ran_all(&[&["a"], &["b"], &["c"]]),
                diagnosed(),
                good(1),
                In::Decided(Decision::Skip),
                diagnosed(),
                good(1),
                In::Decided(Decision::Stop),
            ],
            &[
                "all",
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
            "a tree that changes while a model answers is looked at again",
            ONE,
            vec![ran_all(&[&["a"]]), diagnosed(), In::Stale, ran_all(&[&["a"]]), diagnosed()],
            &["all", "diagnose a", "ask 0", "all", "diagnose a", "ask 0"],
        ),
        (
            "a tree that goes on changing is left alone",
            Limits { iterations: 9, candidates: 1 },
            vec![vec![ran_all(&[&["a"]]), diagnosed(), good(1), keep(), In::Stale]; 3].concat(),
            &[
                "all",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "all",
                "diagnose a",
                "ask 0",
                "decide 0 at 1",
                "write 0",
                "all",
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
    let machine = RepairMachine::new(Limits { iterations: 2, candidates: 1 });
    let script = vec![
        ran_all(&[&["a"], &["b"]]),
        In::Diagnosed(0),
        good(1),
        waits("fix-1"),
        In::Checked(None),
        In::Diagnosed(0),
        good(1),
        waits("fix-2"),
        // The proposal that was made first is decided last.
        received("fix-2", ProposalDecision::Rejected),
        In::Checked(None),
        In::Diagnosed(0),
        good(1),
        waits("fix-3"),
        received("fix-3", ProposalDecision::Rejected),
        received("fix-1", ProposalDecision::Accepted),
        ran_all(&[&["b"]]),
    ];
    let words = walked(machine.awaiting_proposals(), script);
    let wanted = [
        "all",
        "diagnose a",
        "ask 0",
        "decide 0 at 1",
        "hear",
        "diagnose b",
        "ask 0",
        "decide 0 at 1",
        "wait",
        "hear",
        "diagnose b again",
        "ask 1",
        "decide 0 at 2",
        "wait",
        "wait",
        "all",
        "end 1 b=2 fixes were tried",
    ];
    assert_eq!(words, wanted);
}

#[test]
fn a_rejected_fix_of_tests_that_another_one_has_fixed_is_followed_by_none() {
    let machine = RepairMachine::new(Limits { iterations: 2, candidates: 1 });
    let script = vec![
        ran_all(&[&["a"], &["b"]]),
        In::Diagnosed(0),
        good(1),
        waits("fix-1"),
        In::Checked(None),
        In::Diagnosed(0),
        good(1),
        waits("fix-2"),
        received("fix-2", ProposalDecision::Accepted),
        ran_all(&[]),
        received("fix-1", ProposalDecision::Rejected),
    ];
    let words = walked(machine.awaiting_proposals(), script);
    assert_eq!(words.last().map(String::as_str), Some("end 1"));
}

/// A result that no action asked for changes nothing, and the loop goes on after it.
#[test]
fn an_event_out_of_turn_is_refused_and_changes_nothing() {
    let mut machine: RepairMachine<Work> = RepairMachine::new(ONE);
    assert!(machine.step(Event::Written).is_err());
    machine.step(Event::Started).expect("begins");
    let kept = machine.step(Event::Written).expect_err("nothing was written");
    assert_eq!(kept.to_string(), "a write came while the cycle waited for a run of all tests");
    let next = machine.step(Event::RanAll(Vec::new())).expect("in turn");
    assert_eq!(word(&next[0]), "end 0");
}
