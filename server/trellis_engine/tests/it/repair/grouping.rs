//! Tests of the grouping of failing tests by cause.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::localize::{Evidence, FileEvidence, TestEvidence};
use trellis_engine::repair::{Group, groups};
use trellis_engine::{Failure, Frame};
use trellis_python::FileFacts;

/// Three functions: `low` in lines 1 to 3, `mid` in 6 to 7, which calls `low`, `top` in 10 to 11.
pub(crate) const CODE: &str = "\
def low(a):
    b = a + 1
    return b


def mid(a):
    return low(a) * 2


def top(a):
    return a - 1
";

const TESTS: &str = "def test_it():\n    assert True\n";

/// Id, failure (with the line of the code where the test fails, if it fails there), executed lines
/// of the code.
pub(crate) type Ran<'a> = (&'a str, Option<(&'a str, Option<u32>)>, &'a [u32]);

pub(crate) fn evidence(ran: &[Ran<'_>]) -> Evidence {
    let file = |path: &str, text, is_test| FileEvidence {
        path: path.to_owned(),
        is_test,
        facts: FileFacts::of(text).expect("Python"),
        ..FileEvidence::default()
    };
    let frame = |path: &str, line, function: &str| Frame {
        path: path.to_owned(),
        line,
        function: function.to_owned(),
        source: String::new(),
    };
    let tests = ran.iter().map(|(id, failed, lines)| TestEvidence {
        id: (*id).to_owned(),
        failed: failed.is_some(),
        failure: failed.map(|(exception, place)| {
            let function = |line| match line {
                1..=3 => "low",
                6..=7 => "mid",
                _ => "top",
            };
            let inner = place.map(|line| frame("code.py", line, function(line)));
            Failure {
                exception: exception.to_owned(),
                message: "wrong".to_owned(),
                frames: std::iter::once(frame("test_a.py", 2, "test_it")).chain(inner).collect(),
                ..Failure::default()
            }
        }),
        lines: BTreeMap::from([(0, lines.iter().copied().collect::<BTreeSet<u32>>())]),
        ..TestEvidence::default()
    });
    let tests = tests.collect();
    Evidence { tests, files: vec![file("code.py", CODE, false), file("test_a.py", TESTS, true)] }
}

/// The tests of a group, and the suspected function.
type Named<'a> = (Vec<&'a str>, &'a str);

fn named(groups: &[Group]) -> Vec<Named<'_>> {
    let named = |it| {
        let Group { tests, cause, .. }: &Group = it;
        (tests.iter().map(String::as_str).collect(), cause.symbol.as_str())
    };
    groups.iter().map(named).collect()
}

#[test]
fn tests_of_one_cause_are_one_group() {
    let dies = |line| Some(("ZeroDivisionError", Some(line)));
    let wrong = Some(("AssertionError", None));
    let table: [(&str, Vec<Ran<'_>>, Vec<Named<'_>>); 5] = [
        ("nothing fails", vec![("t.py::a", None, &[2, 3])], vec![]),
        (
            "they die at one place",
            vec![
                ("t.py::b", dies(2), &[2, 7]),
                ("t.py::a", dies(2), &[2]),
                ("t.py::c", None, &[11]),
            ],
            vec![(vec!["t.py::a", "t.py::b"], "low")],
        ),
        (
            "cases of one test, and another test of the same function",
            vec![
                ("t.py::a[2]", wrong, &[11]),
                ("t.py::a[1]", wrong, &[11]),
                ("t.py::b", wrong, &[11]),
                ("t.py::c", None, &[2, 3, 7]),
            ],
            vec![(vec!["t.py::a[1]", "t.py::a[2]", "t.py::b"], "top")],
        ),
        (
            "two causes, the one with more tests first",
            vec![
                ("t.py::a", wrong, &[11]),
                ("t.py::b", dies(2), &[2, 7]),
                ("t.py::c", dies(2), &[2, 7]),
                ("t.py::d", None, &[7]),
            ],
            vec![(vec!["t.py::b", "t.py::c"], "low"), (vec!["t.py::a"], "top")],
        ),
        (
            "what cannot be collected comes first",
            vec![
                ("t.py::b", dies(2), &[2]),
                ("t.py::c", dies(2), &[2]),
                ("test_z.py", Some(("ImportError", Some(11))), &[]),
            ],
            vec![(vec!["test_z.py"], "top"), (vec!["t.py::b", "t.py::c"], "low")],
        ),
    ];
    for (what, ran, wanted) in table {
        assert_eq!(named(&groups(&evidence(&ran))), wanted, "{what}");
    }
}
