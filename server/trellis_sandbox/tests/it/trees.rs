//! Tests of copies of folders with changed texts, and of tests that end their process.

use std::{collections::BTreeMap, fs, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Outcome, Request, TestOutcome, Tree};

use crate::support::{run_request, runner};

const READS: &str = "
import pathlib, value
def test_value(): assert value.IT == 1
def test_bytes(): assert pathlib.Path('data.bin').read_bytes() == b'\\xff'
def test_no_git(): assert not pathlib.Path('.git').exists()
";

#[tokio::test]
async fn a_copy_shows_the_folder_with_changes_and_gets_the_originals_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("a file");
    };
    fs::create_dir(folder.path().join(".git")).expect("a folder");
    write("test_a.py", READS.as_bytes());
    write("value.py", b"IT = 1\n");
    write("data.bin", b"\xff");
    let runner = runner().await;
    let steps: [(&[(&str, &str)], Outcome); 4] = [
        (&[], Outcome::Passed),
        (&[("value.py", "IT = 2\n")], Outcome::Failed),
        (&[("new.py", "")], Outcome::Passed),
        (
            &[("value.py", "IT = 2 - 1\n"), ("test_b.py", "def test_b(): assert 0\n")],
            Outcome::Failed,
        ),
    ];
    for (changed, expected) in steps {
        let changed =
            changed.iter().map(|(path, text)| ((*path).to_owned(), Arc::from(*text))).collect();
        let tree = Tree::Copy { folder: folder.path().to_owned(), changed };
        let report = runner.run(&Request::new(tree), &CancellationToken::new()).await;
        assert_eq!(report.outcome, expected, "{report:#?}");
    }
    let text = fs::read_to_string(folder.path().join("value.py")).expect("text");
    assert_eq!(text, "IT = 1\n", "the folder itself is never written to");
    assert!(runner.close().await.is_empty());
}

const HANGS: &str = "
def test_hangs():
    while True:
        try:
            pass
        except Exception:
            pass
def test_after(): pass
";

#[tokio::test]
async fn a_test_past_its_deadline_fails_where_it_stands_and_the_next_one_runs() {
    let report = crate::support::run_with(&[("test_a.py", HANGS)], |request| {
        request.test_deadline = Some(Duration::from_millis(300));
        request.coverage = true;
    })
    .await;
    assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
    let outcomes: Vec<TestOutcome> = report.tests.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [TestOutcome::Failed, TestOutcome::Passed]);
    let failure = report.tests[0].failure.as_ref().expect("a failure");
    assert_eq!(failure.exception, "TestTookTooLong");
    assert!(failure.line.is_some_and(|it| (3..=7).contains(&it)), "{failure:#?}");
    let coverage = report.coverage.expect("coverage");
    let lines = &coverage.files["test_a.py"].tests["test_a.py::test_hangs"];
    assert!(lines.contains(&5), "{lines:?}");
}

/// A sandbox does not show files beyond the project. The report says so for each link that hides
/// Python.
#[tokio::test]
async fn links_that_lead_out_of_the_project_are_reported() {
    let folder = tempfile::tempdir_in(crate::support::scratch()).expect("a folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    write("p/test_own.py", "def test_own(): pass\n");
    write("p/inner/test_inner.py", "def test_inner(): pass\n");
    write("shared/deep/test_shared.py", "def test_shared(): assert False\n");
    write("texts/a.txt", "");
    write("one/test_one.py", "def test_one(): assert False\n");
    let link = |to: &str, at: &str| {
        std::os::unix::fs::symlink(to, folder.path().join(at)).expect("linked");
    };
    // No note for links whose target has no Python, is inside the project, does not exist, or is in
    // a folder that pytest ignores.
    link("../texts", "p/texts");
    link("inner", "p/again");
    link("../nowhere", "p/broken");
    fs::create_dir(folder.path().join("p/.hidden")).expect("made");
    link("../../shared", "p/.hidden/shared");
    for tree in [
        Tree::Folder(folder.path().join("p")),
        Tree::Copy { folder: folder.path().join("p"), changed: BTreeMap::new() },
    ] {
        let report = run_request(&Request::new(tree)).await;
        assert_eq!((report.outcome, report.notes), (Outcome::Passed, Vec::<String>::new()));
    }
    link("../shared", "p/contract");
    link("../../one/test_one.py", "p/inner/test_linked.py");
    for copied in [false, true] {
        let p = folder.path().join("p");
        let tree = match copied {
            false => Tree::Folder(p),
            true => Tree::Copy { folder: p, changed: BTreeMap::new() },
        };
        let report = run_request(&Request::new(tree)).await;
        let reported: Vec<&str> =
            report.notes.iter().filter_map(|it| it.split(" links out").next()).collect();
        assert_eq!(reported, ["contract", "inner/test_linked.py"], "copied {copied}: {report:#?}");
    }
}
