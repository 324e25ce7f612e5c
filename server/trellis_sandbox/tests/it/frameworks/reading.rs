//! Tests with records of real runs.

use trellis_sandbox::{Comparison, MissingName, TestResult, frameworks::Framework};

use super::{captured, go, node, shown};

const JEST: &str = r#"CollectionError
Passed tests/cart.test.js::cart::adds :2
Failed tests/cart.test.js::cart::totals::sums up :4 | tests/cart.test.js:5 Error: expect(received).toEqual(expected) // deep equality
Failed tests/cart.test.js::cart::totals::throws :7 | tests/cart.test.js:19 TypeError: Cannot read properties of null (reading 'items')
Skipped tests/cart.test.js::cart::is skipped :11
Skipped tests/cart.test.js::cart::is to come :12
Passed tests/cart.test.js::cart::follows 1 with 2 :13
Passed tests/cart.test.js::cart::follows 2 with 3 :13
Failed tests/setup.test.js::broken set-up::never runs :4 | tests/setup.test.js:3 Error: no database
TimedOut tests/slow.test.js::hangs | tests/slow.test.js:2 Timeout: thrown: "Exceeded timeout of 50 ms for a test.
Failed tests/slow.test.js::rejects :3 | tests/slow.test.js:3 TypeError: no such thing
Failed tests/slow.test.js::throws a string :4 | tests/slow.test.js:4 Error: thrown: "a plain string"
Failed tests/slow.test.js::same name :5 | tests/slow.test.js:5 Error: expect(received).toBe(expected) // Object.is equality
Passed tests/slow.test.js::same name #2 :6
Failed tests/slow.test.js::custom message :7 | tests/slow.test.js:7 Error: expect(received).toEqual(expected) // deep equality
Failed tests/slow.test.js::matches :8 | tests/slow.test.js:8 Error: expect(received).toMatch(expected)
error | tests/empty.test.js Error: Your test suite must contain at least one test.
error | tests/missing.test.js:1 Error: Cannot find module './not-there.js' from 'tests/missing.test.js'
error | tests/syntax.test.js:3 SyntaxError: /t/tests/syntax.test.js: Unexpected token (3:12)
"#;

/// Version 2 reports no lines of tests, and other messages for files that cannot be loaded.
const VITEST: &str = "CollectionError
Passed tests/cart.test.js::cart::adds :3
Failed tests/cart.test.js::cart::totals::sums up :5 | tests/cart.test.js:6 AssertionError: expected [ 1, 2, 3 ] to deeply equal [ 1, 2, 4 ]
Failed tests/cart.test.js::cart::totals::throws :8 | tests/cart.test.js:20 TypeError: Cannot read properties of null (reading 'items')
Skipped tests/cart.test.js::cart::is skipped :12
Skipped tests/cart.test.js::cart::is to come :13
Passed tests/cart.test.js::cart::follows 1 with 2 :14
Passed tests/cart.test.js::cart::follows 2 with 3 :14
Skipped tests/setup.test.js::broken set-up::never runs :4
TimedOut tests/slow.test.js::hangs :2 | tests/slow.test.js:2 Timeout: the test timed out
Failed tests/slow.test.js::rejects :3 | tests/slow.test.js:3 TypeError: no such thing
Failed tests/slow.test.js::throws a string :4 | tests/slow.test.js:4 Error: a plain string
Failed tests/slow.test.js::same name :5 | tests/slow.test.js:5 AssertionError: expected 'a' to be 'b' // Object.is equality
Passed tests/slow.test.js::same name #2 :6
Failed tests/slow.test.js::custom message :7 | tests/slow.test.js:7 AssertionError: expected { a: 1, b: [ 1, 2 ] } to deeply equal { a: 1, b: [ 1, 3 ] }
Failed tests/slow.test.js::matches :8 | tests/slow.test.js:8 AssertionError: expected 'hello' to match /bye/
error | tests/empty.test.js Error: No test suite found in file /t/tests/empty.test.js
error | tests/missing.test.js Error: Cannot find module './not-there.js' imported from /t/tests/missing.test.js
error | tests/setup.test.js Error: the file failed, and the report gives no reason; a hook around its tests may have thrown; see the output
error | tests/syntax.test.js:3 Error: Parse failure: Parse failed with 1 error:
";

