//! Undoes accepted changes.

use super::decide::{OpenTexts, carry_out, recover_write};
use super::proposal::{Applied, PendingWrite, Proposal, State};
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

/// Undoes exactly what was last accepted of a proposal. Refuses if one of the files was changed
/// since. The whole proposal then waits for a new decision.
pub fn undo(store: &Store, id: &str, open: &OpenTexts) -> Result<Undone, Fault> {
    let lock = store.lock()?;
    edits::recover(store.root())?;
    let mut proposal = recover_write(store, store.get(id)?, &lock)?;
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
    let writing = PendingWrite {
        name: edits::name_of_undo(store.root(), edit)?,
        files,
        state: State::Undone,
        what: "undone".to_owned(),
        note: format!("edit {edit}"),
    };
    let undo = || edits::undo(store.root(), Some(edit));
    let made = carry_out(store, &mut proposal, &lock, writing, undo)?;
    let paths = proposal.files.iter().map(|it| it.path.clone()).collect();
    Ok(Undone { proposal, edit: made, paths })
}
