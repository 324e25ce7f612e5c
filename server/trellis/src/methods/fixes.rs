//! Fixes that wait for a person: listed, shown, decided, taken back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cycle::approval::{Confidence, Parts};
use model::Editor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bounds::{FLAGS, TimeLimits};
use crate::control::Control;
use crate::error::Fault;
use crate::models::ModelArgs;
use crate::output::Output;
use crate::proposals::{
    self, Choice, Decided, FailingTest, OpenNow, OpenTexts, Order, Piece, Proposal, State, Step,
    Store, Testing, Times, TriedTest,
};
use crate::repair::{self, Problem};
use crate::sandbox::SandboxArgs;

/// What is known of a project's tests, whatever its settings name.
#[derive(Default)]
pub(crate) struct KnownTests {
    /// Test files.
    pub(crate) files: Vec<String>,
    /// Ids of tests that failed when they last ran.
    pub(crate) failing: Vec<String>,
}

/// Lists proposed fixes of a project, the oldest first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ListFixesParams {
    /// The project's folder; else the workspace's first.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
    /// Only those in this state.
    #[serde(default)]
    pub(crate) state: Option<State>,
}

/// Shows a proposed fix with its hunks, its texts and what became of it so far.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GetFixParams {
    /// The project's folder; else the workspace's first.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub(crate) fix: String,
}

/// Decides about a proposed fix. What is accepted is tested on a copy first: the failing test has to pass with it, and no test
/// that passed may fail; else nothing is written and the state is `failed`. A file that has changed since makes the fix
/// `stale` (error kind `stale`), also where the change is unsaved in the editor; `data.remedy` of the error is `rebase` where it
/// can be brought to the new text. Tests that ran for what was written are told by `trellis/event`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecideFixParams {
    /// The project's folder; else the workspace's first.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub(crate) fix: String,
    /// What is decided.
    pub(crate) decision: Choice,
    /// The revision that was looked at; refused with the kind `stale` if it is another by now.
    #[serde(default)]
    pub(crate) revision: Option<u32>,
    /// Ids of hunks, for `acceptHunks` and `rejectHunks`.
    #[serde(default)]
    pub(crate) hunks: Vec<usize>,
    /// Whole texts in place of those proposed, for `edit` and `rebase`. A byte order mark, and the ends of lines that are the
    /// same, stay as they were proposed: editors change them.
    #[serde(default)]
    pub(crate) files: Vec<EditedFile>,
    /// Whether tests are run before anything is written; if not, the history says so.
    #[serde(default = "yes")]
    pub(crate) test: bool,
    /// Why, for the history.
    #[serde(default)]
    pub(crate) note: String,
    #[serde(flatten)]
    pub(crate) sandbox: SandboxArgs,
    #[serde(flatten)]
    pub(crate) limits: TimeLimits,
}

fn yes() -> bool {
    true
}

/// A text of a person's.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct EditedFile {
    /// One of the fix's files, relative to the root.
    pub(crate) path: String,
    /// All of it.
    pub(crate) text: String,
}

/// Looks for a fix of one failing test: runs the tests with coverage, asks a model, tries what it says on a copy, three times at
/// most. What passes is stored as a proposed fix; nothing is written into the project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProposeFixParams {
    /// The project's folder; else the workspace's first.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
    /// pytest's id of the failing test, such as `tests/test_a.py::test_b`.
    pub(crate) test: String,
    /// Test files and folders that are run beside it, to tell suspects apart and to see what a fix breaks; all tests if left out.
    #[serde(default)]
    pub(crate) tests: Vec<String>,
    #[serde(flatten)]
    pub(crate) model: ModelArgs,
    #[serde(flatten)]
    pub(crate) limits: TimeLimits,
    #[serde(flatten)]
    pub(crate) sandbox: SandboxArgs,
}

/// Takes back what was last accepted of a fix; refused if its files were changed since.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct UndoFixParams {
    /// The project's folder; else the workspace's first.
    #[serde(default)]
    pub(crate) root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub(crate) fix: String,
}

/// Proposed fixes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListFixesResult {
    pub(crate) fixes: Vec<FixSummary>,
    /// Proposals that could not be read, as sentences.
    pub(crate) problems: Vec<String>,
}

