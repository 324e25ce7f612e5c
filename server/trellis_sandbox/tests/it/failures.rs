//! Tests of the facts in a failure: the place, the exception, and the missing name.

use trellis_sandbox::{Comparison, MissingName, Outcome};

use crate::support::{failure, inside, only, run, run_one};

#[tokio::test]
async fn frames_lead_from_the_test_to_the_failing_line() {
    let report = run(&[
        ("pkg/__init__.py", ""),
        ("pkg/cart.py", "def total(items):\n    return rate(items)\n\ndef rate(items):\n    return 1 / len(items)\n"),
        ("tests/test_cart.py", "from pkg.cart import total\n\ndef test_total():\n    assert total([]) == 0\n"),
    ])
    .await;
    let failure = failure(&report);
    assert_eq!(failure.exception, "ZeroDivisionError");
    assert_eq!(failure.message, "division by zero");
    assert_eq!(
        inside(&failure.frames),
        ["tests/test_cart.py:4 test_total", "pkg/cart.py:2 total", "pkg/cart.py:5 rate"]
    );
    assert_eq!((failure.path.as_deref(), failure.line), (Some("pkg/cart.py"), Some(5)));
    assert!(failure.traceback.contains("return 1 / len(items)"));
    assert_eq!(only(&report).line, Some(3));
}

/// The failing place is the deepest frame inside the tree, also if the exception comes from a
/// library.
#[tokio::test]
async fn frames_outside_the_tree_are_kept_but_not_blamed() {
    let report = run_one("import json\ndef test_a():\n    json.loads('{')\n").await;
    let failure = failure(&report);
    assert_eq!(failure.exception, "JSONDecodeError");
    assert_eq!((failure.path.as_deref(), failure.line), (Some("test_a.py"), Some(3)));
    let last = failure.frames.last().expect("frames");
    assert!(!last.inside && last.path.ends_with("json/decoder.py"), "{last:?}");
}

#[tokio::test]
async fn what_was_missing() {
    let name = |name: &str| MissingName::Name { name: name.into() };
    let module = |module: &str| MissingName::Module { module: module.into() };
    let table: &[(&str, Option<MissingName>)] = &[
        ("def test_a(): sqrt(2)", Some(name("sqrt"))),
        ("x = sqrt(2)", Some(name("sqrt"))),
        ("import nowhere.at", Some(module("nowhere"))),
        ("import json.nowhere", Some(module("json.nowhere"))),
        ("def test_a():\n    import nowhere", Some(module("nowhere"))),
        (
            "from json import nowhere",
            Some(MissingName::Imported { name: "nowhere".into(), module: Some("json".into()) }),
        ),
        (
            "import json\ndef test_a(): json.nowhere()",
            Some(MissingName::Attribute { name: "nowhere".into(), owner: Some("json".into()) }),
        ),
        (
            "class C: pass\ndef test_a(): C().x",
            Some(MissingName::Attribute { name: "x".into(), owner: Some("C".into()) }),
        ),
        ("def test_a():\n    print(x)\n    x = 1", None),
        ("def test_a(): {}['k']", None),
    ];
    for (text, expected) in table {
        let report = run_one(text).await;
        assert_eq!(failure(&report).missing, *expected, "{text}: {report:#?}");
    }
}

#[tokio::test]
async fn both_sides_of_a_failed_comparison() {
    let sides = |operator: &str, actual: &str, expected: &str| {
        Some(Comparison {
            operator: operator.into(),
            actual: actual.into(),
            expected: expected.into(),
        })
    };
    let table: &[(&str, Option<Comparison>)] = &[
        ("def test_a(): assert [1, 2] == [1, 3]", sides("==", "[1, 2]", "[1, 3]")),
        (
            "def test_a():\n    assert (\n        'a' +\n        'b'\n    ) == 'c'",
            sides("==", "'ab'", "'c'"),
        ),
        ("def test_a(): assert 3 in [1]", sides("in", "3", "[1]")),
        ("def test_a(): assert not [1]", None),
        // A swallowed assertion is not the one that failed.
        (
            "def test_a():\n    try: assert 1 == 2\n    except AssertionError: pass\n    assert False",
            None,
        ),
        (
            "class R:\n    def __repr__(self): return 1\ndef test_a(): assert R() == 2",
            sides("==", UNSHOWN, "2"),
        ),
        // Long values have an entry a line, in the order of the value.
        (
            "def test_a(): assert {'b' * 60: 1, 'a' * 60: [2]} == {}",
            sides("==", &format!("{{'{}': 1,\n '{}': [2]}}", "b".repeat(60), "a".repeat(60)), "{}"),
        ),
        (
            "def test_a(): assert 'long ' * 20 == ''",
            sides("==", &format!("'{}'", "long ".repeat(20)), "''"),
        ),
    ];
    for (text, expected) in table {
        let report = run_one(text).await;
        assert_eq!(failure(&report).comparison, *expected, "{text}: {report:#?}");
    }
}

