//! Tests of runs for proof: a project's own settings hide no test.

use std::time::Duration;

use trellis_sandbox::{Outcome, Report, Request, TestOutcome, TestOutcome::*};

use crate::support::{files, results, run_request, run_with};

/// `b` fails, `c` is marked.
const TESTS: &str = "
import pytest
def test_a(): pass
def test_b(): assert False
@pytest.mark.slow
def test_c(): pass
def test_d(): assert False
def test_e(): pass
";

const ALL: [(&str, TestOutcome); 5] = [
    ("test_a.py::test_a", Passed),
    ("test_a.py::test_b", Failed),
    ("test_a.py::test_c", Passed),
    ("test_a.py::test_d", Failed),
    ("test_a.py::test_e", Passed),
];

fn settings(addopts: &str) -> String {
    format!("[pytest]\nmarkers = slow\naddopts = {addopts}\n")
}

/// Returns ids and outcomes of all tests by id, including those that the project leaves out.
fn all(report: &Report) -> Vec<(&str, TestOutcome)> {
    let beside = report.deselected_tests.iter().map(|it| (it.id.as_str(), it.outcome));
    let mut all: Vec<_> = results(report).into_iter().chain(beside).collect();
    all.sort_by_key(|it| it.0);
    all
}

#[tokio::test]
async fn options_that_end_a_session_early_do_not() {
    for addopts in [
        "-x",
        "--maxfail=1",
        "--exitfirst -q",
        "--stepwise",
        "--sw --sw-skip",
        "--last-failed --last-failed-no-failures=none",
        "--ff --maxfail 1",
        "--collect-only",
        "--setup-only",
        "--setup-plan",
    ] {
        let tree = [("pytest.ini", &*settings(addopts)), ("test_a.py", TESTS)];
        let report = run_with(&tree, |_| {}).await;
        assert_eq!(all(&report), ALL, "{addopts}: {report:#?}");
        assert_eq!(
            (report.outcome, report.deselected_tests),
            (Outcome::Failed, vec![]),
            "{addopts}"
        );
    }
}

#[tokio::test]
async fn hooks_that_end_a_session_early_do_not() {
    let session = "SESSION = []\ndef pytest_sessionstart(session): SESSION.append(session)\n";
    for conftest in [
        "def pytest_configure(config): config.option.maxfail = 1\n",
        "def pytest_sessionstart(session): session.config.option.maxfail = 1\n",
        "def pytest_configure(config): config.option.collectonly = True\n",
        "def pytest_configure(config): config.option.setuponly = True\n",
        "def pytest_collection_modifyitems(config): config.option.maxfail = 1\n",
        "def pytest_runtest_setup(item): item.session.shouldstop = 'enough'\n",
        &format!(
            "{session}def pytest_runtest_logreport(report):\n    if report.failed: SESSION[0].shouldfail = 'enough'\n"
        ),
        &format!("{session}def pytest_collectreport(report): SESSION[0].shouldstop = 'enough'\n"),
    ] {
        let report = run_with(&[("conftest.py", conftest), ("test_a.py", TESTS)], |_| {}).await;
        assert_eq!(all(&report), ALL, "{conftest}: {report:#?}");
        assert_eq!(report.outcome, Outcome::Failed, "{conftest}");
    }
}

#[tokio::test]
async fn what_the_command_line_asks_for_counts() {
    let tree = [("pytest.ini", &*settings("--maxfail=2")), ("test_a.py", TESTS)];
    let report = run_with(&tree, |it| it.arguments = vec!["-x".to_owned()]).await;
    assert_eq!(results(&report), ALL[..2]);
    assert_eq!(report.not_run, ["test_a.py::test_c", "test_a.py::test_d", "test_a.py::test_e"]);
}

#[tokio::test]
async fn a_run_that_is_not_for_proof_is_as_the_project_has_it() {
    let tree = [("pytest.ini", &*settings("-x -k 'not test_e'")), ("test_a.py", TESTS)];
    let report = run_with(&tree, |it| it.whole = false).await;
    assert_eq!(results(&report), ALL[..2]);
    assert_eq!(report.not_run, ["test_a.py::test_c", "test_a.py::test_d"]);
    assert_eq!(report.deselected, ["test_a.py::test_e"]);
}

