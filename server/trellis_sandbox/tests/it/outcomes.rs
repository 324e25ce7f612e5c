//! Tests of every way in which a run or a test can end.

use trellis_sandbox::{Outcome, TestOutcome::*, Tree};

use crate::support::{failure, only, results, run, run_one, run_request, run_with};

fn crashed(signal: Option<i32>, exit_code: Option<i32>) -> Outcome {
    Outcome::Crashed { signal, exit_code }
}

/// Outcomes of one-file trees. Timeouts have a file of their own.
#[tokio::test]
async fn outcome_of_each_kind_of_file() {
    let table: &[(&str, &str, Outcome)] = &[
        ("passes", "def test_a(): pass", Outcome::Passed),
        ("fails", "def test_a(): assert 1 == 2", Outcome::Failed),
        ("fixture fails", FIXTURE_ERROR, Outcome::Failed),
        ("syntax error", "def test_a(:", Outcome::CollectionError),
        ("missing import", "import nowhere\ndef test_a(): pass", Outcome::CollectionError),
        ("empty", "", Outcome::NoTests),
        ("all skipped", SKIPPED, Outcome::NoTests),
        ("os._exit(0)", "import os\ndef test_a(): os._exit(0)", crashed(None, Some(0))),
        ("os._exit(7)", "import os\ndef test_a(): os._exit(7)", crashed(None, Some(7))),
        ("exit at import", "import os\nos._exit(0)", crashed(None, Some(0))),
        ("kill -9", "import os\ndef test_a(): os.kill(os.getpid(), 9)", crashed(Some(9), None)),
        ("abort", "import os\ndef test_a(): os.abort()", crashed(Some(6), None)),
        ("pytest.exit", EXIT, crashed(None, Some(0))),
        (
            "exit handler",
            "import atexit, os\natexit.register(os._exit, 3)\ndef test_a(): pass",
            crashed(None, Some(3)),
        ),
        ("sys.exit in a test", "import sys\ndef test_a(): sys.exit(0)", Outcome::Failed),
        ("memory hog", "def test_a(): x = bytearray(1 << 40)", Outcome::Failed),
        ("forked and forgot", FORKED, Outcome::Passed),
    ];
    for (name, text, expected) in table {
        let report = run_one(text).await;
        assert_eq!(report.outcome, *expected, "{name}: {report:#?}");
    }
}

const FIXTURE_ERROR: &str = "
import pytest
@pytest.fixture
def thing(): raise ValueError('no thing')
def test_a(thing): pass
";

const SKIPPED: &str = "
import pytest
@pytest.mark.skip(reason='later')
def test_a(): pass
";

const EXIT: &str = "
import pytest
def test_a(): pass
def test_b(): pytest.exit('enough', returncode=0)
def test_c(): pass
";

/// The child continues the session; its records must not count.
const FORKED: &str = "
import os
def test_a():
    pid = os.fork()
    if pid: os.waitpid(pid, 0)
";

#[tokio::test]
async fn a_crash_names_the_test_and_those_that_never_ran() {
    let report =
        run_one("import os\ndef test_a(): pass\ndef test_b(): os.abort()\ndef test_c(): pass\n")
            .await;
    assert_eq!(results(&report), [("test_a.py::test_a", Passed), ("test_a.py::test_b", Crashed)]);
    assert_eq!(report.not_run, ["test_a.py::test_c"]);
    let stuck = report.stuck.as_ref().expect("faulthandler wrote the stack");
    assert_eq!(stuck.test(), Some("test_a.py::test_b"));
    assert_eq!(crate::support::inside(&stuck.frames), ["test_a.py:3 test_b"]);
    assert_eq!(report.reason.as_deref(), Some("the test process died of signal 6"));
}

const KINDS: &str = r#"
import unittest
import pytest

@pytest.fixture
def broken():
    yield
    raise RuntimeError("tear-down")

def test_passes(): pass
def test_fails(): assert 0
def test_teardown(broken): pass
def test_no_fixture(nothing): pass

@pytest.mark.skip(reason="not today")
def test_skipped(): pass

@pytest.mark.xfail(reason="known")
def test_xfails(): assert 0

