//! Tests on several engines, to which the project is sent. Each engine here is the one engine of the
//! tests behind a socket of its own, which a test can cut.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use futures_util::future::join_all;
use tempfile::TempDir;
use tokio::{
    io::copy_bidirectional,
    net::{UnixListener, UnixStream},
    time::timeout,
};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Docker, ImageSpec, OpenedEngines, Outcome, Report, Request, Runner, Tree,
};

use crate::support::{cache, docker, patience, project, scratch};

/// A socket that leads to the engine until it is cut.
struct Line {
    name: String,
    cut: CancellationToken,
}

impl Line {
    fn new(folder: &Path, number: usize) -> Line {
        let path = folder.join(format!("engine{number}.sock"));
        let listener = UnixListener::bind(&path).expect("a socket");
        let cut = CancellationToken::new();
        let (name, seen) = (format!("unix://{}", path.display()), cut.clone());
        tokio::spawn(async move {
            let accept = async {
                while let Ok((mut near, _)) = listener.accept().await {
                    let seen = seen.clone();
                    tokio::spawn(async move {
                        let host = std::env::var("TRELLIS_TEST_DOCKER_HOST").expect("set");
                        let path = host.strip_prefix("unix://").expect("a socket").to_owned();
                        let mut far = UnixStream::connect(path).await.expect("an engine");
                        let both = copy_bidirectional(&mut near, &mut far);
                        seen.run_until_cancelled(both).await;
                    });
                }
            };
            seen.run_until_cancelled(accept).await;
        });
        Line { name, cut }
    }
}

struct Bed {
    runner: Runner,
    folder: TempDir,
    lines: Vec<Line>,
    _sockets: TempDir,
}

/// Returns `None`, and prints that the test is skipped, if there is no engine.
async fn bed(count: usize) -> Option<Bed> {
    docker().await?;
    let (folder, sockets) = (project(), tempfile::tempdir().expect("a folder"));
    let lines: Vec<Line> = (0..count).map(|it| Line::new(sockets.path(), it)).collect();
    let names: Vec<String> = lines.iter().map(|it| it.name.clone()).collect();
    let opened = open(&names, folder.path()).await.expect("engines");
    assert_eq!(opened.absent, []);
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    let runner = Runner::on_engines(opened.engines, &config);
    Some(Bed { runner, folder, lines, _sockets: sockets })
}

async fn open(
    names: &[String],
    project: &Path,
) -> Result<OpenedEngines, trellis_sandbox::error::DockerError> {
    let base = std::env::var("TRELLIS_TEST_IMAGE").expect("set");
    let spec = ImageSpec { base, requirements: Vec::new() };
    Docker::open_all(names, &|_| None, project, &spec, &cache(), &|_| {}).await
}

impl Bed {
    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    async fn run(&self, on_test: impl Fn() + Send) -> Report {
        let request = Request::new(Tree::Folder(self.folder.path().to_owned()));
        let (cancel, mut on_test) = (CancellationToken::new(), move |_: &_| on_test());
        let ran = timeout(patience(), self.runner.run_telling(&request, &cancel, &mut on_test));
        ran.await.expect("the run ends by itself")
    }

    async fn passes(&self) -> Report {
        let report = self.run(|| ()).await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
        report
    }
}

