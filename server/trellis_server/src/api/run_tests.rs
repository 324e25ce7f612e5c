//! `runTests`: runs a project's tests in the sandbox.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use trellis_sandbox::frameworks::{Framework, detect};
use trellis_sandbox::{LimitStatus, Outcome, Report, Request, Subtest, TestResult, Tree};

use super::run_limits::TimeLimits;
use trellis_project::project::{self, Project};
use trellis_project::test_finder::with_marked_groups;
use trellis_workflows::convert::test_outcome;
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::reporter::Reporter;
use trellis_workflows::sandbox::{CONTINUE_ON_COLLECTION_ERRORS, RAISED_BY};
use trellis_workflows::sandbox::{Packages, SandboxArgs, WarmSandboxes};
use trellis_workflows::write_tests::registry;

/// Runs a project's tests in the sandbox.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunTestsParams {
    /// A test file, folder or id such as `tests/test_a.py::test_b`, relative to the root.
    #[serde(default)]
    pub test_path: Option<String>,
    /// More of them. Without any, all tests of the root's project run.
    #[serde(default)]
    pub paths: Vec<String>,
    /// The folder; default: the current folder. The project is the one that contains the tests.
    #[serde(default)]
    pub root: Option<PathBuf>,
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    /// The framework that runs the tests; detected from the project's files if left out.
    #[serde(default)]
    pub framework: Option<Tool>,
    #[serde(flatten)]
    pub limits: TimeLimits,
    /// Whether to measure which lines the tests execute.
    #[serde(default)]
    pub coverage: bool,
    /// Whether to record what each test executes and reads, for `affectedTests`. For pytest, and not
    /// with `coverage`.
    #[serde(default)]
    pub record_execution: bool,
    /// Whether to start a fresh interpreter, instead of forking a warm one.
    #[serde(default)]
    pub cold: bool,
    /// Options for pytest, such as `-k` and a name.
    #[serde(default)]
    pub arguments: Vec<String>,
}

/// The frameworks by the names of their programs.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Tool {
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Go,
}

impl From<Tool> for Framework {
    fn from(tool: Tool) -> Framework {
        match tool {
            Tool::Pytest => Framework::Pytest,
            Tool::Unittest => Framework::Unittest,
            Tool::Jest => Framework::Jest,
            Tool::Vitest => Framework::Vitest,
            Tool::Go => Framework::Go,
        }
    }
}

impl From<Framework> for Tool {
    fn from(framework: Framework) -> Tool {
        match framework {
            Framework::Pytest => Tool::Pytest,
            Framework::Unittest => Tool::Unittest,
            Framework::Jest => Tool::Jest,
            Framework::Vitest => Tool::Vitest,
            Framework::Go => Tool::Go,
        }
    }
}

/// The result of a test run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunTestsResult {
    /// The folder of the project.
    pub root: String,
    /// The interpreter that ran them; null in a container.
    pub interpreter: Option<String>,
    /// `passed`, `failed`, `collectionError`, `noTests`, `timedOut`, `killedForMemory`, `crashed`, `tampered`,
    /// `sandboxLost`, `sandboxUnavailable` or `cancelled`.
    pub outcome: &'static str,
    /// The framework left no usable records, so the results come from its text output.
    pub parsing_failed: bool,
    /// Why, if the outcome alone does not say it.
    pub reason: Option<String>,
    /// The engine on which the tests ran, if you named engines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// In the order they ran.
    pub tests: Vec<TestShape>,
    /// Ids that were collected but have no result.
    pub not_run: Vec<String>,
    /// Ids that were found, but left out by the project's options, a plugin or a hook.
    pub deselected: Vec<String>,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
    /// What could not be imported or found.
    pub collection_errors: Vec<FailureShape>,
    /// Which limits were enforced, and which were not.
    pub limits: Vec<Limit>,
    /// Wall time.
    pub duration_ms: u64,
    /// Executed lines, by path; null if you did not ask for them, or if they are not available.
    pub coverage: Option<BTreeMap<String, LineCoverage>>,
}

