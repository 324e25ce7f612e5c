//! Hostile or harmful code: each case is contained, correctly reported, and shown to have done no
//! harm.
//!
//! Every case runs in each sandbox that this machine has; the cases are in `cases`.

mod cases;
mod endings;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Config, Isolation, Outcome, Report, Request, Runner, Tree};

use crate::support::{docker, environment, patience, scratch};

/// A sandbox and a project in it.
pub(crate) struct Bed {
    pub(crate) runner: Runner,
    pub(crate) project: TempDir,
    /// True for a sandbox that leaves some resources open, as its report says.
    pub(crate) bare: bool,
    /// True if tests may write to the project and the writes are discarded.
    pub(crate) has_layer: bool,
    /// The real path of Python.
    pub(crate) interpreter: PathBuf,
}

impl Bed {
    /// Returns `None`, and prints that the test is skipped, if there is no engine.
    pub(crate) async fn docker() -> Option<Bed> {
        let docker = docker().await?;
        let config = Config { scratch: scratch(), ..Config::from_environment() };
        let project = tempfile::tempdir_in(scratch()).expect("a folder");
        // The container's user is not root.
        fs::set_permissions(project.path(), fs::Permissions::from_mode(0o755)).expect("set");
        let runner = Runner::in_docker(docker, &config);
        // The image is made from the machine's own Python.
        let interpreter = environment().await.interpreter.canonicalize().expect("there");
        Some(Bed { runner, project, bare: false, has_layer: true, interpreter })
    }

    pub(crate) async fn local(isolation: Isolation) -> Bed {
        let config =
            Config { scratch: scratch(), isolation: Some(isolation), ..Config::from_environment() };
        let project = tempfile::tempdir_in(scratch()).expect("a folder");
        let python = environment().await;
        let interpreter = python.interpreter.canonicalize().expect("there");
        let runner = Runner::new(python, config);
        let bare = isolation == Isolation::LandlockOnly;
        Bed { runner, project, bare, has_layer: !bare, interpreter }
    }

    /// Returns the project's folder.
    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).expect("a file");
    }

    /// Runs the project with `text` as its only test module.
    pub(crate) async fn run(&self, text: &str) -> Report {
        self.run_with(text, |_| {}).await
    }

    pub(crate) async fn run_with(&self, text: &str, change: impl FnOnce(&mut Request)) -> Report {
        self.write("test_a.py", text);
        let mut request = Request::new(Tree::Folder(self.root().to_owned()));
        change(&mut request);
        let cancel = CancellationToken::new();
        timeout(patience(), self.runner.run(&request, &cancel))
            .await
            .expect("the run ends by itself")
    }

    /// Checks that the sandbox works as before.
    pub(crate) async fn still_works(&self) {
        let report = self.run("def test_a(): assert 1 + 1 == 2\n").await;
        assert_eq!(report.outcome, Outcome::Passed, "{report:#?}");
    }

    /// Ends the workers and checks that nothing of them remains.
    pub(crate) async fn close(self) {
        assert_eq!(self.runner.close().await, Vec::<String>::new());
    }
}

pub(crate) fn limit_of_seconds(request: &mut Request) {
    request.test_timeout = Duration::from_secs(2);
}

macro_rules! in_each_sandbox {
    ($($case:ident),* $(,)?) => {
        mod namespaces {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $case() {
                let bed = super::Bed::local(trellis_sandbox::Isolation::Namespaces).await;
                super::cases::$case(&bed).await;
                bed.still_works().await;
                bed.close().await;
            })*
        }

        /// All cases run in sequence on warm workers, as in the weaker sandboxes below.
        #[tokio::test(flavor = "multi_thread")]
        async fn with_docker() {
            let Some(bed) = Bed::docker().await else { return };
            $(cases::$case(&bed).await; bed.still_works().await;)*
            bed.close().await;
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn with_bubblewrap() {
            let bed = Bed::local(Isolation::Bubblewrap).await;
            $(cases::$case(&bed).await; bed.still_works().await;)*
            bed.close().await;
        }

        #[tokio::test(flavor = "multi_thread")]
        async fn with_landlock_and_a_filter() {
            let bed = Bed::local(Isolation::LandlockOnly).await;
            $(cases::$case(&bed).await; bed.still_works().await;)*
            bed.close().await;
        }
    };
}

in_each_sandbox![
    an_endless_loop,
    a_fork_bomb,
    a_memory_hog,
    many_memory_hogs,
    gigabytes_of_output,
    writing_to_the_repository,
    writing_to_the_home_directory,
    writing_to_tmp,
    reading_secrets,
    opening_sockets,
    leaving_a_daemon,
    killing_the_parent,
    ignoring_signals,
    leaving_in_the_middle,
    patching_pytest,
    changing_a_report,
    making_up_reports,
    disguising_failures_as_skips,
    printing_a_forged_result,
    writing_to_the_result_pipe,
    closing_the_result_pipe,
    a_conftest_that_exits,
    a_segmentation_fault,
    deep_recursion,
    deleting_its_own_file,
    looking_into_the_worker,
    changing_the_workers_limits,
    escaping_by_namespaces,
];