fn engines(reports: &[Report]) -> BTreeSet<&str> {
    reports.iter().filter_map(|it| it.engine.as_deref()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_spread_over_the_engines_and_none_has_a_network() {
    let Some(bed) = bed(2).await else { return };
    bed.write("large.bin", vec![7; 300 << 10]);
    bed.write(
        "test_a.py",
        "import os, socket, pytest\n\
         def test_network():\n\
         \x20   assert [name for _, name in socket.if_nameindex()] == ['lo']\n\
         \x20   for address in (('192.0.2.1', 80), ('127.0.0.1', 2375)):\n\
         \x20       with pytest.raises(OSError): socket.create_connection(address, 5)\n\
         def test_files():\n\
         \x20   assert os.path.getsize('large.bin') == 300 << 10\n\
         \x20   with pytest.raises(OSError): open('/run/store/new', 'w')\n",
    );
    let reports = join_all((0..8).map(|_| bed.passes())).await;
    let names: BTreeSet<&str> = bed.lines.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(engines(&reports), names);
    assert_eq!(bed.runner.close().await, Vec::<String>::new());
}

/// Changes on the disk reach a worker that is warm, in small and in large pieces, and the changes of
/// a run there are undone.
#[tokio::test(flavor = "multi_thread")]
async fn a_warm_worker_elsewhere_sees_the_project_as_it_is() {
    let Some(bed) = bed(1).await else { return };
    let suite = |text: &str| {
        format!(
            "import os, pathlib\ndef test_a():\n    found = sorted(map(str, pathlib.Path('.').rglob('*.txt')))\n    \
             assert [(it, os.path.getsize(it)) for it in found] == {text}\n    \
             open('a.txt', 'w').write('changed'); open('new.txt', 'w')\n"
        )
    };
    bed.write(".git/left_out.txt", "x");
    bed.write("a.txt", "one");
    bed.write("test_a.py", suite("[('a.txt', 3)]"));
    bed.passes().await;
    bed.write("b/c.txt", vec![b'c'; 200 << 10]);
    bed.write("test_a.py", suite("[('a.txt', 3), ('b/c.txt', 204800)]"));
    bed.passes().await;
    fs::remove_dir_all(bed.folder.path().join("b")).expect("removed");
    bed.write("b", "a file now");
    bed.write("a.txt", vec![b'a'; 100 << 10]);
    bed.write("test_a.py", suite("[('a.txt', 102400)]"));
    bed.passes().await;
    assert_eq!(bed.runner.close().await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_on_a_lost_engine_is_repeated_on_another() {
    let Some(bed) = bed(2).await else { return };
    bed.write(
        "test_a.py",
        "import os, time\ndef test_a(): pass\n\
         def test_b():\n    while not os.path.exists('go.txt'): time.sleep(0.01)\n",
    );
    let report = bed
        .run(|| {
            bed.write("go.txt", "");
            bed.lines[0].cut.cancel();
        })
        .await;
    assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    assert_eq!(report.engine.as_ref(), Some(&bed.lines[1].name));
    assert_eq!(report.tests.len(), 2);
    let says = |text: &str| report.notes.iter().any(|it| it.contains(text));
    assert!(says(&bed.lines[0].name) && says("repeated"), "{:?}", report.notes);

    bed.lines[1].cut.cancel();
    let report = bed.run(|| ()).await;
    let (Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason }) = report.outcome
    else {
        panic!("{report:#?}")
    };
    assert!(
        reason.contains("no engine is left") && reason.contains(&bed.lines[0].name),
        "{reason}"
    );
    let _ = timeout(Duration::from_secs(60), bed.runner.close()).await.expect("it ends");
}

#[tokio::test(flavor = "multi_thread")]
async fn engines_that_cannot_be_used_are_named_and_the_others_work() {
    let Some(bed) = bed(1).await else { return };
    let names = ["unix:///nowhere.sock", "no-such-context", &bed.lines[0].name].map(str::to_owned);
    let opened = open(&names, bed.folder.path()).await.expect("one engine");
    assert_eq!(opened.engines.len(), 1);
    let absent: Vec<String> = opened.absent.iter().map(ToString::to_string).collect();
    assert!(absent[0].contains("/nowhere.sock"), "{absent:?}");
    assert!(
        absent[1].contains("no-such-context") && absent[1].contains("docker context"),
        "{absent:?}"
    );
    let error = open(&names[..2], bed.folder.path()).await.expect_err("none").to_string();
    assert!(error.contains("none of the engines can be used"), "{error}");
}
