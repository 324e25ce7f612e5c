//! Finds out how far an issue already is, and where it continues.

use trellis_engine::issue::IssueMachine;

use super::files::is_test;
use super::{IssueRequest, review_record};
use crate::fault::Fault;
use crate::reporter::Reporter;
use trellis_git::worktree::{Opened, Worktree, repository};
use trellis_git::worktree_state::is_there;
use trellis_store::journal::Journal;

/// Starting point of an issue: work to do, or the commit of a finished merge.
pub(super) enum Resume {
    Work(Box<Worktree>, IssueMachine),
    Merged(String),
}

/// Returns the merge commit of an issue that has nothing left to do.
pub(super) fn find_merge(order: &IssueRequest) -> Result<Option<String>, Fault> {
    let Some(trailer) = order.trailer.as_ref().filter(|_| !is_there(&order.home, &order.name))
    else {
        return Ok(None);
    };
    let pattern = format!("^{}$", trailer.replace('.', "\\."));
    let log = ["log", "-1", "-E", "--format=%H", "--grep", &pattern];
    let commit = repository(&order.home)?.run(&log)?;
    Ok(Some(commit.trim().to_owned()).filter(|it| !it.is_empty()))
}

/// Resumes or starts an issue. A person's edits are tested first, ended work is archived, and
/// everything else is replayed from its beginning.
pub(super) fn resume_or_start(
    order: &IssueRequest,
    journal: &Journal,
    reporter: &Reporter,
) -> Result<Resume, Fault> {
    let name = &order.name;
    let mut work = match Worktree::open_for(&order.home, name, order.into.as_deref(), journal)? {
        Opened::Merged(commit) => {
            review_record::remove(&order.home, name)?;
            return Ok(Resume::Merged(commit));
        }
        Opened::Fresh(work) => {
            review_record::remove(&order.home, name)?;
            return Ok(Resume::Work(Box::new(work), IssueMachine::new(order.limits)));
        }
        Opened::Resumed(work) => work,
    };
    let files = work.current_files()?;
    if files.is_edited() || work.record.edited {
        reporter.note(format_args!("{name}: continuing with your edits of its files"));
        if files.is_edited() {
            work.commit_user_edits(journal, &files)?;
        }
        work.record.ended = None;
        // Trellis may have been killed before it wrote its own tests.
        let machine = match work.changed()?.0.iter().any(|path| is_test(path)) {
            true => IssueMachine::with_code(order.limits),
            false => IssueMachine::new(order.limits),
        };
        return Ok(Resume::Work(Box::new(work), machine));
    }
    if let Some(fixes) = work.record.waits.filter(|_| work.record.ended.is_none()) {
        reporter.note(format_args!("{name}: continuing with the change that needs your review"));
        return Ok(Resume::Work(Box::new(work), IssueMachine::waiting(order.limits, fixes)));
    }
    let Some(how) = &work.record.ended else {
        reporter.note(format_args!("{name}: resuming where it stopped"));
        return Ok(Resume::Work(Box::new(work), IssueMachine::new(order.limits)));
    };
    let how = how.clone();
    let aside = work.archive(journal)?;
    reporter.note(format_args!(
        "{name} was started before, and {how}: that work is now on the branch {aside}"
    ));
    resume_or_start(order, journal, reporter)
}
