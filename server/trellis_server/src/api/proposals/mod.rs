//! Proposed fixes: list, show, decide, undo.

mod shapes;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_llm::Editor;

use super::run_limits::TimeLimits;
pub use shapes::{ConfidenceParts, ConfidenceShape, FileShape, FixResult, FixSummary, HunkShape};
use trellis_sandbox::test_ids::is_target;
use trellis_workflows::fault::Fault;
use trellis_workflows::job_control::JobControl;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::proposals::{
    self, Choice, Decided, DecisionRequest, OpenDocuments, OpenTexts, Proposal, State, Store,
    Times, VerifiedTest, VerifyMode,
};
use trellis_workflows::repair::{self, Problem, RevisionRequest};
use trellis_workflows::reporter::Reporter;
use trellis_workflows::sandbox::RAISED_BY;
use trellis_workflows::sandbox::SandboxArgs;

/// Known tests of a project, independent of its settings.
#[derive(Default)]
pub struct KnownTests {
    /// Test files.
    pub files: Vec<String>,
    /// Ids of tests that failed in their last run, sorted.
    pub failing: Vec<String>,
}

impl KnownTests {
    /// Returns the first failing test of a file, class or function; `test` itself if none is known.
    fn first_failing(&self, test: String) -> String {
        let target = [test];
        let first = self.failing.iter().find(|it| is_target(&target, it));
        first.cloned().unwrap_or_else(|| target.concat())
    }
}

/// Lists proposed fixes of a project, the oldest first.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ListFixesParams {
    /// The project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only fixes in this state.
    #[serde(default)]
    pub state: Option<State>,
}

/// Shows a proposed fix with its hunks, its texts and its history.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct GetFixParams {
    /// The project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub fix: String,
}

/// Decides about a proposed fix. An accepted fix is first tested on a copy: the failing test must pass with it, and
/// no test that passed may fail; otherwise nothing is written and the state is `failed`. If a file changed since
/// then, the fix is `stale` (error kind `stale`), also for unsaved changes in the editor; `data.remedy` of the error
/// is `rebase` if the fix can be applied to the new text. `trellis/event` reports the tests that ran for written
/// fixes.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecideFixParams {
    /// The project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub fix: String,
    /// The decision.
    pub decision: Choice,
    /// The revision you reviewed; refused with the kind `stale` if there is a newer one.
    #[serde(default)]
    pub revision: Option<u32>,
    /// Ids of hunks, for `acceptHunks` and `rejectHunks`.
    #[serde(default)]
    pub hunks: Vec<usize>,
    /// Whole texts in place of those proposed, for `edit` and `rebase`. A byte order mark and unchanged line endings
    /// stay as proposed, because editors change them.
    #[serde(default)]
    pub files: Vec<EditedFile>,
    /// Whether to run tests before anything is written; if not, the history says so.
    #[serde(default = "yes")]
    pub test: bool,
    /// Why, for the history.
    #[serde(default)]
    pub note: String,
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    #[serde(flatten)]
    pub limits: TimeLimits,
}

fn twenty() -> u64 {
    20
}

fn yes() -> bool {
    true
}

/// A text that you edited.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EditedFile {
    /// One of the fix's files, relative to the root.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Looks for a fix of one failing test: runs the tests with coverage, tries small edits of suspicious lines, and only
/// if none of them is proven, prompts a model and tries its answers on a copy, at most three times. A fix that passes
/// is stored as a proposal; nothing is written into the project.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProposeFixParams {
    /// The project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// pytest's id of the failing test, such as `tests/test_a.py::test_b`; of a file, class or function, the first test
    /// that failed in its last run.
    pub test: String,
    /// A proposed fix of the test that you want changed: the model gets it with your `words`, and the new fix replaces
    /// it.
    #[serde(default)]
    pub revise: Option<String>,
    /// What to change in the fix that `revise` names.
    #[serde(default)]
    pub words: String,
    /// Test files and folders to run as well, to rank suspects and to see what a fix breaks; all tests if left out.
    #[serde(default)]
    pub tests: Vec<String>,
    /// Before the model is prompted, try small edits for this many seconds; 0 tries none.
    #[serde(default = "twenty")]
    pub trials: u64,
    #[serde(flatten)]
    pub model: ModelArgs,
    #[serde(flatten)]
    pub limits: TimeLimits,
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
}

/// Undoes what was last accepted of a fix; refused if its files changed after that.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoFixParams {
    /// The project's folder; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Its id, such as `fix-1`.
    pub fix: String,
}

/// Proposed fixes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListFixesResult {
    pub fixes: Vec<FixSummary>,
    /// Proposals that could not be read, as sentences.
    pub problems: Vec<String>,
}

