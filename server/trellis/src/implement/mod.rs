//! The implement door: one issue in words, tests first, then code over as many files as it takes, then a merge.
//!
//! ```text
//! words ──> tests ──> red gate ──> code ──> green gate ──> linters ──> reports ──> review ──> merge
//! ```
//!
//! What comes next is [`cycle::feature::Course`]'s to say; `driver` does it. Tests run on copies of a checkout (`trials`), the
//! branch and its worktree (`crate::workspace::worktree`) get what passed the gates, a person may edit it there, and what is
//! tested is what is merged. A run that was stopped is played again from its beginning: what was asked is in the journal, so
//! that nothing is paid for twice.

mod driver;
mod files;
mod lint;
mod report;
mod review;
mod stages;
mod trials;
mod words;

use std::path::PathBuf;
use std::time::Duration;

use cycle::approval::Mode;
use cycle::feature::Limits;

pub(crate) use driver::implement;
pub(crate) use report::Log;
pub(crate) use review::{Decision, Reviewer};
pub(crate) use words::plan;

use crate::error::{Exit, Fault};
use crate::models::ModelArgs;
use crate::sandbox::SandboxArgs;

/// What is to be made, how, and with what.
pub(crate) struct Order {
    /// The project's folder, without links.
    pub(crate) home: PathBuf,
    /// Number or name of the issue; part of names of files and branches, and who asks the model.
    pub(crate) issue: String,
    /// The file that says what is wanted.
    pub(crate) lld: PathBuf,
    /// Files that are in every question.
    pub(crate) context: Vec<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) mode: Mode,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    /// For one test.
    pub(crate) test_timeout: Duration,
    /// For all of them together.
    pub(crate) run_timeout: Duration,
}

impl Order {
    /// How the work is called: its worktree, its branch, its stages in the journal.
    pub(crate) fn name(&self) -> String {
        format!("issue-{}", self.issue)
    }
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the work was done")
        .hint("run the same command again: it goes on, and what was asked is not paid for twice")
}
