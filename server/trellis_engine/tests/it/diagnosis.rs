//! Tests of the diagnosis rules: a failing run in, a finding out.

use trellis_engine::{Failure, Frame, ProjectFacts, RunOutcome, TestCase, TestRun, diagnose};

const CODE: &str = "src/shop/cart.py";
const TEST: &str = "tests/test_cart.py";

fn frame(path: &str, source: &str) -> Frame {
    Frame { path: path.to_owned(), line: 7, function: "f".to_owned(), source: source.to_owned() }
}

/// Returns a failure whose deepest frame is `source` in `path`, below the failing test.
fn failure(exception: &str, message: &str, path: &str, source: &str) -> Failure {
    Failure {
        exception: exception.to_owned(),
        message: message.to_owned(),
        path: path.to_owned(),
        line: 7,
        frames: vec![frame(TEST, "assert total([1]) == 1"), frame(path, source)],
        ..Failure::default()
    }
}

fn run(ending: RunOutcome, failures: Vec<Failure>) -> TestRun {
    let case = |(n, failure)| TestCase {
        id: format!("{TEST}::test_{n}"),
        passed: false,
        set_aside: false,
        failure: Some(failure),
    };
    TestRun {
        ending,
        stack: Vec::new(),
        cases: failures.into_iter().enumerate().map(case).collect(),
        collection: Vec::new(),
        output: String::new(),
    }
}

/// Returns `kind rule`, or `-`.
fn judged(run: &TestRun, documentation: &[&str]) -> String {
    let around = ProjectFacts {
        is_test: &|path| path.starts_with("tests/"),
        is_local: &|module| module == "shop",
        is_declared: &|module| module == "numpy",
        signatures_hold: true,
        documentation,
    };
    match diagnose(run, &around) {
        Some(found) => format!("{} {}", found.diagnosis.as_str(), found.rule),
        None => "-".to_owned(),
    }
}

#[track_caller]
fn check(failures: Vec<Failure>, expect: &str) {
    let shown = format!("{failures:?}");
    assert_eq!(judged(&run(RunOutcome::Failed, failures), &[]), expect, "{shown}");
}

#[test]
fn one_failure_speaks_for_itself_or_does_not() {
    let table = [
        // The test is wrong, independent of the code.
        ("SyntaxError", "invalid syntax", TEST, "", "test test-syntax"),
        ("Failed", "fixture 'basket' not found", TEST, "", "test missing-fixture"),
        (
            "AttributeError",
            "<module 'shop.cart'> does not have the attribute 'tax'",
            TEST,
            "",
            "test patch-target",
        ),
        (
            "TypeError",
            "total() got an unexpected keyword argument 'vat'",
            TEST,
            "total(vat=1)",
            "test wrong-call",
        ),
        (
            "TypeError",
            "total() missing 1 required positional argument: 'rows'",
            TEST,
            "",
            "test wrong-call",
        ),
        // The code raises by accident.
        ("SyntaxError", "invalid syntax", CODE, "", "implementation accident"),
        ("NameError", "name 'totl' is not defined", CODE, "return totl", "implementation accident"),
        (
            "UnboundLocalError",
            "cannot access local variable 'x'",
            CODE,
            "return x",
            "implementation accident",
        ),
        ("KeyError", "'net'", CODE, "return row['net']", "implementation accident"),
        (
            "RecursionError",
            "maximum recursion depth exceeded",
            CODE,
            "return f(n)",
            "implementation accident",
        ),
        (
            "ValueError",
            "not enough values to unpack (expected 2, got 1)",
            CODE,
            "a, b = x",
            "implementation accident",
        ),
        (
            "TypeError",
            "'NoneType' object is not subscriptable",
            TEST,
            "assert rows()[0]",
            "implementation nothing-returned",
        ),
        (
            "AssertionError",
            "assert <coroutine object f at 0x7f> == 1",
            TEST,
            "",
            "implementation not-awaited",
        ),
        // Faults outside of the repository.
        (
            "gaierror",
            "[Errno -3] Temporary failure in name resolution",
            CODE,
            "",
            "environment network",
        ),
        ("OSError", "[Errno 101] Network is unreachable", CODE, "", "environment network"),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: '/etc/shop.ini'",
            CODE,
            "open(p)",
            "environment foreign-file",
        ),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: 'ffmpeg'",
            CODE,
            "subprocess.run(['ffmpeg'])",
            "environment missing-program",
        ),
        (
            "KeyError",
            "'SHOP_HOME'",
            CODE,
            "os.environ['SHOP_HOME']",
            "environment missing-variable",
        ),
        ("locale.Error", "unsupported locale setting", CODE, "", "environment machine"),
        // Failures that need a vote.
        ("AssertionError", "assert 2 == 1", TEST, "assert total([1]) == 1", "-"),
        ("ValueError", "empty cart", CODE, "raise ValueError(\"empty cart\")", "-"),
        ("KeyError", "'net'", CODE, "raise KeyError('net')", "-"),
        ("ValueError", "invalid literal for int() with base 10: 'x'", CODE, "return int(x)", "-"),
        (
            "FileNotFoundError",
            "[Errno 2] No such file or directory: 'rows.csv'",
            CODE,
            "open(name)",
            "-",
        ),
        (
            "FileNotFoundError",
            "No such file: '/tmp/pytest-of-me/rows.csv'",
            CODE,
            "open(name)",
            "-",
        ),
        ("IndexError", "list index out of range", TEST, "assert rows()[4] == 1", "-"),
    ];
    for (exception, message, path, source, expect) in table {
        check(vec![failure(exception, message, path, source)], expect);
    }
}

