//! Runs tests on copies of a checkout with the changes of an issue.

use std::fs;
use std::path::Path;

use tokio_util::sync::CancellationToken;
use trellis_engine::TestRun;
use trellis_engine::issue::Changes;
use trellis_sandbox::frameworks::{Framework, detect};
use trellis_sandbox::{Outcome, Report, Request, Runner, Tree};

use super::{IssueRequest, cancelled};
use crate::convert::{SkippedRun, test_run};
use crate::fault::{Exit, Fault, cannot};
use crate::reporter::Reporter;
use crate::sandbox::RAISED_BY;
use crate::sandbox::{self, Packages, Sandbox};
use crate::write_tests::registry;
use trellis_git::merge::Checkout;
use trellis_project::project;

/// Test runs of one issue.
pub struct TestRunner<'a> {
    order: &'a IssueRequest,
    runner: &'a Runner,
    pub(super) framework: Framework,
    cancel: CancellationToken,
}

/// Opens a sandbox for the project.
pub(super) async fn open(
    order: &IssueRequest,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<Sandbox, Fault> {
    let opening = sandbox::open(&order.sandbox, &order.home, Packages::Project, reporter);
    tokio::select! {
        () = cancel.cancelled() => Err(cancelled()),
        opened = opening => opened,
    }
}

impl<'a> TestRunner<'a> {
    pub fn of(
        order: &'a IssueRequest,
        runner: &'a Runner,
        cancel: &CancellationToken,
    ) -> TestRunner<'a> {
        TestRunner { order, runner, framework: framework(&order.home), cancel: cancel.clone() }
    }

    /// Runs `targets`, or all tests if it is empty, on the checkout at `root` with `changes`.
    pub async fn run(
        &self,
        root: &Path,
        changes: &Changes,
        targets: &[String],
    ) -> Result<TestRun, Fault> {
        let changed = changes.iter().map(|(path, text)| (path.clone(), text.as_str().into()));
        let tree = Tree::Copy { folder: root.to_owned(), changed: changed.collect() };
        let usual = self.runner.request(tree);
        let request = Request {
            framework: self.framework,
            targets: targets.to_vec(),
            also: registry::test_files(&self.order.home),
            source_folders: project::source_folders(root),
            test_timeout: self.order.test_timeout,
            run_timeout: self.order.run_timeout.unwrap_or(usual.run_timeout),
            raised_by: RAISED_BY,
            ..usual
        };
        let report = self.runner.run(&request, &self.cancel).await;
        let text = |path: &str| {
            let changed = changes.get(path).map(|it| it.as_str().into());
            changed.or_else(|| trellis_os::files::read_text(root.join(path)).ok().map(Into::into))
        };
        judged(&report, &text)
    }
}

fn judged(report: &Report, text: crate::convert::Texts<'_>) -> Result<TestRun, Fault> {
    if let Outcome::Tampered { what } = &report.outcome {
        return Err(Fault::new(
            Exit::NeedsHuman,
            format!(
                "these results prove nothing, because the code under test has changed them: \
                 {what}"
            ),
        )
        .hint("review the work on its branch; nothing was merged"));
    }
    test_run(report, text).map_err(|none| match none {
        SkippedRun::Cancelled => cancelled(),
        SkippedRun::Fault(fault) => {
            fault.hint("`trellis doctor` shows what is missing; nothing was merged")
        }
    })
}

/// Returns the project's test framework.
pub(super) fn framework(root: &Path) -> Framework {
    detect(root).map_or(Framework::Pytest, |it| it.framework)
}

/// Links the project's installed packages into a checkout, since git does not track them.
pub fn with_packages<'a>(checkout: Checkout<'a>, home: &Path) -> Result<Checkout<'a>, Fault> {
    let (there, here) = (home.join("node_modules"), checkout.root.join("node_modules"));
    if there.is_dir() && fs::symlink_metadata(&here).is_err() {
        std::os::unix::fs::symlink(&there, &here)
            .map_err(|error| cannot(&format!("show {}", there.display()), &error))?;
    }
    Ok(checkout)
}
