//! `localize`: locates the bug behind failing tests.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use trellis_engine::localize::{LineSuspect, RankedFunction};
use trellis_sandbox::Tree;

use super::run_limits::{TimeLimits, seconds};
use super::run_tests::{Limit, cancelled, limit};
use trellis_project::project;
use trellis_project::sources::Workspace;
use trellis_workflows::fault::Fault;
use trellis_workflows::localize::{self, Localization, LocalizeRequest};
use trellis_workflows::reporter::Reporter;
use trellis_workflows::sandbox::RAISED_BY;
use trellis_workflows::sandbox::{self, Packages, SandboxArgs};
use trellis_workflows::write_tests::registry;

/// Ranks the functions and lines that most likely make tests fail.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalizeParams {
    /// The project, of which nothing is changed; else the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only these tests: ids, files or folders; all if none is given.
    #[serde(default)]
    pub tests: Vec<String>,
    /// How many suspects to show; 10 if left out.
    #[serde(default = "ten")]
    pub top: u16,
    /// Seconds for trying small edits of suspicious lines against the tests; 0 tries none, 20 if left out.
    #[serde(default = "twenty")]
    pub trials: u64,
    #[serde(flatten)]
    pub limits: TimeLimits,
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
}

fn ten() -> u16 {
    10
}

fn twenty() -> u64 {
    20
}

/// The suspects.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalizeResult {
    /// What the failures indicate, if a fixed rule applies.
    pub diagnosis: Option<DiagnosisShape>,
    /// Ids of failing tests that passed when run again unchanged.
    pub flaky: Vec<String>,
    /// Functions, the most suspicious first.
    pub suspects: Vec<Suspect>,
    /// Lines of all of them, the most suspicious first.
    pub lines: Vec<SuspectLine>,
    /// Tests that fail.
    pub failures: Vec<FailingTest>,
    /// Which limits were enforced, and which were not.
    pub limits: Vec<Limit>,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

/// What failures indicate.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisShape {
    pub kind: &'static str,
    /// The rule's name, such as `undefined-name`.
    pub rule: &'static str,
    /// One sentence.
    pub why: String,
}

/// A suspicious function, or the top level of a module.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// Relative to the project.
    pub path: String,
    /// Its most suspicious line, from 1.
    pub line: u32,
    /// Its qualified name; empty for the top level.
    pub symbol: String,
    /// Between 0 and 1.
    pub score: f64,
    /// Why, in words.
    pub why: String,
    pub parts: ScoreParts,
    /// Its lines, the most suspicious first.
    pub lines: Vec<LineOfSuspect>,
    /// The repair of the best line that has one.
    pub repair: Option<String>,
    /// Whether that is a proof: a passing test runs the line, the line that raised still runs, and
    /// nothing is lost that other code uses.
    pub is_proven: bool,
    /// The text of the line; for text, not part of the result.
    #[serde(skip)]
    pub text: String,
}

/// A line of a suspect.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LineOfSuspect {
    /// From 1.
    pub line: u32,
    /// Between 0 and 1.
    pub score: f64,
    /// Why, in words.
    pub why: String,
    pub parts: ScoreParts,
    /// An edit that makes all failing tests pass and breaks none, as a unified diff.
    pub repair: Option<String>,
    /// Whether that is a proof: a passing test runs the line, the line that raised still runs, and
    /// nothing is lost that other code uses.
    pub is_proven: bool,
}

/// A suspicious line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuspectLine {
    /// Relative to the project.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// The qualified name of the function around it; empty at module level.
    pub symbol: String,
    /// Between 0 and 1.
    pub score: f64,
    /// Why, in words.
    pub why: String,
    /// An edit that makes all failing tests pass and breaks none, as a unified diff.
    pub repair: Option<String>,
    /// Whether that is a proof: a passing test runs the line, the line that raised still runs, and
    /// nothing is lost that other code uses.
    pub is_proven: bool,
}

/// The parts of a score, each between 0 and 1.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScoreParts {
    /// Ochiai over the tests.
    pub spectrum: f64,
    /// Frames of failing tests, and exceptions that only they raise.
    pub traceback: f64,
    /// Branches and values that only failing tests show, among the traced ones.
    pub observed: f64,
    /// 1 for code that a failing test calls directly, less for code called from there.
    pub distance: f64,
    /// 1 for uncommitted code, less for older code.
    pub recency: f64,
    /// By the text of the code.
    pub text: f64,
    /// By trial edits; 0 without any.
    pub trials: f64,
}

/// A test that fails.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailingTest {
    pub id: String,
    /// The exception's class.
    pub exception: String,
    /// Its text.
    pub message: String,
    /// The failing place, relative to the project.
    pub path: Option<String>,
    /// Its line, from 1.
    pub line: Option<u32>,
}