/// Only a network that cannot be reached is the environment's fault. What answers on this machine is
/// a server of the test or of the code.
#[test]
fn a_server_that_does_not_answer_is_no_missing_network() {
    let pool = "HTTPConnectionPool(host='localhost', port=8000): Max retries exceeded with url: / \
                (Caused by NewConnectionError('[Errno 111] Connection refused'))";
    let unresolved = "HTTPSConnectionPool(host='example.org', port=443): Max retries exceeded with \
                      url: / (Caused by NameResolutionError(\"[Errno -3] Temporary failure in name \
                      resolution\"))";
    let table = [
        ("ConnectionRefusedError", "[Errno 111] Connection refused", "-"),
        ("ConnectionRefusedError", "[Errno 111] Connect call failed ('127.0.0.1', 8000)", "-"),
        (
            "OSError",
            "Multiple exceptions: [Errno 111] Connect call failed ('::1', 8000, 0, 0)",
            "-",
        ),
        ("URLError", "<urlopen error [Errno 111] Connection refused>", "-"),
        ("URLError", "<urlopen error unknown url type: htp>", "-"),
        ("requests.exceptions.ConnectionError", pool, "-"),
        ("ConnectError", "[Errno 111] Connection refused", "-"),
        ("ConnectionResetError", "[Errno 104] Connection reset by peer", "-"),
        ("ConnectionAbortedError", "[Errno 103] Software caused connection abort", "-"),
        ("ConnectionError", "the session is closed", "-"),
        ("SSLError", "[SSL: CERTIFICATE_VERIFY_FAILED] self-signed certificate", "-"),
        (
            "URLError",
            "<urlopen error [Errno -3] Temporary failure in name resolution>",
            "environment network",
        ),
        ("requests.exceptions.ConnectionError", unresolved, "environment network"),
        ("ConnectError", "[Errno 101] Network is unreachable", "environment network"),
        ("OSError", "[Errno 113] No route to host", "environment network"),
        ("gaierror", "[Errno -5] No address associated with hostname", "environment network"),
    ];
    for (exception, message, expect) in table {
        check(vec![failure(exception, message, CODE, "fetch(url)")], expect);
    }
}