/// One test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestShape {
    /// pytest's node id, relative to the project; ids of other frameworks look alike.
    pub id: String,
    /// How it ended, such as `passed` or `failed`.
    pub outcome: String,
    /// Set-up, call and tear-down together.
    pub duration_ms: u64,
    /// The file that defines it, relative to the project.
    pub path: String,
    /// The line of its `def`, from 1; null for tests that are not Python functions.
    pub line: Option<u32>,
    /// Why it was skipped or expected to fail.
    pub reason: Option<String>,
    /// Its first failure.
    pub failure: Option<FailureShape>,
    /// What it printed, cut at 32,000 characters.
    pub stdout: String,
    /// What it wrote to standard error, cut in the same way.
    pub stderr: String,
    /// What it logged, cut in the same way; only pytest captures it.
    pub log: String,
    /// The parts that it ran with `subTest` or the fixture `subtests`, in order.
    pub subtests: Vec<SubtestShape>,
}

/// One part of a test.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubtestShape {
    /// Its description, such as `[message] (i=1)`.
    pub name: String,
    /// How it ended, such as `passed` or `failed`.
    pub outcome: String,
    /// Its failure.
    pub failure: Option<FailureShape>,
}

/// Why a test failed, or was not collected.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailureShape {
    /// The exception's class.
    pub exception: String,
    /// Its text.
    pub message: String,
    /// The failing place, relative to the project.
    pub path: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// The file that could not be collected, relative to the project; null for the failure of a test.
    pub collecting: Option<String>,
    /// As the framework shows it.
    pub traceback: String,
    /// Both sides of the comparison that failed, if it was one.
    pub comparison: Option<ComparisonShape>,
}

/// A comparison that failed; its sides as `repr` shows them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonShape {
    /// `==`, `in`, `<`, ...
    pub operator: String,
    /// The left side: usually the actual value.
    pub actual: String,
    /// The right side: usually the expected value.
    pub expected: String,
}

/// Whether one limit is enforced.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Limit {
    /// What is limited, such as `memory`.
    pub name: &'static str,
    /// False: test code can exceed it.
    pub enforced: bool,
    /// How it is enforced, or why it is not.
    pub how: String,
}

/// Line coverage of one file; lines from 1, ascending.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineCoverage {
    /// Statements executed, by import or by a test.
    pub executed: Vec<u32>,
    /// Statements never executed.
    pub missing: Vec<u32>,
}

/// Tests about to run.
pub struct Prepared {
    request: Request,
    run_timeout: Option<Duration>,
    /// Returns the project's folder.
    root: PathBuf,
    sandbox: SandboxArgs,
}

/// Tests that have run.
pub struct Ran {
    /// Returns the project's folder.
    root: PathBuf,
    interpreter: Option<PathBuf>,
    pub report: Report,
}

impl Prepared {
    /// Finds the project and its test framework, without starting anything.
    pub fn of(params: &RunTestsParams, reporter: &Reporter) -> Result<Prepared, Fault> {
        let Project { root, targets } = project::of(&named(params))?;
        let framework = framework(params.framework, &root, reporter);
        if framework != Framework::Pytest && !params.arguments.is_empty() {
            return Err(Fault::new(Exit::Usage, format!("{framework} takes no options from here"))
                .hint("only pytest does; put others into the project's own settings"));
        }
        let request = Request {
            arguments: arguments(params, framework),
            also: registry::test_files(&root),
            // A test named by the caller runs even if the project's options deselect it.
            whole: params.arguments.is_empty() && are_tests(&targets),
            targets,
            framework,
            test_timeout: params.limits.of_test()?,
            raised_by: RAISED_BY,
            coverage: params.coverage,
            execution: params.record_execution && !params.coverage,
            cold: params.cold,
            ..Request::new(Tree::Folder(root.clone()))
        };
        let run_timeout = params.limits.of_run()?;
        Ok(Prepared { request, run_timeout, root, sandbox: params.sandbox.clone() })
    }

