//! Verifies a change by running tests on a copy of the tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use trellis_sandbox::test_ids::file_of;

use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use trellis_sandbox::{Outcome, RaisedBy, Report, Request, TestOutcome, TestResult, Tree};

use super::decide::VerifyMode;
use crate::convert::test_outcome;
use crate::fault::{Exit, Fault};
use crate::sandbox::{self, Packages, Sandbox};
use trellis_project::project;

/// The result of a test with the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedTest {
    /// pytest's node id.
    pub id: String,
    /// How it ended, such as `passed` or `failed`; `notRun` if the run ended first.
    pub outcome: String,
    /// What it failed with.
    pub message: Option<String>,
}

/// Test results of a change.
pub struct Verification {
    /// The reason that the change must not stay, if there is one.
    pub failed: Option<String>,
    /// Results of the target tests, of others that failed and that the change may fix, and of those
    /// that it breaks.
    pub tests: Vec<VerifiedTest>,
    /// Target tests that pass with the change.
    pub solved: Vec<String>,
    /// Target tests and other failing tests that pass with the change.
    pub fixed: Vec<String>,
    pub notes: Vec<String>,
    pub report: Report,
    /// The last result of every test that ran with the change.
    pub ran: Vec<TestResult>,
}

/// A sandbox for test runs on one project.
pub struct Verifier {
    pub opened: Sandbox,
    root: PathBuf,
    pub source_folders: Vec<PathBuf>,
    /// Accepted texts that are not on the disk.
    pub kept: Changed,
    times: Times,
    cancel: CancellationToken,
}

/// Time limits of tests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    /// Limit for one test; `None` for the usual one.
    pub test: Option<Duration>,
    /// Limit for a whole run; `None` for the usual one.
    pub run: Option<Duration>,
    /// The settings that raise the limits. If none is named for runs, the usual one applies.
    pub raised_by: RaisedBy,
}

/// Texts by path.
pub type Changed = BTreeMap<String, Arc<str>>;

impl Verifier {
    /// Opens a sandbox for the tree below `root`, with the environment of the project at `home`.
    pub async fn open(
        home: &Path,
        root: &Path,
        testing: &VerifyMode<'_>,
    ) -> Result<Verifier, Fault> {
        let opening = sandbox::open(&testing.sandbox, home, Packages::Project, testing.reporter);
        let opened = tokio::select! {
            () = testing.cancel.cancelled() => return Err(cancelled()),
            opened = opening => opened?,
        };
        Ok(Verifier {
            opened,
            root: root.to_owned(),
            source_folders: project::source_folders(root),
            kept: Changed::new(),
            times: testing.times,
            cancel: testing.cancel.clone(),
        })
    }

    /// Closes the sandbox and returns messages about what it could not remove.
    pub async fn close(self) -> Vec<String> {
        self.opened.runner.close().await.into_iter().collect()
    }

    /// Creates a test request with the time limits.
    fn request(&self, tree: Tree) -> Request {
        let (usual, Times { test, run, raised_by }) =
            (self.opened.runner.request(tree), self.times);
        Request {
            test_timeout: test.unwrap_or(usual.test_timeout),
            run_timeout: run.unwrap_or(usual.run_timeout),
            raised_by: RaisedBy { run: raised_by.run.or(usual.raised_by.run), ..raised_by },
            ..usual
        }
    }

