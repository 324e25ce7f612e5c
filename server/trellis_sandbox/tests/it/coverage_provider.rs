//! Tests of coverage.py for environments that have pytest but no coverage.py.

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Isolation, Outcome, Report, Request, Runner, Tree,
    frameworks::Framework,
    python::{CoverageProvider, InterpreterSearch, Progress, Python, find},
};

use crate::support::{base, cache, environment, scratch};

/// A test that passes only if the project cannot find coverage.py in any way.
const SEES_NONE: &str = "\
import importlib.metadata, importlib.util, sys
import pytest, shop
from importlib.metadata import PackageNotFoundError

def test_a():
    assert shop.price(2) == 4
    assert importlib.util.find_spec('coverage') is None
    assert not [name for name in sys.modules if name.startswith('coverage')]
    assert not [entry for entry in sys.path if 'LENT' in entry]
    with pytest.raises(PackageNotFoundError):
        importlib.metadata.version('coverage')
    with pytest.raises(ImportError):
        import coverage
";

const PROJECT: &str = "def price(x):\n    return 2 * x\n\n\ndef other():\n    return 1\n";

/// A project whose `.venv` has only pytest.
struct Project {
    folder: TempDir,
    python: Python,
}

impl Project {
    async fn new(test: &str) -> Project {
        let folder = tempfile::tempdir_in(scratch()).expect("a folder");
        let own = folder.path().join(".venv");
        let mut command = tokio::process::Command::new(&base().await.interpreter);
        let made = command.args(["-m", "venv", "--without-pip"]).arg(&own).status().await;
        assert!(made.is_ok_and(|it| it.success()));
        let shared = packages(environment().await.prefix());
        for entry in fs::read_dir(shared).expect("packages").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_pytest =
                ["pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py"];
            if is_pytest.iter().any(|it| name.to_lowercase().starts_with(it)) {
                copy(&entry.path(), &packages(&own).join(name));
            }
        }
        let project = Project { python: found(folder.path()).await, folder };
        project.write("shop.py", PROJECT);
        project.write("test_a.py", test);
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// Writes a package into the environment.
    fn install(&self, path: &str, text: &str) {
        let folder = packages(&self.folder.path().join(".venv"));
        self.write(folder.join(path).to_str().expect("UTF-8"), text);
    }

    /// Returns a runner with the given coverage provider, if any, and isolation.
    fn runner(
        &self,
        coverage_provider: Option<CoverageProvider>,
        isolation: Option<Isolation>,
    ) -> Runner {
        let config = Config {
            scratch: scratch(),
            isolation,
            coverage_provider,
            ..Config::from_environment()
        };
        Runner::new(self.python.clone(), config)
    }

    fn coverage_provider(
        &self,
        on_progress: impl Fn(Progress) + Send + Sync + 'static,
    ) -> CoverageProvider {
        CoverageProvider {
            path: env::var_os("PATH").expect("PATH is set"),
            cache: cache().join("LENT"),
            on_progress: Arc::new(on_progress),
        }
    }

    async fn run(&self, runner: &Runner, change: impl FnOnce(&mut Request)) -> Report {
        let mut request = runner.request(Tree::Folder(self.folder.path().to_owned()));
        request.coverage = true;
        change(&mut request);
        runner.run(&request, &CancellationToken::new()).await
    }
}

async fn found(project: &Path) -> Python {
    let path = env::var_os("PATH").expect("PATH is set");
    let environments = trellis_sandbox::python::environments(project, &|_| None);
    let search = InterpreterSearch { environments: &environments, ..InterpreterSearch::on(&path) };
    let found = find(&search).await.expect("found");
    assert!(found.interpreter.starts_with(project) && found.maker.is_none(), "{found:?}");
    found
}

fn packages(prefix: &Path) -> PathBuf {
    let folder = fs::read_dir(prefix.join("lib")).expect("lib").flatten().next().expect("one");
    folder.path().join("site-packages")
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-r").arg(from).arg(to).status();
    assert!(copied.is_ok_and(|it| it.success()));
}