@pytest.mark.xfail
def test_xpasses(): pass

@pytest.mark.xfail(strict=True, reason="mended?")
def test_strict(): pass

@pytest.mark.parametrize("a, b", [(1, 1), (1, 2)])
def test_pair(a, b): assert a == b

class TestGroup:
    def test_inner(self): pass

class Old(unittest.TestCase):
    def test_equal(self): self.assertEqual(1, 2)
    def test_sub(self):
        for n in (1, 2):
            with self.subTest(n=n):
                self.assertEqual(n, 1)
    def test_skip(self): self.skipTest("old")
"#;

#[tokio::test]
async fn every_kind_of_test() {
    let report = run(&[("tests/unit/test_kinds.py", KINDS)]).await;
    assert_eq!(report.outcome, Outcome::Failed);
    assert_eq!(report.exit_code, Some(1));
    let found: Vec<_> = results(&report)
        .into_iter()
        .map(|(id, outcome)| {
            (id.strip_prefix("tests/unit/test_kinds.py::").expect("relative to the root"), outcome)
        })
        .collect();
    let expected = [
        ("test_passes", Passed),
        ("test_fails", Failed),
        ("test_teardown", Error),
        ("test_no_fixture", Error),
        ("test_skipped", Skipped),
        ("test_xfails", XFailed),
        ("test_xpasses", XPassed),
        ("test_strict", Failed),
        ("test_pair[1-1]", Passed),
        ("test_pair[1-2]", Failed),
        ("TestGroup::test_inner", Passed),
        ("Old::test_equal", Failed),
        ("Old::test_skip", Skipped),
        ("Old::test_sub", Failed),
    ];
    assert_eq!(found, expected);
    assert!(report.not_run.is_empty());

    let test = |name: &str| {
        report.tests.iter().find(|test| test.id.ends_with(name)).expect("listed above")
    };
    assert_eq!(test("test_skipped").reason.as_deref(), Some("not today"));
    assert_eq!(test("test_xfails").reason.as_deref(), Some("known"));
    assert_eq!(test("Old::test_skip").reason.as_deref(), Some("old"));
    // The line of `def`, not that of the decorator.
    assert_eq!(test("test_skipped").line, Some(16));
    assert_eq!(test("test_inner").line, Some(31));
    assert_eq!(test("test_inner").path, "tests/unit/test_kinds.py");
    let message = |name: &str| &test(name).failure.as_ref().expect("failed").message;
    assert!(message("test_no_fixture").contains("fixture 'nothing' not found"));
    assert!(message("test_strict").contains("mended?"));
    assert_eq!(message("Old::test_equal"), "1 != 2");
}

#[tokio::test]
async fn targets_select_tests() {
    let text = "def test_a(): pass\ndef test_b(): assert 0\n";
    let tree = [("test_x.py", text), ("test_y.py", text), ("-k.py", text)];
    let table: &[(&[&str], &[&str])] = &[
        (&["test_x.py::test_a"], &["test_x.py::test_a"]),
        (&["test_x.py::test_a", "test_y.py::test_b"], &["test_x.py::test_a", "test_y.py::test_b"]),
        (&["-k.py::test_a"], &["-k.py::test_a"]),
    ];
    for (targets, expected) in table {
        let targets = targets.iter().map(|target| target.to_string()).collect();
        let report = run_with(&tree, |request| request.targets = targets).await;
        let found: Vec<_> = report.tests.iter().map(|test| test.id.as_str()).collect();
        assert_eq!(found, *expected, "{report:#?}");
    }
}

#[tokio::test]
async fn a_target_that_is_not_there_is_a_collection_error_with_pytests_words() {
    for target in ["nowhere.py", "test_a.py::test_z"] {
        let report = run_with(&[("test_a.py", "def test_a(): pass")], |request| {
            request.targets = vec![target.into()]
        })
        .await;
        assert_eq!(report.outcome, Outcome::CollectionError);
        assert!(failure(&report).message.contains("not found"), "{report:#?}");
    }
}

#[tokio::test]
async fn printed_text_belongs_to_its_test() {
    let text = "import sys\ndef test_a():\n    print('out')\n    print('err', file=sys.stderr)\n";
    let report = run_one(text).await;
    assert_eq!((only(&report).stdout.as_str(), only(&report).stderr.as_str()), ("out\n", "err\n"));
}

