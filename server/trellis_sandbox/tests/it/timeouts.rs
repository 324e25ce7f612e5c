//! Endless tests are stopped, and the report tells where they were.

use std::time::Duration;

use trellis_sandbox::{Activity, Outcome, RaisedBy, Report, Request, TestOutcome};

use crate::support::{inside, results, run_with};

/// Long enough, even on a busy machine, for tests that are meant to end.
const LIMIT: Duration = Duration::from_secs(3);

/// Names of the settings in messages.
const FLAGS: RaisedBy = RaisedBy { test: Some("`--test`"), run: Some("`--run`") };

async fn stopped(text: &str) -> Report {
    let report = run_with(&[("test_a.py", text)], |request| request.test_timeout = LIMIT).await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    report
}

fn stood(report: &Report) -> (&Activity, Vec<String>) {
    let stuck = report.stuck.as_ref().expect("a stack");
    (&stuck.during, inside(&stuck.frames))
}

#[tokio::test]
async fn endless_loop_in_code_under_test() {
    let spin = "def spin():\n    n = 0\n    while True:\n        n += 1\n";
    let test = "from spin import spin\ndef test_ok(): pass\ndef test_a():\n    spin()\ndef test_b(): pass\n";
    let change = |request: &mut Request| request.test_timeout = LIMIT;
    let report = run_with(
        &[
            ("src/spin.py", spin),
            ("pytest.ini", "[pytest]\npythonpath = src\n"),
            ("test_a.py", test),
        ],
        change,
    )
    .await;
    assert_eq!(report.outcome, Outcome::TimedOut);
    assert_eq!(
        results(&report),
        [("test_a.py::test_ok", TestOutcome::Passed), ("test_a.py::test_a", TestOutcome::TimedOut)]
    );
    assert_eq!(report.not_run, ["test_a.py::test_b"]);
    let (during, frames) = stood(&report);
    assert_eq!(*during, Activity::Testing("test_a.py::test_a".into()));
    assert_eq!(frames[0], "test_a.py:4 test_a");
    assert!(frames[1].starts_with("src/spin.py:") && frames[1].ends_with(" spin"), "{frames:?}");
    let failure = report.tests[1].failure.as_ref().expect("why");
    assert_eq!(
        (failure.exception.as_str(), failure.path.as_deref()),
        ("Timeout", Some("src/spin.py"))
    );
    assert_eq!(failure.message, "one test or import was stopped after 3 s (the limit of one test)");
}

#[tokio::test]
async fn sleeping_test() {
    let report =
        stopped("import time\ndef test_a():\n    while True:\n        time.sleep(1)\n").await;
    assert_eq!(stood(&report).1, ["test_a.py:4 test_a"]);
}

/// The regular expression never releases the interpreter lock; no Python thread could report it.
#[tokio::test]
async fn hang_inside_c_code() {
    let report =
        stopped("import re\ndef test_a():\n    re.match('(a+)+$', 'a' * 64 + 'b')\n").await;
    assert_eq!(stood(&report).1, ["test_a.py:3 test_a"]);
}

#[tokio::test]
async fn endless_loop_at_import() {
    let report = stopped("x = 0\nwhile True: x += 1\n").await;
    assert_eq!(
        stood(&report),
        (&Activity::Collecting("test_a.py".into()), vec!["test_a.py:2 <module>".to_owned()])
    );
    assert_eq!(report.collection_errors[0].exception, "Timeout");
    assert_eq!(report.collection_errors[0].path.as_deref(), Some("test_a.py"));
}

#[tokio::test]
async fn endless_loop_in_conftest() {
    let tree = [("conftest.py", "while True: pass\n"), ("test_a.py", "")];
    let report = run_with(&tree, |request| request.test_timeout = LIMIT).await;
    assert_eq!(report.outcome, Outcome::TimedOut);
    assert_eq!(stood(&report), (&Activity::Starting, vec!["conftest.py:1 <module>".to_owned()]));
}

#[tokio::test]
async fn thread_that_keeps_the_process_alive() {
    let text =
        "import threading\ndef test_a(): threading.Thread(target=threading.Event().wait).start()\n";
    let report = stopped(text).await;
    assert_eq!(results(&report), [("test_a.py::test_a", TestOutcome::Passed)]);
    assert_eq!(*stood(&report).0, Activity::Finishing);
}

#[tokio::test]
async fn signals_ignored_and_blocked() {
    let text = "import signal, time\ndef test_a():\n    \
                signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\n    time.sleep(1000)\n";
    let report = stopped(text).await;
    assert_eq!(stood(&report).1, Vec::<String>::new()); // no stack, but the run ended
    assert_eq!(results(&report), [("test_a.py::test_a", TestOutcome::TimedOut)]);
}

