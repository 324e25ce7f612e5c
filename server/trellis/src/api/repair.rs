//! `repair`: fixes failing tests of any Python project, with approval by a person or by a person's
//! rule.

use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Mode;
use trellis_engine::repair::{Diagnostic, Limits};
use trellis_sandbox::Totals;

use super::generate::FixWith;
use super::proposals::ConfidenceShape;
use super::run_limits::{TEST_SECONDS, mode, test_seconds};
use crate::error::Fault;
use crate::models::ModelArgs;
use crate::proposals::{Proposal, State};
use crate::repair::{RepairRequest, UNNUMBERED, WriteTarget, commit_title};
use crate::sandbox::RAISED_BY;
use crate::sandbox::SandboxArgs;
use crate::write_tests::registry;

/// Fix failing tests; every fix is tested on a copy first.
///
/// Runs the tests, finds causes, asks the model for a fix of each, and tries it on a copy of the project. Doubtful fixes wait
/// for your approval.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RepairArgs {
    /// Folder of the project.
    #[arg(default_value = ".", value_name = "PROJECT")]
    #[serde(default)]
    pub(crate) root: PathBuf,
    /// Fix only these failing tests: ids, files or folders. Default: all that fail.
    #[arg(long = "test", value_name = "ID")]
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    /// Check fixes with these test files and folders only. Default: all tests.
    #[arg(long, value_name = "PATH")]
    #[serde(default)]
    pub(crate) suite: Vec<String>,
    /// Describe in your own words what is wrong; the model reads it.
    #[arg(long, value_name = "TEXT")]
    #[serde(default)]
    pub(crate) issue: Option<String>,
    /// Try at most this many fixes for one cause.
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=50))]
    #[serde(default = "defaults::five")]
    pub(crate) max_iterations: u32,
    /// Collect this many passing fixes and keep the best. Each one is a request to the model.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=10))]
    #[serde(default = "defaults::one")]
    pub(crate) candidates: u8,
    /// Which fixes need your approval: none (autonomous), all (supervised), or doubtful ones (threshold).
    #[arg(long, value_name = "MODE", default_value = "threshold", value_parser = mode())]
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub(crate) approve: Mode,
    /// Ask for approval of every change to these files, such as `billing/**`. Repeatable.
    #[arg(long, value_name = "PATTERN")]
    #[serde(default)]
    pub(crate) critical: Vec<String>,
    /// Let a fix change at most this many lines of one file.
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[serde(default = "defaults::fifty")]
    pub(crate) max_lines: u32,
    /// Skip the diagnosis that the model writes before a fix.
    #[arg(long)]
    #[serde(default)]
    pub(crate) no_report: bool,
    /// How the model works: in one reply, or with tools that search and edit a copy of the project.
    #[arg(long, value_enum, default_value_t = FixWith::Reply, value_name = "MODE", help_heading = "Model")]
    #[serde(default)]
    pub(crate) fix_with: FixWith,
    /// Change no file; show the fixes, and write the patch with --patch.
    #[arg(long, conflicts_with = "worktree")]
    #[serde(default)]
    pub(crate) dry_run: bool,
    /// Fix the last commit in a separate git worktree. Fixes go to a branch; your files do not change.
    #[arg(long)]
    #[serde(default)]
    pub(crate) worktree: bool,
    /// Commit the fixes that were kept, and nothing else.
    #[arg(long, conflicts_with_all = ["dry_run", "worktree"])]
    #[serde(default)]
    pub(crate) commit: bool,
    /// Write the fixes to this file as a patch for `git apply`.
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    pub(crate) patch: Option<PathBuf>,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) model: ModelArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Wait for your decision about fixes that need approval. Default: they wait as proposals, and the repair continues.
    #[arg(skip)]
    #[serde(default)]
    pub(crate) wait: bool,
    /// Time limit for one test, in seconds.
    #[arg(long, alias = "timeout", help_heading = "Sandbox", default_value_t = TEST_SECONDS, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    #[serde(default = "test_seconds")]
    pub(crate) test_timeout: u64,
    /// Time limit for all tests of a run, in seconds [default: 1800].
    #[arg(long, help_heading = "Sandbox", value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    #[serde(default)]
    pub(crate) run_timeout: Option<u64>,
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
}

