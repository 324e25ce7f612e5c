//! `repair`: fixes failing tests of any Python project, with approval by a person or by a person's
//! rule.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Mode;
use trellis_engine::repair::Limits;

use super::generate::FixWith;
use super::proposals::ConfidenceShape;
use super::run_limits::{TEST_SECONDS, mode, test_seconds};
use trellis_workflows::fault::Fault;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::repair::{RepairRequest, WriteTarget, report};
use trellis_workflows::sandbox::{RAISED_BY, SandboxArgs};
use trellis_workflows::timing::Timing;
use trellis_workflows::write_tests::registry;

/// Fix failing tests; every fix is tested on a copy first.
///
/// Runs the tests, finds causes, asks the model for a fix of each, and tries it on a copy of the project. Doubtful fixes wait
/// for your approval.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepairArgs {
    /// Folder of the project.
    #[arg(default_value = ".", value_name = "PROJECT")]
    #[serde(default)]
    pub root: PathBuf,
    /// Fix only these failing tests: ids, files or folders. Default: all that fail.
    #[arg(long = "test", value_name = "ID")]
    #[serde(default)]
    pub tests: Vec<String>,
    /// Check fixes with these test files and folders only. Default: all tests.
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    pub suite: Vec<String>,
    /// Describe in your own words what is wrong; the model reads it.
    #[arg(long, value_name = "TEXT")]
    #[serde(default)]
    pub issue: Option<String>,
    /// Try at most this many fixes for one cause.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    #[serde(default = "defaults::five")]
    pub max_iterations: u32,
    /// Collect this many passing fixes and keep the best. Each one is a request to the model.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    #[serde(default = "defaults::one")]
    pub candidates: u8,
    /// Which fixes need your approval: none (autonomous), all (supervised), or doubtful ones (threshold).
    #[arg(long, value_name = "MODE", default_value = "threshold", value_parser = mode())]
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub approve: Mode,
    /// Ask for approval of every change to these files, such as `billing/**`. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    #[serde(default)]
    pub critical: Vec<String>,
    /// Let a fix change at most this many lines of one file.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(default = "defaults::fifty")]
    pub max_lines: u32,
    /// Skip the diagnosis that the model writes before a fix.
    #[arg(long)]
    #[serde(default)]
    pub no_report: bool,
    /// Before the model is asked, try small edits of suspicious lines for this many seconds; 0 tries none.
    #[arg(long, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(0..=86_400))]
    #[serde(default = "defaults::twenty")]
    pub trials: u64,
    /// How the model works: in one reply, or with tools that search and edit a copy of the project.
    #[arg(long, value_enum, default_value_t = FixWith::Reply, value_name = "MODE", help_heading = "Model")]
    #[serde(default)]
    pub fix_with: FixWith,
    /// Change no file; show the fixes, and write the patch with --patch.
    #[arg(long, conflicts_with = "worktree")]
    #[serde(default)]
    pub dry_run: bool,
    /// Fix the last commit in a separate git worktree. Fixes go to a branch; your files do not change.
    #[arg(long)]
    #[serde(default)]
    pub worktree: bool,
    /// Commit the fixes that were kept, and nothing else.
    #[arg(long, conflicts_with_all = ["dry_run", "worktree"])]
    #[serde(default)]
    pub commit: bool,
    /// Write the fixes to this file as a patch for `git apply`.
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub patch: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    /// Wait for your decision about fixes that need approval. Default: they wait as proposals, and the repair continues.
    #[arg(skip)]
    #[serde(default)]
    pub wait: bool,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", default_value_t = TEST_SECONDS, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    #[serde(default = "test_seconds")]
    pub test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    #[serde(default)]
    pub run_timeout: Option<u64>,
}

mod defaults {
    pub(super) fn five() -> u32 {
        5
    }
    pub(super) fn one() -> u8 {
        1
    }
    pub(super) fn fifty() -> u32 {
        50
    }
    pub(super) fn twenty() -> u64 {
        20
    }
}