    /// Returns the project's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Adds test files to a run of all tests, independent of the project's settings.
    pub fn also(&mut self, files: impl IntoIterator<Item = String>) {
        let known: BTreeSet<String> = self.request.also.drain(..).chain(files).collect();
        self.request.also = known.into_iter().collect();
    }

    /// Returns the requested targets, relative to the project's folder; empty for all tests.
    pub fn targets(&self) -> &[String] {
        &self.request.targets
    }

    /// Runs the tests in one of the sandboxes and reports each as it ends; notes go to the output.
    /// Cancellation before the start is a fault, later an outcome.
    pub async fn run(
        mut self,
        sandboxes: &WarmSandboxes,
        reporter: &Reporter,
        cancel: &CancellationToken,
        on_test: &mut (dyn FnMut(&TestResult) + Send),
    ) -> Result<Ran, Fault> {
        reporter.note(format_args!("project: {}", self.root.display()));
        let python = matches!(self.request.framework, Framework::Pytest | Framework::Unittest);
        let needs = if python { Packages::Project } else { Packages::Lines(Vec::new()) };
        let sandbox = tokio::select! {
            () = cancel.cancelled() => return Err(cancelled("the run of the tests")),
            opened = sandboxes.open(&self.sandbox, &self.root, needs, reporter) => opened?,
        };
        if !sandbox.is_projects_own {
            self.request.source_folders = project::source_folders(&self.root);
        }
        if matches!(self.request.framework, Framework::Jest | Framework::Vitest) {
            self.request.targets = with_marked_groups(&self.root, &self.request.targets);
        }
        let usual = sandbox.runner.request(self.request.tree.clone());
        self.request.limits = usual.limits;
        self.request.run_timeout = self.run_timeout.unwrap_or(usual.run_timeout);
        let report = sandbox.runner.run_telling(&self.request, cancel, on_test).await;
        let interpreter = sandbox.interpreter.clone();
        Ok(Ran { root: self.root, interpreter, report })
    }
}

/// Returns the fault of work that was cancelled before any result.
pub fn cancelled(what: &str) -> Fault {
    Fault::new(Exit::Interrupted, format!("{what} was cancelled")).hint("nothing was changed")
}

/// Returns the requested tests, or the folder.
fn named(params: &RunTestsParams) -> Vec<String> {
    let given = params.test_path.iter().chain(&params.paths);
    let Some(root) = &params.root else { return given.cloned().collect() };
    let below = |it: &String| root.join(it).to_string_lossy().into_owned();
    let named: Vec<String> = given.map(below).collect();
    if named.is_empty() { vec![root.to_string_lossy().into_owned()] } else { named }
}

/// Returns whether all targets are tests or classes, not files or folders.
fn are_tests(targets: &[String]) -> bool {
    !targets.is_empty() && targets.iter().all(|it| it.contains("::"))
}

/// Returns the framework's arguments. With pytest, a file that cannot be imported does not stop the
/// others.
fn arguments(params: &RunTestsParams, framework: Framework) -> Vec<String> {
    let goes_on =
        (framework == Framework::Pytest).then_some(CONTINUE_ON_COLLECTION_ERRORS.to_owned());
    goes_on.into_iter().chain(params.arguments.iter().cloned()).collect()
}

/// Returns the requested framework, else the detected one, else pytest.
fn framework(asked: Option<Tool>, root: &Path, reporter: &Reporter) -> Framework {
    if let Some(tool) = asked {
        return tool.into();
    }
    match detect(root) {
        // pytest also runs unittest tests, and finds more of them.
        None => Framework::Pytest,
        Some(found) if matches!(found.framework, Framework::Pytest | Framework::Unittest) => {
            Framework::Pytest
        }
        Some(found) => {
            reporter.note(format_args!("{}: {}", found.framework, found.because));
            found.framework
        }
    }
}

