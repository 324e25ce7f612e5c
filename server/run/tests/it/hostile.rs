//! Code that means harm, or does it: each is contained and reported as what it is.

use std::{fs, io::Read, path::Path};

use run::{Outcome, Request, TestOutcome, Tree};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::support::{LONG, all_gone, failure, gone, only, run_one, run_request, run_with, runner};

fn folder(text: &str) -> (TempDir, Request) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("test_a.py"), text).expect("a file");
    let request = Request::new(Tree::Folder(folder.path().to_owned()));
    (folder, request)
}

/// A test that tells its process numbers through a named pipe and then does nothing for long.
fn waiting() -> (TempDir, Request) {
    let (folder, request) = folder(
        "import os, subprocess, sys, time\n\
         def test_a():\n    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(1000)'])\n    \
         open('news', 'w').write(f'{os.getpid()}\\n{child.pid}\\n')\n    time.sleep(1000)\n",
    );
    mknodat(CWD, folder.path().join("news"), FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .expect("a pipe");
    (folder, request)
}

/// Blocks until the test has written.
async fn news(folder: &Path) -> String {
    let path = folder.join("news");
    let read = move || {
        let mut text = String::new();
        fs::File::open(path)?.read_to_string(&mut text)?;
        std::io::Result::Ok(text)
    };
    tokio::time::timeout(LONG, tokio::task::spawn_blocking(read))
        .await
        .expect("news")
        .expect("no panic")
        .expect("text")
}

#[tokio::test]
async fn cancelling_kills_the_whole_tree() {
    let (folder, request) = waiting();
    let cancel = CancellationToken::new();
    let runner = runner().await;
    let (report, pids) = tokio::join!(runner.run(&request, &cancel), async {
        let pids = news(folder.path()).await;
        cancel.cancel();
        pids
    });
    assert_eq!(report.outcome, Outcome::Cancelled);
    for pid in pids.lines() {
        gone(pid).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_kills_the_whole_tree() {
    let (folder, request) = waiting();
    let runner = runner().await;
    let run = tokio::spawn(async move { runner.run(&request, &CancellationToken::new()).await });
    let pids = news(folder.path()).await;
    run.abort();
    assert_eq!(pids.lines().count(), 2);
    for pid in pids.lines() {
        gone(pid).await;
    }
}

#[tokio::test]
async fn daemons_do_not_outlive_the_run() {
    let (folder, request) = folder(
        "import subprocess, sys\nimport pytest\n\
         @pytest.mark.parametrize('apart', [False, True])\n\
         def test_a(apart):\n    wait = [sys.executable, '-c', 'import time; time.sleep(1000)']\n    \
         child = subprocess.Popen(wait, start_new_session=apart)\n    open('pids', 'a').write(f'{child.pid}\\n')\n",
    );
    let report = run_request(&request).await;
    assert_eq!(report.outcome, Outcome::Passed);
    assert_eq!(all_gone(&folder.path().join("pids")).await, 2);
    assert!(
        report.notes.iter().any(|note| note.contains("1 process(es) had left the process group")),
        "{:?}",
        report.notes
    );
}

/// Small enough to do no harm where the kernel does not hold root to a number of processes.
#[tokio::test]
async fn fork_bomb() {
    let (folder, mut request) = folder(
        "import os, time\n\
         def test_a():\n    for _ in range(6):\n        os.fork()\n    \
         os.write(os.open('pids', os.O_WRONLY | os.O_APPEND | os.O_CREAT), f'{os.getpid()}\\n'.encode())\n    \
         time.sleep(1000)\n",
    );
    request.test_timeout = std::time::Duration::from_secs(5);
    request.limits.processes = 32;
    let report = run_request(&request).await;
    let held =
        report.limits.iter().find(|limit| limit.name == "processes").expect("listed").enforced;
    assert_eq!(held, !rustix::process::geteuid().is_root());
    if !held {
        assert_eq!(report.outcome, Outcome::TimedOut, "{report:#?}");
        assert_eq!(all_gone(&folder.path().join("pids")).await, 64);
    }
}

#[tokio::test]
async fn endless_printing_is_cut() {
    let text = "import sys\ndef test_a(capfd):\n    with capfd.disabled():\n        \
                for _ in range(2000): sys.stdout.write('x' * 1_000_000)\n        sys.stdout.write('the end')\n";
    let report = run_one(text).await;
    assert_eq!(report.outcome, Outcome::Passed);
    assert!(report.stdout.len() < (1 << 20) + 100);
    assert!(report.stdout.contains("bytes cut ...]") && report.stdout.contains("the end"));
}

#[tokio::test]
async fn captured_printing_is_bounded_by_the_file_limit() {
    let text = "def test_a():\n    for _ in range(100): print('x' * 1_000_000)\n";
    let report =
        run_with(&[("test_a.py", text)], |request| request.limits.file_bytes = 4 << 20).await;
    assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
    assert!(failure(&report).message.contains("File too large"));
    assert!(only(&report).stdout.len() < 40_000);
}

#[tokio::test]
async fn memory_hogs_get_a_memory_error() {
    for text in [
        "def test_a():\n    hog = []\n    while True: hog.append(bytearray(10_000_000))\n",
        "import mmap\ndef test_a():\n    hog = []\n    while True: hog.append(mmap.mmap(-1, 100_000_000))\n",
    ] {
        let report =
            run_with(&[("test_a.py", text)], |request| request.limits.memory_bytes = 256 << 20)
                .await;
        assert_eq!(report.outcome, Outcome::Failed, "{report:#?}");
        let failure = failure(&report);
        assert!(
            failure.exception == "MemoryError"
                || failure.message.contains("Cannot allocate memory"),
            "{failure:?}"
        );
    }
}

#[tokio::test]
async fn bytes_that_are_no_text() {
    let text = "import os\ndef test_a(capfd):\n    os.write(1, b'caf\\xe9')\n    with capfd.disabled(): os.write(1, b'\\xff\\xfe')\n";
    let report = run_one(text).await;
    assert_eq!(only(&report).outcome, TestOutcome::Passed);
    assert!(report.stdout.contains("\u{fffd}\u{fffd}"));
}

#[tokio::test]
async fn writing_to_the_result_pipe_is_noticed() {
    let text = "import os, stat\ndef test_a():\n    for fd in range(3, 64):\n        try:\n            \
                if stat.S_ISFIFO(os.fstat(fd).st_mode): os.write(fd, b'{\"event\": \"nonsense\"}\\n')\n        \
                except OSError: pass\n";
    let report = run_one(text).await;
    assert_eq!(report.outcome, Outcome::Crashed { signal: None, exit_code: Some(0) });
    assert!(report.reason.expect("why").contains("wrote to the result pipe"));
}
