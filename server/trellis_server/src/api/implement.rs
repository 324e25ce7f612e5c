//! `implement`: one issue described in text, implemented test-first on a branch of its own, and
//! merged if allowed.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_engine::approval::Mode;
use trellis_engine::issue::Limits;

use super::generate::FixWith;
use super::repair::Time;
use super::run_limits::{RunLimits, mode};
use trellis_git::forge::{self, PushTarget};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::issue::{
    IssueOutcome, IssueReport, IssueRequest, Review, Reviewer, SpecFiles, TestTotals,
};
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;

/// Implement an issue from a spec, test-first, on its own branch.
///
/// Writes tests that fail and code that makes them pass, runs linters, asks for your review and merges. All of it happens in a
/// separate git worktree: your files do not change until you approve.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplementArgs {
    /// Folder of the project, in a git repository.
    #[arg(default_value = ".", value_name = "PROJECT")]
    #[serde(default)]
    pub root: PathBuf,
    /// Number or name of the issue: letters, digits, `-`, `_` and `.`.
    #[arg(long, value_name = "N")]
    pub issue: String,
    /// File of the project that describes what to build.
    #[arg(long = "spec", alias = "lld", value_name = "FILE")]
    pub lld: PathBuf,
    /// Python or Markdown files that are part of every prompt: code to use, standards to follow.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    #[serde(default)]
    pub context: Vec<PathBuf>,
    /// How the model works: in one reply, or with tools that edit a copy of the files. Default: tools if the model
    /// supports them.
    #[arg(long, value_enum, value_name = "MODE", help_heading = "Model")]
    #[serde(default)]
    pub work_with: Option<FixWith>,
    /// When a change needs your approval before the merge: never (autonomous), always (supervised), or when in doubt
    /// (threshold). Work that does not pass exits with 1 in autonomous mode, otherwise with 2.
    #[arg(long, value_name = "MODE", default_value = "supervised", value_parser = mode())]
    #[serde(default = "supervised")]
    #[schemars(with = "Option<String>")]
    pub approve: Mode,
    /// Show the steps and the first prompt. Calls no model and writes nothing.
    #[arg(long)]
    #[serde(default)]
    pub dry_run: bool,
    /// Push to this remote (a name or an address): the branch that was merged into, and branches that need your review,
    /// with a pull request on GitHub, Gitea or Forgejo.
    #[arg(long, value_name = "REMOTE")]
    #[serde(default)]
    pub push: Option<String>,
    /// What becomes of the change that waits for a review, as the result of the call before showed it.
    #[arg(skip)]
    #[serde(default)]
    pub decision: Option<Decision>,
    #[command(flatten)]
    #[serde(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub sandbox: SandboxArgs,
    #[command(flatten)]
    #[serde(flatten)]
    pub bounds: RunLimits,
}

fn supervised() -> Mode {
    Mode::Supervised
}

/// Your decision about a change that needs a review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    pub answer: Answer,
    /// The commit you reviewed, from the result; if the files have changed since then, nothing is decided.
    pub tip: String,
    /// With `sendBack`: the reason, for the model.
    #[serde(default)]
    pub words: Option<String>,
    /// With `approve`: changed files that stay as they were before the work. All tests that must pass run again without
    /// them; if one fails, nothing is merged.
    #[serde(default)]
    pub leave_out: Vec<String>,
    /// With `approve`: merges your edits in the worktree since `tip`, too, if the tests pass with them. Otherwise the
    /// edited change needs another review.
    #[serde(default)]
    pub with_edits: bool,
}

/// In a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Answer {
    Approve,
    /// The model gets the reason and tries again.
    SendBack,
    /// It stays on its branch.
    Leave,
}

impl From<Decision> for Reviewer {
    fn from(it: Decision) -> Reviewer {
        let Decision { answer, tip, words, leave_out, with_edits } = it;
        let decision = match answer {
            Answer::Approve => trellis_engine::Decision::Accept { by: "you".to_owned() },
            Answer::SendBack => trellis_engine::Decision::Reject { why: words.unwrap_or_default() },
            Answer::Leave => trellis_engine::Decision::Defer { proposal: tip.clone() },
        };
        let leave_out = leave_out.into_iter().collect();
        Reviewer::Decided { tip, review: Review { decision, leave_out }, with_edits }
    }
}