impl RepairArgs {
    /// Returns the request; paths are relative to `base`.
    pub fn order(self, base: &Path) -> Result<RepairRequest, Fault> {
        let folder = base.join(&self.root);
        let root = folder.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
            Fault::input(format!("the folder {} does not exist", folder.display()))
                .hint("give the folder of a Python project")
        })?;
        let place = match (self.dry_run, self.worktree) {
            (true, _) => WriteTarget::PatchOnly,
            (_, true) => WriteTarget::Branch,
            _ => WriteTarget::WorkingTree,
        };
        Ok(RepairRequest {
            home: root.clone(),
            root: root.clone(),
            tests: self.tests,
            suite: self.suite,
            also: registry::test_files(&root),
            failing: Vec::new(),
            issue: self.issue,
            earlier: Vec::new(),
            limits: Limits {
                iterations: self.max_iterations.max(1),
                candidates: usize::from(self.candidates),
            },
            most_lines: self.max_lines as usize,
            mode: self.approve,
            critical: self.critical,
            report: !self.no_report,
            trials: Some(self.trials).filter(|it| *it > 0).map(Duration::from_secs),
            fix_with: self.fix_with.into(),
            place,
            patch: self.patch.map(|it| base.join(it)),
            commit: self.commit,
            model: self.model,
            sandbox: self.sandbox,
            test_timeout: Duration::from_secs(self.test_timeout.max(1)),
            run_timeout: self.run_timeout.map(|it| Duration::from_secs(it.max(1))),
            raised_by: RAISED_BY,
        })
    }
}

/// The result of a repair.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RepairResult {
    /// `nothingToDo`, `repaired`, `partly`, `notRepaired` or `needsHuman`.
    pub outcome: String,
    /// The exit code of the command line: 0 nothing fails any longer, 1 some tests fail, 2 needs your review, or a
    /// fix of the environment.
    pub exit_code: u8,
    /// The tests before the repair.
    pub before: TestCounts,
    /// The tests now, without fixes that need your review.
    pub after: TestCounts,
    /// Kept fixes.
    pub fixes: Vec<KeptFix>,
    /// Failing tests by likely cause, in the order of work.
    pub groups: Vec<GroupShape>,
    /// Tests that failed and passed when run again.
    pub flaky: Vec<String>,
    /// Failing tests that no change of the code can fix.
    pub set_aside: Vec<SetAside>,
    /// The path of the patch, if you asked for it.
    pub patch: Option<String>,
    /// The branch with the fixes, if you asked for one.
    pub branch: Option<String>,
    /// The commit with the fixes, if you asked for one.
    pub commit: Option<String>,
    /// Folder with diagnoses, report and patch, relative to the project; null if nothing failed.
    pub artifacts: Option<String>,
    /// US dollars, as far as prices are known; null without prompts to a model.
    pub usd: Option<f64>,
    /// Tokens in and out; null without prompts to a model.
    pub tokens: Option<u64>,
    pub time: Time,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

/// How long it took.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Time {
    /// The total time.
    pub seconds: f64,
    /// The part of it that test runs took, each from the start of its process to its end.
    pub test_seconds: f64,
    pub test_runs: u64,
}

/// Tests by result.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestCounts {
    pub passing: usize,
    /// Without tests that pass when run again.
    pub failing: usize,
}

/// A kept fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptFix {
    /// Its id, for `undoFix`; null if nothing was written into the tree.
    pub fix: Option<String>,
    pub reason: String,
    pub confidence: ConfidenceShape,
    /// Relative to the root.
    pub paths: Vec<String>,
    /// A unified diff.
    pub diff: String,
}

/// Failing tests with one likely cause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupShape {
    /// Sorted.
    pub tests: Vec<String>,
    pub diagnosis: DiagnosisShape,
    pub attempts: Vec<AttemptShape>,
    /// Fixes that were suggested or tried, but not chosen.
    pub alternatives: Vec<AlternativeShape>,
    /// The kept fix: its id, or `kept`.
    pub kept: Option<String>,
    /// The fix that needs your review.
    pub waiting: Option<String>,
    /// Why it was not repaired.
    pub given_up: Option<String>,
}

/// The diagnosis of a failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisShape {
    /// The version of this format.
    pub version: u32,
    /// `test_failure`, `build_error`, `runtime_error` or `type_error`.
    pub issue_type: String,
    /// `Critical` (tests cannot be collected, or most fail), `High` (several files, an endless loop), `Medium` (several tests),
    /// `Low` (one test).
    pub severity: String,
    /// The exception of the first test, and its message.
    pub error: String,
    pub root_cause: String,
    /// `model` or `measured`: the source of the cause.
    pub root_cause_by: String,
    pub affected_files: Vec<AffectedFile>,
    /// The model's suggestions before anything was tried.
    pub suggested_fixes: Vec<SuggestedFix>,
    /// As sentences.
    pub looked_at: Vec<String>,
}

/// A place related to a failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AffectedFile {
    /// Relative to the root.
    pub path: String,
    /// The first line of the snippet, from 1.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    pub code_snippet: String,
    /// How it is related.
    pub issue_description: String,
}

/// A fix in words.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedFix {
    pub description: String,
    /// The model's own confidence, from 0 to 1, if it gave one; nothing depends on it.
    pub confidence: Option<f64>,
}

