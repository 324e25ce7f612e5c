//! In containers, tests write to a copy of the project, which is made equal to it before each run.

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::Command,
};

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Outcome, Report, Request, Runner, Tree};

use crate::support::{docker, patience, project, scratch};

/// The worker's part needs no container, so it is tested even where there is no engine.
#[test]
fn a_copy_becomes_equal_whatever_was_done_to_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3");
    python.arg(folder.join("tests/mirror.py")).arg(folder.join("src/worker"));
    let ran = python.output().expect("python3");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

struct Bed {
    runner: Runner,
    folder: TempDir,
}

/// Returns `None`, and prints that the test is skipped, if there is no engine.
async fn bed(read_only: bool) -> Option<Bed> {
    let config = Config { scratch: scratch(), read_only, ..Config::from_environment() };
    let runner = Runner::in_docker(docker().await?, &config);
    Some(Bed { runner, folder: project() })
}

impl Bed {
    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    async fn run_within(&self, change: impl FnOnce(&mut Request)) -> Report {
        let mut request = Request::new(Tree::Folder(self.folder.path().to_owned()));
        change(&mut request);
        let cancel = CancellationToken::new();
        let ran = timeout(patience(), self.runner.run(&request, &cancel));
        ran.await.expect("the run ends by itself")
    }

    /// Runs the project with `text` as its only test module.
    async fn run(&self, text: &str) -> Report {
        self.write("test_a.py", format!("import mmap, os, pathlib, shutil, stat, pytest\n{text}"));
        self.run_within(|_| {}).await
    }

    async fn passes(&self, text: &str) -> Report {
        let report = self.run(text).await;
        assert_eq!(report.outcome, Outcome::Passed, "{text}: {report:#?}");
        report
    }

    async fn close(self) {
        assert_eq!(self.runner.close().await, Vec::<String>::new());
    }
}

/// Returns the description of the limit `project` in the report.
fn how(report: &Report) -> &str {
    let project = report.limits.iter().find(|it| it.name == "project");
    project.map_or("nothing", |it| it.how.as_str())
}

const WHOLE: &str = "def test_whole():
    found = {str(it): (stat.S_IMODE(it.lstat().st_mode), it.lstat().st_mtime_ns) for it in pathlib.Path('data').rglob('*')}
    assert sorted(found) == ['data/a.txt', 'data/inner', 'data/inner/b.txt', 'data/link']
    assert found['data/a.txt'] == (0o644, 1_000_000_007) and found['data/inner'][0] == 0o755
    assert [open(it).read() for it in ('data/a.txt', 'data/link', 'data/inner/b.txt')] == ['old', 'b', 'b']
    assert sorted(os.listdir('.')) == ['.git', 'data', 'test_a.py']
";

/// The second run of a warm worker finds what the first one found. One of the harms changes no time
/// stamp.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_did_is_gone_for_the_next() {
    let Some(bed) = bed(false).await else { return };
    bed.write("data/a.txt", "old");
    bed.write("data/inner/b.txt", "b");
    bed.write(".git/HEAD", "main");
    symlink("inner/b.txt", bed.folder.path().join("data/link")).expect("linked");
    let set = |path: &Path| {
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_nanos(1_000_000_007);
        fs::File::options().write(true).open(path).and_then(|it| it.set_modified(time))
    };
    set(&bed.folder.path().join("data/a.txt")).expect("set");
    for harm in [
        "status = os.stat('data/a.txt'); open('data/a.txt', 'w').write('new'); os.utime('data/a.txt', ns=(0, status.st_mtime_ns))",
        "file = open('data/a.txt', 'r+b'); memory = mmap.mmap(file.fileno(), 0); memory[:1]; memory[:3] = b'bad'",
        "os.remove('data/a.txt'); shutil.rmtree('data/inner')",
        "os.remove('data/a.txt'); os.symlink('/tmp/x', 'data/a.txt'); shutil.rmtree('data/inner'); os.mkdir('/tmp/y'); os.symlink('/tmp/y', 'data/inner')",
        "os.chmod('data/a.txt', 0); os.chmod('data/inner', 0o777); os.utime('data/inner', ns=(0, 0))",
        "os.makedirs('new/deep'); os.mkfifo('new/deep/pipe'); os.chmod('new/deep', 0); os.chmod('new', 0)",
        "os.rename('data', 'moved'); os.mkdir('data')",
        "os.remove(__file__)",
    ] {
        bed.passes(&format!("{WHOLE}def test_harm():\n    {harm}\n")).await;
        bed.passes(WHOLE).await;
    }
    let text = fs::read_to_string(bed.folder.path().join("data/a.txt")).expect("there");
    assert_eq!(text, "old");
    bed.close().await;
}