#[tokio::test]
async fn whole_run() {
    let report =
        run_with(&[("test_a.py", "import time\ndef test_a(): time.sleep(1000)\n")], |request| {
            request.run_timeout = LIMIT;
            request.raised_by = FLAGS;
        })
        .await;
    assert_eq!(report.outcome, Outcome::TimedOut);
    let reason = "the whole run was stopped after 3 s (the limit of a run; `--run` raises it)";
    assert_eq!(report.reason.as_deref(), Some(reason));
}

#[tokio::test]
async fn processor_time() {
    let report = run_with(&[("test_a.py", "def test_a():\n    while True: pass\n")], |request| {
        request.limits.cpu_seconds = 2;
    })
    .await;
    assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
    let reason = "the tests used up their 2 s of processor time (the limit of one process, which no \
         setting raises)";
    assert_eq!(report.reason.as_deref(), Some(reason));
    assert_eq!(stood(&report).1, ["test_a.py:2 test_a"]);
}

const LATE: &str = "
import time
def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass
def test_late(): busy(600)
def test_b(): busy(0.4)
def test_c(): busy(0.4)
def test_late_too(): busy(600)
def test_d(): busy(0.4)
";

/// A slow test takes no time from those after it, however many there are.
#[tokio::test]
async fn each_test_has_all_of_its_time() {
    let change = |request: &mut Request| {
        request.test_deadline = Some(Duration::from_secs(1));
        request.raised_by = FLAGS;
    };
    let report = run_with(&[("test_a.py", LATE)], change).await;
    let found: Vec<TestOutcome> = report.tests.iter().map(|it| it.outcome).collect();
    let (late, good) = (TestOutcome::Failed, TestOutcome::Passed);
    assert_eq!(found, [late, good, good, late, good], "{report:#?}");
    let said = &report.tests[0].failure.as_ref().expect("why").message;
    assert_eq!(said, "still running after 1 s (the limit of one test; `--test` raises it)");
}

/// The timeout that a test sets itself tells how long it may take.
#[tokio::test]
async fn a_test_with_a_time_out_of_its_own_is_let_finish() {
    let sleeps = "import time, pytest\ndef test_a(): time.sleep(1.5)\n";
    let mark = |mark: &str| sleeps.replace("def", &format!("@pytest.mark.timeout({mark})\ndef"));
    let setting = "def pytest_addoption(parser): parser.addini('timeout', '')\n";
    let option = "def pytest_addoption(parser): parser.addoption('--timeout', type=float)\n";
    for (name, tests, conftest, ini, passes) in [
        ("a mark", mark("30"), "", "", true),
        ("a mark by name", mark("timeout=30"), "", "", true),
        ("a setting", sleeps.to_owned(), setting, "timeout = 30\n", true),
        ("an option", sleeps.to_owned(), option, "addopts = --timeout=30\n", true),
        ("none", sleeps.to_owned(), "", "", false),
        ("nought", mark("0"), "", "", false),
        ("less than it takes", mark("0.1"), "", "", false),
    ] {
        let ini = format!("[pytest]\nmarkers = timeout\n{ini}");
        let tree = [("conftest.py", conftest), ("test_a.py", &*tests), ("pytest.ini", &*ini)];
        // Interrupted from inside, then ended from outside.
        for inside in [true, false] {
            let report = run_with(&tree, |request| {
                request.test_deadline = inside.then_some(Duration::from_millis(300));
                request.test_timeout = Duration::from_millis(if inside { 60_000 } else { 500 });
            })
            .await;
            assert_eq!(report.outcome == Outcome::Passed, passes, "{name} {inside}: {report:#?}");
        }
    }
}

#[tokio::test]
async fn measuring_lines_doubles_the_time() {
    let report = run_with(&[("test_a.py", "def test_a():\n    while True: pass\n")], |request| {
        request.test_timeout = Duration::from_secs(1);
        request.coverage = true;
        request.raised_by = FLAGS;
    })
    .await;
    let reason = "one test or import was stopped after 2 s (the limit of one test, doubled because lines \
         are measured; `--test` raises it)";
    assert_eq!(report.reason.as_deref(), Some(reason));
}

#[tokio::test]
async fn a_limit_that_the_test_sets_itself_is_named_as_its_own() {
    let text = "import pytest, time\n@pytest.mark.timeout(1)\ndef test_a(): time.sleep(1000)\n";
    let tree = [("test_a.py", text), ("pytest.ini", "[pytest]\nmarkers = timeout\n")];
    for (inside, wanted) in [
        (
            false,
            "one test or import was stopped after 2.1 s (the timeout that the test sets itself)",
        ),
        (true, "still running after 2.1 s (the timeout that the test sets itself)"),
    ] {
        let report = run_with(&tree, |request| {
            request.test_deadline = inside.then_some(Duration::from_millis(300));
            request.test_timeout = Duration::from_millis(if inside { 60_000 } else { 500 });
            request.raised_by = FLAGS;
        })
        .await;
        let failure = report.tests[0].failure.as_ref().expect("why");
        assert_eq!(failure.message, wanted);
    }
}