#[track_caller]
fn measured(report: &Report) {
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    let coverage = report.coverage.as_ref().unwrap_or_else(|| panic!("{:?}", report.notes));
    let sample = &coverage.files["shop.py"];
    assert_eq!((&sample.executed[..], &sample.missing[..]), (&[1, 2, 5][..], &[6][..]));
    assert!(sample.tests.values().any(|lines| *lines == [2]), "{:?}", sample.tests);
}

#[tokio::test]
async fn coverage_comes_from_elsewhere_and_the_project_sees_nothing_of_it() {
    let project = Project::new(SEES_NONE).await;
    let fresh = tempfile::tempdir_in(scratch()).expect("a folder");
    let said = Arc::new(Mutex::new(Vec::new()));
    let sink = said.clone();
    let coverage_provider = CoverageProvider {
        cache: fresh.path().join("LENT"),
        ..project.coverage_provider(move |it| sink.lock().expect("one thread").push(it))
    };
    let runner = project.runner(Some(coverage_provider), None);
    let plain = project.run(&runner, |it| it.coverage = false).await;
    assert_eq!(plain.outcome, Outcome::Passed, "{plain:#?}");
    assert!(said.lock().expect("one thread").is_empty(), "nobody asked for lines");
    for (coverage, cold) in
        [(true, false), (false, false), (true, true), (false, true), (true, false)]
    {
        let report = project.run(&runner, |it| (it.coverage, it.cold) = (coverage, cold)).await;
        match coverage {
            true => measured(&report),
            false => assert!(report.outcome == Outcome::Passed && report.coverage.is_none()),
        }
        assert_eq!(report.notes, Vec::<String>::new());
    }
    runner.close().await;
    let installed = said
        .lock()
        .expect("one thread")
        .iter()
        .filter(|it| **it == Progress::Installing { requirements: vec!["coverage>=7".to_owned()] })
        .count();
    assert_eq!(installed, 1, "once, and said");
    let own = packages(&project.folder.path().join(".venv"));
    assert!(!own.join("coverage").exists());
}

#[tokio::test]
async fn it_is_seen_in_every_sandbox_of_this_machine() {
    let project = Project::new(SEES_NONE).await;
    for isolation in [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let runner = project.runner(Some(project.coverage_provider(|_| {})), Some(isolation));
        measured(&project.run(&runner, |_| {}).await);
        let unittest = "import unittest, sys, shop\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(shop.price(1), 2)\n        self.assertNotIn('coverage', sys.modules)\n";
        project.write("test_u.py", unittest);
        let report = project.run(&runner, |it| it.framework = Framework::Unittest).await;
        measured(&report);
        fs::remove_file(project.folder.path().join("test_u.py")).expect("removed");
        runner.close().await;
    }
}

#[tokio::test]
async fn an_environments_own_coverage_comes_first() {
    let project = Project::new("import coverage, shop\ndef test_a():\n    assert '.venv' in coverage.__file__ and shop.price(1)\n").await;
    let shared = packages(environment().await.prefix()).join("coverage");
    copy(&shared, &packages(&project.folder.path().join(".venv")).join("coverage"));
    let runner = project.runner(Some(project.coverage_provider(|it| panic!("{it:?}"))), None);
    for cold in [false, true] {
        measured(&project.run(&runner, |it| it.cold = cold).await);
    }
    runner.close().await;
}

