//! Helpers: `run(files)` returns a report; others inspect it.

use std::{
    collections::BTreeMap,
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;
use tokio::{sync::OnceCell, time::timeout};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{
    Config, Docker, Failure, Frame, ImageSpec, Report, Request, Runner, TestOutcome, TestResult,
    Tree,
    python::{self, Python},
};

pub(crate) use crate::patience::patience;

pub(crate) fn cache() -> PathBuf {
    env::var_os("TRELLIS_TEST_CACHE")
        .map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

pub(crate) async fn base() -> Python {
    let path = env::var_os("PATH").expect("PATH is set");
    python::find(&python::InterpreterSearch::on(&path))
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Makes a virtual environment of the base interpreter in `folder`, which certainly has no pytest.
pub(crate) async fn without_pytest(folder: &Path) -> Python {
    let base = base().await;
    let mut command = tokio::process::Command::new(&base.interpreter);
    let made = command.args(["-m", "venv", "--without-pip"]).arg(folder).status().await;
    assert!(made.expect("Python starts").success());
    Python { interpreter: folder.join("bin/python"), ..base }
}

pub(crate) async fn environment() -> Python {
    static SHARED: OnceCell<Python> = OnceCell::const_new();
    let make = || async {
        python::provide(&base().await, &[], &cache(), &|_| {})
            .await
            .unwrap_or_else(|error| panic!("{error}"))
    };
    SHARED.get_or_init(make).await.clone()
}

pub(crate) async fn runner() -> Runner {
    let config = Config { scratch: scratch(), ..Config::from_environment() };
    Runner::new(environment().await, config)
}

pub(crate) fn files(files: &[(&str, &str)]) -> Tree {
    let pairs = files.iter().map(|(path, text)| (path.to_string(), Arc::from(*text)));
    Tree::Files(pairs.collect::<BTreeMap<String, Arc<str>>>())
}

/// Runs all tests of `tree`.
pub(crate) async fn run(tree: &[(&str, &str)]) -> Report {
    run_with(tree, |_| {}).await
}

/// Runs a tree that consists of `test_a.py`.
pub(crate) async fn run_one(text: &str) -> Report {
    run(&[("test_a.py", text)]).await
}

pub(crate) async fn run_with(tree: &[(&str, &str)], change: impl FnOnce(&mut Request)) -> Report {
    let mut request = Request::new(files(tree));
    change(&mut request);
    run_request(&request).await
}

pub(crate) async fn run_request(request: &Request) -> Report {
    let (runner, cancel) = (runner().await, CancellationToken::new());
    let report =
        timeout(patience(), runner.run(request, &cancel)).await.expect("the run ends by itself");
    assert_eq!(runner.close().await, Vec::<String>::new());
    report
}

/// Returns ids and outcomes, in order.
pub(crate) fn results(report: &Report) -> Vec<(&str, TestOutcome)> {
    report.tests.iter().map(|test| (test.id.as_str(), test.outcome)).collect()
}

pub(crate) fn only(report: &Report) -> &TestResult {
    let [test] = report.tests.as_slice() else { panic!("one test expected: {report:#?}") };
    test
}

/// Returns the failure of the only test, or the only collection error.
pub(crate) fn failure(report: &Report) -> &Failure {
    match report.collection_errors.as_slice() {
        [] => only(report)
            .failure
            .as_ref()
            .unwrap_or_else(|| panic!("a failure expected: {report:#?}")),
        [failure] => failure,
        _ => panic!("one failure expected: {report:#?}"),
    }
}

/// Returns `path:line function` of the frames inside the tree.
pub(crate) fn inside(frames: &[Frame]) -> Vec<String> {
    let inside = frames.iter().filter(|frame| frame.inside);
    inside.map(|frame| format!("{}:{} {}", frame.path, frame.line, frame.function)).collect()
}

/// Opens the engine at `TRELLIS_TEST_DOCKER_HOST`, with the image `TRELLIS_TEST_IMAGE`, as
/// `cargo xtask test` sets them. Returns `None`, and prints a notice, if they are not set.
pub(crate) async fn docker() -> Option<Docker> {
    let given = |name: &str| env::var(name).ok().filter(|it| !it.is_empty());
    let (Some(host), Some(base)) = (given("TRELLIS_TEST_DOCKER_HOST"), given("TRELLIS_TEST_IMAGE"))
    else {
        eprintln!("SKIPPED: no Docker engine, see `cargo xtask test`");
        return None;
    };
    let spec = ImageSpec { base, requirements: Vec::new() };
    let docker = Docker::open(Some(&host), &spec, &cache(), &|_| {}).await;
    Some(docker.unwrap_or_else(|error| panic!("{error}")))
}

/// Returns a folder for scratch folders that is not `/tmp`, which sandboxes replace.
pub(crate) fn scratch() -> PathBuf {
    env!("CARGO_TARGET_TMPDIR").into()
}

/// Makes a folder for a project, readable for the user of a container.
pub(crate) fn project() -> TempDir {
    let folder = tempfile::tempdir_in(scratch()).expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("set");
    folder
}

/// Returns a name that is unique on the machine and short enough for a process.
pub(crate) fn unique() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id() % 100_000 * 100 + COUNT.fetch_add(1, Ordering::Relaxed);
    format!("trellis-t{number:07}")
}

/// Returns how many processes of the machine have `name` as their name or in their command line.
pub(crate) fn processes_named(name: &str) -> usize {
    let has = |folder: &Path| {
        let text = |file: &str| fs::read(folder.join(file)).unwrap_or_default();
        let holds = |text: &[u8]| text.windows(name.len()).any(|it| it == name.as_bytes());
        holds(&text("comm")) || holds(&text("cmdline"))
    };
    let entries = fs::read_dir("/proc").expect("/proc").flatten().map(|it| it.path());
    entries.filter(|it| has(it)).count()
}

/// Waits until no such process exists.
pub(crate) async fn until_gone(name: &str) {
    let gone = async {
        while processes_named(name) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(patience(), gone).await.unwrap_or_else(|_| panic!("{name} lives on"));
}

/// Returns the names of the entries in a folder.
pub(crate) fn left_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("there").flatten();
    entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect()
}

/// Returns the peak memory of this process in bytes.
pub(crate) fn peak_memory() -> u64 {
    let text = fs::read_to_string("/proc/self/status").expect("/proc");
    let line = text.lines().find_map(|it| it.strip_prefix("VmHWM:")).expect("a peak");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}