/// No test rewrites version control or an environment. Such folders are shown as they are, even if
/// they are replaced.
#[tokio::test(flavor = "multi_thread")]
async fn some_folders_are_the_projects_own() {
    let Some(bed) = bed(false).await else { return };
    bed.write(".git/HEAD", "main");
    bed.write("env/kept.txt", "no environment");
    let own = "def test_a():\n    assert open('.git/HEAD').read() == 'main'\n    for it in ('.git/HEAD', '.git/new', '/run/project/new', '/run/project/.git/HEAD'):\n        with pytest.raises(OSError, match='Read-only'): open(it, 'w')\n    for it in (os.rename, shutil.move):\n        with pytest.raises(OSError): it('.git', 'other')\n    open('env/kept.txt', 'w').write('x')\n";
    let report = bed.passes(own).await;
    assert!(how(&report).starts_with("tests may write to it; "), "{}", how(&report));
    fs::remove_dir_all(bed.folder.path().join(".git")).expect("removed");
    bed.passes("def test_a(): assert not os.path.exists('.git')\n").await;
    bed.write(".git/HEAD", "new");
    bed.write("env/pyvenv.cfg", "home = /usr\n");
    bed.passes("def test_a():\n    assert open('.git/HEAD').read() == 'new'\n    with pytest.raises(OSError): open('env/kept.txt', 'w')\n").await;
    bed.close().await;
}

/// A file or folder that the container's user may not read exists without access, as in the project
/// itself.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_closed_stays_closed() {
    let Some(bed) = bed(false).await else { return };
    bed.write("closed.txt", "secret");
    bed.write(".closed/a.txt", "secret");
    for name in ["closed.txt", ".closed"] {
        let none = fs::Permissions::from_mode(0o000);
        fs::set_permissions(bed.folder.path().join(name), none).expect("set");
    }
    let text = "def test_a():\n    with pytest.raises(PermissionError): open('closed.txt')\n    with pytest.raises(PermissionError): os.listdir('.closed')\n    os.chmod('closed.txt', 0o644)\n    assert open('closed.txt').read() == ''\n";
    for _ in 0..2 {
        bed.passes(text).await;
    }
    let open = fs::Permissions::from_mode(0o644);
    fs::set_permissions(bed.folder.path().join("closed.txt"), open).expect("set");
    bed.passes("def test_a(): assert open('closed.txt').read() == 'secret'\n").await;
    bed.close().await;
}

const REFUSED: &str = "def test_a():\n    with pytest.raises(OSError, match='Read-only'): open('new', 'w')\n    assert not os.path.exists('/run/project')\n";

#[tokio::test(flavor = "multi_thread")]
async fn it_is_read_only_where_that_was_asked_for() {
    let Some(bed) = bed(true).await else { return };
    let report = bed.passes(REFUSED).await;
    assert_eq!(how(&report), "read-only: as requested");
    bed.close().await;
}

type Make = fn(&Bed);

#[tokio::test(flavor = "multi_thread")]
async fn it_is_read_only_where_it_is_too_large() {
    let cases: [(Make, &str); 3] = [
        (|bed| large(bed, &[200, 57]), "read-only: it has more than the limit of 256 MiB"),
        (
            |bed| large(bed, &[257]),
            "large-257 has 257 MiB, more than the limit of 256 MiB for one file",
        ),
        (
            |bed| bed.write(&format!("{}a", "d/".repeat(101)), ""),
            "its folders are nested more than 100 levels deep",
        ),
    ];
    for (make, expected) in cases {
        let Some(bed) = bed(false).await else { return };
        make(&bed);
        let report = bed.passes(REFUSED).await;
        assert!(how(&report).contains(expected), "{expected}: {}", how(&report));
        bed.close().await;
    }
}

/// Makes sparse files of the given MiB.
fn large(bed: &Bed, sizes: &[u64]) {
    for size in sizes {
        let path = bed.folder.path().join(format!("large-{size}"));
        fs::File::create(path).and_then(|it| it.set_len(size << 20)).expect("made");
    }
}

/// A project that has outgrown its copy gets a new one.
#[tokio::test(flavor = "multi_thread")]
async fn a_project_may_become_larger() {
    let Some(bed) = bed(false).await else { return };
    let small = |request: &mut Request| request.limits.file_bytes = 1 << 20;
    bed.write("test_a.py", "import os\ndef test_a(): print(len(os.listdir('data')))\n");
    for count in [1, 4] {
        (0..count).for_each(|it| bed.write(&format!("data/{it}"), vec![0; 1 << 20]));
        let report = bed.run_within(small).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        assert_eq!(report.tests[0].stdout, format!("{count}\n"));
    }
    bed.close().await;
}