#[tokio::test]
async fn one_that_is_broken_or_too_old_is_left_to_the_project() {
    let broken = "raise RuntimeError('half removed')\n";
    let old = "version_info = (5, 5, 0, 'final', 0)\n__version__ = '5.5'\n";
    let sees_broken = "import pytest, shop\ndef test_a():\n    shop.price(1)\n    with pytest.raises(RuntimeError):\n        import coverage\n";
    let sees_old = "import coverage, shop\ndef test_a():\n    shop.price(1)\n    assert coverage.__version__ == '5.5' and not hasattr(coverage, 'Coverage')\n";
    for (text, test) in [(broken, sees_broken), (old, sees_old)] {
        let project = Project::new(test).await;
        project.install("coverage/__init__.py", text);
        let runner = project.runner(Some(project.coverage_provider(|_| {})), None);
        for cold in [false, true] {
            measured(&project.run(&runner, |it| it.cold = cold).await);
        }
        runner.close().await;
    }
}

#[tokio::test]
async fn a_module_of_the_projects_that_has_its_name_is_the_projects() {
    let project = Project::new(
        "import coverage, shop\ndef test_a():\n    assert coverage.OURS and shop.price(1)\n",
    )
    .await;
    project.write("coverage.py", "OURS = True\n");
    let runner = project.runner(Some(project.coverage_provider(|_| {})), None);
    measured(&project.run(&runner, |_| {}).await);
    runner.close().await;
}

#[tokio::test]
async fn where_none_can_be_had_the_run_goes_on_and_says_what_to_do() {
    let project = Project::new(SEES_NONE).await;
    let nowhere = CoverageProvider { path: "/nowhere".into(), ..project.coverage_provider(|_| {}) };
    let own = project.python.interpreter.display().to_string();
    let advice = format!("run `{own} -m pip install coverage`");
    for (coverage_provider, why) in
        [(Some(nowhere), "there is no Python 3."), (None, "No module named")]
    {
        let runner = project.runner(coverage_provider, None);
        for cold in [false, true] {
            let report = project.run(&runner, |it| it.cold = cold).await;
            assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
            assert!(report.coverage.is_none());
            let [note] = report.notes.as_slice() else { panic!("{:?}", report.notes) };
            assert!(note.starts_with("lines are not measured: ") && note.contains(why), "{note}");
            assert!(note.ends_with(&advice), "{note}");
        }
        runner.close().await;
    }
}

/// Makes the process that imports it first end, once the other end of a pipe is closed.
const ENDS_ONCE: &str = "\
import os
gate = os.path.join(os.path.dirname(__file__), 'gate')
if os.path.exists(gate):
    with open(gate) as pipe:
        pipe.read()
    os.kill(os.getpid(), 9)
";

/// Makes the first process that imports a package end; returns the pipe, which is removed then.
fn ends_once(package: &Path) -> PathBuf {
    let first = package.join("__init__.py");
    let text = fs::read_to_string(&first).expect("a package");
    let future =
        text.find("from __future__").map_or(0, |at| at + text[at..].find('\n').unwrap_or(0));
    let (future, rest) = text.split_at(future);
    fs::write(&first, format!("{future}\n{ENDS_ONCE}{rest}")).expect("written");
    let pipe = package.join("gate");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|it| it.success()));
    let gate = pipe.clone();
    std::thread::spawn(move || {
        let end = fs::OpenOptions::new().write(true).open(&gate).expect("opened");
        fs::remove_file(&gate).expect("removed");
        drop(end);
    });
    pipe
}

#[tokio::test]
async fn a_worker_that_is_killed_before_its_first_run_gives_way_to_another() {
    let test = "import shop\ndef test_a():\n    assert shop.price(2) == 4\n";
    for package in ["coverage", "pluggy"] {
        let project = Project::new(test).await;
        let own = packages(&project.folder.path().join(".venv"));
        copy(&packages(environment().await.prefix()).join("coverage"), &own.join("coverage"));
        let gate = ends_once(&own.join(package));
        // An overlay would have a pipe of its own.
        let runner = project.runner(None, Some(Isolation::LandlockOnly));
        let report = project.run(&runner, |_| {}).await;
        assert!(!gate.exists(), "{package} was not imported: {report:#?}");
        measured(&report);
        runner.close().await;
    }
}
