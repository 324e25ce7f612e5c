//! Finds suspects for failing tests: a run with coverage, evidence, trials of small edits, and a
//! ranking.
//!
//! The sandbox works on a copy of the folder, so that trials change nothing in it.

mod baseline;
mod blame_age;
mod call_tracing;
mod diagnosis;
mod evidence;
mod mutation;
mod traces;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use trellis_engine::localize::{Evidence, Ranking, Trial, rank};
use trellis_engine::{Diagnosis, Finding};
use trellis_python::Index;
use trellis_sandbox::{
    LimitStatus, Outcome, RaisedBy, Report, Request, Runner, TestOutcome, TestResult, Tree,
};

use crate::fault::{Exit, Fault};
pub use baseline::{NO_TESTS_HINT, covers};
use baseline::{is_measured, results};
use diagnosis::{Diagnosed, by_trial};
pub use evidence::evidence;
use mutation::MutationRunner;

/// A request to localize failures, with its time limits.
pub struct LocalizeRequest<'a> {
    pub runner: &'a Runner,
    /// The files under test; a folder is copied first.
    pub tree: Tree,
    /// Index of the same files.
    pub index: &'a Index,
    pub source_folders: Vec<PathBuf>,
    /// Test ids or paths; empty for all tests.
    pub targets: Vec<String>,
    /// Test files that belong to all tests, whatever the project's settings name.
    pub also: Vec<String>,
    /// Ids of tests that run in any case, even if the project's settings leave them out.
    pub named: Vec<String>,
    /// Limit for one test of the first run. In trials, the limit follows from how long the tests
    /// took.
    pub test_timeout: Duration,
    pub run_timeout: Option<Duration>,
    /// The settings that raise these limits, as messages name them.
    pub raised_by: RaisedBy,
    /// Wall time for trials; `None` for no trials.
    pub trials: Option<Duration>,
    /// The folder whose version control gives the age of lines, if any.
    pub history: Option<PathBuf>,
    pub cancel: &'a CancellationToken,
}

/// Result of a localization.
pub struct Localization {
    pub evidence: Evidence,
    pub ranking: Ranking,
    pub failures: Vec<FailingTest>,
    /// The first result of every test; a file that could not be loaded counts as a test with its
    /// name.
    pub ran: Vec<TestResult>,
    /// Diagnosis of the failures, if it needs no opinion.
    pub diagnosis: Option<Finding>,
    /// Findings for single failing tests, where a rule applies.
    pub findings: BTreeMap<String, Finding>,
    /// Failing tests that passed when run again unchanged.
    pub flaky: Vec<String>,
    /// True if code that ran may behave differently from one run to the next.
    pub varies: bool,
    pub limits: Vec<LimitStatus>,
    pub notes: Vec<String>,
    /// Lines were measured; otherwise the notes say why not.
    pub measured: bool,
    /// Python files that were executed but could not be read.
    pub unread: Vec<String>,
}

/// A test that fails.
#[derive(Clone)]
pub struct FailingTest {
    pub id: String,
    pub failure: trellis_sandbox::Failure,
}

/// Returns the project's files that were executed but are not in the index.
fn unread(index: &Index, reports: &[Report]) -> Vec<String> {
    let executed =
        reports.iter().filter_map(|it| it.coverage.as_ref()).flat_map(|it| it.files.iter());
    let executed = executed.filter(|(_, it)| !it.executed.is_empty()).map(|(path, _)| path.clone());
    let all: BTreeSet<String> = executed.filter(|path| index.file(path).is_none()).collect();
    all.into_iter().collect()
}

/// Exception name of a test that was interrupted.
const INTERRUPTED: &str = "TestTookTooLong";

