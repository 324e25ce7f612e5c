//! Repairs the last commit in a separate git worktree that nobody else uses, and puts the fixes on
//! a branch.

use super::approver::Approver;
use super::report::RepairReport;
use super::{RepairRequest, commit, in_place};
use crate::fault::Fault;
use crate::job_control::JobControl;
use crate::llm_session::no_journal;
use crate::reporter::Reporter;
use trellis_git::git::Git;
use trellis_git::merge::Checkout;
use trellis_store::journal::Journal;
use trellis_store::origin::Workflow;

pub(super) async fn repair(
    order: &RepairRequest,
    person: &Approver<'_>,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<RepairReport, Fault> {
    let git = Git::around(&order.home)?.ok_or_else(|| {
        let home = order.home.display();
        Fault::input(format!("{home} is not in a git repository with a commit"))
            .hint("leave `worktree` out: attempts are made on copies anyway")
    })?;
    let journal =
        Journal::join(&order.home, control.origin(Workflow::Repair)).map_err(no_journal)?;
    let worktree = Checkout::of(&git, &journal, "HEAD")?;
    let there = RepairRequest {
        root: worktree.root.clone(),
        home: order.home.clone(),
        tests: order.tests.clone(),
        also: order.also.clone(),
        failing: order.failing.clone(),
        suite: order.suite.clone(),
        issue: order.issue.clone(),
        earlier: order.earlier.clone(),
        critical: order.critical.clone(),
        patch: order.patch.clone(),
        model: order.model.clone(),
        sandbox: order.sandbox.clone(),
        ..*order
    };
    let repaired = in_place::repair(&there, person, reporter, control).await;
    drop(worktree);
    let mut result = repaired?;
    if !result.all.is_empty() {
        let (name, made) = commit::branch(&git, &journal, &result.all, &result.title())?;
        reporter.note(format_args!("the fixes are on the branch {name}"));
        (result.branch, result.commit) = (Some(name), Some(made));
    }
    Ok(result)
}