impl RepairArgs {
    /// Returns the request; paths are relative to `base`.
    pub(crate) fn order(self, base: &Path) -> Result<RepairRequest, Fault> {
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
pub(crate) struct RepairResult {
    /// `nothingToDo`, `repaired`, `partly`, `notRepaired` or `needsHuman`.
    pub(crate) outcome: String,
    /// The exit code of the command line: 0 nothing fails any longer, 1 some tests fail, 2 needs your review, or a
    /// fix of the environment.
    pub(crate) exit_code: u8,
    /// The tests before the repair.
    pub(crate) before: TestCounts,
    /// The tests now, without fixes that need your review.
    pub(crate) after: TestCounts,
    /// Kept fixes.
    pub(crate) fixes: Vec<KeptFix>,
    /// Failing tests by likely cause, in the order of work.
    pub(crate) groups: Vec<GroupShape>,
    /// Tests that failed and passed when run again.
    pub(crate) flaky: Vec<String>,
    /// Failing tests that no change of the code can fix.
    pub(crate) set_aside: Vec<SetAside>,
    /// The path of the patch, if you asked for it.
    pub(crate) patch: Option<String>,
    /// The branch with the fixes, if you asked for one.
    pub(crate) branch: Option<String>,
    /// The commit with the fixes, if you asked for one.
    pub(crate) commit: Option<String>,
    /// Folder with diagnoses, report and patch, relative to the project; null if nothing failed.
    pub(crate) artifacts: Option<String>,
    /// US dollars, as far as prices are known; null without prompts to a model.
    pub(crate) usd: Option<f64>,
    /// Tokens in and out; null without prompts to a model.
    pub(crate) tokens: Option<u64>,
    pub(crate) time: Time,
    /// Further notes, as sentences.
    pub(crate) notes: Vec<String>,
    /// All that was kept, as one patch.
    #[serde(skip)]
    pub(crate) all: String,
}

/// How long it took.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Time {
    /// The total time.
    pub(crate) seconds: f64,
    /// The part of it that test runs took, each from the start of its process to its end.
    pub(crate) test_seconds: f64,
    pub(crate) test_runs: u64,
}

impl Time {
    pub(crate) fn of(all: Duration, tests: Totals) -> Time {
        Time {
            seconds: all.as_secs_f64(),
            test_seconds: tests.time.as_secs_f64(),
            test_runs: tests.runs,
        }
    }
}

/// Tests by result.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestCounts {
    pub(crate) passing: usize,
    /// Without tests that pass when run again.
    pub(crate) failing: usize,
}

/// A kept fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct KeptFix {
    /// Its id, for `undoFix`; null if nothing was written into the tree.
    pub(crate) fix: Option<String>,
    pub(crate) reason: String,
    pub(crate) confidence: ConfidenceShape,
    /// Relative to the root.
    pub(crate) paths: Vec<String>,
    /// A unified diff.
    pub(crate) diff: String,
}

impl KeptFix {
    pub(crate) fn of(proposal: &Proposal, is_stored: bool) -> KeptFix {
        let files = proposal.written();
        let diff = files.iter().map(|it| {
            trellis_python::unified_diff(
                &it.path,
                it.base.as_deref().unwrap_or_default(),
                &it.proposed,
            )
        });
        KeptFix {
            fix: (is_stored && proposal.state == State::Accepted).then(|| proposal.id.clone()),
            reason: proposal.reason.clone(),
            confidence: ConfidenceShape::of(&proposal.confidence),
            paths: files.iter().map(|it| it.path.clone()).collect(),
            diff: diff.collect(),
        }
    }
}

