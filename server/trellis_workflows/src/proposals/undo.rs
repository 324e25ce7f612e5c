//! Undoes accepted changes.

use super::decide::{OpenTexts, carry_out, recover_write};
use super::proposal::{Applied, PendingWrite, Proposal, State, now};
use super::rebase::unsaved;
use super::store::Store;
use crate::fault::{Fault, FaultKind};
use trellis_project::edits;

/// Result of an undo.
#[derive(Debug)]
pub struct Undone {
    pub proposal: Proposal,
    /// Number of the edit that undid the change; it can be undone as well.
    pub edit: u64,
    /// Files that were restored.
    pub paths: Vec<String>,
}

impl Undone {
    fn of(proposal: Proposal, edit: u64) -> Undone {
        let paths = proposal.files.iter().map(|it| it.path.clone()).collect();
        Undone { proposal, edit, paths }
    }
}

/// Undoes exactly what was last accepted of a proposal. Refuses if one of the files was changed
/// since. The whole proposal then waits for a new decision.
pub fn undo(store: &Store, id: &str, open: &OpenTexts) -> Result<Undone, Fault> {
    let lock = store.lock()?;
    edits::recover(store.root())?;
    let stored = store.get(id)?;
    let decisions = stored.history.len();
    let mut proposal = recover_write(store, stored, &lock)?;
    // The undo that is asked for again: it was killed before it was recorded.
    let last = proposal.history.last().filter(|_| proposal.history.len() > decisions);
    if let Some(edit) = last.and_then(|it| it.edit).filter(|_| proposal.state == State::Undone) {
        return Ok(Undone::of(proposal, edit));
    }
    let Some(Applied { edit, files }) = proposal.applied.last().cloned() else {
        let state = proposal.state.as_str();
        return Err(Fault::input(format!("no change of {id} is in the files: it is {state}"))
            .kind(FaultKind::Decided)
            .hint("`trellis fixes list --all` (`trellis/listFixes` for programs) lists them"));
    };
    for file in &files {
        if let Some(text) = open.get(&file.path)
            && !trellis_python::is_shown_as(&edits::read(&store.root().join(&file.path))?, text)
        {
            return Err(unsaved(&file.path));
        }
    }
    let name = format!("undo of {id}, revision {}, at {}", proposal.revision, now());
    let writing = PendingWrite {
        name: name.clone(),
        files,
        state: State::Undone,
        what: "undone".to_owned(),
        note: format!("edit {edit}"),
    };
    let undo = || edits::undo_as(store.root(), edit, &name);
    let made = carry_out(store, &mut proposal, &lock, writing, undo)?;
    Ok(Undone::of(proposal, made))
}
