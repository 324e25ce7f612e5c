//! The tasks door: a list of tasks, a tech stack, and a repository that grows from both, several tasks at a time.
//!
//! ```text
//! stack ──> project with a test that passes ──> task ──> branch ─┐
//!                                        └────> task ──> branch ─┼──> merges, tested ──> all of it, tested
//!                                        └────> task ──> branch ─┘
//! ```
//!
//! What comes next is [`trellis_engine::campaign::Campaign`]'s to say; `driver` does it. Each task is made as an issue is
//! (`crate::implement`), in a worktree of its own; `merge` brings what was made onto the main branch, `ground` makes the
//! project, `board` keeps for others how far it is, `made` tells which files there are. What is merged stands in git: the commit
//! of a task names it in its last line, and a later start goes on from there.

mod conflict;
mod driver;
mod merge;
mod outputs;
mod scaffold;
mod status_file;

use std::path::PathBuf;
use std::time::Duration;

pub(crate) use driver::tasks;
pub(crate) use outputs::{FileState, files};
pub(crate) use status_file::{is_there, read};

use crate::error::Fault;
use crate::forge::PushTarget;
use crate::issue::Services;
use crate::llm_session::no_journal;
use crate::models::ModelArgs;
use crate::sandbox::SandboxArgs;
use crate::workspace::journal::Event;

/// What is to be made, how, and with what.
pub(crate) struct TasksRequest {
    /// The list of tasks.
    pub(crate) file: PathBuf,
    /// The name of the stack.
    pub(crate) stack: String,
    /// Where stacks of the project's own are looked for, upwards.
    pub(crate) stacks: PathBuf,
    /// The project's folder.
    pub(crate) out: PathBuf,
    /// The project's name; else the folder's.
    pub(crate) name: Option<String>,
    /// Tasks at a time.
    pub(crate) jobs: usize,
    /// Fixes for one task.
    pub(crate) retries: u32,
    /// Whether tests and code are written with tools.
    pub(crate) tools: bool,
    /// Whether a model is asked for tests of all of it together.
    pub(crate) integrates: bool,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    /// For one test.
    pub(crate) test_timeout: Duration,
    /// For all of them together.
    pub(crate) run_timeout: Option<Duration>,
    /// Where to push what comes of it.
    pub(crate) push: Option<PushTarget>,
}

/// Says what is under way: to whoever looks on, and to the journal.
fn log_stage(tools: Services<'_>, work: &str, stage: &str, reason: &str) -> Result<(), Fault> {
    let colon = if reason.is_empty() { "" } else { ": " };
    let first = reason.lines().next().unwrap_or_default();
    tools.output.note(format_args!("{work}: {stage}{colon}{first}"));
    let event = Event::Stage {
        work: work.to_owned(),
        stage: stage.to_owned(),
        reason: reason.to_owned(),
        milliseconds: None,
    };
    tools.journal.log(event).map_err(no_journal)
}

/// The last line of a task's commit, before its id as a name.
const TASK: &str = "Trellis-Task: ";
/// The last line of the project's first commit, before the name of its stack.
const STACK: &str = "Trellis-Stack: ";
/// The last line of the commit that tests a set of tasks together, before the set's hash.
const INTEGRATION_TRAILER: &str = "Trellis-Integration: ";
/// A line of a task's commit, before a file whose conflict a model has settled.
const RESOLVED_TRAILER: &str = "Trellis-Settled: ";
