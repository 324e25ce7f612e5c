//! The tasks workflow: makes a repository from a list of tasks and a tech stack, several tasks at a
//! time.
//!
//! ```text
//! stack ──> project with a passing test ──> task ──> branch ─┐
//!                                    └────> task ──> branch ─┼──> tested merges ──> tests of all
//!                                    └────> task ──> branch ─┘
//! ```
//!
//! [`trellis_engine::task_graph::TaskGraphMachine`] decides the next action and `driver` performs
//! it. Each task is implemented like an issue (`crate::issue`) in its own worktree. `merge` brings
//! finished tasks onto the main branch, `scaffold` creates the project, `status_file` records the
//! progress for observers, and `outputs` lists the resulting files. Git records merges: the last
//! line of a task's commit names the task, and a later start resumes from there.

mod conflict;
mod driver;
mod merge;
mod outputs;
mod report;
mod requests;
mod scaffold;
mod status_file;
mod step_error;

use std::path::PathBuf;
use std::time::Duration;

pub use driver::tasks;
pub use outputs::{FileState, files};
pub use report::TasksReport;
pub use status_file::{is_there, read};

use crate::fault::Fault;
use crate::issue::Services;
use crate::llm_session::no_journal;
use crate::models::ModelArgs;
use crate::sandbox::SandboxArgs;
use trellis_git::forge::PushTarget;
use trellis_store::journal::Event;

/// A request to implement a list of tasks.
pub struct TasksRequest {
    /// The file with the list of tasks.
    pub file: PathBuf,
    /// The name of the stack.
    pub stack: String,
    /// The folder from which the search for the project's own stacks goes upwards.
    pub stacks: PathBuf,
    /// The project's folder.
    pub out: PathBuf,
    /// The project's name. `None` for the folder's name.
    pub name: Option<String>,
    /// Number of tasks at a time.
    pub jobs: usize,
    /// Maximum number of fixes per task.
    pub retries: u32,
    /// Tests and code are written with tools.
    pub tools: bool,
    /// A model also writes tests of all tasks together.
    pub integrates: bool,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    /// Limit for one test.
    pub test_timeout: Duration,
    /// Limit for a whole test run.
    pub run_timeout: Option<Duration>,
    /// The push target of the result.
    pub push: Option<PushTarget>,
}

/// Reports a stage to observers and to the journal.
fn log_stage(tools: Services<'_>, work: &str, stage: &str, reason: &str) -> Result<(), Fault> {
    let colon = if reason.is_empty() { "" } else { ": " };
    let first = reason.lines().next().unwrap_or_default();
    tools.reporter.note(format_args!("{work}: {stage}{colon}{first}"));
    let event = Event::Stage {
        work: work.to_owned(),
        stage: stage.to_owned(),
        reason: reason.to_owned(),
        milliseconds: None,
    };
    tools.journal.log(event).map_err(no_journal)
}

/// Trailer with a task's escaped id: the last line of its commit.
const TASK: &str = "Trellis-Task: ";
/// Trailer with the stack's name: the last line of the project's first commit.
const STACK: &str = "Trellis-Stack: ";
/// Trailer with a hash of a set of tasks: the last line of the commit with their integration tests.
const INTEGRATION_TRAILER: &str = "Trellis-Integration: ";
/// Trailer with a file whose conflict a model resolved, in a task's commit.
const RESOLVED_TRAILER: &str = "Trellis-Settled: ";