/// A fix in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FixSummary {
    /// Such as `fix-1`.
    pub(crate) fix: String,
    pub(crate) state: State,
    /// From 1; grows when its texts change.
    pub(crate) revision: u32,
    /// RFC 3339.
    pub(crate) created_at: String,
    /// Why it is put before a person.
    pub(crate) reason: String,
    /// How sure one can be of it, measured.
    pub(crate) confidence: ConfidenceShape,
    pub(crate) test: FailingTest,
    /// Relative to the root.
    pub(crate) paths: Vec<String>,
    /// Hunks that are left to decide.
    pub(crate) hunks: usize,
    /// The node of the run whose draft it is: that tests and writes the files itself. Null for others.
    pub(crate) node: Option<String>,
}

/// Confidence from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfidenceShape {
    /// 0.3 × diagnostic + 0.3 × fix + 0.4 × coverage.
    pub(crate) total: f64,
    /// How clear it is where the bug was: mean of `clarity` and `agreement`.
    pub(crate) diagnostic: f64,
    /// What tests, size and history say of it: `passing`, times the mean of `size` and `history`.
    pub(crate) fix: f64,
    /// The share of its lines that passing tests execute.
    pub(crate) coverage: f64,
    /// What diagnostic and fix are made of; null for the draft of a run.
    pub(crate) parts: Option<ConfidenceParts>,
}

/// What a confidence is made of, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ConfidenceParts {
    /// Whether the failure is raised where the change is: 1 in the same function, half of it in the same file.
    pub(crate) clarity: f64,
    /// How suspicious what it changes was, the most suspicious place being 1.
    pub(crate) agreement: f64,
    /// The share of the tests it may affect that pass with it.
    pub(crate) passing: f64,
    /// 1 for a few lines, 0 for as many as may change.
    pub(crate) size: f64,
    /// 1 for the first fix, less for each one before it that did not do.
    pub(crate) history: f64,
}

/// A fix with everything about it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FixResult {
    #[serde(flatten)]
    pub(crate) summary: FixSummary,
    pub(crate) files: Vec<FileShape>,
    /// All files as a unified diff.
    pub(crate) diff: String,
    /// Tests that passed and that it may break.
    pub(crate) affected: Vec<String>,
    /// Other tests that failed and that it may mend.
    pub(crate) failing: Vec<String>,
    /// What became of it, the oldest first.
    pub(crate) history: Vec<Step>,
}

/// A file of a fix.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileShape {
    /// Relative to the root.
    pub(crate) path: String,
    /// SHA-256 of the text it was made for; null for a file that is new.
    pub(crate) base_hash: Option<String>,
    /// That text.
    pub(crate) base: Option<String>,
    /// The text as proposed.
    pub(crate) proposed: String,
    pub(crate) hunks: Vec<HunkShape>,
}

/// A piece that can be taken or left.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HunkShape {
    /// Among those of all files of this revision, from 1.
    pub(crate) id: usize,
    /// As unified diffs have it, without lines around.
    pub(crate) header: String,
    /// The first line of what goes, from 1; of an insertion, the line it comes before.
    pub(crate) old_start: usize,
    /// Lines that go, without their line breaks.
    pub(crate) old_lines: Vec<String>,
    /// The first line of what comes, from 1, in the text as proposed.
    pub(crate) new_start: usize,
    /// Lines that come, without their line breaks.
    pub(crate) new_lines: Vec<String>,
}

/// What came of a decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DecideFixResult {
    /// As it is now.
    #[serde(flatten)]
    pub(crate) summary: FixSummary,
    /// Number of the edit that was written; null where nothing was.
    pub(crate) edit: Option<u64>,
    /// Files that were written.
    pub(crate) written: Vec<String>,
    /// With the fix: the failing test, others that failed and that it may mend, and tests that fail with it and not without;
    /// empty where none were run.
    pub(crate) tests: Vec<TriedTest>,
    /// Ids of tests that failed and pass with it.
    pub(crate) mended: Vec<String>,
    /// Other fixes that wait and were brought to the new texts: look at them again.
    pub(crate) rebased: Vec<String>,
    /// What else there is to say, as sentences.
    pub(crate) notes: Vec<String>,
}

/// What was taken back.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UndoFixResult {
    /// As it is now.
    #[serde(flatten)]
    pub(crate) summary: FixSummary,
    /// Number of the edit that took it back.
    pub(crate) edit: u64,
    /// Its files.
    pub(crate) written: Vec<String>,
}

/// The proposed fixes of a project.
pub(crate) fn list_fixes(
    store: &Store,
    params: &ListFixesParams,
) -> Result<ListFixesResult, Fault> {
    let listed = store.list()?;
    let wanted = |it: &&Proposal| params.state.is_none_or(|state| it.state == state);
    let fixes = listed.proposals.iter().filter(wanted).map(FixSummary::of).collect();
    Ok(ListFixesResult { fixes, problems: listed.problems })
}