#[test]
fn names_and_packages_that_are_missing() {
    let named = |path: &str| Failure {
        missing_name: Some("totl".to_owned()),
        ..failure("NameError", "name 'totl' is not defined", path, "")
    };
    check(vec![named(TEST)], "test undefined-name");
    check(vec![named(CODE)], "implementation accident");
    let module = |name: &str, path: &str| Failure {
        missing_module: Some(name.to_owned()),
        ..failure("ModuleNotFoundError", &format!("No module named '{name}'"), path, "")
    };
    check(vec![module("numpy.linalg", CODE)], "environment missing-package");
    check(vec![module("pandas", CODE)], "implementation foreign-package");
    check(vec![module("pandas", TEST)], "test foreign-package");
    check(vec![module("shop.basket", TEST)], "-");
}

#[test]
fn failures_that_speak_for_different_things() {
    let broken = || failure("Failed", "fixture 'basket' not found", TEST, "");
    let accident = || failure("KeyError", "'net'", CODE, "return row['net']");
    let away = || failure("gaierror", "Name or service not known", CODE, "");
    let silent = || failure("AssertionError", "assert 2 == 1", TEST, "assert total([1]) == 1");
    check(vec![accident(), silent()], "implementation accident");
    check(vec![accident(), broken()], "test missing-fixture");
    check(vec![away(), away()], "environment network");
    check(vec![away(), silent()], "-");
    check(vec![away(), accident()], "-");
    check(vec![], "-");
}

/// One wrong test is likelier than wrong code; three in two files are not.
#[test]
fn independent_tests_that_agree_are_believed() {
    let witness = |id: &str, path: &str| TestCase {
        id: id.to_owned(),
        passed: false,
        set_aside: false,
        failure: Some(failure("AssertionError", "assert 2 == 1", path, "assert f() == 1")),
    };
    let (a, b) = (("tests/a.py::x", TEST), ("tests/a.py::y", TEST));
    let table = [
        (vec![a, b, ("tests/b.py::x", TEST)], "implementation witnesses"),
        (vec![a, b, ("tests/a.py::z", TEST)], "-"),
        (vec![a, ("tests/b.py::x[1]", TEST), ("tests/b.py::x[2]", TEST)], "-"),
        // Asserted by a helper of the code, not by the test.
        (vec![a, b, ("tests/b.py::x", CODE)], "-"),
    ];
    for (cases, expect) in table {
        let cases: Vec<TestCase> = cases.iter().map(|(id, path)| witness(id, path)).collect();
        let run = TestRun { cases, ..run(RunOutcome::Failed, Vec::new()) };
        assert_eq!(judged(&run, &[]), expect, "{run:?}");
    }
}

