//! Tests of missing or broken records, and of text parsed instead.

use trellis_sandbox::{
    Outcome,
    frameworks::{CommandResult, Framework, read},
};

use super::{captured, go, node, silent};

/// A report that is cut off at any place is parsed as text, and never passes.
#[test]
fn a_truncated_report_is_no_pass() {
    let (jest, stream) = (captured!("jest30-good.json"), captured!("go127-exits.jsonl"));
    for end in (0..jest.trim_end().len()).filter(|end| jest.is_char_boundary(*end)) {
        let parsed = node(Framework::Jest, 0, &jest[..end]);
        assert!(parsed.parsing_failed && crashed(&parsed.outcome), "{end}: {parsed:?}");
    }
    for end in 0..stream.len() {
        let parsed = go(0, &stream[..end], "");
        assert!(parsed.outcome != Outcome::Passed, "{end}: {parsed:?}");
    }
}

fn crashed(outcome: &Outcome) -> bool {
    *outcome == Outcome::Crashed { signal: None, exit_code: Some(0) }
}

#[test]
fn a_report_that_contradicts_itself_is_not_believed() {
    let good = captured!("jest30-good.json");
    for (from, to, expected) in [
        ("\"numTotalTests\": 3", "\"numTotalTests\": 4", "it counts 4 tests but lists 3"),
        ("\"numPassedTests\": 3", "\"numPassedTests\": 2", "it counts 2 passed tests but lists 3"),
        (
            "\"status\": \"passed\"",
            "\"status\": \"splendid\"",
            "incomplete, or not in a format this version",
        ),
        ("\"success\": true", "\"success\": 1", "incomplete, or not in a format this version"),
    ] {
        assert!(good.contains(from));
        let parsed = node(Framework::Jest, 0, &good.replacen(from, to, 1));
        // The first `passed` is the output of a test.
        let reason = parsed.reason.unwrap_or_default();
        assert!(parsed.parsing_failed && reason.contains(expected), "{reason}");
        assert!(crashed(&parsed.outcome));
    }
}

/// A test that calls `process.stderr.write("Tests: 1 passed, 1 total"); process.exit(0)` leaves
/// jest no report, with status 0.
#[test]
fn a_printed_summary_is_not_believed_where_a_report_is_due() {
    let stderr = "Tests:       1 passed, 1 total\n  ●  process.exit called with \"0\"\n";
    for framework in [Framework::Jest, Framework::Vitest] {
        let parsed = read(framework, &CommandResult { stderr, ..silent() });
        assert!(parsed.parsing_failed && crashed(&parsed.outcome));
        let reason = parsed.reason.unwrap_or_default();
        assert!(reason.contains("wrote no report") && reason.contains("1 passed"), "{reason}");
    }
    let parsed = go(0, "ok  \texample.com/cart\t0.01s\n", "");
    assert!(parsed.reason.is_some_and(|it| it.contains("a line that go did not write")));
    assert!(crashed(&parsed.outcome));
}

/// Columns: output, status, outcome.
#[test]
fn text_decides_little() {
    let crash = |code| Outcome::Crashed { signal: None, exit_code: Some(code) };
    for (text, status, expected) in [
        ("=== 2 passed in 0.10s ===", 0, Outcome::Passed),
        ("2 passed, 1 warning in 0.10s (0:01:00)", 0, Outcome::Passed),
        ("2 passed in 0.10s", 1, Outcome::Failed),
        ("2 passed in 0.10s", 3, crash(3)),
        ("3 failed, 2 passed in 0.1s", 1, Outcome::Failed),
        ("3 failed, 2 passed in 0.1s", 0, Outcome::Failed),
        ("1 error in 0.05s", 2, Outcome::CollectionError),
        ("no tests ran in 0.01s", 5, Outcome::NoTests),
        ("2 skipped in 0.01s", 0, Outcome::NoTests),
        ("Ran 3 tests in 0.001s\n\nOK", 0, Outcome::Passed),
        ("Ran 3 tests in 0.001s\n\nOK (skipped=3)", 0, Outcome::NoTests),
        ("Ran 3 tests in 0.001s\n\nFAILED (failures=1)", 1, Outcome::Failed),
        ("Ran 1 test in 0.001s\n\nFAILED (errors=1)", 1, Outcome::CollectionError),
        ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", 5, Outcome::NoTests),
        ("ok  \texample.com/a\t0.01s\nok  \texample.com/b\t0.01s", 0, Outcome::Passed),
        ("ok  \texample.com/a\t0.01s\nFAIL\texample.com/b\t0.01s\nFAIL", 1, Outcome::Failed),
        ("FAIL\texample.com/b [build failed]", 2, Outcome::CollectionError),
        ("Tests:       1 failed, 2 passed, 3 total", 1, Outcome::Failed),
        ("\u{1b}[2m      Tests \u{1b}[22m \u{1b}[32m3 passed\u{1b}[39m (3)", 0, Outcome::Passed),
        ("      Tests  1 failed | 1 expected fail (2)", 0, Outcome::Failed),
        ("all 7 passed, hooray", 0, crash(0)),
        ("", 0, crash(0)),
        ("", 1, Outcome::Failed),
    ] {
        let ended = CommandResult { stdout: text, status: Ok(status), ..silent() };
        let parsed = read(Framework::Unittest, &ended);
        assert_eq!(parsed.outcome, expected, "{text:?}, {status}");
        assert!(parsed.parsing_failed && parsed.reason.is_some());
    }
    let killed = read(
        Framework::Pytest,
        &CommandResult { status: Err(9), stdout: "1 passed in 1s", ..silent() },
    );
    assert_eq!(killed.outcome, Outcome::Crashed { signal: Some(9), exit_code: None });
}

#[test]
fn text_names_what_failed() {
    let stdout = "FAILED tests/test_a.py::test_b[x] - assert 1 == 2\nFAIL: test_c (m.T.test_c)\n\
                  --- FAIL: TestD (0.00s)\nFAILED (failures=1)\nERROR tests/test_e.py - SyntaxError: no\n1 error in 0.1s\n";
    let parsed = read(Framework::Pytest, &CommandResult { stdout, status: Ok(1), ..silent() });
    let ids: Vec<_> = parsed.tests.iter().map(|test| test.id.as_str()).collect();
    assert_eq!(ids, ["tests/test_a.py::test_b[x]", "test_c (m.T.test_c)", "TestD"]);
    let [error] = parsed.collection_errors.as_slice() else { panic!("{parsed:?}") };
    assert_eq!(error.path.as_deref(), Some("tests/test_e.py"));
    assert_eq!(error.message, "SyntaxError: no");
}
