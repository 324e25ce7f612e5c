//! The workflow and the run that journal lines come from.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;

/// Workflows that write to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workflow {
    Generate,
    Rollback,
    Repair,
    Implement,
    Tasks,
    WriteTests,
    PlanDraft,
    PlanFromCode,
    /// Decisions on proposals.
    Fixes,
}

impl Workflow {
    /// Returns the name of the command, such as `write-tests`.
    pub fn as_str(self) -> &'static str {
        match self {
            Workflow::Generate => "generate",
            Workflow::Rollback => "rollback",
            Workflow::Repair => "repair",
            Workflow::Implement => "implement",
            Workflow::Tasks => "tasks",
            Workflow::WriteTests => "write-tests",
            Workflow::PlanDraft => "plan-draft",
            Workflow::PlanFromCode => "plan-from-code",
            Workflow::Fixes => "fixes",
        }
    }
}

/// Id of one run of a workflow: its start, the process, and a number within the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunId(Arc<str>);

impl RunId {
    /// Returns an id that no other run on this machine has.
    pub fn create() -> RunId {
        static RUNS: AtomicU64 = AtomicU64::new(1);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let at = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        RunId(format!("{at}-{}-{number}", std::process::id()).into())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Writer of journal lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub workflow: Workflow,
    pub run_id: RunId,
}

impl Origin {
    /// Creates the origin of a run of its own.
    pub fn create(workflow: Workflow) -> Origin {
        Origin { workflow, run_id: RunId::create() }
    }
}