#[test]
fn runs_that_were_cut_short() {
    let crash = |signal| RunOutcome::Crashed { how: String::new(), signal };
    let code = |source: &str| vec![frame(TEST, "f()"), frame(CODE, source)];
    let within = |path: &str| vec![frame(TEST, "f()"), frame(CODE, "it.go()"), frame(path, "x")];
    let table = [
        (RunOutcome::TimedOut { why: None }, code("while True:"), "implementation endless-loop"),
        (
            RunOutcome::TimedOut { why: None },
            code("while not done: n += 1"),
            "implementation endless-loop",
        ),
        (
            RunOutcome::TimedOut { why: None },
            code("    socket.connect(there)"),
            "environment waiting",
        ),
        // A server of the test may never answer.
        (RunOutcome::TimedOut { why: None }, code("    urlopen(self.url)"), "-"),
        // A waiting run may wait for something that the code should have done.
        (RunOutcome::TimedOut { why: None }, vec![frame(TEST, "sleep(99)")], "-"),
        (RunOutcome::TimedOut { why: None }, vec![frame(TEST, "while not f(): pass")], "-"),
        (RunOutcome::TimedOut { why: None }, code("time.sleep(pause)"), "-"),
        (RunOutcome::TimedOut { why: None }, code("self.selector.select(0.05)"), "-"),
        (RunOutcome::TimedOut { why: None }, code("loop.run_until_complete(it)"), "-"),
        (RunOutcome::TimedOut { why: None }, code("self.lock.acquire()"), "-"),
        (RunOutcome::TimedOut { why: None }, within("/usr/lib/python3.11/selectors.py"), "-"),
        (
            RunOutcome::TimedOut { why: None },
            within("/usr/lib/python3.11/asyncio/base_events.py"),
            "-",
        ),
        (RunOutcome::TimedOut { why: None }, within("/usr/lib/python3.11/threading.py"), "-"),
        // Code that computes within a library does not wait.
        (
            RunOutcome::TimedOut { why: None },
            within("/usr/lib/python3.11/fractions.py"),
            "implementation endless-loop",
        ),
        (RunOutcome::TimedOut { why: None }, vec![], "-"),
        (RunOutcome::KilledForMemory, code("rows.append(1)"), "implementation memory"),
        (RunOutcome::KilledForMemory, vec![], "-"),
        (crash(Some(11)), code("return decode(data)"), "environment signal"),
        (crash(Some(9)), vec![], "environment signal"),
        (crash(Some(6)), code("os.abort()"), "implementation exit"),
        (crash(None), code("os._exit(3)"), "implementation exit"),
        (crash(None), vec![], "-"),
    ];
    for (ending, stack, expect) in table {
        let run = TestRun { stack, ..run(ending, Vec::new()) };
        assert_eq!(judged(&run, &[]), expect, "{run:?}");
    }
}

/// The documentation decides between a test and the code.
#[test]
fn documented_examples_decide() {
    let doctest = "The total.\n\n>>> total([1, 2])\n3.0\n>>> name('a')\n'A'\n";
    let comparison = "`total([1, 2]) == 3.0`";
    let table = [
        ("assert total([1, 2]) == 3", doctest, "implementation documented-example"),
        (
            "assert total( [1,2] ) == pytest.approx(3.0, abs=1e-6)",
            comparison,
            "implementation documented-example",
        ),
        ("assert total([1, 2]) == 4", doctest, "test documented-example"),
        ("assert name(\"a\") == \"A\"", doctest, "implementation documented-example"),
        ("assert name('a') == 'a'", doctest, "test documented-example"),
        ("assert total([2]) == 3", doctest, "-"),
        // White space counts inside of strings, and a value may take several lines.
        ("assert name('a b') == 'A'", "name('ab') == 'AB'", "-"),
        (
            "assert pair(1) == ['a b', 'c']",
            ">>> pair(1)\n['a b',\n 'c']\n",
            "implementation documented-example",
        ),
        // Layout and quotes do not matter.
        (
            "assert pair(\n    1,\n) == [\n    \"a b\",\n    \"c\",\n]",
            ">>> pair(1)\n['a b', 'c']\n",
            "implementation documented-example",
        ),
        (
            "assert (\n    total([1, 2])\n    == 3\n), 'the sum'",
            doctest,
            "implementation documented-example",
        ),
        ("assert total([1, 2]) == 3, 'the sum'", doctest, "implementation documented-example"),
        ("assert name('a') == 'A '", doctest, "test documented-example"),
        // An incomplete first line of a statement and values that are no literals decide nothing.
        ("assert total([1, 2]) == [", doctest, "-"),
        ("assert total([1, 2]) == [expected]", doctest, "-"),
        ("assert total([1, 2]) == expected", doctest, "-"),
        ("assert rows == 3", doctest, "-"),
        ("assert total([1, 2]) is None", doctest, "-"),
    ];
    for (line, documentation, expect) in table {
        let mut failing = failure("AssertionError", "assert 9 == 3", TEST, line);
        failing.frames = vec![frame(TEST, line)];
        let run = run(RunOutcome::Failed, vec![failing]);
        assert_eq!(judged(&run, &[documentation]), expect, "{line}");
    }
}
