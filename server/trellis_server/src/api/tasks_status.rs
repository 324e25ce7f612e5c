//! `tasksStatus`: progress of a list of tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use trellis_store::lock::Lock;
use trellis_workflows::fault::Fault;
use trellis_workflows::tasks;

/// Shows the progress of a list of tasks, running or finished.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TasksStatusParams {
    /// The folder of the repository.
    pub out: PathBuf,
}

/// The progress of a list of tasks. A task in none of the lists is pending.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TasksStatusResult {
    /// `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`; the last known phase if no
    /// process is running.
    pub status: String,
    /// Why it is `FAILED`.
    pub reason: Option<String>,
    /// Whether a process is working in the folder.
    pub running: bool,
    /// Share of the tasks that are merged, in percent.
    pub progress: u8,
    pub total_tasks: usize,
    /// Merged tasks, by id.
    pub completed_tasks: Vec<String>,
    /// Tasks that are running, or done and about to be merged, by id; empty if no process is running: they will start
    /// again.
    pub current_tasks: Vec<String>,
    /// Why they failed, by id.
    pub failed_tasks: BTreeMap<String, String>,
    /// Tasks that depend on a failed one, by id, with the reason.
    pub blocked_tasks: BTreeMap<String, String>,
    /// The list of tasks, as an absolute path.
    pub file: String,
    /// The template.
    pub stack: String,
}

pub fn tasks_status(params: &TasksStatusParams) -> Result<TasksStatusResult, Fault> {
    // Checked first: a run that ends in between has written its outcome.
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
