//! Undoes accepted changes.

use super::decide::{OpenTexts, recover_write};
use super::proposal::{Applied, HistoryEntry, Proposal, State, now};
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
    let Some(Applied { edit, files }) = proposal.applied.pop() else {
        let state = proposal.state.as_str();
        return Err(Fault::input(format!("no change of {id} is in the files: it is {state}"))
            .kind(FaultKind::Decided)
            .hint("`listFixes` with the state `accepted` lists what you can undo"));
    };
    for file in &files {
        if let Some(text) = open.get(&file.path)
            && !trellis_python::is_shown_as(&edits::read(&store.root().join(&file.path))?, text)
        {
            return Err(unsaved(&file.path));
        }
    }
    let made = edits::undo(store.root(), Some(edit))?;
    proposal.revise(files);
    proposal.state = State::Undone;
    let note = format!("edit {edit}");
    proposal.history.push(HistoryEntry {
        at: now(),
        what: "undone".to_owned(),
        note,
        edit: Some(made.id),
    });
    store.save(&proposal, &lock)?;
    store.journal(&proposal, &format!("undone: edit {edit}, by edit {}", made.id))?;
    let paths = proposal.files.iter().map(|it| it.path.clone()).collect();
    Ok(Undone { proposal, edit: made.id, paths })
}
