//! Commits of kept fixes: of this repair, and of an earlier one that was killed.

use crate::fault::Fault;
use trellis_store::journal::Journal;
use trellis_store::origin::Origin;

use super::commit::NotCommitted;
use super::report::RepairReport;
use super::{RepairRequest, commit, uncommitted};
use crate::llm_session::no_journal;
use crate::reporter::Reporter;

/// Finishes the commit of an earlier repair that was killed during it.
pub(super) fn end_commit(
    order: &RepairRequest,
    reporter: &Reporter,
    origin: &Origin,
) -> Result<(), Fault> {
    if !commit::is_interrupted(&order.root) {
        return Ok(());
    }
    let journal = Journal::join(&order.home, origin.clone()).map_err(no_journal)?;
    let reported = commit::resume(&order.root, &journal).map_err(|why| {
        Fault::input(format!("cannot finish the commit of an earlier repair: {why}"))
            .hint("fix this, and run again; the fix is in the tree")
    })?;
    reported.into_iter().for_each(|it| reporter.note(it));
    uncommitted::forget(&order.root)
}

/// Commits fixes that an earlier repair left in the tree, before anything else changes there.
pub(super) fn commit_left(
    order: &RepairRequest,
    reporter: &Reporter,
    origin: &Origin,
) -> Result<(), Fault> {
    match committed_now(order, origin) {
        Ok(None) => {}
        Ok(Some(made)) => reporter.note(format!(
            "the fixes of an earlier repair were not committed; they are committed now: {made}"
        )),
        Err(NotCommitted::Refused(why)) => reporter.note(format!(
            "the fixes of an earlier repair are not committed: {why}; they are in the tree"
        )),
        Err(NotCommitted::Failed(why)) => {
            let message = format!("cannot commit the fixes of an earlier repair: {why}");
            return Err(Fault::input(message).hint(
                "fix this, and run again, or run without `--commit`; the fixes are in the tree",
            ));
        }
    }
    uncommitted::forget(&order.root)
}

/// Returns the commit of fixes that an earlier repair left, if there are any.
fn committed_now(order: &RepairRequest, origin: &Origin) -> Result<Option<String>, NotCommitted> {
    let Some(left) = uncommitted::left(&order.root)? else { return Ok(None) };
    let journal = Journal::join(&order.home, origin.clone())
        .map_err(|error| NotCommitted::Failed(no_journal(error).message))?;
    commit::commit(&order.root, &journal, &left.patch, &left.title).map(Some)
}

/// Commits the kept fixes. If the repository does not allow it, they stay in the tree and the
/// result has a note.
pub(super) fn commit_all(
    order: &RepairRequest,
    result: &mut RepairReport,
    reporter: &Reporter,
    origin: &Origin,
) -> Result<(), Fault> {
    let journal = Journal::join(&order.home, origin.clone()).map_err(no_journal)?;
    match commit::commit(&order.root, &journal, &result.all, &result.title()) {
        Ok(made) => result.commit = Some(made),
        Err(NotCommitted::Refused(why)) => {
            let note = format!("not committed: {why}; the fixes are in the tree");
            reporter.note(&note);
            result.notes.push(note);
        }
        // The record of the fixes stays, for the next start.
        Err(NotCommitted::Failed(why)) => {
            let message =
                format!("the fixes are kept, but their commit could not be finished: {why}");
            return Err(Fault::internal(message).hint(
                "they are in the tree; fix this, and the next `repair --commit` finishes it",
            ));
        }
    }
    uncommitted::forget(&order.root)
}