/// The result of a decision.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DecideFixResult {
    /// As it is now.
    #[serde(flatten)]
    pub summary: FixSummary,
    /// Number of the edit that was written; null if nothing was written.
    pub edit: Option<u64>,
    /// Files that were written.
    pub written: Vec<String>,
    /// Results with the fix: the failing test, other failing tests that it may fix, and tests that only fail with it;
    /// empty if none ran.
    pub tests: Vec<VerifiedTest>,
    /// Ids of tests that failed and pass with it.
    #[serde(rename = "mended")]
    pub fixed: Vec<String>,
    /// Other pending fixes that were applied to the new texts: review them again.
    pub rebased: Vec<String>,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

/// What was undone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoFixResult {
    /// As it is now.
    #[serde(flatten)]
    pub summary: FixSummary,
    /// Number of the edit that undid it.
    pub edit: u64,
    /// Its files.
    pub written: Vec<String>,
}

/// Returns the proposed fixes of a project.
pub fn list_fixes(store: &Store, params: &ListFixesParams) -> Result<ListFixesResult, Fault> {
    let listed = store.list_now()?;
    let wanted = |it: &&Proposal| params.state.is_none_or(|state| it.state == state);
    let fixes = listed.proposals.iter().filter(wanted).map(FixSummary::of).collect();
    Ok(ListFixesResult { fixes, problems: listed.problems })
}

/// Returns one proposed fix.
pub fn get_fix(store: &Store, params: &GetFixParams) -> Result<FixResult, Fault> {
    Ok(FixResult::of(&store.get_now(&params.fix)?))
}

/// Decides on a proposed fix; see [`proposals::decide()`].
pub async fn decide_fix(
    store: &Store,
    params: DecideFixParams,
    open: &OpenDocuments,
    testing: Option<VerifyMode<'_>>,
) -> Result<DecideFixResult, Fault> {
    let order = DecisionRequest {
        fix: params.fix,
        revision: params.revision,
        choice: params.decision,
        hunks: params.hunks,
        files: params.files.into_iter().map(|it| (it.path, it.text)).collect(),
        note: params.note,
    };
    let decided = proposals::decide(store, &order, open, testing).await?;
    let Decided { proposal, edit, paths: written, tests, fixed, rebased, notes } = decided;
    let summary = FixSummary::of(&proposal);
    Ok(DecideFixResult { summary, edit, written, tests, fixed, rebased, notes })
}

/// Searches for a fix; see [`repair::propose()`].
pub async fn propose_fix(
    problem: Problem,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<FixResult, Fault> {
    Ok(FixResult::of(&repair::propose(problem, reporter, control).await?))
}

/// Undoes a fix; see [`proposals::undo()`].
pub fn undo_fix(store: &Store, fix: &str, open: &OpenTexts) -> Result<UndoFixResult, Fault> {
    let undone = proposals::undo(store, fix, open)?;
    let summary = FixSummary::of(&undone.proposal);
    Ok(UndoFixResult { summary, edit: undone.edit, written: undone.paths })
}

impl ProposeFixParams {
    /// Returns the problem to fix in the project at `root`. Paths of recordings are relative to
    /// `folder`.
    pub fn problem(
        self,
        root: &Path,
        folder: &Path,
        known: KnownTests,
        editor: Option<Arc<dyn Editor>>,
    ) -> Result<Problem, Fault> {
        let model = self.model.resolve_recordings(folder);
        let words = self.words.trim().to_owned();
        if self.revise.is_some() && words.is_empty() {
            let hint = "give `words`, or decide about the fix as it is";
            return Err(Fault::input("nothing says what to change in the fix").hint(hint));
        }
        Ok(Problem {
            revise: self.revise.map(|fix| RevisionRequest { fix, words }),
            root: root.to_owned(),
            test: known.first_failing(self.test),
            suite: self.tests,
            also: known.files,
            failing: known.failing,
            trials: Some(self.trials).filter(|it| *it > 0).map(Duration::from_secs),
            model: match editor {
                Some(editor) => model.with_editor(editor),
                None => model,
            },
            sandbox: self.sandbox,
            test_timeout: self.limits.of_test()?,
            run_timeout: self.limits.of_run()?,
        })
    }
}

impl DecideFixParams {
    /// Returns the timeouts for the tests run to verify the decision.
    pub fn times(&self) -> Result<Times, Fault> {
        let (test, run) = (Some(self.limits.of_test()?), self.limits.of_run()?);
        Ok(Times { test, run, raised_by: RAISED_BY })
    }

    /// Returns whether the decision executes code of the project.
    pub fn runs_tests(&self) -> bool {
        self.test && matches!(self.decision, Choice::Accept | Choice::AcceptHunks | Choice::Edit)
    }
}