impl Ran {
    /// Returns the exit code; a fault if the state of the tests is unknown. `left` holds problems
    /// left by the sandboxes, as sentences.
    pub fn verdict(&self, left: &[String]) -> Result<Exit, Fault> {
        match &self.report.outcome {
            Outcome::Passed => Ok(Exit::Done),
            Outcome::Cancelled => Ok(Exit::Interrupted),
            Outcome::SandboxUnavailable { reason } | Outcome::SandboxLost { reason } => {
                Err(Fault::unavailable(reason))
            }
            _ if !left.is_empty() => Err(Fault::internal(left.join("; "))),
            _ => Ok(Exit::TestsFailed),
        }
    }

    pub fn result(&self) -> RunTestsResult {
        let report = &self.report;
        let coverage = report.coverage.as_ref().map(|coverage| {
            let lines = |it: &trellis_sandbox::FileCoverage| LineCoverage {
                executed: it.executed.clone(),
                missing: it.missing.clone(),
            };
            coverage.files.iter().map(|(path, it)| (path.clone(), lines(it))).collect()
        });
        RunTestsResult {
            root: self.root.to_string_lossy().into_owned(),
            interpreter: self.interpreter.as_ref().map(|it| it.to_string_lossy().into_owned()),
            outcome: outcome(&report.outcome),
            parsing_failed: report.parsing_failed,
            reason: reason(report).map(str::to_owned),
            engine: report.engine.clone(),
            tests: report.tests.iter().map(test).collect(),
            not_run: report.not_run.clone(),
            deselected: report.deselected.clone(),
            notes: report.notes.clone(),
            collection_errors: report.collection_errors.iter().map(failure).collect(),
            limits: report.limits.iter().map(limit).collect(),
            duration_ms: report.duration.as_millis() as u64,
            coverage,
        }
    }
}

/// Returns the outcome's name in results.
pub fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::CollectionError => "collectionError",
        Outcome::NoTests => "noTests",
        Outcome::TimedOut => "timedOut",
        Outcome::KilledForMemory => "killedForMemory",
        Outcome::Crashed { .. } => "crashed",
        Outcome::Tampered { .. } => "tampered",
        Outcome::SandboxLost { .. } => "sandboxLost",
        Outcome::SandboxUnavailable { .. } => "sandboxUnavailable",
        Outcome::Cancelled => "cancelled",
    }
}

/// Returns the reason of an outcome, if the outcome alone does not explain it.
pub fn reason(report: &Report) -> Option<&str> {
    match &report.outcome {
        Outcome::Tampered { what } => Some(what),
        Outcome::SandboxLost { reason } | Outcome::SandboxUnavailable { reason } => Some(reason),
        _ => report.reason.as_deref(),
    }
}

fn test(test: &TestResult) -> TestShape {
    TestShape {
        id: test.id.clone(),
        outcome: test_outcome(test.outcome),
        duration_ms: test.duration.as_millis() as u64,
        path: test.path.clone(),
        line: test.line,
        reason: test.reason.clone(),
        failure: test.failure.as_ref().map(failure),
        stdout: test.stdout.clone(),
        stderr: test.stderr.clone(),
        log: test.log.clone(),
        subtests: test.subtests.iter().map(subtest).collect(),
    }
}

fn subtest(it: &Subtest) -> SubtestShape {
    SubtestShape {
        name: it.name.clone(),
        outcome: test_outcome(it.outcome),
        failure: it.failure.as_ref().map(failure),
    }
}

fn failure(failure: &trellis_sandbox::Failure) -> FailureShape {
    FailureShape {
        exception: failure.exception.clone(),
        message: failure.message.clone(),
        path: failure.path.clone(),
        line: failure.line,
        collecting: failure.collecting.clone(),
        traceback: failure.traceback.clone(),
        comparison: failure.comparison.as_ref().map(|it| ComparisonShape {
            operator: it.operator.clone(),
            actual: it.actual.clone(),
            expected: it.expected.clone(),
        }),
    }
}

pub fn limit(it: &LimitStatus) -> Limit {
    Limit { name: it.name, enforced: it.enforced, how: it.how.clone() }
}