const UNSHOWN: &str = "<R whose repr raised TypeError>";

#[tokio::test]
async fn a_syntax_error_is_placed_where_it_lies() {
    let report = run(&[("pkg.py", "x = 1\ndef f(:\n"), ("test_a.py", "\nimport pkg\n")]).await;
    assert_eq!(report.outcome, Outcome::CollectionError);
    let failure = failure(&report);
    assert_eq!(failure.exception, "SyntaxError");
    assert_eq!((failure.path.as_deref(), failure.line), (Some("pkg.py"), Some(2)));
}

#[tokio::test]
async fn a_broken_conftest_is_a_collection_error_wherever_it_lies() {
    for path in ["conftest.py", "tests/conftest.py", "tests/deep/conftest.py"] {
        let report =
            run(&[(path, "\nimport nowhere\n"), ("tests/deep/test_a.py", "def test_a(): pass")])
                .await;
        assert_eq!(report.outcome, Outcome::CollectionError, "{report:#?}");
        let failure = failure(&report);
        assert_eq!(
            failure.missing,
            Some(MissingName::Module { module: "nowhere".into() }),
            "{report:#?}"
        );
        assert_eq!((failure.path.as_deref(), failure.line), (Some(path), Some(2)));
        assert_eq!(failure.collecting.as_deref().map(|it| it.starts_with('/')), Some(false));
    }
}

#[tokio::test]
async fn a_bottomless_recursion_has_a_short_stack() {
    let report = run_one("def f(n): return f(n + 1)\ndef test_a(): f(0)\n").await;
    let failure = failure(&report);
    assert_eq!(failure.exception, "RecursionError");
    assert!(failure.frames.len() <= 60);
    assert_eq!((failure.path.as_deref(), failure.line), (Some("test_a.py"), Some(1)));
}

#[tokio::test]
async fn hostile_exceptions_do_not_break_the_report() {
    let text = r#"
class Odd(Exception):
    def __str__(self): raise ValueError("no text")
def test_odd(): raise Odd()
def test_long(): raise ValueError("x" * 1_000_000)
def test_surrogate(): raise ValueError("\udcff \x00 end")
"#;
    let report = run_one(text).await;
    let messages: Vec<&str> = report
        .tests
        .iter()
        .map(|test| test.failure.as_ref().expect("failed").message.as_str())
        .collect();
    assert_eq!(messages[0], "<str() of the exception raised ValueError>");
    assert!(messages[1].len() < 9_000 && messages[1].contains("characters cut"));
    assert_eq!(messages[2], "? \0 end");
}

/// The location of a copy shows in no text, so that the same failure reads the same in the next
/// copy; an absolute path still looks like one.
#[tokio::test]
async fn the_folder_of_a_copy_is_in_no_text() {
    let test = "import os, sys\n\ndef test_a():\n    print(os.getcwd() + '/shown.txt')\n    sys.stderr.write(__file__)\n    open(os.path.abspath('data/none.json'))\n";
    let report = run_one(test).await;
    let failure = failure(&report);
    assert_eq!(failure.message, "[Errno 2] No such file or directory: '<project>/data/none.json'");
    assert_eq!(only(&report).stdout, "<project>/shown.txt\n");
    assert_eq!(only(&report).stderr, "<project>/test_a.py");
    assert!(failure.traceback.contains("'<project>/data/none.json'"), "{}", failure.traceback);
    let (first, second) = (run_one("import nowhere\n").await, run_one("import nowhere\n").await);
    let text = |report: &trellis_sandbox::Report| report.collection_errors[0].traceback.clone();
    assert_eq!(text(&first), text(&second));
}
