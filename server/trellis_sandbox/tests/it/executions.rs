//! Tests of what each test executes and reads.

use std::collections::BTreeMap;

use crate::support::run_with;
use trellis_sandbox::{Execution, Report};

async fn executed(tree: &[(&str, &str)]) -> (Report, Execution) {
    let report = run_with(tree, |request| request.execution = true).await;
    let execution = report.execution.clone().unwrap_or_else(|| panic!("{report:#?}"));
    (report, execution)
}

#[tokio::test]
async fn lines_of_each_test_and_lines_that_tests_share() {
    let code = "\
def base():
    return 1

def first():
    return base()

def second():
    return 2

def for_all():
    return 3

LOADED = base()
";
    let test = "\
import pytest
from code_ import base, first, second, for_all

@pytest.fixture(scope='module')
def shared():
    return for_all()

@pytest.fixture
def own():
    return second()

def test_a(shared):
    assert first() == 1

def test_b(shared, own):
    assert own == 3

def test_c(shared):
    pass
";
    let tree = [("code_.py", code), ("unused.py", "x = 1\n"), ("test_a.py", test)];
    let (_, execution) = executed(&tree).await;
    let lines = |test: &str| {
        let of_test = execution.tests.get(test);
        of_test.and_then(|it| it.lines.get("code_.py")).cloned().unwrap_or_default()
    };
    assert_eq!(lines("test_a.py::test_a"), [2, 5]);
    assert_eq!(lines("test_a.py::test_b"), [8], "a failing test is recorded as well");
    assert_eq!(lines("test_a.py::test_c"), Vec::<u32>::new());
    assert_eq!(lines(""), [1, 2, 4, 7, 10, 11, 13]);
    assert!(execution.tests.values().all(|it| !it.lines.contains_key("unused.py")));
}

#[tokio::test]
async fn files_folders_and_processes_of_each_test() {
    let test = "\
import pathlib, subprocess, sys
HERE = pathlib.Path(__file__).parent

def test_reads():
    assert (HERE / 'data.txt').read_text() == '1'
    assert open('code_.py').read()

def test_lists():
    assert list(HERE.glob('*.csv')) == []

def test_runs():
    subprocess.run([sys.executable, '-c', ''], check=True)

def test_writes(tmp_path):
    (tmp_path / 'x').write_text('2')
    import code_
";
    let config = "SETTINGS = open('settings.ini').read()\n";
    let tree = [
        ("conftest.py", config),
        ("settings.ini", ""),
        ("code_.py", "x = 1\n"),
        ("data.txt", "1"),
        ("test_a.py", test),
    ];
    let (report, execution) = executed(&tree).await;
    assert!(report.tests.iter().all(|it| it.failure.is_none()), "{report:#?}");
    let used: BTreeMap<&str, (Vec<&str>, Vec<&str>, bool)> = (execution.tests.iter())
        .map(|(test, it)| {
            let texts = |all: &'_ [String]| all.iter().map(|it| it.to_owned()).collect::<Vec<_>>();
            let (files, folders) = (texts(&it.files).leak(), texts(&it.folders).leak());
            let own = |all: &'static [String]| all.iter().map(String::as_str).collect();
            (test.trim_start_matches("test_a.py::"), (own(files), own(folders), it.processes))
        })
        .filter(|(_, it)| *it != (vec![], vec![], false))
        .collect();
    let wanted = [
        ("", (vec!["settings.ini"], vec![], false)),
        ("test_lists", (vec![], vec![""], false)),
        ("test_reads", (vec!["code_.py", "data.txt"], vec![], false)),
        ("test_runs", (vec![], vec![], true)),
    ];
    assert_eq!(used, BTreeMap::from(wanted));
}

#[tokio::test]
async fn none_unless_asked_for() {
    let report = run_with(&[("test_a.py", "def test_a(): pass")], |_| {}).await;
    assert_eq!(report.execution, None);
}
