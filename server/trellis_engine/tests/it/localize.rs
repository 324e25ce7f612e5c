//! Tests of localization: sources and executed lines by test in, suspects out.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::localize::{
    Evidence, FileEvidence, LineSuspect, Ranking, ReachedFunction, SmallRepair, TestEvidence,
    Trial, rank,
};
use trellis_engine::{Failure, Frame};
use trellis_python::{FileFacts, Loss, MutantKind, Weakness};

const CART: &str = "\
LIMIT = 10

def total(prices):
    result = 0
    for price in prices:
        result += price
    if result > LIMIT:
        result = result - 1
    return result

def checked(prices):
    if not prices:
        raise ValueError('no prices')
    return total(prices)

def label(prices):
    return str(prices)
";

const TESTS: &str = "\
from cart import checked, label

def test_total():
    assert checked([20]) == 18

def test_small():
    assert checked([2]) == 2

def test_label():
    assert label([]) == '[]'
";

/// Id of the failing test.
const TOTAL: &str = "test_cart.py::test_total";

/// Id of a test, its failure, and the executed lines of the cart and of the tests.
type Ran<'a> = (&'a str, Option<Failure>, &'a [u32], &'a [u32]);

fn evidence(tests: &[Ran<'_>]) -> Evidence {
    let file = |path: &str, text: &str, is_test| FileEvidence {
        path: path.to_owned(),
        is_test,
        facts: FileFacts::of(text).expect("Python"),
        ..FileEvidence::default()
    };
    let tests = tests.iter().map(|(id, failure, cart, own)| TestEvidence {
        id: (*id).to_owned(),
        failed: failure.is_some(),
        failure: failure.clone(),
        lines: BTreeMap::from([
            (0, cart.iter().copied().collect()),
            (1, own.iter().copied().collect()),
        ]),
        measured: true,
        reached: Vec::new(),
        trace: None,
    });
    Evidence {
        tests: tests.collect(),
        files: vec![file("cart.py", CART, false), file("test_cart.py", TESTS, true)],
    }
}

fn failure(exception: &str, frames: &[(&str, u32)]) -> Option<Failure> {
    let frames = frames.iter().map(|(path, line)| Frame {
        path: (*path).to_owned(),
        line: *line,
        function: String::new(),
        source: String::new(),
    });
    Some(Failure {
        exception: exception.to_owned(),
        frames: frames.collect(),
        ..Failure::default()
    })
}

fn wrong_total() -> Evidence {
    evidence(&[
        (
            "test_cart.py::test_total",
            failure("AssertionError", &[("test_cart.py", 4)]),
            &[12, 14, 4, 5, 6, 7, 8, 9],
            &[4],
        ),
        ("test_cart.py::test_small", None, &[12, 14, 4, 5, 6, 7, 9], &[7]),
        ("test_cart.py::test_label", None, &[17], &[10]),
    ])
}

fn places(ranking: &Ranking) -> Vec<(usize, u32)> {
    ranking.lines.iter().map(|it| (it.file, it.line)).collect()
}

fn trial(line: u32, repaired: usize, broken: usize) -> Trial {
    Trial {
        file: 0,
        line,
        kind: MutantKind::Boundary,
        what: "changing `>` to `>=`".to_owned(),
        repair: Some(SmallRepair { diff: format!("diff of {line}"), text: String::new() }),
        failing: vec![TOTAL.to_owned()],
        repaired: vec![TOTAL.to_owned(); repaired],
        altered: Vec::new(),
        concerned: 1,
        passing: 1,
        broken,
        runs_line: 1,
        left_out: 0,
        complete: true,
        still_reached: None,
        loss: None,
        weakness: None,
        effect: Some(format!("effect of {line}")),
    }
}

#[test]
fn the_line_that_only_the_failing_test_ran_comes_first() {
    let ranking = rank(&wrong_total(), &[]);
    let first = &ranking.suspects[0];
    assert_eq!((first.symbol.as_str(), first.line), ("total", 8), "{ranking:#?}");
    assert_eq!(ranking.lines[0].line, 8);
    assert!((ranking.lines[0].parts.spectrum - 1.0).abs() < 1e-9);
    // Line 7 is executed by the one failing test and by one of two passing ones: 1 / sqrt(1 * 2).
    let shared = ranking.lines.iter().find(|it| (it.file, it.line) == (0, 7)).expect("line 7");
    assert!((shared.parts.spectrum - 0.5_f64.sqrt()).abs() < 1e-9, "{shared:?}");
    assert!(shared.why.contains("executed by the failing test and 1 of 2 passing ones"));
    assert!(!ranking.suspects.iter().any(|it| it.symbol == "label"), "no failing test ran it");
}

#[test]
fn a_constant_is_suspect_where_suspicious_lines_read_it_and_less_than_they_are() {
    let ranking = rank(&wrong_total(), &[]);
    let at = |line| places(&ranking).iter().position(|it| *it == (0, line)).expect("listed");
    assert!(at(7) < at(1), "{:?}", places(&ranking));
    assert_eq!(ranking.lines[at(1)].symbol, "");
}

#[test]
fn who_raises_on_purpose_is_less_suspect_than_who_called() {
    let frames = [("test_cart.py", 4), ("cart.py", 14), ("cart.py", 6)];
    let table = [
        // The exception was raised in line 6: that line.
        ("TypeError", &frames[..], &[12, 14, 4, 5, 6][..], 6, 14),
        // Line 13 raises on purpose: the condition before it, rather than the raise.
        ("ValueError", &[("test_cart.py", 4), ("cart.py", 13)][..], &[12, 13][..], 12, 13),
    ];
    for (exception, frames, lines, higher, lower) in table {
        let failed = ("test_cart.py::test_total", failure(exception, frames), lines, &[4][..]);
        let ranking = rank(&evidence(&[failed]), &[]);
        let at = |line| places(&ranking).iter().position(|it| *it == (0, line)).expect("listed");
        assert!(at(higher) < at(lower), "{exception}: {:?}", places(&ranking));
    }
}

#[test]
fn each_reason_is_said_once_and_nothing_is_said_to_call_a_top_level() {
    let failed = (
        TOTAL,
        failure("TypeError", &[("test_cart.py", 4), ("cart.py", 6)]),
        &[12, 14, 4, 5, 6, 7, 8, 9][..],
        &[4][..],
    );
    let small = ("test_cart.py::test_small", None, &[12, 14, 4, 5, 6, 7, 9][..], &[7][..]);
    for ranking in [rank(&evidence(&[failed, small]), &[]), rank(&wrong_total(), &[])] {
        for it in &ranking.suspects {
            let said: Vec<&str> =
                it.why.split("; ").map(|it| it.rsplit(": ").next().unwrap_or(it)).collect();
            let once: BTreeSet<&&str> = said.iter().collect();
            assert_eq!(once.len(), said.len(), "{}", it.why);
        }
        let top = ranking.suspects.iter().find(|it| it.symbol.is_empty() && it.file == 0);
        let why = &top.expect("`FREE` is read").why;
        assert!(!why.contains("calls it") && !why.contains("call away"), "{why}");
        assert!(
            why.contains("calls what reads it") || why.contains("what reads it is called"),
            "{why}"
        );
    }
}

/// The end of a full stack is an accident; the cycle in it is not.
#[test]
fn an_endless_recursion_accuses_its_cycle_and_not_the_end_of_the_stack() {
    let mut frames = vec![("test_cart.py", 4)];
    frames.extend([("cart.py", 14), ("cart.py", 6)].repeat(20));
    frames.push(("cart.py", 17));
    let lines = &[12, 14, 4, 5, 6, 17][..];
    for (exception, cycle, end) in [("RecursionError", true, false), ("TypeError", true, true)] {
        let failed = ("test_cart.py::test_total", failure(exception, &frames), lines, &[4][..]);
        let ranking = rank(&evidence(&[failed]), &[]);
        let strength = |line| {
            let of = |it: &&LineSuspect| (it.file, it.line) == (0, line);
            ranking.lines.iter().find(of).map_or(0.0, |it| it.parts.traceback)
        };
        for line in [14, 6] {
            assert_eq!(strength(line) > 0.3, cycle, "{exception} {line}: {}", strength(line));
        }
        assert_eq!(strength(17) > 0.0, end, "{exception}");
        assert_eq!(strength(14) == strength(6), exception == "RecursionError");
    }
    // A function that calls itself in one line.
    let frames = [&[("test_cart.py", 4)][..], &[("cart.py", 6)].repeat(9)].concat();
    let failed = ("test_cart.py::test_total", failure("RecursionError", &frames), lines, &[4][..]);
    let ranking = rank(&evidence(&[failed]), &[]);
    assert_eq!(ranking.lines[0].line, 6, "{:?}", places(&ranking));
}

#[test]
fn a_trial_that_repairs_decides_and_one_that_breaks_does_not() {
    let table = [
        ("a repair", vec![trial(7, 1, 0)], 7, true),
        ("a repair that breaks another", vec![trial(7, 1, 1)], 8, false),
        ("nothing changed", vec![trial(7, 0, 0)], 8, false),
    ];
    for (name, trials, first, repaired) in table {
        let ranking = rank(&wrong_total(), &trials);
        assert_eq!(ranking.lines[0].line, first, "{name}: {:?}", places(&ranking));
        assert_eq!(ranking.suspects[0].line, first, "{name}");
        let repair = ranking.suspects[0].repair.as_ref().map(|it| it.diff.as_str());
        assert_eq!(repair, repaired.then_some("diff of 7"), "{name}");
        let said = "changing `>` to `>=` here makes the failing test pass and breaks none";
        assert_eq!(ranking.lines[0].why.contains(said), repaired, "{}", ranking.lines[0].why);
    }
}

/// Few tests make wrong repairs pass: a repair is a proof only if a passing test runs the line, and
/// the failing test still runs the line that raised.
#[test]
fn a_repair_that_little_speaks_for_is_no_proof_and_says_so() {
    let proof = trial(7, 1, 0);
    let untested = Trial { runs_line: 0, ..trial(5, 1, 0) };
    let avoiding = Trial { still_reached: Some(false), ..trial(6, 1, 0) };
    assert!(proof.is_sound() && !untested.is_sound() && !avoiding.is_sound());
    assert!(Trial { still_reached: Some(true), ..proof.clone() }.is_sound());
    assert!(untested.repairs() && avoiding.repairs());
    let ranking = rank(&wrong_total(), &[untested, avoiding.clone(), proof.clone()]);
    assert_eq!(ranking.lines[0].line, 7, "{:?}", places(&ranking));
    let why = |line| &ranking.lines.iter().find(|it| it.line == line).expect("listed").why;
    assert!(why(5).contains("(no passing test that runs this line was run)"), "{}", why(5));
    assert!(why(6).contains("(they no longer reach the line that raised the error)"), "{}", why(6));
    let ranking = rank(&wrong_total(), &[avoiding, proof]);
    assert!(!ranking.lines[0].why.contains('('), "{}", ranking.lines[0].why);
}

#[test]
fn a_repair_by_which_the_program_loses_something_is_no_proof_and_says_so() {
    let losing = Trial { loss: Some(Loss::Binding("started".to_owned())), ..trial(5, 1, 0) };
    assert!(losing.repairs() && !losing.is_sound());
    let ranking = rank(&wrong_total(), std::slice::from_ref(&losing));
    let line = ranking.lines.iter().find(|it| it.line == 5).expect("listed");
    assert!(line.repair.is_some() && !line.is_proven, "{line:?}");
    assert!(line.why.contains("breaks none (but `started` is then bound nowhere)"), "{line:?}");
    // Another edit of the line that loses nothing is offered instead.
    let plain = Trial { kind: MutantKind::Name, ..trial(5, 1, 0) };
    let ranking = rank(&wrong_total(), &[losing, plain]);
    assert!(ranking.lines[0].is_proven && ranking.lines[0].line == 5, "{ranking:#?}");
}

/// Tests that several programs pass do not decide between them.
#[test]
fn a_repair_is_a_proof_only_if_no_other_edit_repairs() {
    let proof = trial(7, 1, 0);
    let unconfirmed = Trial { repair: None, ..trial(5, 1, 0) };
    let same = Trial { what: "changing `b` to `b - 1`".to_owned(), ..proof.clone() };
    let avoiding = Trial { still_reached: Some(false), ..trial(6, 1, 0) };
    let other_of_the_line = Trial { effect: Some("another".to_owned()), ..proof.clone() };
    let unknown = Trial { effect: None, what: "adding `x`".to_owned(), ..proof.clone() };
    let table = [
        ("alone", None, true),
        ("an edit of another line", Some(trial(5, 1, 0)), false),
        ("one that no ordinary run has confirmed", Some(unconfirmed), false),
        ("another effect on the line", Some(other_of_the_line), false),
        ("an unknown effect", Some(unknown), false),
        ("the same effect", Some(same), true),
        ("an edit that breaks a test", Some(trial(5, 1, 1)), true),
        ("one that avoids the failing line", Some(avoiding), true),
    ];
    for (name, other, is_proven) in table {
        let trials: Vec<Trial> = other.into_iter().chain([proof.clone()]).collect();
        let ranking = rank(&wrong_total(), &trials);
        let line = ranking.lines.iter().find(|it| it.line == 7).expect("listed");
        assert_eq!(line.is_proven, is_proven, "{name}: {line:?}");
        assert!(line.repair.is_some(), "{name}");
        let said = line.why.contains("other edits do so as well")
            || line.why.contains("another edit does so as well");
        assert_eq!(said, !is_proven, "{name}: {}", line.why);
    }
}

#[test]
fn an_edit_of_a_weak_kind_is_no_proof_says_so_and_comes_after_a_sound_one() {
    let weak = Trial { weakness: Some(Weakness::Removed), ..trial(5, 1, 0) };
    assert!(weak.repairs() && !weak.is_sound());
    let ranking = rank(&wrong_total(), std::slice::from_ref(&weak));
    let line = ranking.lines.iter().find(|it| it.line == 5).expect("listed");
    assert!(line.repair.is_some() && !line.is_proven, "{line:?}");
    assert!(line.why.contains("(weak evidence: it leaves something out)"), "{}", line.why);
    let alone = line.score;
    assert!(alone < rank(&wrong_total(), &[trial(5, 1, 0)]).lines[0].score);
    assert!(
        alone > rank(&wrong_total(), &[]).lines.iter().find(|it| it.line == 5).expect("it").score
    );
    let ranking = rank(&wrong_total(), &[weak, trial(7, 1, 0)]);
    assert_eq!(ranking.lines[0].line, 7, "{:?}", places(&ranking));
}

/// A trial in a fork is a hint; an ordinary run has to confirm it.
#[test]
fn only_a_confirmed_repair_is_offered() {
    let unconfirmed = Trial { repair: None, ..trial(5, 1, 0) };
    let ranking = rank(&wrong_total(), &[unconfirmed, trial(7, 1, 0)]);
    assert_eq!(ranking.lines[0].line, 7, "{:?}", places(&ranking));
    assert_eq!(ranking.lines[0].repair.as_ref().map(|it| it.diff.as_str()), Some("diff of 7"));
    let other = ranking.lines.iter().find(|it| it.line == 5).expect("listed");
    assert!(other.repair.is_none() && other.why.contains("makes the failing test pass"));
}

/// With two faults no edit repairs everything. Each counts among the tests that execute it.
#[test]
fn an_edit_that_repairs_the_tests_that_run_it_is_strong_evidence() {
    let failed =
        |id, lines| (id, failure("AssertionError", &[("test_cart.py", 4)]), lines, &[4][..]);
    let two_faults = evidence(&[
        failed(TOTAL, &[12, 14, 4, 5, 6, 7, 8, 9][..]),
        failed("test_cart.py::test_label", &[17][..]),
        ("test_cart.py::test_small", None, &[12, 14, 4, 5, 6, 7, 9], &[7]),
    ]);
    let partial = |concerned| Trial { complete: false, repair: None, concerned, ..trial(5, 1, 0) };
    let score = |trials: &[Trial]| {
        let ranking = rank(&two_faults, trials);
        ranking.lines.iter().find(|it| it.line == 5 && it.file == 0).expect("listed").score
    };
    let (all, half, none) = (score(&[partial(1)]), score(&[partial(2)]), score(&[]));
    assert!(all > half && half > none, "{all} {half} {none}");
    let ranking = rank(&two_faults, &[partial(1)]);
    assert_eq!(ranking.lines[0].line, 5, "{:?}", places(&ranking));
    let said = "makes the one failing test that runs it pass and breaks none";
    assert!(ranking.lines[0].why.contains(said), "{}", ranking.lines[0].why);
    assert!(ranking.lines[0].repair.is_none());
}

#[test]
fn an_error_of_the_test_itself_accuses_the_test() {
    let table = [("NameError", "test_total"), ("AssertionError", "checked")];
    for (exception, expected) in table {
        let failed = (
            "test_cart.py::test_total",
            failure(exception, &[("test_cart.py", 4)]),
            &[12, 14][..],
            &[4][..],
        );
        let ranking = rank(&evidence(&[failed]), &[]);
        assert_eq!(ranking.suspects[0].symbol, expected, "{exception}");
    }
}

#[test]
fn what_changed_last_breaks_a_tie() {
    let mut evidence = wrong_total();
    evidence.tests.retain(|it| it.id != "test_cart.py::test_small");
    evidence.files[0].changed = BTreeMap::from([(4, 1.0)]);
    let without = rank(&wrong_total(), &[]);
    let with = rank(&evidence, &[]);
    let at = |of: &Ranking| places(of).iter().position(|it| *it == (0, 4)).expect("listed");
    assert!(at(&with) < at(&without));
    assert!(with.lines[at(&with)].why.contains("changed since the last commit"));
}

#[test]
fn equal_evidence_gives_equal_ranks_and_scores_stay_in_bounds() {
    let trials = [trial(7, 1, 0), trial(8, 0, 1)];
    let (one, other) = (rank(&wrong_total(), &trials), rank(&wrong_total(), &trials));
    assert_eq!(one, other);
    let scores = one.lines.iter().map(|it| it.score).chain(one.suspects.iter().map(|it| it.score));
    assert!(scores.into_iter().all(|it| (0.0..=1.0).contains(&it)), "{one:#?}");
    assert!(one.lines.is_sorted_by(|a, b| a.score >= b.score));
}

/// Without measurements, functions that the failing test reaches are suspects: nearer ones more,
/// and those reached by passing tests less.
#[test]
fn what_a_test_leads_to_stands_for_lines_that_nobody_measured() {
    let assertion = failure("AssertionError", &[("test_cart.py", 4)]);
    let mut evidence = evidence(&[
        ("test_cart.py::test_total", assertion, &[], &[4]),
        ("test_cart.py::test_label", None, &[], &[]),
    ]);
    let reached =
        |function: usize, distance| ReachedFunction { file: 0, function: Some(function), distance };
    evidence.tests[0].measured = false;
    assert!(rank(&evidence, &[]).suspects.iter().all(|it| it.file == 1), "of the tests alone");
    // `checked` calls `total`; `label` is called by the other test as well.
    evidence.tests[0].reached = vec![reached(1, 0), reached(0, 1), reached(2, 0)];
    evidence.tests[1].reached = vec![reached(2, 0)];
    let ranking = rank(&evidence, &[]);
    let code: Vec<&str> =
        ranking.suspects.iter().filter(|it| it.file == 0).map(|it| it.symbol.as_str()).collect();
    assert_eq!(code, ["checked", "total", "label", ""]);
    let why = &ranking.suspects.iter().find(|it| it.symbol == "checked").expect("it").why;
    assert!(why.starts_with("what the failing test calls and imports leads here"), "{why}");
    assert!(!why.contains("executed") && !why.contains("passing"), "{why}");
}

#[test]
fn a_repair_is_a_proof_only_if_a_passing_test_runs_the_line_and_the_raising_line_still_runs() {
    let table = [(1, None, true), (1, Some(true), true), (1, Some(false), false), (0, None, false)];
    for (runs_line, still_reached, proven) in table {
        let trial = Trial { runs_line, still_reached, ..trial(7, 1, 0) };
        let ranking = rank(&wrong_total(), &[trial]);
        let line = ranking.lines.iter().find(|it| it.line == 7).expect("it is suspect");
        assert_eq!(line.repair.as_ref().map(|it| it.diff.as_str()), Some("diff of 7"));
        assert_eq!(line.is_proven, proven, "{runs_line} {still_reached:?}");
        // An edit that only avoids the failing line says little about the place.
        assert_eq!(line.score > 0.8, still_reached != Some(false), "{}", line.score);
    }
}

/// Returns the ranking of code in which one test fails: the texts of files, with the lines that the
/// test runs, and those that ran at import alone.
fn at_import(files: &[(&str, &str, &[u32], &[u32])]) -> Ranking {
    let evidence = Evidence {
        tests: vec![TestEvidence {
            id: TOTAL.to_owned(),
            failed: true,
            lines: files
                .iter()
                .enumerate()
                .map(|(at, it)| (at, it.2.iter().copied().collect()))
                .collect(),
            measured: true,
            ..TestEvidence::default()
        }],
        files: (files.iter())
            .map(|(path, text, _, imported)| FileEvidence {
                path: (*path).to_owned(),
                facts: FileFacts::of(text).expect("Python"),
                imported: imported.iter().copied().collect(),
                ..FileEvidence::default()
            })
            .collect(),
    };
    rank(&evidence, &[])
}

#[test]
fn what_runs_at_import_is_suspect_where_suspicious_lines_read_it() {
    let table = [
        // A class attribute without a part that could be wrong.
        (
            "class Bus:\n    handlers = {}\n    def on(self, name):\n        self.handlers[name] = 1\n",
            "",
            4,
            (0, 2),
        ),
        // An attribute and an imported name of another file.
        (
            "def cell(options):\n    return options.missing\n",
            "class Options:\n    missing: str = 'None'\n",
            2,
            (1, 2),
        ),
        ("from other import number\ndef f():\n    return number\n", "number = 1\n", 3, (1, 1)),
        // A value made of another one.
        ("def f():\n    return TABLE\n\n\nsize = 3\nTABLE = [size]\n", "", 2, (0, 5)),
        // A function that ran at import, and one that it called.
        (
            "def key(x):\n    return x.low\ndef build():\n    return key(1)\nT = build()\ndef f():\n    return T\n",
            "",
            7,
            (0, 2),
        ),
        // A function that changed the value.
        (
            "ALL = []\ndef add(x):\n    ALL.append(x - 1)\nadd(2)\ndef f():\n    return ALL\n",
            "",
            6,
            (0, 3),
        ),
        // The order of bases.
        (
            "from other import Page\ndef f():\n    return Page()\n",
            "class Page(A, B):\n    pass\n",
            3,
            (1, 1),
        ),
        // A method that something else replaces.
        (
            "def f(account):\n    return account.is_open\n",
            "class Account:\n    def is_open(self):\n        return 1\n",
            2,
            (1, 2),
        ),
    ];
    let imported: [u32; 7] = [1, 2, 3, 4, 5, 6, 7];
    for (one, other, ran, wanted) in table {
        let of_one: Vec<u32> = if one.contains("def f():\n    return T\n") || one.contains("ALL") {
            imported.iter().copied().filter(|it| *it != ran).collect()
        } else {
            Vec::new()
        };
        let files: [(&str, &str, &[u32], &[u32]); 2] =
            [("one.py", one, &[ran], &of_one), ("other.py", other, &[], &[])];
        let found = places(&at_import(&files));
        assert!(found.contains(&wanted), "{found:?} without {wanted:?}: {one}{other}");
    }
}

#[test]
fn equal_names_elsewhere_are_no_suspects() {
    let table = [
        // A local variable.
        ("def f(number):\n    return number\n", "number = 1\n"),
        // Two files bind it.
        ("def f(x):\n    return x.size + x.width\n", "size = 1\n"),
        // Calls at import change other things of their own.
        ("def f(xs):\n    xs.append(1)\n", "ROUTES.append('/')\n"),
        ("def f(self):\n    return self.price\n", "self.load()\n"),
        // A declaration without a value.
        ("def f(it):\n    return it.price\n", "price: int\n"),
        // A method of a built-in class, and a local variable with the name of a method.
        (
            "def f(d):\n    return d.get(1)\n",
            "class Cache:\n    def get(self):\n        return 1\n",
        ),
        (
            "def f(length):\n    return length\n\nclass A:\n    def length(self):\n        return 1\n",
            "",
        ),
    ];
    for (one, other) in table {
        let files: [(&str, &str, &[u32], &[u32]); 3] = [
            ("one.py", one, &[2], &[]),
            ("other.py", other, &[], &[1]),
            ("third.py", "size = 2\n", &[], &[1]),
        ];
        assert_eq!(places(&at_import(&files)), [(0, 2)], "{one}");
    }
    let own: [(&str, &str, &[u32], &[u32]); 2] = [
        ("one.py", "def f():\n    return LOG\nLOG = 1\n", &[2], &[]),
        ("other.py", "LOG = 1\n", &[], &[]),
    ];
    let found: BTreeSet<(usize, u32)> = places(&at_import(&own)).into_iter().collect();
    assert_eq!(found, BTreeSet::from([(0, 2), (0, 3)]), "its own constant");
}
