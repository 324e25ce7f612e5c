//! Tests that write next to their code pass as with pytest, and their writes are discarded.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{PermissionsExt, chown, symlink},
    path::Path,
};

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Outcome, Report, Request, Runner, TestOutcome::*, Tree};

use crate::support::{docker, environment, patience, project, results, scratch};

/// A project in one kind of sandbox in which tests may write to it.
struct Bed {
    runner: Runner,
    folder: TempDir,
    /// The kind of local sandbox; `None` for a container.
    isolation: Option<Isolation>,
}

async fn beds() -> Vec<Bed> {
    let mut beds = Vec::new();
    for isolation in [Isolation::Namespaces, Isolation::Bubblewrap] {
        let config =
            Config { scratch: scratch(), isolation: Some(isolation), ..Config::from_environment() };
        let runner = Runner::new(environment().await, config);
        beds.push(Bed { runner, folder: project(), isolation: Some(isolation) });
    }
    if let Some(docker) = docker().await {
        let config = Config { scratch: scratch(), ..Config::from_environment() };
        let runner = Runner::in_docker(docker, &config);
        beds.push(Bed { runner, folder: project(), isolation: None });
    }
    beds
}

/// Texts by path.
type Files<'a> = &'a [(&'a str, &'a str)];

impl Bed {
    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, files: Files<'_>) {
        for (name, text) in files {
            let path = self.root().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
    }

    async fn run(&self, tree: Tree) -> Report {
        let (request, cancel) = (Request::new(tree), CancellationToken::new());
        let ran = timeout(patience(), self.runner.run(&request, &cancel));
        ran.await.expect("the run ends by itself")
    }

    async fn folder(&self) -> Report {
        self.run(Tree::Folder(self.root().to_owned())).await
    }

    /// Returns, by path, the text or link target and the mode.
    fn tree(&self) -> BTreeMap<String, (String, u32)> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.root().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).expect("a folder").flatten() {
                let (path, status) = (entry.path(), entry.metadata().expect("there"));
                let text = match &path {
                    it if status.is_dir() => {
                        waiting.push(it.clone());
                        String::new()
                    }
                    it if status.is_symlink() => {
                        format!("{:?}", fs::read_link(it).expect("a link"))
                    }
                    it => fs::read_to_string(it).expect("text"),
                };
                let name = path.strip_prefix(self.root()).expect("below").display().to_string();
                found.insert(name, (text, status.permissions().mode()));
            }
        }
        found
    }

    async fn close(self) {
        assert_eq!(self.runner.close().await, Vec::<String>::new());
    }
}

