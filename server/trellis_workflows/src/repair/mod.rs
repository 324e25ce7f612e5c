//! The repair workflow: from failing tests of any Python project to fixes that a person, or a rule
//! of theirs, approves.
//!
//! ```text
//! tests ──> groups ──> diagnosis ──> request ──> edits ──> tests on a copy ──> decision ──> tree
//!   ^                                   ^                       │                 │          │
//!   │                                   └── reason for failure ─┴─────────────────┘          │
//!   └────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! [`trellis_engine::repair::RepairMachine`] decides the next action and `driver` performs it:
//! `crate::llm_session` sends requests, `fix` reads the replies, `decision` says what stays, and
//! `trial_search` finds fixes without a model, and `alternatives` lists the fixes not taken.
//! `question` collects what a request shows. The functions and calls of the code are stored as a
//! planning graph (`code_graph`). Attempts run on copies: until a fix stays, no byte of the tree
//! changes. A fix that stays is written as an accepted proposal (`crate::proposals`), so that it is
//! journaled, refused over edits made meanwhile, and can be undone.

mod active_group;
mod alternatives;
mod approver;
mod artifacts;
mod attempts;
mod baseline;
mod code_graph;
mod commit;
mod decision;
mod driver;
mod evaluate;
mod finish_commits;
mod fix;
mod in_place;
mod line_ends;
mod other_failures;
mod outcomes;
mod project_files;
mod project_lock;
mod propose;
mod question;
pub mod report;
mod terminal;
mod trial_search;
mod uncommitted;
mod worktree;

use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::FixWith;
use trellis_engine::approval::Mode;
use trellis_engine::repair::{FailedFix, Limits};
use trellis_sandbox::RaisedBy;

use report::RepairReport;

pub use approver::Approver;
pub use artifacts::UNNUMBERED;
pub use commit::title as commit_title;
pub use propose::{Problem, RevisionRequest, propose};
pub use terminal::Terminal;

use crate::fault::{Exit, Fault};
use crate::job_control::JobControl;
use crate::llm_session::no_journal;
use crate::models::ModelArgs;
use crate::reporter::Reporter;
use crate::sandbox::SandboxArgs;
use trellis_store::journal::Journal;

/// A request to repair failing tests.
pub struct RepairRequest {
    /// The canonical folder of the files.
    pub root: PathBuf,
    /// The project's folder, which has its environment and receives the artifacts. Differs from
    /// `root` only for [`WriteTarget::Branch`].
    pub home: PathBuf,
    /// Failing tests, test files or test folders; empty for everything that fails.
    pub tests: Vec<String>,
    /// Test files and folders to run in addition; empty for all tests.
    pub suite: Vec<String>,
    /// Test files that belong to all tests, whatever the project's settings name.
    pub also: Vec<String>,
    /// Other tests that are known to fail. They always run, so that the effect of a fix on them is
    /// seen.
    pub failing: Vec<String>,
    /// A person's description of the problem.
    pub issue: Option<String>,
    /// Earlier fixes that were not kept.
    pub earlier: Vec<FailedFix>,
    pub limits: Limits,
    /// Maximum number of changed lines per file.
    pub most_lines: usize,
    pub mode: Mode,
    /// Patterns of files whose changes always need a review, in addition to the usual ones.
    pub critical: Vec<String>,
    /// A model diagnoses the problem before it is asked for a fix.
    pub report: bool,
    /// Wall time for trying small edits before a model is asked; `None` for no trials.
    pub trials: Option<Duration>,
    /// The way in which a model gives a fix.
    pub fix_with: FixWith,
    pub place: WriteTarget,
    /// File that receives the accepted changes as a patch.
    pub patch: Option<PathBuf>,
    /// The accepted changes are committed.
    pub commit: bool,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    /// Limit for one test.
    pub test_timeout: Duration,
    /// Limit for a whole test run.
    pub run_timeout: Option<Duration>,
    /// The settings that raise these limits, as messages name them.
    pub raised_by: RaisedBy,
}

/// Destination of the fixes that stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteTarget {
    #[default]
    WorkingTree,
    /// A new branch; the tree is not touched.
    Branch,
    /// No files; the patch is the only result.
    PatchOnly,
}

/// Repairs what fails.
///
/// # Errors
///
/// There are no tests, no sandbox, or no model where one is needed, or another process repairs the
/// project. Fixes kept before stay, and the artifacts list them.
pub async fn repair(
    order: &RepairRequest,
    person: &Approver<'_>,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<RepairReport, Fault> {
    Journal::refuse_newer(&order.home).map_err(no_journal)?;
    let _lock = project_lock::take(&order.home)?;
    match order.place {
        WriteTarget::Branch => worktree::repair(order, person, reporter, control).await,
        WriteTarget::WorkingTree | WriteTarget::PatchOnly => {
            in_place::repair(order, person, reporter, control).await
        }
    }
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the tests ended")
        .hint("fixes kept before stay; nothing else was written")
}