/// The last three packages end themselves with status 0, panic before the first test and cannot be
/// built.
const GO: &str = "CollectionError
Passed .::TestAdds
Failed .::TestWrong | cart_test.go:16 Failed: Total = 3, want 4
Failed .::TestTable | nowhere Failed: subtests failed: two_four
Passed .::TestTable/one_two
Failed .::TestTable/two_four | cart_test.go:27 Failed: got 3, want 4
Skipped .::TestSkipped
Passed .::TestParallelA
Passed .::TestParallelB
Failed .::ExampleTotal | nowhere Failed: the example printed something else
Passed crash::TestBefore
Failed crash::TestPanics | cart.go:7 panic: runtime error: index out of range [1] with length 1
Failed forged::TestForged | forged/forged_test.go:12 Failed: really failed
TimedOut hang::TestHangs | nowhere Failed: subtests failed: inner
TimedOut hang::TestHangs/inner | hang/hang_test.go:5 Timeout: test timed out after 2s
error | badimport/bad_test.go:4 BuildFailed: module example.com/cart/nowhere: not found
error | broken/broken_test.go:5 BuildFailed: undefined: nothing
error | initpanic/i_test.go:5 panic: at import
";

#[test]
fn jest_of_two_versions() {
    for text in [captured!("jest29.json"), captured!("jest30.json")] {
        assert_eq!(shown(&node(Framework::Jest, 1, text)), JEST);
    }
}

#[test]
fn vitest() {
    assert_eq!(shown(&node(Framework::Vitest, 1, captured!("vitest4.json"))), VITEST);
    let old = shown(&node(Framework::Vitest, 1, captured!("vitest2.json")));
    let outcomes = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split([':', '|']).next().unwrap_or(line).into()).collect()
    };
    assert_eq!(outcomes(&old), outcomes(VITEST));
    assert!(
        old.contains("slow.test.js::hangs | tests/slow.test.js Timeout: Test timed out in 50ms.")
    );
}

#[test]
fn go_of_two_versions() {
    let old = shown(&go(2, captured!("go119.jsonl"), captured!("go119.stderr")));
    let new = shown(&go(1, captured!("go127.jsonl"), captured!("go127.stderr")));
    // The old version does not mark the lines that come from `t.Error`. In the new version, a test
    // that ends the process with status 0 has passed, but its package has no final status.
    assert_eq!(
        old.replace("not run exits::TestExits\n", ""),
        GO.replace("cart_test.go:16", "cart_test.go:17")
    );
    assert_eq!(new.replace("Passed exits::TestExits\n", ""), GO);
}

/// Columns: the status, the report, and the result.
#[test]
fn status_and_report_must_agree() {
    use Framework::{Jest, Vitest};
    for (framework, status, report, expected) in [
        (Jest, 0, captured!("jest30-good.json"), "Passed"),
        (
            Jest,
            1,
            captured!("jest30-good.json"),
            "Failed no test failed, but jest ended with status 1",
        ),
        (
            Jest,
            130,
            captured!("jest30-good.json"),
            "Crashed { signal: None, exit_code: Some(130) }",
        ),
        (Jest, 0, captured!("jest30-failing.json"), "Failed tests failed, although jest reported"),
        (Jest, 1, captured!("jest30-failing.json"), "Failed"),
        (Jest, 1, captured!("jest30-none.json"), "NoTests"),
        (Jest, 0, captured!("jest30.json"), "CollectionError"),
        (Vitest, 0, captured!("vitest4-good.json"), "Passed"),
        // An unhandled rejection is in no report, only in the status.
        (
            Vitest,
            1,
            captured!("vitest4-late.json"),
            "Failed no test failed, but vitest ended with status 1",
        ),
        (
            Vitest,
            1,
            captured!("vitest4-killed.json"),
            "Crashed { signal: None, exit_code: Some(1) }",
        ),
        (
            Vitest,
            0,
            captured!("vitest4-killed.json"),
            "Crashed { signal: None, exit_code: Some(0) }",
        ),
    ] {
        let parsed = node(framework, status, report);
        assert!(shown(&parsed).starts_with(expected), "{status} {expected}: {}", shown(&parsed));
        assert!(!parsed.parsing_failed);
    }
}

