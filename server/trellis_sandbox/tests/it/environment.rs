//! Tests of the environment that test code sees, and of the traces that a run leaves.

use std::fs;

use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Outcome, Request, Runner, Tree};

use crate::support::{
    environment, files, left_in, only, run, run_one, run_request, run_with, scratch,
};

/// Cargo sets many variables for this test; none of them may get through.
#[tokio::test]
async fn only_listed_variables_get_through() {
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO")));
    let text = "
import os, sys
ALLOWED = {'PATH', 'LANG', 'LANGUAGE', 'TZ', 'HOME', 'TMPDIR', 'VIRTUAL_ENV', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED',
           'PYTEST_CURRENT_TEST', 'PYTEST_VERSION'}
def test_a():
    assert {name for name in os.environ if not name.startswith('LC_')} <= ALLOWED
    assert os.listdir(os.environ['HOME']) == []
    assert not any('plugin' in entry for entry in sys.path)
";
    let report = run_one(text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}

#[tokio::test]
async fn children_inherit_no_private_pipe() {
    let text = "
import os, subprocess, sys
def test_a():
    seen = subprocess.run([sys.executable, '-c', 'import os; print(os.listdir(\"/proc/self/fd\"))'],
                          close_fds=False, capture_output=True, text=True).stdout
    assert len(eval(seen)) == 4, seen  # three streams and the listing itself
";
    let report = run_one(text).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
}

/// Settings under which a suite would notice differences to plain pytest.
#[tokio::test]
async fn a_strict_project_sees_plain_pytest() {
    let ini = "[pytest]\naddopts = --strict-markers --ff -W error\ntestpaths = checks\npython_files = check_*.py\n";
    let text = "
import os, threading
def test_threads(): assert threading.active_count() == 1 and len(os.listdir('/proc/self/task')) == 1
def test_fork():
    pid = os.fork()
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
";
    let report =
        run(&[("pytest.ini", ini), ("checks/check_a.py", text), ("other/check_b.py", "boom")])
            .await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(report.tests.len(), 2);
}

#[tokio::test]
async fn the_projects_own_layout_and_plugins_work() {
    let report = run(&[
        ("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['src']\n"),
        ("src/pkg/sub/mod.py", "def answer(): return 42\n"),
        ("conftest.py", "import pytest\n@pytest.fixture\ndef base(): return 40\n"),
        ("tests/conftest.py", "import pytest\n@pytest.fixture\ndef answer(base): return base + 2\n"),
        ("tests/data/é.txt", "42"),
        ("tests/test_a.py", "from pathlib import Path\nfrom pkg.sub.mod import answer as f\ndef test_a(answer):\n    \
                             assert f() == answer == int(Path(__file__).with_name('data').joinpath('é.txt').read_text())\n"),
    ])
    .await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(only(&report).id, "tests/test_a.py::test_a");
}

#[tokio::test]
async fn scratch_folders_are_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = Config { scratch: folder.path().to_owned(), ..Config::from_environment() };
    let runner = Runner::new(environment().await, config);
    let text = "import os, tempfile\ndef test_a():\n    folder = tempfile.mkdtemp()\n    os.makedirs(folder + '/left/behind')\n    os.chmod(folder + '/left', 0o500)\n";
    let request = Request::new(files(&[("test_a.py", text)]));
    let report = runner.run(&request, &CancellationToken::new()).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(runner.close().await, Vec::<String>::new());
    assert_eq!(left_in(folder.path()), Vec::<String>::new());
}

/// A folder is used in place, and Trellis leaves no file in it.
#[tokio::test]
async fn a_folder_stays_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("tests")).expect("a folder");
    fs::write(folder.path().join("tests/test_a.py"), "def test_a(): pass\n").expect("a file");
    let report = run_request(&Request::new(Tree::Folder(folder.path().to_owned()))).await;
    assert_eq!(only(&report).id, "tests/test_a.py::test_a");
    assert_eq!(left_in(folder.path()), ["tests"]);
    assert_eq!(left_in(&folder.path().join("tests")), ["test_a.py"]);
}

