//! Lists the runs of a workspace.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::files::past;
use trellis_store::journal::Journal;
use trellis_store::lock::Lock;
use trellis_workflows::fault::Fault;
use trellis_workflows::tasks;

/// Maximum depth of folders searched for runs.
const DEPTH: usize = 3;

/// Lists the runs of `generate` and of `tasks` in the workspace's folders, down to three levels: which are finished,
/// and which can be resumed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListRuns {
    /// Search this folder instead of the workspace's.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// Runs by folder.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunList {
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Run {
    /// Its output folder.
    pub out: PathBuf,
    pub kind: RunKind,
    /// `finished`; `active`: a process is working on it; `stopped`: the same method with this folder resumes it.
    pub state: RunState,
    /// Nodes that have passed, or tasks that are merged.
    pub passed: usize,
    /// All of them.
    pub total: usize,
    /// The planning graph, or the list of tasks, that it was started with; null in journals of earlier versions.
    pub graph: Option<String>,
}

/// The method of a run, and the method that shows its progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunKind {
    /// `generate`; `status`.
    Generate,
    /// `tasks`; `tasksStatus`.
    Tasks,
}

/// Whether a process works on a run, and whether it is finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunState {
    Finished,
    Active,
    Stopped,
}

/// Returns the runs in these folders.
pub fn list(folders: &[PathBuf]) -> RunList {
    let mut found = Vec::new();
    folders.iter().for_each(|folder| look(folder, DEPTH, &mut found));
    found.sort();
    found.dedup();
    // The journal of a project in which only tests were written is no run.
    let runs = found.iter().filter_map(|out| run(out).ok()).filter(|it| it.total > 0);
    RunList { runs: runs.collect() }
}

fn look(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if Journal::path(folder).is_file() {
        found.push(folder.to_owned());
    }
    // An unreadable folder has no run that could be resumed.
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    if depth == 0 {
        return;
    }
    for entry in entries.flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        let is_left_out = is_hidden || entry.file_name() == "node_modules";
        if !is_left_out && entry.file_type().is_ok_and(|it| it.is_dir()) {
            look(&entry.path(), depth - 1, found);
        }
    }
}

fn run(out: &Path) -> Result<Run, Fault> {
    match tasks::is_there(out) {
        true => of_tasks(out),
        false => of_generate(out),
    }
}

fn of_generate(out: &Path) -> Result<Run, Fault> {
    let past = past(out)?;
    let graph = past.options.as_ref().and_then(|it| it["graph"].as_str()).map(str::to_owned);
    let (passed, total) = (past.accepted.len(), past.nodes.len());
    let state = state(out, past.finished);
    Ok(Run { out: out.to_owned(), kind: RunKind::Generate, state, passed, total, graph })
}

fn of_tasks(out: &Path) -> Result<Run, Fault> {
    let view = tasks::read(out)?;
    let state = state(out, view.is_at_its_end());
    let (passed, total, graph) = (view.completed.len(), view.total, Some(view.file));
    Ok(Run { out: out.to_owned(), kind: RunKind::Tasks, state, passed, total, graph })
}

fn state(out: &Path, is_finished: bool) -> RunState {
    match () {
        () if Lock::is_taken(out) => RunState::Active,
        () if is_finished => RunState::Finished,
        () => RunState::Stopped,
    }
}