/// A test that ends the process with status 0 makes its package look passed to go.
#[test]
fn a_go_package_that_ends_itself_has_not_passed() {
    for (text, expected) in [
        (
            captured!("go119-exits.jsonl"),
            "the run ended before every test had a result; see the output",
        ),
        (captured!("go127-exits.jsonl"), "package exits has no final result"),
    ] {
        let parsed = go(0, text, "");
        assert_eq!(parsed.reason.as_deref(), Some(expected));
        assert!(shown(&parsed).starts_with("Crashed { signal: None, exit_code: Some(0) }"));
    }
    let silent_package =
        "{\"Action\":\"start\",\"Package\":\"p\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n";
    let reason = go(0, silent_package, "").reason.unwrap_or_default();
    assert!(reason.contains("ended before go's own last line"), "{reason}");
}

#[test]
fn details_of_jest() {
    let parsed = node(Framework::Jest, 1, captured!("jest30.json"));
    let failure = |id: &str| {
        let mut tests = parsed.tests.iter();
        tests.find(|it| it.id.ends_with(id)).and_then(|it| it.failure.clone()).expect("a failure")
    };
    let sides = Comparison {
        operator: "toEqual".to_owned(),
        actual: "[1,2,3]".to_owned(),
        expected: "[1,2,4]".to_owned(),
    };
    assert_eq!(failure("sums up").comparison, Some(sides));
    assert_eq!(failure("matches").comparison, None, "the report has none");
    let frames: Vec<_> = (failure("::throws").frames.into_iter())
        .map(|it| (it.path, it.line, it.function, it.inside))
        .collect();
    let file = || "tests/cart.test.js".to_owned();
    assert_eq!(
        frames,
        [(file(), 8, "Object.total".into(), true), (file(), 19, "items".into(), true)]
    );
    let module = MissingName::Module { module: "./not-there.js".to_owned() };
    assert_eq!(parsed.collection_errors[1].missing, Some(module));
}

#[test]
fn details_of_go() {
    let parsed = go(1, captured!("go127.jsonl"), "");
    let test = |id: &str| -> TestResult {
        parsed.tests.iter().find(|it| it.id == id).cloned().expect("there")
    };
    assert_eq!(test(".::TestAdds").stdout, "from the test\n");
    assert_eq!(test(".::TestSkipped").reason.as_deref(), Some("not today"));
    assert_eq!(test(".::TestTable/two_four").path, "cart_test.go");
    let wrong = test(".::TestWrong").failure.expect("a failure");
    assert_eq!(wrong.message, "Total = 3, want 4\na second\nline of it");
    let example = test(".::ExampleTotal").failure.and_then(|it| it.comparison).expect("sides");
    assert_eq!((example.actual.as_str(), example.expected.as_str()), ("one", "two"));
    let panicked = test("crash::TestPanics").failure.expect("a failure");
    let frames: Vec<_> =
        panicked.frames.iter().filter(|it| it.inside).map(|it| it.function.as_str()).collect();
    assert_eq!(frames, ["crash.TestPanics", "cart.Total"]);
    let name = MissingName::Name { name: "nothing".to_owned() };
    assert_eq!(parsed.collection_errors[1].missing, Some(name));
}
