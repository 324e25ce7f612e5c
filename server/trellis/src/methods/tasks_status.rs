//! `tasksStatus`: how far a list of tasks is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::Fault;
use crate::tasks;
use crate::workspace::lock::Lock;

/// Tells how far a list of tasks is that is made into a repository, or was.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct TasksStatusParams {
    /// The folder of the repository.
    pub(crate) out: PathBuf,
}

/// How far a list of tasks is. A task that stands in none of the lists waits for its turn.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TasksStatusResult {
    /// `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`; as last seen where nobody is at work.
    pub(crate) status: String,
    /// Why it is `FAILED`.
    pub(crate) reason: Option<String>,
    /// Whether a process is at work in the folder.
    pub(crate) running: bool,
    /// Share of the tasks that are merged, in percent.
    pub(crate) progress: u8,
    pub(crate) total_tasks: usize,
    /// Merged, by id.
    pub(crate) completed_tasks: Vec<String>,
    /// Under way, or waiting for their merge, by id; none where nobody is at work: they will begin anew.
    pub(crate) current_tasks: Vec<String>,
    /// Why they came to nothing, by id.
    pub(crate) failed_tasks: BTreeMap<String, String>,
    /// Those that wait for one that failed, by id, with the reason.
    pub(crate) blocked_tasks: BTreeMap<String, String>,
    /// The list of tasks, absolute.
    pub(crate) file: String,
    /// The tech stack.
    pub(crate) stack: String,
}

pub(crate) fn tasks_status(params: &TasksStatusParams) -> Result<TasksStatusResult, Fault> {
    // Asked first: who ends in between has written how.
    let running = Lock::is_taken(&params.out);
    let view = tasks::read(&params.out)?;
    Ok(TasksStatusResult {
        status: view.status,
        reason: view.reason,
        running,
        progress: view.progress,
        total_tasks: view.total,
        completed_tasks: view.completed,
        current_tasks: if running { view.current } else { Vec::new() },
        failed_tasks: view.failed,
        blocked_tasks: view.blocked,
        file: view.file,
        stack: view.stack,
    })
}
