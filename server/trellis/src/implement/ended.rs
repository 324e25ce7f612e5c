//! What becomes of work that ended: its result, and what a remote gets of it.

use cycle::approval::Mode;
use cycle::feature::{End, Ending};

use super::Order;
use super::report::{self, Log};
use crate::control::Control;
use crate::error::{Exit, Fault};
use crate::forge::{Forge, Left};
use crate::methods::implement::{ImplementResult, Outcome};
use crate::output::Output;
use crate::workspace::journal::Journal;
use crate::workspace::worktree::{Worktree, repository};

/// How it ended, written down, and as a result.
pub(super) fn ended(
    order: &Order,
    mut work: Worktree,
    log: Log,
    end: End,
) -> Result<ImplementResult, Fault> {
    let (outcome, reason, exit) = match &end.ending {
        Ending::Merged => (Outcome::Merged, None, Exit::Done),
        Ending::Left => {
            (Outcome::Left, Some("it was left on its branch".to_owned()), Exit::NeedsHuman)
        }
        Ending::Failed(why) => (Outcome::Failed, Some(why.clone()), Exit::TestsFailed),
        Ending::NeedsPerson(why) => {
            let is_unattended = order.mode == Mode::Autonomous
                && log.commit.is_none()
                && !log.conflicts
                && !log.waits;
            let exit = if is_unattended { Exit::TestsFailed } else { Exit::NeedsHuman };
            (Outcome::NeedsHuman, Some(why.clone()), exit)
        }
    };
    // What waits for a word, a model, or room for the merge goes on then; all else is begun anew unless a person edits it.
    let waits =
        matches!(end.ending, Ending::Failed(_) | Ending::Merged) || log.waits || log.conflicts;
    if !waits {
        work.end(reason.as_deref().unwrap_or("ended"))?;
    }
    let is_there = outcome != Outcome::Merged;
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

/// The remote that the order names.
pub(super) fn forge<'a>(
    order: &Order,
    tools: (&'a Journal, &'a Output, &'a Control),
) -> Result<Option<Forge<'a>>, Fault> {
    let Some(wanted) = &order.push else { return Ok(None) };
    Forge::open(wanted, &order.home, repository(&order.home)?, tools).map(Some)
}

/// Pushes what came of the work: its merge, or its branch where a person has to look.
pub(super) async fn push(
    forge: &Forge<'_>,
    order: &Order,
    (it, into, message): (&ImplementResult, &str, &str),
) {
    match (it.outcome, &it.branch) {
        (Outcome::Merged, _) => forge.settle().await,
        (Outcome::NeedsHuman | Outcome::Left, Some(branch)) => {
            let report = report::written(&order.home, it.reports.as_deref());
            let reason = it
                .reason
                .as_deref()
                .unwrap_or("look at the change, then approve it or request changes");
            forge.left(&Left { branch, into, message, reason, report: &report }).await;
        }
        _ => {}
    }
}