const START: &str = "import os, pathlib, shutil\nHERE = pathlib.Path(__file__).parent\n";

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_written_counts_in_its_run_and_in_no_other() {
    let table: &[(&str, Files<'_>, &str)] = &[
        (
            "a database",
            &[],
            "import sqlite3\ndef test_a():\n    assert not (HERE / 'x.db').exists()\n    c = sqlite3.connect(HERE / 'x.db')\n    c.execute('create table t (a)')\n    c.commit()\n",
        ),
        (
            "a log",
            &[("pytest.ini", "[pytest]\nlog_file = logs/run.log\nlog_file_level = DEBUG\n")],
            "def test_a(): assert os.listdir('logs') == ['run.log']\n",
        ),
        (
            "a report",
            &[("pytest.ini", "[pytest]\naddopts = --junitxml=out/report.xml\n")],
            "def test_a(): assert not os.path.exists('out/report.xml')\n",
        ),
        (
            "a base for temporary files",
            &[("pytest.ini", "[pytest]\naddopts = --basetemp=tmp\n")],
            "def test_a(tmp_path): (tmp_path / 'x').write_text('x'); assert tmp_path.is_relative_to(HERE)\n",
        ),
        (
            "a copy of templates",
            &[("templates/a/b.txt", "b")],
            "def test_a():\n    shutil.copytree(HERE / 'templates', HERE / 'work')\n    assert (HERE / 'work/a/b.txt').read_text() == 'b'\n",
        ),
        (
            "a text that is changed",
            &[("data.txt", "old")],
            "def test_a():\n    assert (HERE / 'data.txt').read_text() == 'old'\n    (HERE / 'data.txt').write_text('new')\ndef test_b(): assert (HERE / 'data.txt').read_text() == 'new'\n",
        ),
        (
            "a module that is made",
            &[],
            "def test_a():\n    (HERE / 'made.py').write_text('X = 1')\n    import made\n    assert made.X == 1\n",
        ),
        (
            "a folder that is removed",
            &[("data/a.txt", "a")],
            "def test_a():\n    shutil.rmtree(HERE / 'data')\n    os.mkdir(HERE / 'data')\n    assert os.listdir(HERE / 'data') == []\n",
        ),
        (
            "a folder that is moved",
            &[("data/a.txt", "a")],
            "def test_a():\n    shutil.move(HERE / 'data', HERE / 'moved')\n    assert os.listdir(HERE / 'moved') == ['a.txt']\n",
        ),
        (
            "modes and links",
            &[("data.txt", "a")],
            "def test_a():\n    os.chmod('data.txt', 0o600); os.symlink('data.txt', 'link'); os.link('data.txt', 'hard')\n    open('link', 'a').write('b')\n    assert open('hard').read() == 'ab'\n",
        ),
        ("its own file", &[], "def test_a(): os.remove(__file__)\n"),
    ];
    for bed in beds().await {
        for (name, files, tests) in table {
            bed.write(files);
            bed.write(&[("test_a.py", &format!("{START}{tests}"))]);
            let before = bed.tree();
            for _ in 0..2 {
                let report = bed.folder().await;
                assert_eq!(report.outcome, Outcome::Passed, "{name}: {report:#?}");
                assert_eq!(bed.tree(), before, "{name}");
            }
            files.iter().for_each(|it| fs::remove_file(bed.root().join(it.0)).expect("removed"));
        }
        bed.close().await;
    }
}

/// A worker stays warm while the user edits; an overlay mounted over a changing tree would show old
/// files.
#[tokio::test(flavor = "multi_thread")]
async fn each_run_sees_the_files_as_they_are() {
    for bed in beds().await {
        let tests = format!(
            "{START}def test_a():\n    for it in sorted(HERE.glob('*.txt')): print(it.name, it.read_text())\n    (HERE / 'a.txt').write_text('spoiled')\n"
        );
        bed.write(&[("test_a.py", &tests), ("a.txt", "1"), ("b.txt", "1")]);
        let said = |report: &Report| report.tests[0].stdout.clone();
        assert_eq!(said(&bed.folder().await), "a.txt 1\nb.txt 1\n");
        bed.write(&[("a.txt", "22"), ("c.txt", "1")]);
        fs::remove_file(bed.root().join("b.txt")).expect("removed");
        assert_eq!(said(&bed.folder().await), "a.txt 22\nc.txt 1\n");
        // Editors save files in this way.
        fs::write(bed.root().join("new"), "3").expect("written");
        fs::rename(bed.root().join("new"), bed.root().join("a.txt")).expect("renamed");
        assert_eq!(said(&bed.folder().await), "a.txt 3\nc.txt 1\n");
        bed.close().await;
    }
}

/// Warm workers serve texts and copies as well.
#[tokio::test(flavor = "multi_thread")]
async fn texts_and_copies_begin_clean() {
    let tests = format!(
        "{START}def test_a():\n    assert not (HERE / 'x').exists()\n    (HERE / 'x').write_text('x')\n    print((HERE / 'data.txt').read_text())\n    (HERE / 'data.txt').write_text('spoiled')\n"
    );
    for bed in beds().await {
        bed.write(&[("test_a.py", &tests), ("data.txt", "old")]);
        for text in ["one", "two"] {
            let changed = BTreeMap::from([("data.txt".to_owned(), text.into())]);
            let mut files = changed.clone();
            files.insert("test_a.py".to_owned(), tests.as_str().into());
            let copy = Tree::Copy { folder: bed.root().to_owned(), changed };
            for tree in [copy, Tree::Files(files)] {
                let report = bed.run(tree).await;
                assert_eq!(results(&report), [("test_a.py::test_a", Passed)], "{report:#?}");
                assert_eq!(report.tests[0].stdout, format!("{text}\n"));
            }
        }
        bed.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn odd_names_and_owners_are_no_hindrance() {
    for bed in beds().await {
        let inner = bed.root().join("a, b:c\\d é");
        fs::create_dir(&inner).expect("made");
        let tests = format!(
            "{START}def test_a():\n    (HERE / 'x').write_text('x')\n    (HERE / 'closed/mine.txt').write_text('y')\n"
        );
        fs::create_dir(inner.join("closed")).expect("made");
        fs::write(inner.join("closed/mine.txt"), "x").expect("written");
        fs::write(inner.join("test_a.py"), tests).expect("written");
        symlink("/etc/hostname", inner.join("link")).expect("linked");
        fs::set_permissions(inner.join("closed"), fs::Permissions::from_mode(0o700)).expect("set");
        fs::set_permissions(inner.join("closed/mine.txt"), fs::Permissions::from_mode(0o600))
            .expect("set");
        if rustix::process::geteuid().is_root() && bed.isolation != Some(Isolation::Bubblewrap) {
            let owner = if bed.isolation.is_some() { 4321 } else { 1000 };
            for path in ["", "closed", "closed/mine.txt", "test_a.py"] {
                chown(inner.join(path), Some(owner), Some(owner)).expect("given away");
            }
        }
        let report = bed.run(Tree::Folder(inner.clone())).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        assert_eq!(fs::read_to_string(inner.join("closed/mine.txt")).expect("there"), "x");
        bed.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_is_an_error_of_its_run_alone() {
    let tests = format!(
        "{START}def test_a():\n    for number in range(9):\n        (HERE / str(number)).write_bytes(bytes(1 << 20))\ndef test_b(): pass\n"
    );
    for bed in beds().await {
        bed.write(&[("test_a.py", &tests)]);
        for _ in 0..2 {
            let mut request = Request::new(Tree::Folder(bed.root().to_owned()));
            request.limits.file_bytes = 4 << 20;
            let report = bed.runner.run(&request, &CancellationToken::new()).await;
            let expected = [("test_a.py::test_a", Failed), ("test_a.py::test_b", Passed)];
            assert_eq!(results(&report), expected, "{report:#?}");
            let failure = report.tests[0].failure.as_ref().expect("why");
            assert!(failure.message.contains("No space left"), "{failure:#?}");
        }
        bed.close().await;
    }
}

/// The report says whether tests may write next to their code.
#[tokio::test(flavor = "multi_thread")]
async fn the_report_says_which_it_was() {
    for (isolation, read_only, expected) in [
        (Isolation::Namespaces, false, "tests may write to it"),
        (Isolation::Bubblewrap, false, "tests may write to it"),
        (Isolation::Namespaces, true, "read-only: as requested"),
        (Isolation::LandlockOnly, false, "read-only: "),
    ] {
        let config = Config {
            scratch: scratch(),
            isolation: Some(isolation),
            read_only,
            ..Config::from_environment()
        };
        let runner = Runner::new(environment().await, config);
        let tree = crate::support::files(&[("test_a.py", "def test_a(): pass\n")]);
        let report = runner.run(&Request::new(tree), &CancellationToken::new()).await;
        let how = report.limits.iter().find(|it| it.name == "project").map(|it| it.how.as_str());
        assert!(how.is_some_and(|it| it.starts_with(expected)), "{isolation:?}: {how:?}");
        assert_eq!(runner.close().await, Vec::<String>::new());
    }
}
