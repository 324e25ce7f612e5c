//! Tests on a copy of the tree with a change.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use run::{Outcome, Report, Request, TestOutcome, TestResult, Tree};
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::decide::Testing;
use crate::convert::test_outcome;
use crate::error::{Exit, Fault};
use crate::project;
use crate::sandbox::{self, Needs, Opened};

/// Time for all tests of one trial.
const RUN: Duration = Duration::from_secs(1800);

/// A test with the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TriedTest {
    /// pytest's node id.
    pub(crate) id: String,
    /// How it ended, such as `passed` or `failed`; `notRun` where it did not come to it.
    pub(crate) outcome: String,
    /// What it failed with.
    pub(crate) message: Option<String>,
}

/// What tests say of a change.
pub(super) struct Tried {
    /// Why the change may not stay, if it may not.
    pub(super) failed: Option<String>,
    /// The failing test, and those that the change breaks.
    pub(super) tests: Vec<TriedTest>,
    pub(super) notes: Vec<String>,
    pub(super) report: Report,
}

/// A sandbox for trials with one project.
pub(super) struct Bench {
    pub(super) opened: Opened,
    root: PathBuf,
    pub(super) source_folders: Vec<PathBuf>,
    cancel: CancellationToken,
}

/// Texts by path.
pub(super) type Changed = BTreeMap<String, Arc<str>>;

impl Bench {
    pub(super) async fn open(root: &Path, testing: &Testing<'_>) -> Result<Bench, Fault> {
        let opening = sandbox::open(&testing.sandbox, root, Needs::Project, testing.output);
        let opened = tokio::select! {
            () = testing.cancel.cancelled() => return Err(cancelled()),
            opened = opening => opened?,
        };
        Ok(Bench {
            opened,
            root: root.to_owned(),
            source_folders: project::source_folders(root),
            cancel: testing.cancel.clone(),
        })
    }

    /// Ends the sandbox; what it left behind.
    pub(super) async fn close(self) -> Vec<String> {
        self.opened.runner.close().await.into_iter().collect()
    }

    /// Runs some tests; all where none are named.
    pub(super) async fn run(
        &self,
        changed: &Changed,
        ids: &[String],
        coverage: bool,
    ) -> Result<Report, Fault> {
        let tree = Tree::Copy { folder: self.root.clone(), changed: changed.clone() };
        let request = Request {
            targets: ids.to_vec(),
            source_folders: self.source_folders.clone(),
            run_timeout: RUN,
            coverage,
            ..Request::new(tree)
        };
        let report = self.opened.runner.run(&request, &self.cancel).await;
        match &report.outcome {
            Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason } => {
                Err(Fault::unavailable(format!("the sandbox cannot run tests: {reason}"))
                    .hint("`trellis doctor` shows what is missing; nothing was written"))
            }
            Outcome::Cancelled => Err(cancelled()),
            Outcome::Tampered { what } => Err(Fault::new(
                Exit::TestsFailed,
                format!("the results prove nothing, the code under test has changed them: {what}"),
            )
            .hint("nothing was written")),
            _ => Ok(report),
        }
    }

    /// Whether `test` passes with the change and none of the `affected` fails for it.
    pub(super) async fn judge(
        &self,
        changed: &Changed,
        test: &str,
        affected: &[String],
    ) -> Result<Tried, Fault> {
        let mut ids = vec![test.to_owned()];
        ids.extend(affected.iter().filter(|it| *it != test).cloned());
        let report = self.run(changed, &ids, true).await?;
        let mut notes = report.notes.clone();
        let mut tests = vec![shown(&report, test)];
        if !passed(&report, test) {
            let failed = Some(format!("{test} does not pass with it"));
            return Ok(Tried { failed, tests, notes, report });
        }
        let fails = |it: &&String| !passed(&report, it);
        let suspects: Vec<String> = ids.iter().filter(fails).cloned().collect();
        let broken = self.broken(changed, &suspects, &mut notes).await?;
        tests
            .extend(suspects.iter().filter(|it| broken.contains(*it)).map(|it| shown(&report, it)));
        let failed = match (broken.first(), &report.outcome) {
            (Some(first), _) => {
                let more = match broken.len() {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                Some(format!("{first}{more} passed before and fails with it"))
            }
            // Every test passes, and the run does not.
            (None, outcome) if suspects.is_empty() && *outcome != Outcome::Passed => {
                let why = report.reason.clone().unwrap_or_else(|| format!("{outcome:?}"));
                Some(format!("the tests did not run to a good end with it: {why}"))
            }
            (None, _) => None,
        };
        Ok(Tried { failed, tests, notes, report })
    }

    /// Of tests that fail with the change, those that fail again, and pass without it.
    async fn broken(
        &self,
        changed: &Changed,
        suspects: &[String],
        notes: &mut Vec<String>,
    ) -> Result<BTreeSet<String>, Fault> {
        if suspects.is_empty() {
            return Ok(BTreeSet::new());
        }
        let without = self.run(&Changed::new(), suspects, false).await?;
        let again = self.run(changed, suspects, false).await?;
        let mut broken = BTreeSet::new();
        for id in suspects {
            match (passed(&without, id), passed(&again, id)) {
                (true, false) => drop(broken.insert(id.clone())),
                (_, true) => notes.push(format!("{id} failed once and passed when run again")),
                (false, false) => notes.push(format!("{id} fails without the change as well")),
            }
        }
        Ok(broken)
    }
}

/// Whether a test ran, and passed.
pub(super) fn passed(report: &Report, id: &str) -> bool {
    let good = |it: &TestResult| matches!(it.outcome, TestOutcome::Passed | TestOutcome::XPassed);
    report.tests.iter().any(|it| it.id == id && good(it))
}

fn shown(report: &Report, id: &str) -> TriedTest {
    let found = report.tests.iter().find(|it| it.id == id);
    let failure = found.and_then(|it| it.failure.as_ref());
    let failure = failure.or_else(|| report.collection_errors.first().filter(|_| found.is_none()));
    TriedTest {
        id: id.to_owned(),
        outcome: found.map_or_else(|| "notRun".to_owned(), test_outcome),
        message: failure.map(|it| format!("{}: {}", it.exception, it.message)),
    }
}

pub(super) fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the tests ended").hint("nothing was written")
}