/// Whatever leaves tests out, they run in addition to the others and do not change the outcome.
#[tokio::test]
async fn what_the_project_leaves_out_runs_beside_the_rest() {
    let drop = "def pytest_collection_modifyitems(items): items[:] = items[:1] + items[4:]\n";
    let late = "import pytest\n@pytest.hookimpl(trylast=True)\n";
    let first = "import pytest\n@pytest.hookimpl(tryfirst=True)\n";
    let without = |options: &str| ("pytest.ini", settings(options));
    for (name, text) in [
        without("-k 'not test_b and not test_c and not test_d'"),
        without("-x -m 'not slow' -k 'not test_b and not test_d'"),
        without(
            "--deselect test_a.py::test_b --deselect=test_a.py::test_c --deselect=test_a.py::test_d",
        ),
        ("conftest.py", drop.to_owned()),
        ("conftest.py", format!("{late}{drop}")),
        ("conftest.py", format!("{first}{drop}")),
    ] {
        let report = run_with(&[(name, &*text), ("test_a.py", TESTS)], |_| {}).await;
        assert_eq!(all(&report), ALL, "{text}: {report:#?}");
        assert_eq!(results(&report), [ALL[0], ALL[4]], "{text}");
        assert_eq!(report.outcome, Outcome::Passed, "{text}");
        assert!(
            report.notes[0].ends_with(
                "1 of 3 passed, failed or skipped: test_a.py::test_b, test_a.py::test_d"
            )
        );
    }
}

/// Returns a project with tests in two folders, of which `addopts` names one.
fn limited(addopts: &str) -> [(&'static str, String); 3] {
    let other = "def test_b(): pass\ndef test_c(): assert False\n";
    [
        ("pytest.ini", settings(addopts)),
        ("unit/test_a.py", "def test_a(): pass\n".to_owned()),
        ("other/test_b.py", other.to_owned()),
    ]
}

fn texts<'a>(tree: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
    tree.iter().map(|(path, text)| (*path, text.as_str())).collect()
}

/// A path in the settings leaves tests out as `-k` does.
#[tokio::test]
async fn tests_beside_the_paths_of_the_settings_run_beside_the_rest() {
    for addopts in ["unit", "-q ./unit/", "unit/test_a.py", "unit/test_a.py::test_a", "unit -x"] {
        let tree = limited(addopts);
        let report = run_with(&texts(&tree), |_| {}).await;
        let unit = [("unit/test_a.py::test_a", Passed)];
        assert_eq!((report.outcome.clone(), results(&report)), (Outcome::Passed, unit.to_vec()));
        let beside: Vec<_> =
            report.deselected_tests.iter().map(|it| (it.id.as_str(), it.outcome)).collect();
        let other = [("other/test_b.py::test_b", Passed), ("other/test_b.py::test_c", Failed)];
        assert_eq!(beside, other, "{addopts}: {report:#?}");
        assert!(
            report.notes[0].ends_with("1 of 2 passed, failed or skipped: other/test_b.py::test_c")
        );
    }
}

#[tokio::test]
async fn a_run_as_the_settings_have_it_names_the_tests_beside_their_paths() {
    let tree = limited("unit -k 'not test_c'");
    let report = run_with(&texts(&tree), |it| it.whole = false).await;
    assert_eq!(results(&report), [("unit/test_a.py::test_a", Passed)]);
    assert_eq!(report.deselected, ["other/test_b.py::test_b", "other/test_b.py::test_c"]);
    assert_eq!(
        report.notes,
        [
            "the project's options or a hook leave out 2 tests: other/test_b.py::test_b, other/test_b.py::test_c"
        ]
    );
    assert!(report.deselected_tests.is_empty(), "{report:#?}");
}

#[tokio::test]
async fn paths_of_the_settings_that_hold_all_tests_leave_none_out() {
    for (addopts, whole) in [(".", true), (".", false), ("unit other", true), ("unit other", false)]
    {
        let tree = limited(addopts);
        let report = run_with(&texts(&tree), |it| it.whole = whole).await;
        assert_eq!(report.tests.len(), 3, "{addopts}: {report:#?}");
        assert_eq!((report.notes, report.deselected), (vec![], vec![]), "{addopts}");
    }
}