/// A fix that was tried.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AttemptShape {
    /// From 1.
    pub number: u32,
    /// `passed`, `failed`, `unusable` or `rejected`.
    pub outcome: String,
    /// Why, or what it does.
    pub what: String,
    /// A unified diff, if there was a change to try.
    pub diff: Option<String>,
    /// Only for one that passed.
    pub confidence: Option<ConfidenceShape>,
    /// Signs that it is tailored to its tests, with their places.
    pub shortcuts: Vec<String>,
    /// `trial` if small edits found it and no model was asked; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
}

/// A fix that was not chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AlternativeShape {
    /// `Fix 1`, or `Suggestion 1` with its description.
    pub name: String,
    /// Its result, and why.
    pub became: String,
    /// For a fix that passed, measured; for a suggestion, the model's own, from 0 to 1.
    pub confidence: Option<f64>,
    /// A unified diff, if there is one; for a suggestion that was tried, that of the fix.
    pub diff: Option<String>,
}

/// A failing test that no change of the code can fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SetAside {
    /// pytest's id, or the path of a file that cannot be collected.
    pub test: String,
    pub why: String,
}

impl From<report::RepairReport> for RepairResult {
    fn from(it: report::RepairReport) -> RepairResult {
        RepairResult {
            outcome: it.outcome,
            exit_code: it.exit_code,
            before: it.before.into(),
            after: it.after.into(),
            fixes: it.fixes.into_iter().map(Into::into).collect(),
            groups: it.groups.into_iter().map(Into::into).collect(),
            flaky: it.flaky,
            set_aside: it.set_aside.into_iter().map(Into::into).collect(),
            patch: it.patch,
            branch: it.branch,
            commit: it.commit,
            artifacts: it.artifacts,
            usd: it.usd,
            tokens: it.tokens,
            time: it.time.into(),
            notes: it.notes,
        }
    }
}

impl From<Timing> for Time {
    fn from(it: Timing) -> Time {
        Time { seconds: it.seconds, test_seconds: it.test_seconds, test_runs: it.test_runs }
    }
}

impl From<report::TestCounts> for TestCounts {
    fn from(it: report::TestCounts) -> TestCounts {
        TestCounts { passing: it.passing, failing: it.failing }
    }
}

impl From<report::KeptFix> for KeptFix {
    fn from(it: report::KeptFix) -> KeptFix {
        KeptFix {
            fix: it.fix,
            reason: it.reason,
            confidence: it.confidence.into(),
            paths: it.paths,
            diff: it.diff,
        }
    }
}

impl From<report::GroupReport> for GroupShape {
    fn from(it: report::GroupReport) -> GroupShape {
        GroupShape {
            tests: it.tests,
            diagnosis: it.diagnosis.into(),
            attempts: it.attempts.into_iter().map(Into::into).collect(),
            alternatives: it.alternatives.into_iter().map(Into::into).collect(),
            kept: it.kept,
            waiting: it.waiting,
            given_up: it.given_up,
        }
    }
}

impl From<report::DiagnosisReport> for DiagnosisShape {
    fn from(it: report::DiagnosisReport) -> DiagnosisShape {
        DiagnosisShape {
            version: it.version,
            issue_type: it.issue_type,
            severity: it.severity,
            error: it.error,
            root_cause: it.root_cause,
            root_cause_by: it.root_cause_by,
            affected_files: it.affected_files.into_iter().map(Into::into).collect(),
            suggested_fixes: it.suggested_fixes.into_iter().map(Into::into).collect(),
            looked_at: it.looked_at,
        }
    }
}

impl From<report::AffectedFile> for AffectedFile {
    fn from(it: report::AffectedFile) -> AffectedFile {
        AffectedFile {
            path: it.path,
            line_start: it.line_start,
            line_end: it.line_end,
            code_snippet: it.code_snippet,
            issue_description: it.issue_description,
        }
    }
}

impl From<report::SuggestedFix> for SuggestedFix {
    fn from(it: report::SuggestedFix) -> SuggestedFix {
        SuggestedFix { description: it.description, confidence: it.confidence }
    }
}

impl From<report::AttemptReport> for AttemptShape {
    fn from(it: report::AttemptReport) -> AttemptShape {
        AttemptShape {
            number: it.number,
            outcome: it.outcome,
            what: it.what,
            diff: it.diff,
            confidence: it.confidence.map(Into::into),
            shortcuts: it.shortcuts,
            found_by: it.found_by,
        }
    }
}

impl From<report::AlternativeReport> for AlternativeShape {
    fn from(it: report::AlternativeReport) -> AlternativeShape {
        AlternativeShape {
            name: it.name,
            became: it.became,
            confidence: it.confidence,
            diff: it.diff,
        }
    }
}

impl From<report::SetAside> for SetAside {
    fn from(it: report::SetAside) -> SetAside {
        SetAside { test: it.test, why: it.why }
    }
}