#[tokio::test]
async fn logged_text_belongs_to_its_test() {
    let text = "import logging\n\ndef test_a():\n    try:\n        1 / 0\n    \
                except ZeroDivisionError:\n        logging.exception('caught')\n    assert False\n";
    let report = run_one(text).await;
    let log = &only(&report).log;
    assert!(log.starts_with("ERROR ") && log.contains("caught\nTraceback"), "{log}");
    assert!(log.ends_with("ZeroDivisionError: division by zero"), "{log}");
}

#[tokio::test]
async fn a_run_that_cannot_start_says_why() {
    let outside = run(&[("../evil.py", "")]).await;
    let absolute = run(&[("/evil.py", "")]).await;
    let missing =
        run_request(&trellis_sandbox::Request::new(Tree::Folder("/nowhere/at/all".into()))).await;
    for (report, part) in [
        (outside, "outside its root"),
        (absolute, "outside its root"),
        (missing, "/nowhere/at/all"),
    ] {
        let Outcome::SandboxUnavailable { reason } = report.outcome else { panic!("{report:#?}") };
        assert!(reason.contains(part), "{reason}");
    }
}

#[tokio::test]
async fn an_interpreter_without_pytest_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let bare = crate::support::without_pytest(folder.path()).await;
    let interpreter = bare.interpreter.clone();
    let runner = |interpreter| {
        trellis_sandbox::Runner::new(
            trellis_sandbox::python::Python { interpreter, ..bare.clone() },
            trellis_sandbox::Config {
                scratch: crate::support::scratch(),
                ..trellis_sandbox::Config::from_environment()
            },
        )
    };
    let request = trellis_sandbox::Request::new(crate::support::files(&[("test_a.py", "")]));
    for (interpreter, part) in
        [(interpreter, "pytest is not installed"), ("/nowhere/python".into(), "cannot start")]
    {
        let report =
            runner(interpreter).run(&request, &tokio_util::sync::CancellationToken::new()).await;
        let Outcome::SandboxUnavailable { reason } = report.outcome else { panic!("{report:#?}") };
        assert!(reason.contains(part), "{reason}");
    }
}

#[tokio::test]
async fn pytest_itself_out_of_memory() {
    let hog = "def pytest_runtestloop(session): bytearray(1 << 40)\n";
    let report = run(&[("conftest.py", hog), ("test_a.py", "def test_a(): pass")]).await;
    assert_eq!(report.outcome, Outcome::KilledForMemory, "{report:#?}");
    let other = "def pytest_runtestloop(session): 1 / 0\n";
    let report = run(&[("conftest.py", other), ("test_a.py", "def test_a(): pass")]).await;
    assert_eq!(report.outcome, crashed(None, Some(3)));
    let reason = report.reason.expect("why");
    assert!(reason.contains("ZeroDivisionError: division by zero"), "{reason}");
}

/// The outcome does not reveal that a failing test was dropped, but this list does.
#[tokio::test]
async fn tests_that_are_left_out_are_named() {
    let drop = "def pytest_collection_modifyitems(items): del items[1:]\n";
    let drop_late = "def pytest_collection_finish(session): del session.items[1:]\n";
    let tests = "def test_a(): pass\ndef test_b(): assert False\ndef test_c(): assert False\n";
    for (name, text) in [
        ("conftest.py", drop),
        ("conftest.py", drop_late),
        ("pytest.ini", "[pytest]\naddopts = --deselect=test_a.py::test_b -k 'not test_c'\n"),
    ] {
        let files = [(name, text), ("test_a.py", tests)];
        let report = run_with(&files, |it| it.whole = false).await;
        assert_eq!(results(&report), [("test_a.py::test_a", Passed)]);
        assert_eq!(report.deselected, ["test_a.py::test_b", "test_a.py::test_c"], "{name}");
        let [note] = &report.notes[..] else { panic!("{name}: {:?}", report.notes) };
        assert!(note.starts_with("the project's options or a hook leave out 2 tests"), "{note}");
    }
}