#[tokio::test]
async fn a_file_beside_the_paths_of_the_settings_that_cannot_be_loaded_is_named() {
    let mut tree = limited("unit");
    tree[2].1 = "import no_such_module\n".to_owned();
    for whole in [true, false] {
        let report = run_with(&texts(&tree), |it| it.whole = whole).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        let note = "1 file that the project's options leave out cannot be loaded, so its tests \
                    have no result: other/test_b.py";
        assert_eq!(report.notes, [note]);
    }
}

#[tokio::test]
async fn what_hangs_beside_the_rest_takes_nothing_from_it() {
    let tests = "
import time, pytest
def test_a(): pass
@pytest.mark.slow
def test_b(): pass
@pytest.mark.slow
def test_c(): time.sleep(600)
@pytest.mark.slow
def test_d(): pass
";
    let tree = [("pytest.ini", &*settings("-m 'not slow'")), ("test_a.py", tests)];
    let report = run_with(&tree, |it| it.test_timeout = Duration::from_secs(2)).await;
    assert_eq!((report.outcome.clone(), results(&report)), (Outcome::Passed, vec![ALL[0]]));
    let beside: Vec<_> = report.deselected_tests.iter().map(|it| it.outcome).collect();
    assert_eq!(beside, [Passed, TimedOut]);
    assert_eq!(report.deselected, ["test_a.py::test_d"]);
    assert!(
        report.notes[1].contains("no result (one test or import was stopped after 2 s"),
        "{report:#?}"
    );
}

#[tokio::test]
async fn who_names_a_test_or_a_file_wants_it() {
    for targets in [vec!["test_a.py"], vec!["test_a.py::test_b", "test_a.py::test_c"]] {
        let tree =
            [("pytest.ini", &*settings("-x -m 'not slow' -k 'not test_b'")), ("test_a.py", TESTS)];
        let report = run_with(&tree, |it| {
            it.targets = targets.iter().map(|it| (*it).to_owned()).collect();
        })
        .await;
        let mut found = results(&report);
        found.sort_by_key(|it| it.0);
        assert_eq!(found, if targets.len() == 1 { &ALL[..] } else { &ALL[1..3] });
        assert!(report.deselected_tests.is_empty() && report.deselected.is_empty());
    }
}

#[tokio::test]
async fn lines_of_both_runs_are_known() {
    let tree = files(&[
        ("pytest.ini", &settings("-m 'not slow'")),
        ("lib.py", "def f(x):\n    if x:\n        return 1\n    return 2\n"),
        (
            "test_a.py",
            "import pytest, lib\ndef test_a(): lib.f(1)\n@pytest.mark.slow\ndef test_b(): lib.f(0)\n",
        ),
    ]);
    let report = run_request(&Request { coverage: true, ..Request::new(tree) }).await;
    let lib = &report.coverage.as_ref().expect("measured").files["lib.py"];
    assert_eq!((&lib.executed[..], &lib.missing[..]), (&[1, 2, 3, 4][..], &[][..]));
    assert_eq!(lib.tests["test_a.py::test_b"], [2, 4]);
    assert_eq!(lib.functions[0].tests, ["test_a.py::test_a", "test_a.py::test_b"]);
}

/// Made-up results in the second run make the whole run `Tampered`.
#[tokio::test]
async fn who_makes_up_results_beside_the_rest_is_found_out() {
    let conftest = "\
import pytest
@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.outcome, report.longrepr = 'passed', None
";
    let tests =
        "import pytest\ndef test_a(): pass\n@pytest.mark.slow\ndef test_b(): assert False\n";
    let tree = [
        ("pytest.ini", &*settings("-m 'not slow'")),
        ("conftest.py", conftest),
        ("test_a.py", tests),
    ];
    let report = run_with(&tree, |_| {}).await;
    assert!(matches!(report.outcome, Outcome::Tampered { .. }), "{report:#?}");
    assert_eq!(report.deselected_tests, vec![]);
}
