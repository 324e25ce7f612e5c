//! Result of a list of tasks.

use std::collections::BTreeMap;

use trellis_engine::task_graph::{Phase, Progress};

use crate::timing::Timing;
use trellis_git::forge::Pushed;

/// Result of a list of tasks.
#[derive(Clone, Debug)]
pub struct TasksReport {
    /// `COMPLETE` or `FAILED`; merged tasks stay in either case.
    pub status: String,
    /// Reason that it is `FAILED`.
    pub reason: Option<String>,
    /// Exit code of the command line.
    pub exit_code: u8,
    /// Folder of the repository.
    pub out: String,
    /// Share of the tasks that are merged, in percent.
    pub progress: u8,
    pub total_tasks: usize,
    /// Merged tasks, by id.
    pub completed_tasks: Vec<String>,
    /// Reasons that tasks are not merged, by id.
    pub failed_tasks: BTreeMap<String, String>,
    /// Tasks that depend on a failed one, by id, with the reason.
    pub blocked_tasks: BTreeMap<String, String>,
    pub pushed: Vec<Pushed>,
    /// US dollars, as far as prices are known.
    pub usd: f64,
    /// Tokens in and out.
    pub tokens: u64,
    pub time: Timing,
    /// Further notes, as sentences.
    pub notes: Vec<String>,
}

impl TasksReport {
    pub fn of(progress: &Progress) -> TasksReport {
        let is_whole =
            progress.phase == Phase::Complete && progress.completed.len() == progress.total;
        TasksReport {
            status: progress.phase.as_str().to_owned(),
            reason: progress.reason.clone(),
            exit_code: u8::from(!is_whole),
            out: String::new(),
            progress: progress.percent,
            total_tasks: progress.total,
            completed_tasks: progress.completed.clone(),
            failed_tasks: progress.failed.clone(),
            blocked_tasks: progress.blocked.clone(),
            pushed: Vec::new(),
            usd: 0.0,
            tokens: 0,
            time: Timing::default(),
            notes: Vec::new(),
        }
    }
}