#[tokio::test]
async fn what_is_enforced_is_said() {
    let report =
        run_with(&[("test_a.py", "def test_a(): pass")], |request| request.limits.open_files = 200)
            .await;
    let limit = |name: &str| report.limits.iter().find(|limit| limit.name == name).expect("listed");
    assert!(limit("memory").enforced && limit("open files").how.contains("200"));
    assert_eq!(limit("network").enforced, limit("file system").enforced);
}

/// The second run costs a fork, not a start.
#[tokio::test]
async fn workers_are_used_again() {
    let runner = crate::support::runner().await;
    let text =
        "import os\ndef test_a(): print(os.getppid(), open('/proc/1/stat').read().split()[21])\n";
    let mut starts = std::collections::BTreeSet::new();
    for number in 0..3 {
        let more = format!("{text}\n# {number}");
        let request = Request::new(files(&[("test_a.py", &more)]));
        let report = runner.run(&request, &CancellationToken::new()).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        assert_eq!(report.notes, Vec::<String>::new());
        starts.insert(only(&report).stdout.clone());
    }
    assert_eq!(starts.len(), 1, "{starts:?}");
    assert_eq!(runner.close().await, Vec::<String>::new());
}

/// A sandbox holds a folder, not a path.
#[tokio::test]
async fn a_project_that_was_made_anew_is_seen() {
    let (runner, parent) = (crate::support::runner().await, tempfile::tempdir().expect("a folder"));
    let project = parent.path().join("project");
    for (text, expected) in
        [("def test_a(): pass", Outcome::Passed), ("def test_a(): assert 0", Outcome::Failed)]
    {
        fs::create_dir(&project).expect("a folder");
        fs::write(project.join("test_a.py"), text).expect("a file");
        let request = Request::new(Tree::Folder(project.clone()));
        let report = runner.run(&request, &CancellationToken::new()).await;
        assert_eq!(report.outcome, expected, "{report:#?}");
        fs::remove_dir_all(&project).expect("removed");
    }
    runner.close().await;
}

/// pytest looks for settings in parent folders; it must be able to read those it finds, or not see
/// them.
#[tokio::test(flavor = "multi_thread")]
async fn settings_above_the_project_do_not_stop_a_run() {
    let above = tempfile::tempdir_in(scratch()).expect("a folder");
    fs::write(above.path().join("tox.ini"), "[pytest]\n").expect("a file");
    let root = above.path().join("inner/project");
    fs::create_dir_all(&root).expect("a folder");
    fs::write(root.join("test_a.py"), "def test_a(): pass\n").expect("a file");
    for isolation in [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let config =
            Config { scratch: scratch(), isolation: Some(isolation), ..Config::from_environment() };
        let runner = Runner::new(environment().await, config);
        for tree in [Tree::Folder(root.clone()), files(&[("test_a.py", "def test_a(): pass\n")])] {
            let report = runner.run(&Request::new(tree), &CancellationToken::new()).await;
            assert_eq!(report.outcome, Outcome::Passed, "{isolation:?}: {report:#?}");
        }
        assert_eq!(runner.close().await, Vec::<String>::new());
    }
}

/// A project that is not installed is importable as with an editable install; pytest-cov writes to
/// a permitted folder.
#[tokio::test]
async fn sources_and_coverage_data_have_their_places() {
    let tree = [
        ("pytest.ini", "[pytest]\n# addopts = --cov=thing\n"),
        ("src/thing/__init__.py", "ANSWER = 42\n"),
        (
            "test_a.py",
            "import os\ndef test_a():\n    from thing import ANSWER\n    open(os.environ['COVERAGE_FILE'], 'w').write(str(ANSWER))\n",
        ),
    ];
    let report = run_with(&tree, |request| request.source_folders = vec!["src".into()]).await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_ne!(run(&tree).await.outcome, Outcome::Passed);
}
