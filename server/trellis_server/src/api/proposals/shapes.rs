//! Proposed fixes as they are shown: in a list, and with all details.

use schemars::JsonSchema;
use serde::Serialize;
use trellis_engine::approval::Confidence;
use trellis_workflows::proposals::{
    ConfidenceReport, FailingTest, FixFacts, FoundBy, HistoryEntry, NumberedHunk, PartsReport,
    Proposal, State,
};

/// A fix in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixSummary {
    /// Such as `fix-1`.
    pub fix: String,
    pub state: State,
    /// From 1; higher each time its texts change.
    pub revision: u32,
    /// RFC 3339.
    pub created_at: String,
    /// Why it needs your review.
    pub reason: String,
    /// The model's words about the change; null without any.
    pub explanation: Option<String>,
    /// `smallEdits` if trials of small edits found it and no model was asked; else null.
    pub found_by: Option<FoundBy>,
    /// Results of its test runs; null if its texts have changed since, and for drafts of a run.
    pub facts: Option<FixFacts>,
    /// The measured confidence.
    pub confidence: ConfidenceShape,
    pub test: FailingTest,
    /// Relative to the root.
    pub paths: Vec<String>,
    /// Hunks not decided yet.
    pub hunks: usize,
    /// The node of the run whose draft it is: the run itself tests and writes the files. Null for other fixes.
    pub node: Option<String>,
}

/// Confidence from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfidenceShape {
    /// 0.3 × diagnostic + 0.3 × fix + 0.4 × coverage.
    pub total: f64,
    /// How clear the location of the bug is: mean of `clarity` and `agreement`.
    pub diagnostic: f64,
    /// How good the fix is by tests, size and history: `passing`, times the mean of `size` and `history`.
    pub fix: f64,
    /// The share of its lines that passing tests execute.
    pub coverage: f64,
    /// The parts of diagnostic and fix; null for the draft of a run.
    pub parts: Option<ConfidenceParts>,
}

/// The parts of a confidence, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConfidenceParts {
    /// Whether the failure is raised where the change is: 1 in the same function, 0.5 in the same file.
    pub clarity: f64,
    /// How suspicious the changed code was; the most suspicious place has 1.
    pub agreement: f64,
    /// The share of possibly affected tests that pass with it.
    pub passing: f64,
    /// 1 for a few lines, 0 for the largest change allowed.
    pub size: f64,
    /// 1 for the first fix, less for each failed one before it.
    pub history: f64,
}

/// A fix with all details.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FixResult {
    #[serde(flatten)]
    pub summary: FixSummary,
    pub files: Vec<FileShape>,
    /// All files as a unified diff.
    pub diff: String,
    /// Passing tests that it may break.
    pub affected: Vec<String>,
    /// Other failing tests that it may fix.
    pub failing: Vec<String>,
    /// Its history, the oldest entry first.
    pub history: Vec<HistoryEntry>,
}

/// A file of a fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileShape {
    /// Relative to the root.
    pub path: String,
    /// SHA-256 of the original text; null for a new file.
    pub base_hash: Option<String>,
    /// The original text.
    pub base: Option<String>,
    /// The text as proposed.
    pub proposed: String,
    pub hunks: Vec<HunkShape>,
}

/// A part of a change that you can accept or reject by itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HunkShape {
    /// Counted over all files of this revision, from 1.
    pub id: usize,
    /// As in a unified diff, without context lines.
    pub header: String,
    /// The first removed line, from 1; for an insertion, the line after it.
    pub old_start: usize,
    /// The removed lines, without line breaks.
    pub old_lines: Vec<String>,
    /// The first added line, from 1, in the proposed text.
    pub new_start: usize,
    /// The added lines, without line breaks.
    pub new_lines: Vec<String>,
}

impl ConfidenceShape {
    fn of(it: &Confidence) -> ConfidenceShape {
        ConfidenceReport::of(it).into()
    }

    /// Returns the confidence as text, with its parts.
    pub fn breakdown(&self) -> String {
        let ConfidenceShape { total, diagnostic, fix, coverage, parts } = *self;
        let parts = parts.map(|it| PartsReport {
            clarity: it.clarity,
            agreement: it.agreement,
            passing: it.passing,
            size: it.size,
            history: it.history,
        });
        ConfidenceReport { total, diagnostic, fix, coverage, parts }.breakdown()
    }
}

impl From<ConfidenceReport> for ConfidenceShape {
    fn from(it: ConfidenceReport) -> ConfidenceShape {
        let ConfidenceReport { total, diagnostic, fix, coverage, parts } = it;
        let parts = parts.map(|it| ConfidenceParts {
            clarity: it.clarity,
            agreement: it.agreement,
            passing: it.passing,
            size: it.size,
            history: it.history,
        });
        ConfidenceShape { total, diagnostic, fix, coverage, parts }
    }
}

impl FixSummary {
    pub(super) fn of(it: &Proposal) -> FixSummary {
        FixSummary {
            fix: it.id.clone(),
            state: it.state,
            revision: it.revision,
            created_at: it.created_at.clone(),
            reason: it.reason.clone(),
            explanation: it.explanation.clone(),
            found_by: it.found_by,
            facts: it.facts.clone(),
            confidence: ConfidenceShape::of(&it.confidence),
            test: it.test.clone(),
            paths: it.files.iter().map(|it| it.path.clone()).collect(),
            hunks: it.pieces().len(),
            node: it.run.as_ref().map(|it| it.node.clone()),
        }
    }
}

impl FixResult {
    pub fn of(it: &Proposal) -> FixResult {
        let pieces = it.pieces();
        let hunks =
            |file: usize| pieces.iter().filter(move |it| it.file == file).map(HunkShape::of);
        let files = it.files.iter().enumerate().map(|(at, file)| FileShape {
            path: file.path.clone(),
            base_hash: file.base_hash(),
            base: file.base.clone(),
            proposed: file.proposed.clone(),
            hunks: hunks(at).collect(),
        });
        FixResult {
            summary: FixSummary::of(it),
            files: files.collect(),
            diff: it.diff(),
            affected: it.affected.clone(),
            failing: it.failing.clone(),
            history: it.history.clone(),
        }
    }
}

impl HunkShape {
    fn of(piece: &NumberedHunk) -> HunkShape {
        let lines = |text: &str| text.lines().map(str::to_owned).collect();
        HunkShape {
            id: piece.id,
            header: piece.hunk.header(),
            old_start: piece.hunk.old_lines.start + 1,
            old_lines: lines(&piece.hunk.old),
            new_start: piece.hunk.new_lines.start + 1,
            new_lines: lines(&piece.hunk.new),
        }
    }
}