impl LocalizeRequest<'_> {
    /// Runs the tests and ranks suspects. There are none if nothing fails.
    pub async fn run(&self) -> Result<Localization, Fault> {
        let (reports, mut notes) = self.baseline().await?;
        let mut evidence = evidence(self.index, &reports);
        let failures: Vec<FailingTest> = reports.iter().flat_map(failing).collect();
        self.refuse_unknown(&failures)?;
        check_completed(&reports, &failures)?;
        let limits = reports.first().map(|it| it.limits.clone()).unwrap_or_default();
        let mut ranking = Ranking::default();
        let mut diagnosed = Diagnosed::default();
        if !failures.is_empty() {
            call_tracing::add_reached(self.index, self.folder(), &mut evidence);
            diagnosed = self.diagnose(&failures, &reports, &evidence).await?;
            // Flaky tests only blur the picture beside tests that fail every time.
            if diagnosed.flaky.len() < failures.len() {
                evidence.tests.retain(|test| !diagnosed.flaky.contains(&test.id));
            }
            self.add_traces(&reports, &mut evidence).await;
            if let Some(folder) = &self.history {
                notes.extend(blame_age::add(folder, self.index, &mut evidence).await);
            }
            ranking = rank(&evidence, &[]);
            if let Some(budget) = self.trials.filter(|_| can_be_code(&diagnosed)) {
                let flaky = &diagnosed.flaky;
                let results = reports.iter().flat_map(|it| &it.tests);
                let results: Vec<&TestResult> =
                    results.filter(|it| !flaky.contains(&it.id)).collect();
                let (tried, said) = self.try_edits(&evidence, &ranking, &results, budget).await;
                notes.extend(said);
                ranking = rank(&evidence, &tried);
                diagnosed.finding =
                    diagnosed.finding.or_else(|| by_trial(&ranking, &evidence, &failures));
            }
        }
        let Diagnosed { finding: diagnosis, findings, flaky, varies } = diagnosed;
        let measured = is_measured(&reports);
        let unread = unread(self.index, &reports);
        if !failures.is_empty() {
            notes.extend(unread.iter().map(|path| {
                format!(
                    "{path} is executed but cannot be read: it is not UTF-8 text, or the \
                     workspace leaves it out"
                )
            }));
        }
        let ran = reports.into_iter().flat_map(results).collect();
        Ok(Localization {
            evidence,
            ranking,
            failures,
            ran,
            diagnosis,
            findings,
            flaky,
            varies,
            limits,
            notes,
            measured,
            unread,
        })
    }

    /// Tries small edits of the suspicious lines for a time. `results` are those of the tests in
    /// `evidence`. Returns the trials, and notes on what was not tried.
    pub async fn try_edits(
        &self,
        evidence: &Evidence,
        ranking: &Ranking,
        results: &[&TestResult],
        budget: Duration,
    ) -> (Vec<Trial>, Vec<String>) {
        let until = Instant::now() + budget;
        MutationRunner::new(self, evidence, ranking, results).run(until).await
    }

    /// Returns the folder of the files, if they are in one.
    fn folder(&self) -> Option<&Path> {
        match &self.tree {
            Tree::Folder(folder) | Tree::Copy { folder, .. } => Some(folder),
            Tree::Files(_) => None,
        }
    }

    /// Creates a test request on the tree with some files changed.
    fn request(&self, changed: Vec<(String, String)>, limit: Duration) -> Request {
        let changed = changed.into_iter().map(|(path, text)| (path, text.into()));
        let tree = match self.tree.clone() {
            Tree::Files(mut files) => {
                files.extend(changed);
                Tree::Files(files)
            }
            Tree::Copy { folder, changed: mut files } => {
                files.extend(changed);
                Tree::Copy { folder, changed: files }
            }
            Tree::Folder(folder) => Tree::Copy { folder, changed: changed.collect() },
        };
        let usual = self.runner.request(tree);
        Request {
            source_folders: self.source_folders.clone(),
            // Nobody reads pytest's own tracebacks, and with many failures they take the most time.
            arguments: vec!["--tb=native".to_owned()],
            test_deadline: Some(limit),
            // For tests that the deadline does not interrupt.
            test_timeout: limit * 3 + Duration::from_secs(1),
            run_timeout: self.run_timeout.unwrap_or(usual.run_timeout),
            raised_by: self.raised_by,
            ..usual
        }
    }

    /// Refuses targets that pytest does not know: a mistake of the caller, not a failing test.
    fn refuse_unknown(&self, failures: &[FailingTest]) -> Result<(), Fault> {
        let unknown = failures.iter().find(|it| is_usage_error(&it.failure));
        let Some(it) = unknown.filter(|_| !self.targets.is_empty()) else { return Ok(()) };
        let targets = self.targets.join(", ");
        let said = it.failure.message.lines().next().unwrap_or_default();
        Err(Fault::input(format!("there is no test {targets}: {said}")).hint(
            "give ids, files or folders relative to the project, such as tests/test_a.py::test_b",
        ))
    }
}

/// Returns whether pytest rejected its arguments.
fn is_usage_error(failure: &trellis_sandbox::Failure) -> bool {
    failure.exception == "UsageError"
}

/// Returns whether the code may be at fault. If it is known not to be, edits of the code show
/// nothing.
fn can_be_code(diagnosed: &Diagnosed) -> bool {
    let of_code = |it: &Finding| it.diagnosis == Diagnosis::Implementation;
    diagnosed.finding.as_ref().is_none_or(of_code)
}

/// Checks that runs without a failure ended properly. Only then do they show that nothing fails.
fn check_completed(reports: &[Report], failures: &[FailingTest]) -> Result<(), Fault> {
    let unproven =
        reports.iter().find(|it| !matches!(it.outcome, Outcome::Passed | Outcome::NoTests));
    let Some(report) = unproven.filter(|_| failures.is_empty()) else { return Ok(()) };
    let why = report.reason.clone().unwrap_or_else(|| format!("{:?}", report.outcome));
    Err(Fault::new(Exit::TestsFailed, format!("the tests did not finish: {why}"))
        .hint("`trellis test` shows how the run ended"))
}

/// Returns the failures of a run, including files that could not be collected.
fn failing(report: &Report) -> Vec<FailingTest> {
    let tests = report.tests.iter().filter(|it| has_failed(it)).map(|it| {
        let failure = it.failure.clone().unwrap_or_else(|| trellis_sandbox::Failure {
            exception: format!("{:?}", it.outcome),
            message: it.reason.clone().unwrap_or_default(),
            frames: report.stuck.iter().flat_map(|it| it.frames.clone()).collect(),
            ..trellis_sandbox::Failure::default()
        });
        FailingTest { id: it.id.clone(), failure }
    });
    let collected = report.collection_errors.iter().map(|failure| FailingTest {
        id: failure.collecting.as_ref().or(failure.path.as_ref()).cloned().unwrap_or_default(),
        failure: failure.clone(),
    });
    let mut seen = BTreeSet::new();
    tests.chain(collected).filter(|it| seen.insert(it.id.clone())).collect()
}

/// Returns whether a test neither passed nor was set aside.
fn has_failed(test: &TestResult) -> bool {
    !matches!(
        test.outcome,
        TestOutcome::Passed | TestOutcome::XPassed | TestOutcome::Skipped | TestOutcome::XFailed
    )
}