/// Localizes a bug. Notes go to the output; cancellation is a fault.
pub async fn localize(
    params: &LocalizeParams,
    reporter: &Reporter,
    cancel: &CancellationToken,
) -> Result<LocalizeResult, Fault> {
    let folder = params.root.as_deref().unwrap_or(Path::new("."));
    let root = folder.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
        Fault::input(format!("the folder {} does not exist", folder.display()))
            .hint("give the folder of a Python project")
    })?;
    let test_timeout = params.limits.of_test()?;
    let run_timeout = params.limits.of_run()?;
    let trials = Some(params.trials).filter(|it| *it > 0);
    let trials = trials.map(|it| seconds("trials", it)).transpose()?;
    let workspace = Workspace::open(&root)?;
    let opened = tokio::select! {
        () = cancel.cancelled() => return Err(cancelled("the search")),
        opened = sandbox::open(&params.sandbox, &root, Packages::Project, reporter) => opened?,
    };
    let snapshot = workspace.snapshot();
    let search = LocalizeRequest {
        runner: &opened.runner,
        tree: Tree::Folder(root.clone()),
        index: &snapshot.index,
        // Also for an installed project, since mutants run in the copy.
        source_folders: project::source_folders(&root),
        targets: params.tests.clone(),
        also: registry::test_files(&root),
        named: Vec::new(),
        test_timeout,
        run_timeout,
        raised_by: RAISED_BY,
        trials,
        history: Some(root),
        cancel,
    };
    let found = search.run().await;
    let left = opened.runner.close().await;
    let mut found = found?;
    found.notes.extend(workspace.problems());
    found.notes.extend(left);
    if cancel.is_cancelled() {
        return Err(cancelled("the search"));
    }
    let source = |file: usize, line: u32| {
        let id = snapshot.index.file(&found.evidence.files[file].path)?;
        let text = snapshot.index.text(id)?;
        text.lines().nth(line.max(1) as usize - 1).map(|it| it.trim().to_owned())
    };
    Ok(result(&found, usize::from(params.top), source))
}

/// Maximum number of lines listed over all suspects.
const LINES: usize = 50;

fn result(
    found: &Localization,
    top: usize,
    source: impl Fn(usize, u32) -> Option<String>,
) -> LocalizeResult {
    let path = |file: usize| found.evidence.files[file].path.clone();
    let suspects = found.ranking.suspects.iter().take(top);
    let lines = found.ranking.lines.iter().take(LINES.max(top));
    let diagnosis = found.diagnosis.as_ref().map(|it| DiagnosisShape {
        kind: it.diagnosis.as_str(),
        rule: it.rule,
        why: it.why.clone(),
    });
    LocalizeResult {
        diagnosis,
        flaky: found.flaky.clone(),
        suspects: suspects
            .map(|it| suspect(it, path(it.file), source(it.file, it.line).unwrap_or_default()))
            .collect(),
        lines: lines.map(|it| suspect_line(it, path(it.file))).collect(),
        failures: found.failures.iter().map(failing).collect(),
        limits: found.limits.iter().map(limit).collect(),
        notes: found.notes.clone(),
    }
}

fn suspect(it: &RankedFunction, path: String, text: String) -> Suspect {
    Suspect {
        path,
        line: it.line.max(1),
        symbol: it.symbol.clone(),
        score: rounded(it.score),
        why: it.why.clone(),
        parts: parts(&it.parts),
        lines: it.lines.iter().map(line).collect(),
        repair: it.repair.as_ref().map(|it| it.diff.clone()),
        is_proven: it.is_proven,
        text,
    }
}

fn suspect_line(it: &LineSuspect, path: String) -> SuspectLine {
    SuspectLine {
        path,
        line: it.line.max(1),
        symbol: it.symbol.clone(),
        score: rounded(it.score),
        why: it.why.clone(),
        repair: it.repair.as_ref().map(|it| it.diff.clone()),
        is_proven: it.is_proven,
    }
}

fn line(it: &LineSuspect) -> LineOfSuspect {
    LineOfSuspect {
        line: it.line,
        score: rounded(it.score),
        why: it.why.clone(),
        parts: parts(&it.parts),
        repair: it.repair.as_ref().map(|it| it.diff.clone()),
        is_proven: it.is_proven,
    }
}

fn parts(it: &trellis_engine::localize::ScoreParts) -> ScoreParts {
    ScoreParts {
        spectrum: rounded(it.spectrum),
        traceback: rounded(it.traceback),
        observed: rounded(it.observed),
        distance: rounded(it.distance),
        recency: rounded(it.recency),
        text: rounded(it.text),
        trials: rounded(it.trials),
    }
}

fn failing(it: &localize::FailingTest) -> FailingTest {
    FailingTest {
        id: it.id.clone(),
        exception: it.failure.exception.clone(),
        message: it.failure.message.clone(),
        path: it.failure.path.clone(),
        line: it.failure.line,
    }
}

/// Rounds to four places: more would show differences between processors.
fn rounded(score: f64) -> f64 {
    (score * 1e4).round() / 1e4
}
