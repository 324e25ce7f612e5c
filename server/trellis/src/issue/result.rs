//! The result of an issue that ended, and what is pushed to a remote.

use trellis_engine::approval::Mode;
use trellis_engine::issue::{Outcome, OutcomeKind};

use super::IssueRequest;
use super::report::{self, Log};
use crate::api::implement::{self as api, ImplementResult};
use crate::error::{Exit, Fault};
use crate::forge::{Forge, UnmergedBranch};
use crate::job_control::JobControl;
use crate::reporter::Reporter;
use crate::workspace::journal::Journal;
use crate::workspace::worktree::{Worktree, repository};

/// Records the outcome of the work and converts it into a result.
pub(super) fn ended(
    order: &IssueRequest,
    mut work: Worktree,
    log: Log,
    end: Outcome,
) -> Result<ImplementResult, Fault> {
    let (outcome, reason, exit) = match &end.ending {
        OutcomeKind::Merged => (api::Outcome::Merged, None, Exit::Done),
        OutcomeKind::Left => {
            (api::Outcome::Left, Some("it was left on its branch".to_owned()), Exit::NeedsHuman)
        }
        OutcomeKind::Failed(why) => (api::Outcome::Failed, Some(why.clone()), Exit::TestsFailed),
        OutcomeKind::NeedsPerson(why) => {
            let is_unattended = order.mode == Mode::Autonomous
                && log.commit.is_none()
                && !log.conflicts
                && !log.waits;
            let exit = if is_unattended { Exit::TestsFailed } else { Exit::NeedsHuman };
            (api::Outcome::NeedsHuman, Some(why.clone()), exit)
        }
    };
    // Work that waits for a decision, for a model or for a merge can resume. All other ended work
    // starts anew unless a person edits it.
    let waits = matches!(end.ending, OutcomeKind::Failed(_) | OutcomeKind::Merged)
        || log.waits
        || log.conflicts;
    if !waits {
        work.mark_finished(reason.as_deref().unwrap_or("ended"))?;
    }
    let is_there = outcome != api::Outcome::Merged;
    Ok(ImplementResult {
        exit_code: exit as u8,
        reason,
        branch: is_there.then(|| work.branch()),
        worktree: is_there.then(|| work.root.display().to_string()),
        tip: is_there.then(|| work.tip().to_owned()),
        history: end.history,
        ..ImplementResult::of(order, outcome, log)
    })
}

/// Opens the remote that the request names.
pub(super) fn forge<'a>(
    order: &IssueRequest,
    tools: (&'a Journal, &'a Reporter, &'a JobControl),
) -> Result<Option<Forge<'a>>, Fault> {
    let Some(wanted) = &order.push else { return Ok(None) };
    Forge::open(wanted, &order.home, repository(&order.home)?, tools).map(Some)
}

/// Pushes the result: the merge, or the branch if a person has to review it.
pub(super) async fn push(
    forge: &Forge<'_>,
    order: &IssueRequest,
    (it, into, message): (&ImplementResult, &str, &str),
) {
    match (it.outcome, &it.branch) {
        (api::Outcome::Merged, _) => forge.push_pending().await,
        (api::Outcome::NeedsHuman | api::Outcome::Left, Some(branch)) => {
            let report = report::written(&order.home, it.reports.as_deref());
            let reason = it
                .reason
                .as_deref()
                .unwrap_or("look at the change, then approve it or request changes");
            forge
                .push_for_review(&UnmergedBranch { branch, into, message, reason, report: &report })
                .await;
        }
        _ => {}
    }
}
