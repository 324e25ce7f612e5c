//! Report of a repair: what `report.json` and `report.md` hold, and what a workflow returns.

use serde::Serialize;
use trellis_engine::repair::Diagnostic;

use super::trial_search::BY_TRIAL;
use super::{UNNUMBERED, commit_title};
use crate::proposals::{ConfidenceReport, Proposal, State};
use crate::timing::Timing;
use trellis_store::cost::price;

/// The result of a repair.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairReport {
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
    pub groups: Vec<GroupReport>,
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
    pub time: Timing,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
    /// All that was kept, as one patch.
    #[serde(skip)]
    pub all: String,
}

/// Tests by result.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TestCounts {
    pub passing: usize,
    /// Without tests that pass when run again.
    pub failing: usize,
}

/// A kept fix.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptFix {
    /// Its id, for `undoFix`; null if nothing was written into the tree.
    pub fix: Option<String>,
    pub reason: String,
    pub confidence: ConfidenceReport,
    /// Relative to the root.
    pub paths: Vec<String>,
    /// A unified diff.
    pub diff: String,
}

impl KeptFix {
    pub fn of(proposal: &Proposal, is_stored: bool) -> KeptFix {
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
            confidence: ConfidenceReport::of(&proposal.confidence),
            paths: files.iter().map(|it| it.path.clone()).collect(),
            diff: diff.collect(),
        }
    }
}

/// Failing tests with one likely cause.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupReport {
    /// Sorted.
    pub tests: Vec<String>,
    pub diagnosis: DiagnosisReport,
    pub attempts: Vec<AttemptReport>,
    /// Fixes that were suggested or tried, but not chosen.
    pub alternatives: Vec<AlternativeReport>,
    /// The kept fix: its id, or `kept`.
    pub kept: Option<String>,
    /// The fix that needs your review.
    pub waiting: Option<String>,
    /// Reason that it was not repaired.
    pub given_up: Option<String>,
}

/// The diagnosis of a failure.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DiagnosisReport {
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
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AffectedFile {
    /// Relative to the root.
    pub path: String,
    /// The first line of the snippet, from 1.
    pub line_start: u32,
    /// Its last line.
    pub line_end: u32,
    pub code_snippet: String,
    /// Relation of the place to the failure.
    pub issue_description: String,
}

/// A fix in words.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuggestedFix {
    pub description: String,
    /// The model's own confidence, from 0 to 1, if it gave one; nothing depends on it.
    pub confidence: Option<f64>,
}

impl DiagnosisReport {
    pub fn of(it: &Diagnostic) -> DiagnosisReport {
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
        DiagnosisReport {
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
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttemptReport {
    /// From 1.
    pub number: u32,
    /// `passed`, `failed`, `unusable` or `rejected`.
    pub outcome: String,
    /// Why, or what it does.
    pub what: String,
    /// A unified diff, if there was a change to try.
    pub diff: Option<String>,
    /// Only for one that passed.
    pub confidence: Option<ConfidenceReport>,
    /// Signs that it is tailored to its tests, with their places.
    pub shortcuts: Vec<String>,
    /// `trial` if small edits found it and no model was asked; else left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
}

/// A fix that was not chosen.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AlternativeReport {
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
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAside {
    /// pytest's id, or the path of a file that cannot be collected.
    pub test: String,
    pub why: String,
}

impl RepairReport {
    /// Returns the outcome as text.
    pub fn ending(&self) -> &'static str {
        match self.outcome.as_str() {
            "nothingToDo" => "nothing to do",
            "repaired" => "repaired",
            "partly" => "partly repaired",
            "needsHuman" => "needs your review",
            _ => "not repaired",
        }
    }

    /// Returns the report for people.
    pub fn markdown(&self) -> String {
        let mut out = format!("# Repair: {}\n\n", self.ending());
        let counts = |it: &TestCounts| format!("{} pass, {} fail", it.passing, it.failing);
        out += &format!("- Before: {}\n- After: {}\n", counts(&self.before), counts(&self.after));
        let costs = self.tokens.map(|it| format!("- Tokens: {it}\n"));
        out += &costs.unwrap_or_default();
        let price = |usd| price(self.tokens.unwrap_or_default(), usd);
        out += &self.usd.map_or_else(String::new, |it| format!("- Cost: {}\n", price(it)));
        let Timing { seconds, test_seconds, test_runs } = self.time;
        out += &format!(
            "- Timing: {seconds:.1} s, of which {test_seconds:.1} s in {test_runs} test runs\n"
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

impl GroupReport {
    /// Returns the rejected alternatives, with diffs that are shown nowhere else.
    fn others(&self) -> String {
        if self.alternatives.is_empty() {
            return String::new();
        }
        let line = |it: &AlternativeReport| {
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
    pub fn end(&self) -> String {
        match (&self.kept, &self.waiting, &self.given_up) {
            (Some(fix), ..) if fix == UNNUMBERED => "fixed".to_owned(),
            (Some(fix), ..) => format!("fixed by {fix}"),
            (_, Some(fix), _) => format!("{fix} needs your review"),
            (_, _, Some(why)) => format!("not fixed: {why}"),
            _ => "not finished".to_owned(),
        }
    }
}

impl AttemptReport {
    fn markdown(&self) -> String {
        let mut out = format!("\n### Fix {}: {}\n\n{}\n", self.number, self.outcome, self.what);
        if self.found_by.is_some() {
            out += &format!("\nOrigin: {BY_TRIAL}.\n");
        }
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

impl RepairReport {
    /// Returns the title of a commit with the kept fixes.
    pub fn title(&self) -> String {
        let first = self.groups.iter().find(|it| it.kept.is_some());
        let first = first.and_then(|it| it.tests.first()).map_or("", String::as_str);
        commit_title(first, self.fixes.len())
    }
}