/// Failing tests with one likely cause.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupShape {
    /// Sorted.
    pub(crate) tests: Vec<String>,
    pub(crate) diagnosis: DiagnosisShape,
    pub(crate) attempts: Vec<AttemptShape>,
    /// Fixes that were suggested or tried, but not chosen.
    pub(crate) alternatives: Vec<AlternativeShape>,
    /// The kept fix: its id, or `kept`.
    pub(crate) kept: Option<String>,
    /// The fix that needs your review.
    pub(crate) waiting: Option<String>,
    /// Why it was not repaired.
    pub(crate) given_up: Option<String>,
}

/// The diagnosis of a failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DiagnosisShape {
    /// The version of this format.
    pub(crate) version: u32,
    /// `test_failure`, `build_error`, `runtime_error` or `type_error`.
    pub(crate) issue_type: String,
    /// `Critical` (tests cannot be collected, or most fail), `High` (several files, an endless loop), `Medium` (several tests),
    /// `Low` (one test).
    pub(crate) severity: String,
    /// The exception of the first test, and its message.
    pub(crate) error: String,
    pub(crate) root_cause: String,
    /// `model` or `measured`: the source of the cause.
    pub(crate) root_cause_by: String,
    pub(crate) affected_files: Vec<AffectedFile>,
    /// The model's suggestions before anything was tried.
    pub(crate) suggested_fixes: Vec<SuggestedFix>,
    /// As sentences.
    pub(crate) looked_at: Vec<String>,
}

/// A place related to a failure.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AffectedFile {
    /// Relative to the root.
    pub(crate) path: String,
    /// The first line of the snippet, from 1.
    pub(crate) line_start: u32,
    /// Its last line.
    pub(crate) line_end: u32,
    pub(crate) code_snippet: String,
    /// How it is related.
    pub(crate) issue_description: String,
}

/// A fix in words.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SuggestedFix {
    pub(crate) description: String,
    /// The model's own confidence, from 0 to 1; nothing depends on it.
    pub(crate) confidence: f64,
}

impl DiagnosisShape {
    pub(crate) fn of(it: &Diagnostic) -> DiagnosisShape {
        let affected = it.affected.iter().map(|it| AffectedFile {
            path: it.path.clone(),
            line_start: it.first,
            line_end: it.last,
            code_snippet: it.snippet.clone(),
            issue_description: it.why.clone(),
        });
        let ideas = it.opinion.ideas.iter().map(|it| SuggestedFix {
            description: it.description.clone(),
            confidence: it.confidence,
        });
        DiagnosisShape {
            version: 1,
            issue_type: it.issue_type.as_str().to_owned(),
            severity: it.severity.as_str().to_owned(),
            error: it.error.clone(),
            root_cause: it.root_cause.clone(),
            root_cause_by: if it.is_opinion { "model" } else { "measured" }.to_owned(),
            affected_files: affected.collect(),
            suggested_fixes: ideas.collect(),
            looked_at: it.looked_at.clone(),
        }
    }
}

/// A fix that was tried.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptShape {
    /// From 1.
    pub(crate) number: u32,
    /// `passed`, `failed`, `unusable` or `rejected`.
    pub(crate) outcome: String,
    /// Why, or what it does.
    pub(crate) what: String,
    /// A unified diff, if there was a change to try.
    pub(crate) diff: Option<String>,
    /// Only for one that passed.
    pub(crate) confidence: Option<ConfidenceShape>,
    /// Signs that it is tailored to its tests, with their places.
    pub(crate) shortcuts: Vec<String>,
}

/// A fix that was not chosen.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AlternativeShape {
    /// `Fix 1`, or `Suggestion 1` with its description.
    pub(crate) name: String,
    /// Its result, and why.
    pub(crate) became: String,
    /// For a fix that passed, measured; for a suggestion, the model's own, from 0 to 1.
    pub(crate) confidence: Option<f64>,
    /// A unified diff, if there is one; for a suggestion that was tried, that of the fix.
    pub(crate) diff: Option<String>,
}

/// A failing test that no change of the code can fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SetAside {
    /// pytest's id, or the path of a file that cannot be collected.
    pub(crate) test: String,
    pub(crate) why: String,
}