    /// Runs the tests in `ids`, or all tests if it is empty.
    async fn run(
        &self,
        changed: &Changed,
        ids: &[String],
        coverage: bool,
    ) -> Result<Report, Fault> {
        let mut all = self.kept.clone();
        all.extend(changed.iter().map(|(path, text)| (path.clone(), text.clone())));
        let tree = Tree::Copy { folder: self.root.clone(), changed: all };
        let request = Request {
            targets: ids.to_vec(),
            source_folders: self.source_folders.clone(),
            coverage,
            ..self.request(tree)
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
                format!(
                    "these results prove nothing, because the code under test has changed them: \
                     {what}"
                ),
            )
            .hint("nothing was written")),
            _ => Ok(report),
        }
    }

    /// Returns the failure of a test that runs alone, with pytest's full output; `None` if it
    /// passes.
    pub async fn failure(&self, id: &str) -> Result<Option<trellis_engine::Failure>, Fault> {
        let tree = Tree::Copy { folder: self.root.clone(), changed: self.kept.clone() };
        let request = Request {
            targets: vec![id.to_owned()],
            source_folders: self.source_folders.clone(),
            // Without `-vv`, pytest truncates differences. Only long tracebacks show local variables.
            arguments: ["-vv", "--showlocals", "--tb=long"].map(str::to_owned).into(),
            ..self.request(tree)
        };
        let report = self.opened.runner.run(&request, &self.cancel).await;
        if report.outcome == Outcome::Cancelled {
            return Err(cancelled());
        }
        let text = |path: &str| {
            let kept = self.kept.get(path).cloned();
            kept.or_else(|| Some(trellis_project::edits::read(&self.root.join(path)).ok()?.into()))
        };
        let own = report.tests.iter().find(|it| it.id == id && it.failure.is_some());
        Ok(match own {
            Some(test) => crate::convert::failure_of_test(test, &text),
            None => report.collection_errors.first().map(|it| crate::convert::failure(it, &text)),
        })
    }

    /// Verifies that some of the failing `targets` pass with the change and that none of the
    /// `affected` fails because of it. Also finds which of the other `failing` tests pass with it.
    /// The targets run first, since a change that does not help needs no further runs.
    pub async fn verify(
        &self,
        changed: &Changed,
        targets: &[String],
        affected: &[String],
        failing: &[String],
    ) -> Result<Verification, Fault> {
        let others: Vec<String> =
            affected.iter().filter(|it| !targets.contains(it)).cloned().collect();
        // A file that cannot be collected would stop the others.
        let is_other = |it: &&String| it.contains("::") && !targets.contains(it);
        let hoped: Vec<&String> = failing.iter().filter(is_other).collect();
        let ids: Vec<String> =
            targets.iter().chain(&others).chain(hoped.clone()).cloned().collect();
        let is_more = ids.len() > targets.len();
        let mut report = self.run(changed, targets, !is_more).await?;
        if is_more && targets.iter().any(|it| passed(&report, it)) {
            report = self.run(changed, &ids, true).await?;
        }
        let of = |all: &[&String]| -> Vec<String> {
            all.iter().filter(|it| passed(&report, it)).map(|it| (*it).clone()).collect()
        };
        let solved = of(&targets.iter().collect::<Vec<_>>());
        let fixed: Vec<String> = solved.iter().cloned().chain(of(&hoped)).collect();
        let mut notes = report.notes.clone();
        let mut tests: Vec<VerifiedTest> = targets.iter().map(|it| shown(&report, it)).collect();
        let mut ran = report.tests.clone();
        if solved.is_empty() {
            let first = targets.first().map_or("nothing", String::as_str);
            let failed = Some(format!("{} does not pass with it", named(first, targets.len())));
            return Ok(Verification { failed, tests, solved, fixed, notes, report, ran });
        }
        tests.extend(hoped.iter().map(|it| shown(&report, it)));
        let fails = |it: &&String| !passed(&report, it);
        // A test that failed when the fix was made may pass by now, thanks to another fix.
        let suspects: Vec<String> =
            others.iter().chain(hoped.iter().copied()).filter(fails).cloned().collect();
        let broken = self.broken(changed, &suspects, &hoped, &mut notes, &mut ran).await?;
        tests
            .extend(suspects.iter().filter(|it| broken.contains(*it)).map(|it| shown(&report, it)));
        let is_whole = suspects.is_empty() && fixed.len() == targets.len() + hoped.len();
        let failed = match (broken.first(), &report.outcome) {
            (Some(first), _) => Some(breaks(first, broken.len())),
            // Every test passes, but the run does not.
            (None, outcome) if is_whole && *outcome != Outcome::Passed => {
                let why = report.reason.clone().unwrap_or_else(|| format!("{outcome:?}"));
                Some(format!("the tests did not finish with it: {why}"))
            }
            (None, _) => None,
        };
        Ok(Verification { failed, tests, solved, fixed, notes, report, ran })
    }

    /// Runs `targets`, or all tests if there are none, with the change, and returns those of the
    /// `passing` tests that fail: twice with the change, and not without it. Measured lines do not
    /// show that a test reaches the change through another process, a fixture of an earlier test,
    /// or the text of the code.
    pub async fn broken_elsewhere(
        &self,
        changed: &Changed,
        targets: &[String],
        passing: &[String],
    ) -> Result<Vec<VerifiedTest>, Fault> {
        let mut broken = self.not_passed(changed, targets, passing).await?;
        for text in [changed, &Changed::new()] {
            let ids: Vec<String> = broken.iter().map(|it| it.id.clone()).collect();
            let again = self.not_passed(text, targets, &ids).await?;
            broken.retain(|it| again.iter().any(|other| other.id == it.id) != text.is_empty());
        }
        Ok(broken)
    }

    /// Runs `targets`, or all tests if there are none, and returns those of `ids` that do not pass.
    pub async fn not_passed(
        &self,
        changed: &Changed,
        targets: &[String],
        ids: &[String],
    ) -> Result<Vec<VerifiedTest>, Fault> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let report = self.run(changed, targets, false).await?;
        let failed = ids.iter().filter(|it| !passed(&report, it));
        Ok(failed.map(|it| shown(&report, it)).collect())
    }

    /// Returns those of the failing `suspects` that fail again with the change and pass without it.
    /// `known` tests failed before. Newer results replace those in `ran`.
    async fn broken(
        &self,
        changed: &Changed,
        suspects: &[String],
        known: &[&String],
        notes: &mut Vec<String>,
        ran: &mut Vec<TestResult>,
    ) -> Result<BTreeSet<String>, Fault> {
        if suspects.is_empty() {
            return Ok(BTreeSet::new());
        }
        let without = self.run(&Changed::new(), suspects, false).await?;
        let again = self.run(changed, suspects, false).await?;
        ran.retain(|it| !again.tests.iter().any(|newer| newer.id == it.id));
        ran.extend(again.tests.iter().cloned());
        let mut broken = BTreeSet::new();
        for id in suspects {
            match (passed(&without, id), passed(&again, id)) {
                (true, false) => drop(broken.insert(id.clone())),
                (_, true) => notes.push(format!("{id} failed once and passed when run again")),
                (false, false) if known.contains(&id) => {}
                (false, false) => notes.push(format!("{id} fails without the change as well")),
            }
        }
        Ok(broken)
    }
}

