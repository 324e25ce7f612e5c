//! The progress of a list of tasks, for observers: `.trellis/tasks.json` and notifications to
//! clients.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trellis_engine::task_graph::{Phase, Progress, TaskGraphMachine};
use trellis_plan::{NodeIx, Plan, Status};

use crate::fault::{Fault, FaultKind, cannot};
use crate::reporter::{self, Reporter};
use trellis_store::disk;

/// Path of the file, relative to the repository.
const PATH: &str = ".trellis/tasks.json";
/// Version of the file format.
const VERSION: u32 = 1;

/// Content of the status file. Git records what is merged; this file shows it to people and
/// programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TasksStatus {
    version: u32,
    /// Absolute path of the task list.
    pub file: String,
    /// The name of the stack.
    pub stack: String,
    /// `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`.
    pub status: String,
    /// The reason for `FAILED`.
    pub reason: Option<String>,
    /// Share of merged tasks, in percent.
    pub progress: u8,
    pub total: usize,
    /// Ids of merged tasks; the fields below have task ids as well.
    pub completed: Vec<String>,
    pub current: Vec<String>,
    /// Failed tasks with the reason.
    pub failed: BTreeMap<String, String>,
    /// Blocked tasks with the reason.
    pub blocked: BTreeMap<String, String>,
}

impl TasksStatus {
    /// Creates the status before anything but the list is known.
    fn new(file: String, stack: &str, total: usize) -> TasksStatus {
        TasksStatus {
            version: VERSION,
            file,
            stack: stack.to_owned(),
            status: Phase::Pending.as_str().to_owned(),
            reason: None,
            progress: 0,
            total,
            completed: Vec::new(),
            current: Vec::new(),
            failed: BTreeMap::new(),
            blocked: BTreeMap::new(),
        }
    }

    fn now(&self, progress: Progress) -> TasksStatus {
        TasksStatus {
            status: progress.phase.as_str().to_owned(),
            reason: progress.reason,
            progress: progress.percent,
            total: progress.total,
            completed: progress.completed,
            current: progress.current,
            failed: progress.failed,
            blocked: progress.blocked,
            ..self.clone()
        }
    }

    /// Returns whether the tasks are complete or failed.
    pub fn is_at_its_end(&self) -> bool {
        [Phase::Complete, Phase::Failed].iter().any(|it| it.as_str() == self.status)
    }
}

/// Returns whether a list of tasks was started in this folder.
pub fn is_there(out: &Path) -> bool {
    out.join(PATH).is_file()
}

/// Reads the status that the last start left in this folder.
///
/// # Errors
///
/// There is no status file, it cannot be read, or Trellis did not write it.
pub fn read(out: &Path) -> Result<TasksStatus, Fault> {
    let path = out.join(PATH);
    let bytes = trellis_os::files::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Fault::input(format!("no list of tasks was started in {}", out.display()))
                .kind(FaultKind::NoTasks)
                .hint("give the folder that you passed to `trellis tasks` as `--out`")
        }
        _ => Fault::input(trellis_os::wording::cannot_read(path.display(), &error))
            .hint("make it readable, or run `trellis tasks` again, which writes it again"),
    })?;
    let broken = |why: String| {
        Fault::input(format!("{} does not show the progress of the tasks: {why}", path.display()))
            .hint(
                "run `trellis tasks` again: it reads what is merged from git, and writes the file \
             again",
            )
    };
    let not_json = |error: serde_json::Error| broken(error.to_string());
    // Another version may have another format.
    let Versioned { version } = serde_json::from_slice(&bytes).map_err(not_json)?;
    match version {
        VERSION => serde_json::from_slice(&bytes).map_err(not_json),
        other => Err(broken(format!("it has version {other}, but this Trellis reads {VERSION}"))),
    }
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// Writes the file and notifies clients, in both cases only about changes.
pub(super) struct StatusWriter<'a> {
    out: &'a Path,
    plan: &'a Plan,
    reporter: &'a Reporter,
    written: TasksStatus,
    reported: HashMap<NodeIx, Status>,
}

impl<'a> StatusWriter<'a> {
    /// Creates the writer without writing: an earlier start's file stays valid until this one knows
    /// more.
    pub(super) fn new(
        out: &'a Path,
        plan: &'a Plan,
        file: &Path,
        stack: &str,
        reporter: &'a Reporter,
    ) -> Result<StatusWriter<'a>, Fault> {
        let file = std::path::absolute(file).map_err(|error| {
            cannot(&format!("find the full path of {}", file.display()), &error)
        })?;
        let written = TasksStatus::new(file.display().to_string(), stack, plan.nodes().len());
        Ok(StatusWriter { out, plan, reporter, written, reported: HashMap::new() })
    }

    /// Writes the initial status, before there is a project to lose.
    pub(super) fn begin(&self) -> Result<(), Fault> {
        self.write()
    }

    /// Writes the file, and then notifies clients, so that they find the file up to date.
    pub(super) fn show(&mut self, machine: &TaskGraphMachine) -> Result<(), Fault> {
        let now = self.written.now(machine.progress());
        if now != self.written {
            self.written = now;
            self.write()?;
        }
        self.report(machine);
        Ok(())
    }

    fn write(&self) -> Result<(), Fault> {
        let text = serde_json::to_string_pretty(&self.written).map_err(|error| {
            Fault::internal(format!("the tasks cannot be written as JSON: {error}"))
        })?;
        disk::write(self.out, PATH, &(text + "\n"))
            .map_err(|error| cannot(&format!("write {}", self.out.join(PATH).display()), &error))
    }

    /// Notifies clients of tasks in the same form as of nodes.
    fn report(&mut self, machine: &TaskGraphMachine) {
        for node in self.plan.nodes() {
            let Some(ix) = self.plan.find(&node.id) else { continue };
            let Some(status) = machine.status(ix) else { continue };
            if self.reported.insert(ix, status) == Some(status) {
                continue;
            }
            let TasksStatus { failed, blocked, .. } = &self.written;
            let id: &str = &node.id;
            let reason = failed.get(id).or_else(|| blocked.get(id)).map(String::as_str);
            let status = status.name();
            self.reporter.emit(reporter::Progress::Node {
                node: id,
                status,
                reason,
                subgraph: None,
            });
        }
        let TasksStatus { total, completed, failed, blocked, .. } = &self.written;
        let done = completed.len() + failed.len() + blocked.len();
        self.reporter.emit(reporter::Progress::Count { done, total: *total, eta_seconds: None });
    }
}
