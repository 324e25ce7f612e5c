//! The implement door: one issue in words, tests first, then code over as many files as it takes, then a merge.
//!
//! ```text
//! words ──> tests ──> red gate ──> code ──> green gate ──> linters ──> reports ──> review ──> merge
//! ```
//!
//! What comes next is [`trellis_engine::feature::Course`]'s to say; `driver` does it. Tests run on copies of a checkout (`trials`), the
//! branch and its worktree (`crate::workspace::worktree`) get what passed the gates, a person may edit it there, and what is
//! tested is what is merged. A run that was stopped is played again from its beginning: what was asked is in the journal, so
//! that nothing is paid for twice.

mod baseline;
mod driver;
mod files;
mod lint;
mod report;
mod result;
mod resume;
mod review;
mod spec;
mod stages;
mod test_runner;

use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::approval::Mode;
use trellis_engine::issue::Limits;

pub(crate) use driver::{IssueEnd, ReadyToMerge, Services, implement, run_until_merge};
pub(crate) use files::is_test;
pub(crate) use report::{Log, message};
pub(crate) use review::{Decision, Reviewer};
pub(crate) use spec::{Spec, plan};
pub(crate) use test_runner::{TestRunner, with_packages};

use crate::error::{Exit, Fault};
use crate::forge::PushTarget;
use crate::models::ModelArgs;
use crate::sandbox::SandboxArgs;

/// The files that say what is to be made.
pub(crate) struct SpecFiles {
    /// What is wanted.
    pub(crate) lld: PathBuf,
    /// Files that are in every question.
    pub(crate) context: Vec<PathBuf>,
}

/// Which work it is, how it is done, and with what.
pub(crate) struct IssueRequest {
    /// The project's folder, without links.
    pub(crate) home: PathBuf,
    /// Of the issue or task: who asks the model.
    pub(crate) id: String,
    /// The same as part of names of files and branches, such as `issue-42`: its worktree, its branch, its stages in the journal.
    pub(crate) name: String,
    /// How people call it, such as `issue 42`.
    pub(crate) title: String,
    /// The branch that it is for; else the one that is checked out when it begins.
    pub(crate) into: Option<String>,
    /// A last line of the commit's message that programs find it by.
    pub(crate) trailer: Option<String>,
    pub(crate) limits: Limits,
    /// Whether tests and code are written with tools, in a copy of the files; where it is not said, if the model has tools.
    pub(crate) tools: Option<bool>,
    /// Whether it is tests of what others have made, and what connects it where they fail: tests that pass at once are kept.
    pub(crate) together: bool,
    pub(crate) mode: Mode,
    pub(crate) model: ModelArgs,
    pub(crate) sandbox: SandboxArgs,
    /// For one test.
    pub(crate) test_timeout: Duration,
    /// For all of them together.
    pub(crate) run_timeout: Option<Duration>,
    /// Where to push what comes of it.
    pub(crate) push: Option<PushTarget>,
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the work was done").hint(
        "run the same command again: it resumes, and you do not pay twice for the same \
             prompts",
    )
}
