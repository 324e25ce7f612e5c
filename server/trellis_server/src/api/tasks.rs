//! `tasks`: generates a repository from a list of tasks and a tech stack.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::generate::FixWith;
use super::implement::Pushed;
use super::repair::Time;
use super::run_limits::RunLimits;
use trellis_git::forge::PushTarget;
use trellis_workflows::models::ModelArgs;
use trellis_workflows::sandbox::SandboxArgs;
use trellis_workflows::tasks::{TasksReport, TasksRequest};

/// Build a project from a task list, several tasks in parallel.
///
/// Creates the project from a template, then implements each task test-first in its own git worktree and merges it when all tests
/// pass. The same command resumes an earlier start.
#[derive(clap::Args, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksArgs {
    /// Task list: JSON with `tasks`, each with `id`, `description` and optional `implementation_details`, `depends_on`,
    /// `story_points`, `keywords`.
    #[arg(value_name = "TASKS")]
    pub file: PathBuf,
    /// Project template; `trellis stacks list` shows all.
    #[arg(long, value_name = "NAME")]
    pub stack: String,
    /// Folder of the project: new, empty, or from an earlier start.
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Name of the project: lower-case letters, digits and `-`. Default: the folder's name.
    #[arg(long, value_name = "NAME")]
    #[serde(default)]
    pub name: Option<String>,
    /// Work on this many tasks in parallel.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=16))]
    #[serde(default = "three")]
    pub jobs: u8,
    /// How the model works: with tools that edit a copy of the files, or in one reply. A reply is always accepted.
    #[arg(long, value_enum, default_value_t = FixWith::Tools, value_name = "MODE", help_heading = "Model")]
    #[serde(default = "FixWith::tools")]
    pub work_with: FixWith,
    /// Skip the tests of all tasks together at the end.
    #[arg(long)]
    #[serde(default)]
    pub skip_integration: bool,
    /// Push to this remote (a name or an address): the branch that was merged into, and branches that need your review,
    /// with a pull request on GitHub, Gitea or Forgejo.
    #[arg(long, value_name = "REMOTE")]
    #[serde(default)]
    pub push: Option<String>,
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

/// Number of retries of a model request after temporary failures.
const TRANSIENT: u32 = 5;

fn three() -> u8 {
    3
}

impl TasksArgs {
    /// Returns the request; paths are relative to `base`.
    pub fn order(self, base: &Path) -> TasksRequest {
        TasksRequest {
            file: base.join(self.file),
            stack: self.stack,
            stacks: base.join("."),
            out: base.join(self.out),
            name: self.name,
            jobs: usize::from(self.jobs.max(1)),
            retries: self.bounds.max_retries,
            tools: self.work_with.is_tools(),
            integrates: !self.skip_integration,
            model: self.model.with_retries(TRANSIENT),
            sandbox: self.sandbox,
            test_timeout: self.bounds.of_test(),
            run_timeout: self.bounds.of_run(),
            push: self.push.map(|remote| PushTarget { remote, base: base.to_owned() }),
        }
    }
}

/// The result of a list of tasks.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksResult {
    /// `COMPLETE` or `FAILED`; merged tasks stay in either case.
    pub status: String,
    /// Why it is `FAILED`.
    pub reason: Option<String>,
    /// The exit code of the command line: 0 all tasks are merged and pass together, 1 some are not merged or do not
    /// pass.
    pub exit_code: u8,
    /// The folder of the repository.
    pub out: String,
    /// Share of the tasks that are merged, in percent.
    pub progress: u8,
    pub total_tasks: usize,
    /// Merged tasks, by id.
    pub completed_tasks: Vec<String>,
    /// Why others are not merged, by id; their work is on the branch `trellis/task-ID`.
    pub failed_tasks: BTreeMap<String, String>,
    /// Tasks that depend on a failed one, by id, with the reason.
    pub blocked_tasks: BTreeMap<String, String>,
    /// What was pushed, if you asked for it.
    pub pushed: Vec<Pushed>,
    /// US dollars, as far as prices are known.
    pub usd: f64,
    /// Tokens in and out.
    pub tokens: u64,
    pub time: Time,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

impl From<TasksReport> for TasksResult {
    fn from(it: TasksReport) -> TasksResult {
        TasksResult {
            status: it.status,
            reason: it.reason,
            exit_code: it.exit_code,
            out: it.out,
            progress: it.progress,
            total_tasks: it.total_tasks,
            completed_tasks: it.completed_tasks,
            failed_tasks: it.failed_tasks,
            blocked_tasks: it.blocked_tasks,
            pushed: it.pushed.into_iter().map(Into::into).collect(),
            usd: it.usd,
            tokens: it.tokens,
            time: it.time.into(),
            notes: it.notes,
        }
    }
}
