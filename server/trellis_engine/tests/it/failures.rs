//! Tests of the rendering of failing runs.

use trellis_engine::failures::{render, summarize};
use trellis_engine::{Failure, Frame, RunOutcome, TestCase, TestRun};

const DIVIDER: &str =
    "_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _";

fn entry(code: &str, place: &str) -> String {
    format!("{code}\n\n{place}: \n")
}

fn failure(traceback: &str) -> Failure {
    Failure {
        exception: "AssertionError".to_owned(),
        message: "assert 1 == 2\nand more".to_owned(),
        traceback: traceback.to_owned(),
        ..Failure::default()
    }
}

fn frame(path: &str, line: u32) -> Frame {
    let (function, source) = ("f".to_owned(), format!("call {line}"));
    Frame { path: path.to_owned(), line, function, source }
}

fn of(failure: &Failure) -> String {
    render(&[(None, failure)], 1)
}

#[test]
fn what_lies_outside_of_the_project_is_left_out_and_what_was_raised_stays() {
    let parts = [
        entry(">   assert f() == 2", "tests/test_a.py:3"),
        entry(">   return loads(text)", "shop/cart.py:7"),
        entry(">   return decode(text)", "/usr/lib/python3.11/json/__init__.py:346"),
        entry(
            "E   json.decoder.JSONDecodeError: Expecting value",
            "<environment>/lib/x/decoder.py:355",
        ),
    ];
    let text = of(&failure(&parts.join(&format!("{DIVIDER}\n"))));
    for part in ["assert f() == 2", "shop/cart.py:7", "E   json.decoder.JSONDecodeError"] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    for part in ["json/__init__", "decoder.py:355", "_ _"] {
        assert!(!text.contains(part), "{part} is in:\n{text}");
    }
    assert_eq!(text.matches("[… 2 frames of libraries …]").count(), 1, "{text}");
}

/// A note stands in the place of library frames.
#[test]
fn frames_of_libraries_are_counted_where_they_were() {
    let library = |path: &str| entry(&format!(">   inside({path:?})"), &format!("{path}:9"));
    let parts = [
        entry(">   client.get('/')", "tests/test_a.py:3"),
        library(".venv/lib/python3.11/site-packages/flask/app.py"),
        library("../venv/lib/python3.11/site-packages/werkzeug/test.py"),
        library(".venv/src/flask/views.py"),
        entry(">   return price(item)", "shop/views.py:7"),
        library("/usr/lib/python3.11/decimal.py"),
        entry("E   ValueError: no price", "shop/cart.py:2"),
    ];
    let text = of(&failure(&parts.join(&format!("{DIVIDER}\n"))));
    assert!(!text.contains("inside("), "{text}");
    let places: Vec<usize> = [
        "tests/test_a.py:3",
        "[… 3 frames of libraries …]",
        "shop/views.py:7",
        "[… 1 frame of libraries …]",
        "E   ValueError",
    ]
    .iter()
    .map(|it| text.find(it).unwrap_or_else(|| panic!("{it} is not in:\n{text}")))
    .collect();
    assert!(places.is_sorted(), "{text}");
}

/// Tracebacks in pytest's format for files that cannot be imported.
#[test]
fn short_tracebacks_are_without_libraries_as_well() {
    let lines = [
        "ImportError while importing test module 'test_kit.py'.",
        "Traceback:",
        "<environment>/lib/python3.11/site-packages/_pytest/python.py:528: in importtestmodule",
        "    mod = import_path(",
        "<frozen importlib._bootstrap>:1204: in _gcd_import",
        "    ???",
        "test_kit.py:1: in <module>",
        "    from kit import missing",
        "kit.py:3: in <module>",
        "    import parts",
        "/usr/lib/python3.11/importlib/__init__.py:126: in import_module",
        "    return _bootstrap._gcd_import(name)",
        "E   ImportError: cannot import name 'missing' from 'kit'",
    ];
    let text = of(&failure(&lines.join("\n")));
    for outside in ["_pytest", "importlib", "???"] {
        assert!(!text.contains(outside), "{outside} is in:\n{text}");
    }
    let places: Vec<usize> = [
        "ImportError while",
        "[… 2 frames of libraries …]",
        "    from kit import missing",
        "    import parts",
        "[… 1 frame of libraries …]",
        "E   ImportError",
    ]
    .iter()
    .map(|it| text.find(it).unwrap_or_else(|| panic!("{it} is not in:\n{text}")))
    .collect();
    assert!(places.is_sorted(), "{text}");
}

#[test]
fn of_many_calls_the_first_and_the_last_are_shown() {
    let parts: Vec<String> = (1..=30)
        .map(|it| entry(&format!(">   deeper({it})"), &format!("shop/cart.py:{it}")))
        .collect();
    let text = of(&failure(&parts.join(&format!("{DIVIDER}\n"))));
    assert_eq!(text.matches("deeper(").count(), 5, "{text}");
    assert!(text.contains("[… 25 more of the project's calls …]"), "{text}");
    // The same from the frames, if Python itself rendered the traceback.
    let frames = (1..=30).map(|it| frame("shop/cart.py", it)).collect();
    let native = "Traceback (most recent call last):\n  File \"/tmp/x/tree/shop/cart.py\", line 1";
    let text = of(&Failure { frames, ..failure(native) });
    assert_eq!(text.matches("call ").count(), 5, "{text}");
    assert!(!text.contains("/tmp/x"), "{text}");
    assert!(text.ends_with("AssertionError: assert 1 == 2\nand more"), "{text}");
}

#[test]
fn other_languages_are_reported_as_they_are() {
    let jest = "expect(received).toBe(expected)\n\n  at src/cart.test.js:3:9";
    assert_eq!(of(&failure(jest)), jest);
}

#[test]
fn one_failure_is_reported_in_full_and_the_others_in_a_line_each() {
    let case = |n: usize| TestCase {
        id: format!("tests/test_a.py::test_{n}"),
        passed: n == 0,
        set_aside: false,
        failure: (n > 0).then(|| failure(&format!("failure {n}"))),
    };
    let run = |cases: Vec<TestCase>| TestRun {
        ending: RunOutcome::Failed,
        stack: Vec::new(),
        cases,
        collection: Vec::new(),
        output: "printed".to_owned(),
    };
    let text = summarize(&run((0..20).map(case).collect()));
    assert!(
        text.starts_with(
            "19 of 20 tests fail. The first in full:\ntests/test_a.py::test_1\nfailure 1"
        ),
        "{text}"
    );
    assert!(text.contains("- tests/test_a.py::test_2: AssertionError: assert 1 == 2\n"), "{text}");
    assert!(!text.contains("failure 2") && text.ends_with("- and 8 more"), "{text}");
    let text = summarize(&run(vec![case(1)]));
    assert_eq!(text, "tests/test_a.py::test_1\nfailure 1");
    assert!(summarize(&run(vec![case(0)])).ends_with("printed"));
    let long = Failure { message: "x".repeat(5000), ..failure("") };
    let text = render(&[(None, &failure("a")), (None, &long)], 2);
    assert!(text.len() < 400 && text.ends_with('…'), "{text}");
}