impl ImplementArgs {
    /// Returns the request; paths are relative to `base`.
    pub fn order(self, base: &Path) -> Result<(IssueRequest, SpecFiles), Fault> {
        let folder = base.join(&self.root);
        let home = folder.canonicalize().ok().filter(|it| it.is_dir()).ok_or_else(|| {
            Fault::input(format!("the folder {} does not exist", folder.display()))
                .hint("give the folder of a Python project")
        })?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let is_name = !self.issue.is_empty()
            && self.issue.len() <= 60
            && self.issue.chars().all(is_plain)
            && self.issue.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !self.issue.contains("..")
            && !self.issue.ends_with(['.', '-'])
            && !self.issue.ends_with(".lock");
        if !is_name {
            let issue = &self.issue;
            return Err(Fault::new(Exit::Usage, format!("{issue:?} cannot name an issue"))
                .hint("give its number, or letters, digits, `-`, `_` and `.`"));
        }
        // Paths are relative to the current folder, else to the project.
        let place = |path: &PathBuf| {
            let (here, there) = (base.join(path), home.join(path));
            if !here.exists() && there.exists() { there } else { here }
        };
        let context = self.context.iter().map(place).collect();
        let given = SpecFiles { lld: place(&self.lld), context };
        let order = IssueRequest {
            home,
            name: format!("issue-{}", self.issue),
            title: format!("issue {}", self.issue),
            into: None,
            trailer: Some(format!("Trellis-Issue: {}", self.issue)),
            id: self.issue,
            limits: Limits::implement(self.bounds.max_retries),
            tools: self.work_with.map(FixWith::is_tools),
            together: false,
            mode: self.approve,
            model: self.model,
            sandbox: self.sandbox,
            test_timeout: self.bounds.of_test(),
            run_timeout: self.bounds.of_run(),
            push: self.push.map(|remote| PushTarget { remote, base: base.to_owned() }),
        };
        Ok((order, given))
    }
}

/// How the work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// It is on the branch that it was made for.
    Merged,
    /// Needs your review: approve it, continue where the model could not, or resolve the merge.
    NeedsHuman,
    /// You left it on its branch.
    Left,
    /// No result, because there was no reply.
    Failed,
    /// Nothing was done, as requested.
    Planned,
}

/// The result of an issue.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplementResult {
    pub outcome: Outcome,
    /// The exit code of the command line: 0 merged, 1 tests fail after all retries and no review was requested, 2
    /// needs your review.
    pub exit_code: u8,
    /// It passed every gate and needs a `decision`.
    pub waits: bool,
    /// Why it is not merged.
    pub reason: Option<String>,
    pub issue: String,
    /// The branch of the work, until it is merged.
    pub branch: Option<String>,
    /// The project's folder in the worktree, until it is merged; the next call continues with your edits there.
    pub worktree: Option<String>,
    /// The last commit of the branch, for a `decision`.
    pub tip: Option<String>,
    /// The commit that was merged.
    pub commit: Option<String>,
    /// Changed files, relative to the project's folder.
    pub files: Vec<String>,
    /// The change, as a unified diff.
    pub diff: String,
    /// Reasons against the change, as sentences.
    pub doubts: Vec<String>,
    /// Failed attempts, in order.
    pub history: Vec<String>,
    /// Tests that passed before the work.
    pub passed_before: usize,
    /// The new tests with the change; null if they did not run.
    pub new_tests: Option<Counts>,
    /// All tests with the change; null if they did not run.
    pub all_tests: Option<Counts>,
    /// Folder with both reports, relative to the project's; null if they were not written.
    pub reports: Option<String>,
    /// What was pushed, if you asked for it.
    pub pushed: Vec<Pushed>,
    /// What would be done, and the first prompt, if you asked for that.
    pub plan: Option<String>,
    /// US dollars, as far as prices are known; null without prompts to a model.
    pub usd: Option<f64>,
    /// Tokens in and out; null without prompts to a model.
    pub tokens: Option<u64>,
    pub time: Time,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

/// A branch, and its state on the remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pushed {
    pub branch: String,
    /// The page of its pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// What failed, and what to do; or a note that the branch was removed after its merge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl From<forge::Pushed> for Pushed {
    fn from(it: forge::Pushed) -> Pushed {
        Pushed { branch: it.branch, pull_request: it.pull_request, note: it.note }
    }
}

/// Tests of a run.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
}

impl From<IssueReport> for ImplementResult {
    fn from(it: IssueReport) -> ImplementResult {
        ImplementResult {
            outcome: it.outcome.into(),
            exit_code: it.exit_code,
            waits: it.waits,
            reason: it.reason,
            issue: it.issue,
            branch: it.branch,
            worktree: it.worktree,
            tip: it.tip,
            commit: it.commit,
            files: it.files,
            diff: it.diff,
            doubts: it.doubts,
            history: it.history,
            passed_before: it.passed_before,
            new_tests: it.new_tests.map(Into::into),
            all_tests: it.all_tests.map(Into::into),
            reports: it.reports,
            pushed: it.pushed.into_iter().map(Into::into).collect(),
            plan: it.plan,
            usd: it.usd,
            tokens: it.tokens,
            time: it.time.into(),
            notes: it.notes,
        }
    }
}

impl From<IssueOutcome> for Outcome {
    fn from(it: IssueOutcome) -> Outcome {
        match it {
            IssueOutcome::Merged => Outcome::Merged,
            IssueOutcome::NeedsHuman => Outcome::NeedsHuman,
            IssueOutcome::Left => Outcome::Left,
            IssueOutcome::Failed => Outcome::Failed,
            IssueOutcome::Planned => Outcome::Planned,
        }
    }
}

impl From<TestTotals> for Counts {
    fn from(it: TestTotals) -> Counts {
        Counts { passed: it.passed, failed: it.failed }
    }
}