impl RepairResult {
    /// Returns the outcome as text.
    pub(crate) fn ending(&self) -> &'static str {
        match self.outcome.as_str() {
            "nothingToDo" => "nothing to do",
            "repaired" => "repaired",
            "partly" => "partly repaired",
            "needsHuman" => "needs your review",
            _ => "not repaired",
        }
    }

    /// Returns the report for people.
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("# Repair: {}\n\n", self.ending());
        let counts = |it: &TestCounts| format!("{} pass, {} fail", it.passing, it.failing);
        out += &format!("- Before: {}\n- After: {}\n", counts(&self.before), counts(&self.after));
        let costs = self.tokens.map(|it| format!("- Tokens: {it}\n"));
        out += &costs.unwrap_or_default();
        let price = |usd| crate::workspace::cost::price(self.tokens.unwrap_or_default(), usd);
        out += &self.usd.map_or_else(String::new, |it| format!("- Cost: {}\n", price(it)));
        let Time { seconds, test_seconds, test_runs } = self.time;
        out += &format!(
            "- Time: {seconds:.1} s, of which {test_seconds:.1} s in {test_runs} test runs\n"
        );
        for it in &self.set_aside {
            out += &format!("- Not repaired: {}: {}\n", it.test, it.why);
        }
        for it in &self.flaky {
            out += &format!("- Flaky: {it}\n");
        }
        for (number, it) in self.groups.iter().enumerate() {
            out += &format!("\n## {}. {}\n\n", number + 1, it.tests.join(", "));
            out += &format!(
                "- Kind: {}, severity: {}\n",
                it.diagnosis.issue_type.replace('_', " "),
                it.diagnosis.severity.to_lowercase()
            );
            out +=
                &format!("- Cause ({}): {}\n", it.diagnosis.root_cause_by, it.diagnosis.root_cause);
            out += &format!("- {}\n", it.end());
            it.attempts.iter().for_each(|attempt| out += &attempt.markdown());
            out += &it.others();
        }
        out
    }
}

impl GroupShape {
    /// Returns the rejected alternatives, with diffs that are shown nowhere else.
    fn others(&self) -> String {
        if self.alternatives.is_empty() {
            return String::new();
        }
        let line = |it: &AlternativeShape| {
            let sure =
                it.confidence.map_or_else(String::new, |it| format!(" (confidence {it:.2})"));
            let is_shown = self.attempts.iter().any(|attempt| attempt.diff == it.diff);
            let diff = it.diff.as_deref().filter(|_| !is_shown).map(fenced);
            format!("- {}{sure}: {}\n{}", it.name, it.became, diff.unwrap_or_default())
        };
        "\n### Alternatives\n\n".to_owned()
            + &self.alternatives.iter().map(line).collect::<String>()
    }

    /// Returns the end of the group's repair as text.
    pub(crate) fn end(&self) -> String {
        match (&self.kept, &self.waiting, &self.given_up) {
            (Some(fix), ..) if fix == UNNUMBERED => "fixed".to_owned(),
            (Some(fix), ..) => format!("fixed by {fix}"),
            (_, Some(fix), _) => format!("{fix} needs your review"),
            (_, _, Some(why)) => format!("not fixed: {why}"),
            _ => "not finished".to_owned(),
        }
    }
}

impl AttemptShape {
    fn markdown(&self) -> String {
        let mut out = format!("\n### Fix {}: {}\n\n{}\n", self.number, self.outcome, self.what);
        if let Some(it) = &self.confidence {
            out += &format!("\nConfidence {}\n", it.breakdown());
        }
        self.shortcuts.iter().for_each(|it| out += &format!("- {it}\n"));
        out += &self.diff.as_deref().map(fenced).unwrap_or_default();
        out
    }
}

/// Returns a diff as a Markdown code block.
fn fenced(diff: &str) -> String {
    let longest = diff.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}diff\n{diff}{fence}\n")
}

impl RepairResult {
    /// Returns the title of a commit with the kept fixes.
    pub(crate) fn title(&self) -> String {
        let first = self.groups.iter().find(|it| it.kept.is_some());
        let first = first.and_then(|it| it.tests.first()).map_or("", String::as_str);
        commit_title(first, self.fixes.len())
    }
}
