//! The repair door: from failing tests of any Python project to fixes that a person, or a rule of theirs, lets stay.
//!
//! ```text
//! tests with coverage ──> groups ──> diagnosis ──> question ──> edits ──> tests on a copy ──> decision ──> tree
//!        ^                                            ^                        │                 │          │
//!        │                                            └── why it will not do ──┴─────────────────┘          │
//!        └──────────────────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! What comes next is [`trellis_engine::repair::Course`]'s to say; `driver` does it: `crate::counsel` puts questions, `fix` reads what came of
//! them, `decision` says what stays, `alternatives` what became of the rest. Functions and calls of the code are kept as a planning graph (`derived`). Attempts are made on copies: until a fix stays, no
//! byte of the tree changes. What stays is written as a proposal that was accepted (`crate::proposals`), so that it is journaled,
//! refused over edits made meanwhile, and can be undone.

mod alternatives;
mod approver;
mod artifacts;
mod attempts;
mod baseline;
mod code_graph;
mod commit;
mod complaints;
mod decision;
mod driver;
mod evaluate;
mod fix;
mod prompt_context;
mod propose;
mod terminal;
mod uncommitted;
mod worktree;

use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::FixWith;
use trellis_engine::approval::Mode;
use trellis_engine::repair::Limits;
use trellis_sandbox::RaisedBy;

pub(crate) use approver::Approver;
pub(crate) use artifacts::UNNUMBERED;
pub(crate) use commit::title as commit_title;
pub(crate) use propose::{Problem, propose};
pub(crate) use terminal::Terminal;

use crate::api::repair::RepairResult;
use crate::error::{Exit, Fault};
use crate::job_control::JobControl;
use crate::models::ModelArgs;
use crate::output::Output;
use crate::sandbox::SandboxArgs;

/// What is to be mended, how, and with what.
pub(crate) struct RepairRequest {
    /// Where the files are, without links.
    pub(crate) root: PathBuf,
    /// The project's folder, which has its environment and keeps what is left behind; another one only for [`Place::Branch`].
    pub(crate) home: PathBuf,
    /// Failing tests, files or folders of tests; all that fails where none are named.
    pub(crate) tests: Vec<String>,
    /// Test files and folders that are run, beside what is to be mended; all tests where none are named.
    pub(crate) suite: Vec<String>,
    /// Test files that belong to all tests, whatever the project's settings name.
    pub(crate) also: Vec<String>,
    /// Other tests that are known to fail: they run in any case, so that what a fix makes of them is seen.
    pub(crate) failing: Vec<String>,
    /// What a person says is wrong.
    pub(crate) issue: Option<String>,
    /// Fixes of before in a few words, each with what came of it.
    pub(crate) earlier: Vec<String>,
    pub(crate) limits: Limits,
    /// Lines of one file that a fix may change.
    pub(crate) most_lines: usize,
    pub(crate) mode: Mode,
    /// Patterns of files of which a person has to see each change, beside the usual ones.
    pub(crate) critical: Vec<String>,
    /// Whether a model is asked what is wrong before it is asked for a fix.
    pub(crate) report: bool,
    /// How a model gives a fix.
    pub(crate) fix_with: FixWith,
    pub(crate) place: WriteTarget,
    /// Where the accepted changes go as a patch.
    pub(crate) patch: Option<PathBuf>,
    /// Whether the accepted changes are committed.
    pub(crate) commit: bool,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    /// For one test.
    pub(crate) test_timeout: Duration,
    /// For all of them together.
    pub(crate) run_timeout: Option<Duration>,
    /// What raises both.
    pub(crate) raised_by: RaisedBy,
}

/// Where fixes that stay are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum WriteTarget {
    #[default]
    WorkingTree,
    /// A branch of its own; the tree is not touched.
    Branch,
    /// Nowhere: the patch is all there is.
    PatchOnly,
}

/// Mends what fails.
///
/// # Errors
///
/// No tests, no sandbox, no model where one is needed; what was kept before stays, and the artifacts tell of it.
pub(crate) async fn repair(
    order: &RepairRequest,
    person: &Approver<'_>,
    output: &Output,
    control: &JobControl,
) -> Result<RepairResult, Fault> {
    match order.place {
        WriteTarget::Branch => worktree::repair(order, person, output, control).await,
        WriteTarget::WorkingTree | WriteTarget::PatchOnly => {
            driver::repair(order, person, output, control).await
        }
    }
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the tests ended")
        .hint("fixes kept before stay; nothing else was written")
}
