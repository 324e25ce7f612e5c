//! Runs that are ended from outside leave no processes or files.

use std::{fs, time::Duration};

use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Outcome, Request, Runner, Tree};

use super::Bed;
use crate::support::{environment, left_in, processes_named, scratch, unique, until_gone};

/// Returns a test of two processes: its own, and one with `name` in its command line, by which it
/// is found.
fn waiting(name: &str) -> String {
    format!(
        "import subprocess, sys, time\n\
         def test_a():\n    subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000) # {name}'])\n"
    )
}

async fn until_running(name: &str) {
    while processes_named(name) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_kills_the_whole_tree() {
    for isolation in [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let (bed, name) = (Bed::local(isolation).await, unique());
        bed.write("test_a.py", &waiting(&name));
        let request = Request::new(Tree::Folder(bed.root().to_owned()));
        let cancel = CancellationToken::new();
        let (report, ()) = tokio::join!(bed.runner.run(&request, &cancel), async {
            until_running(&name).await;
            cancel.cancel();
        });
        assert_eq!(report.outcome, Outcome::Cancelled, "{isolation:?}: {report:#?}");
        assert_eq!(processes_named(&name), 0, "{isolation:?}");
        bed.still_works().await;
        bed.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_the_future_kills_the_whole_tree() {
    for isolation in [Isolation::Namespaces, Isolation::Bubblewrap, Isolation::LandlockOnly] {
        let (bed, name) = (Bed::local(isolation).await, unique());
        bed.write("test_a.py", &waiting(&name));
        let request = Request::new(Tree::Folder(bed.root().to_owned()));
        let runner = bed.runner.clone();
        let run =
            tokio::spawn(async move { runner.run(&request, &CancellationToken::new()).await });
        until_running(&name).await;
        run.abort();
        until_gone(&name).await;
        bed.still_works().await;
        bed.close().await;
    }
}

/// Cancels at any moment: before the sandbox is up, while Python starts, in the middle, at the end.
#[tokio::test(flavor = "multi_thread")]
async fn cancelling_at_any_moment_leaves_nothing() {
    let folder = tempfile::tempdir_in(scratch()).expect("a folder");
    let config = Config { scratch: folder.path().to_owned(), ..Config::from_environment() };
    let runner = Runner::new(environment().await, config);
    let project = tempfile::tempdir_in(scratch()).expect("a folder");
    let name = unique();
    fs::write(project.path().join("test_a.py"), waiting(&name)).expect("a file");
    let request = Request::new(Tree::Folder(project.path().to_owned()));
    for step in 0..40 {
        let cancel = CancellationToken::new();
        let canceller = cancel.clone();
        // The first runs find no worker; closing in between makes later ones start anew as well.
        let wait = Duration::from_millis(step * 23 % 700);
        tokio::spawn(async move {
            tokio::time::sleep(wait).await;
            canceller.cancel();
        });
        let report = runner.run(&request, &cancel).await;
        assert_eq!(report.outcome, Outcome::Cancelled, "{report:#?}");
        assert_eq!(processes_named(&name), 0);
        if step % 4 == 3 {
            assert_eq!(runner.close().await, Vec::<String>::new());
            assert_eq!(left_in(folder.path()), Vec::<String>::new());
        }
    }
}