/// One of them.
pub(crate) fn get_fix(store: &Store, params: &GetFixParams) -> Result<FixResult, Fault> {
    Ok(FixResult::of(&store.get(&params.fix)?))
}

/// Decides about one; see [`proposals::decide()`].
pub(crate) async fn decide_fix(
    store: &Store,
    params: DecideFixParams,
    open: &OpenNow,
    testing: Option<Testing<'_>>,
) -> Result<DecideFixResult, Fault> {
    let order = Order {
        fix: params.fix,
        revision: params.revision,
        choice: params.decision,
        hunks: params.hunks,
        files: params.files.into_iter().map(|it| (it.path, it.text)).collect(),
        note: params.note,
    };
    let decided = proposals::decide(store, &order, open, testing).await?;
    let Decided { proposal, edit, paths: written, tests, mended, rebased, notes } = decided;
    let summary = FixSummary::of(&proposal);
    Ok(DecideFixResult { summary, edit, written, tests, mended, rebased, notes })
}

/// Looks for a fix; see [`repair::propose()`].
pub(crate) async fn propose_fix(
    store: &Store,
    folder: &Path,
    (params, known): (ProposeFixParams, KnownTests),
    editor: Option<Arc<dyn Editor>>,
    output: &Output,
    control: &Control,
) -> Result<FixResult, Fault> {
    let model = params.model.within(folder);
    let problem = Problem {
        root: store.root().to_owned(),
        test: params.test,
        suite: params.tests,
        also: known.files,
        failing: known.failing,
        model: match editor {
            Some(editor) => model.with_editor(editor),
            None => model,
        },
        sandbox: params.sandbox,
        test_timeout: params.limits.of_test()?,
        run_timeout: params.limits.of_run()?,
    };
    Ok(FixResult::of(&repair::propose(problem, output, control).await?))
}

/// Takes one back; see [`proposals::undo()`].
pub(crate) fn undo_fix(store: &Store, fix: &str, open: &OpenTexts) -> Result<UndoFixResult, Fault> {
    let undone = proposals::undo(store, fix, open)?;
    let summary = FixSummary::of(&undone.proposal);
    Ok(UndoFixResult { summary, edit: undone.edit, written: undone.paths })
}

impl DecideFixParams {
    /// What the tests that are run for it may take.
    pub(crate) fn times(&self) -> Result<Times, Fault> {
        let (test, run) = (Some(self.limits.of_test()?), self.limits.of_run()?);
        Ok(Times { test, run, raised_by: FLAGS })
    }

    /// Whether the decision would have code of the project executed.
    pub(crate) fn runs_tests(&self) -> bool {
        self.test && matches!(self.decision, Choice::Accept | Choice::AcceptHunks | Choice::Edit)
    }
}

impl ConfidenceShape {
    pub(crate) fn of(it: &Confidence) -> ConfidenceShape {
        let (total, Confidence { diagnostic, fix, coverage, parts }) = (it.total(), *it);
        let parts = parts.map(|Parts { clarity, agreement, passing, size, history }| {
            ConfidenceParts { clarity, agreement, passing, size, history }
        });
        ConfidenceShape { total, diagnostic, fix, coverage, parts }
    }

    /// In words, with what it is made of.
    pub(crate) fn breakdown(&self) -> String {
        let (diagnostic, fix) = match &self.parts {
            Some(it) => (
                format!(" (clarity {:.2}, agreement {:.2})", it.clarity, it.agreement),
                format!(
                    " (passing {:.2}, size {:.2}, history {:.2})",
                    it.passing, it.size, it.history
                ),
            ),
            None => (String::new(), String::new()),
        };
        format!(
            "{:.2} = 0.3 x diagnostic {:.2}{diagnostic} + 0.3 x fix {:.2}{fix} + 0.4 x coverage {:.2}",
            self.total, self.diagnostic, self.fix, self.coverage
        )
    }
}

impl FixSummary {
    fn of(it: &Proposal) -> FixSummary {
        FixSummary {
            fix: it.id.clone(),
            state: it.state,
            revision: it.revision,
            created_at: it.created_at.clone(),
            reason: it.reason.clone(),
            confidence: ConfidenceShape::of(&it.confidence),
            test: it.test.clone(),
            paths: it.files.iter().map(|it| it.path.clone()).collect(),
            hunks: it.pieces().len(),
            node: it.run.as_ref().map(|it| it.node.clone()),
        }
    }
}

impl FixResult {
    pub(crate) fn of(it: &Proposal) -> FixResult {
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
    fn of(piece: &Piece) -> HunkShape {
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
