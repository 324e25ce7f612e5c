//! How far a list of tasks is, for whoever looks on: `.trellis/tasks.json`, and what clients are told.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use trellis_engine::task_graph::{Phase, Progress, TaskGraphMachine};
use trellis_plan::{NodeIx, Plan, Status};

use crate::error::Fault;
use crate::reporter::{self, Reporter};
use crate::workspace::disk;
use crate::workspace::disk::cannot;

/// Relative to the folder of the repository.
const PATH: &str = ".trellis/tasks.json";
/// Version of the file's shape.
const VERSION: u32 = 1;

/// The file. What is merged stands in git; this is a view of it for people and programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TasksStatus {
    version: u32,
    /// The list, absolute.
    pub(crate) file: String,
    /// The name of the stack.
    pub(crate) stack: String,
    /// `PENDING`, `SCAFFOLDING`, `GENERATING`, `INTEGRATING`, `COMPLETE` or `FAILED`.
    pub(crate) status: String,
    /// Why it is `FAILED`.
    pub(crate) reason: Option<String>,
    /// Share of the tasks that are merged, in percent.
    pub(crate) progress: u8,
    pub(crate) total: usize,
    /// Ids of tasks, as everywhere below.
    pub(crate) completed: Vec<String>,
    pub(crate) current: Vec<String>,
    /// With the reason.
    pub(crate) failed: BTreeMap<String, String>,
    /// With the reason.
    pub(crate) blocked: BTreeMap<String, String>,
}

impl TasksStatus {
    /// Before anything is known but the list.
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

    /// Whether there is nothing more to do but what failed.
    pub(crate) fn is_at_its_end(&self) -> bool {
        [Phase::Complete, Phase::Failed].iter().any(|it| it.as_str() == self.status)
    }
}

/// Whether a list of tasks is made, or was, in this folder.
pub(crate) fn is_there(out: &Path) -> bool {
    out.join(PATH).is_file()
}

/// What the last start left in this folder.
///
/// # Errors
///
/// There is none, or it cannot be read, or it is none of ours.
pub(crate) fn read(out: &Path) -> Result<TasksStatus, Fault> {
    let path = out.join(PATH);
    let bytes = trellis_sandbox::files::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Fault::input(format!("no list of tasks was started in {}", out.display()))
                .kind("noTasks")
                .hint("give the folder that you passed to `trellis tasks` as `--out`")
        }
        _ => Fault::input(trellis_sandbox::wording::cannot_read(path.display(), &error))
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
    // One of another version may have another shape.
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

/// Keeps the file, and tells clients; of both only what is new.
pub(super) struct StatusWriter<'a> {
    out: &'a Path,
    plan: &'a Plan,
    reporter: &'a Reporter,
    written: TasksStatus,
    reported: HashMap<NodeIx, Status>,
}

impl<'a> StatusWriter<'a> {
    /// Writes nothing yet: what an earlier start left holds until this one knows more.
    pub(super) fn new(
        out: &'a Path,
        plan: &'a Plan,
        (file, stack): (&Path, &str),
        reporter: &'a Reporter,
    ) -> Result<StatusWriter<'a>, Fault> {
        let file = std::path::absolute(file).map_err(|error| {
            cannot(&format!("find the full path of {}", file.display()), &error)
        })?;
        let written = TasksStatus::new(file.display().to_string(), stack, plan.nodes().len());
        Ok(StatusWriter { out, plan, reporter, written, reported: HashMap::new() })
    }

    /// There is no project yet, and nothing to be lost.
    pub(super) fn begin(&self) -> Result<(), Fault> {
        self.write()
    }

    /// First the file, so that whoever hears of it finds it there.
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

    /// Who looks on sees tasks as they see nodes.
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
        self.reporter.emit(reporter::Progress::Progress { done, total: *total, eta_seconds: None });
    }
}
