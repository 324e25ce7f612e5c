//! `run(files)` gives a report; the rest is for looking at it.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use run::{
    Config, Failure, Frame, Report, Request, Runner, TestOutcome, TestResult, Tree,
    python::{self, Python},
};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::OnceCell,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

/// Far beyond what anything here takes; reaching it is a failure.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) fn cache() -> PathBuf {
    env::var_os("TRELLIS_TEST_CACHE")
        .map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

pub(crate) async fn base() -> Python {
    let path = env::var_os("PATH").expect("PATH is set");
    python::find(None, &path).await.unwrap_or_else(|error| panic!("{error}"))
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
    Runner::new(environment().await, Config::from_environment())
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
    let cancel = CancellationToken::new();
    timeout(LONG, runner().await.run(request, &cancel)).await.expect("the run ends by itself")
}

/// Ids and outcomes, in order.
pub(crate) fn results(report: &Report) -> Vec<(&str, TestOutcome)> {
    report.tests.iter().map(|test| (test.id.as_str(), test.outcome)).collect()
}

pub(crate) fn only(report: &Report) -> &TestResult {
    let [test] = report.tests.as_slice() else { panic!("one test expected: {report:#?}") };
    test
}

/// The failure of the only test, or the only collection error.
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

/// `path:line function` of the frames inside the tree.
pub(crate) fn inside(frames: &[Frame]) -> Vec<String> {
    let inside = frames.iter().filter(|frame| frame.inside);
    inside.map(|frame| format!("{}:{} {}", frame.path, frame.line, frame.function)).collect()
}

/// Waits until process `pid` is no more.
pub(crate) async fn gone(pid: &str) {
    let pid = pid.trim().parse().ok().and_then(Pid::from_raw).expect("a process number");
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // SAFETY: an `OwnedFd` is open as long as it lives.
    let handle = unsafe { AsyncFd::register_with_interest(handle, Interest::READABLE) }
        .expect("a handle that can be polled");
    let _ = timeout(LONG, handle.readable()).await.unwrap_or_else(|_| panic!("{pid:?} lives on"));
}

/// Process numbers that a fixture wrote to a file, one a line.
pub(crate) async fn all_gone(file: &Path) -> usize {
    let text = std::fs::read_to_string(file).expect("the fixture wrote its process numbers");
    for pid in text.lines() {
        gone(pid).await;
    }
    text.lines().count()
}