/// Returns the reason against a change that breaks so many tests.
pub fn breaks(first: &str, count: usize) -> String {
    format!("{} passed before and fails with it", named(first, count))
}

/// Returns the first test with the number of the others.
fn named(first: &str, count: usize) -> String {
    match count {
        0 | 1 => first.to_owned(),
        _ => format!("{first} and {} more", count - 1),
    }
}

/// Returns whether a test ran and passed. For a file that could not be collected: whether it can be
/// collected now and one of its tests passed.
pub(super) fn passed(report: &Report, id: &str) -> bool {
    let good = |it: &TestResult| matches!(it.outcome, TestOutcome::Passed | TestOutcome::XPassed);
    if !id.contains("::") {
        let cannot = |it: &trellis_sandbox::Failure| it.collecting.as_deref() == Some(id);
        let within = |it: &&TestResult| file_of(&it.id) == id;
        return !report.collection_errors.iter().any(cannot)
            && report.tests.iter().filter(within).any(good);
    }
    report.tests.iter().any(|it| it.id == id && good(it))
}

fn shown(report: &Report, id: &str) -> VerifiedTest {
    let found = report.tests.iter().find(|it| it.id == id);
    let failure = found.and_then(|it| it.failure.as_ref());
    let failure = failure.or_else(|| report.collection_errors.first().filter(|_| found.is_none()));
    VerifiedTest {
        id: id.to_owned(),
        outcome: found.map_or_else(|| "notRun".to_owned(), |it| test_outcome(it.outcome)),
        message: failure.map(|it| format!("{}: {}", it.exception, it.message)),
    }
}

pub(super) fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the tests ended").hint("nothing was written")
}
