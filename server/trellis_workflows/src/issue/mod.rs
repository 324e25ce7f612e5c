//! The issue workflow: implements one issue, tests first, then code in as many files as needed,
//! then a merge.
//!
//! ```text
//! spec ──> tests ──> red gate ──> code ──> green gate ──> linters ──> reports ──> review ──> merge
//! ```
//!
//! [`trellis_engine::issue::IssueMachine`] decides the next action and `driver` performs it. Tests
//! run on copies of a checkout (`test_runner`). The branch and its worktree
//! (`trellis_git::worktree`) receive what passed the gates. A person may edit files there, and
//! exactly the tested text is merged. A stopped run is replayed from its beginning: the journal has
//! the replies so far, so nothing is paid for twice.

mod baseline;
mod driver;
mod files;
mod left_out;
mod lint;
mod report;
mod result;
mod resume;
mod review;
mod review_record;
mod review_stage;
mod spec;
mod stages;
mod test_runner;

use std::path::PathBuf;
use std::time::Duration;

use trellis_engine::approval::Mode;
use trellis_engine::issue::Limits;

pub use driver::{IssueEnd, ReadyToMerge, Services, implement, run_until_merge};
pub use files::is_test;
pub use report::message;
pub use result::{IssueOutcome, IssueReport, TestTotals};
pub use review::{Review, Reviewer};
pub use review_record::{
    ReviewedFile, WaitingReview, WaitingReviews, waiting_review, waiting_reviews,
};
pub use spec::{Spec, plan};
pub use test_runner::{TestRunner, with_packages};

use crate::fault::{Exit, Fault};
use crate::models::ModelArgs;
use crate::sandbox::SandboxArgs;
use trellis_git::forge::PushTarget;

/// The files that describe an issue.
pub struct SpecFiles {
    /// The specification.
    pub lld: PathBuf,
    /// Files that every request contains.
    pub context: Vec<PathBuf>,
}

/// A request to implement one issue or task.
pub struct IssueRequest {
    /// The project's canonical folder.
    pub home: PathBuf,
    /// Id of the issue or task, under which model requests are journaled.
    pub id: String,
    /// Id as part of file and branch names, such as `issue-42`: names the worktree, the branch, and
    /// the stages in the journal.
    pub name: String,
    /// Title for people, such as `issue 42`.
    pub title: String,
    /// The target branch. `None` for the branch that is checked out at the start.
    pub into: Option<String>,
    /// Last line of the commit message, by which programs find the commit.
    pub trailer: Option<String>,
    pub limits: Limits,
    /// Tests and code are written with tools in a copy of the files. `None` to use tools if the
    /// model has them.
    pub tools: Option<bool>,
    /// The request is for tests of several merged tasks together, and for code that connects them
    /// if the tests fail. Tests that pass at once are kept.
    pub together: bool,
    pub mode: Mode,
    pub model: ModelArgs,
    pub sandbox: SandboxArgs,
    /// Limit for one test.
    pub test_timeout: Duration,
    /// Limit for a whole test run.
    pub run_timeout: Option<Duration>,
    /// The push target of the result.
    pub push: Option<PushTarget>,
}

fn cancelled() -> Fault {
    Fault::new(Exit::Interrupted, "stopped before the work was done").hint(
        "run the same command again: it resumes, and you do not pay twice for the same \
             prompts",
    )
}
