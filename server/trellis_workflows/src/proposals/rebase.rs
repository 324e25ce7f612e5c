//! Stale proposals: refused, or applied to the current texts.

use std::path::Path;

use crate::fault::{Fault, FaultKind, Remedy};
use trellis_project::edits;
use trellis_python::{hunks, is_shown_as, rebase};

use super::decide::{Choice, Decided, DecisionContext, DecisionRequest, OpenTexts, recover_writes};
use super::proposal::{Proposal, ProposedFile, State, refuse_new_errors};

impl DecisionContext<'_> {
    /// Compares every file with the proposal's base text. If one differs, the proposal becomes
    /// `stale`.
    pub(super) fn refuse_stale(&mut self, open: &OpenTexts) -> Result<(), Fault> {
        let root = self.store.root();
        let mut changed = self.proposal.files.iter().filter_map(|it| differs(root, it, open));
        let Some((path, how)) = changed.next() else { return Ok(()) };
        let message = format!("{path} {how} since {} was proposed", self.proposal.id);
        let rebased = self.rebased(open);
        let hint = match &rebased {
            Ok(_) => "all of its hunks still have a place: decide `rebase`, review it again, then \
                 accept"
                .to_owned(),
            Err(why) => format!("it cannot be applied to the new text: {}", why.message),
        };
        self.proposal.state = State::Stale;
        self.proposal.add_history(State::Stale.as_str(), message.clone());
        self.store.save(&self.proposal, self.lock)?;
        self.store.journal(&self.proposal, &format!("stale: {message}"))?;
        let message = format!("{message}; nothing was written");
        let refusal = Fault::input(message).kind(FaultKind::Stale).hint(hint);
        Err(if rebased.is_ok() { refusal.remedy(Remedy::Rebase) } else { refusal })
    }

    /// Applies the proposal to the current texts.
    pub(super) fn rebased(&self, open: &OpenTexts) -> Result<Vec<ProposedFile>, Fault> {
        let root = self.store.root();
        let moved = |(it, text): (&ProposedFile, &String)| {
            let now = edits::read(&root.join(&it.path))?;
            if open.get(&it.path).is_some_and(|text| !is_shown_as(&now, text)) {
                return Err(unsaved(&it.path));
            }
            let proposed = rebase(it.before(), &hunks(it.before(), text), &now);
            let proposed = proposed.map_err(|why| {
                Fault::input(format!("{}: {why}", it.path))
                    .kind(FaultKind::Stale)
                    .hint("reject it and request a new proposal; nothing was changed")
            })?;
            let file = ProposedFile { base: Some(now), proposed, ..it.clone() };
            refuse_new_errors(&file, &file.proposed)?;
            Ok(file)
        };
        self.proposal.files.iter().zip(&self.given()?).map(moved).collect()
    }

    /// Rebases other waiting proposals onto the written texts, if each of their hunks still has one
    /// place. A person reviews them again before a decision.
    pub(super) fn bring_others(
        &self,
        paths: &[String],
        open: &OpenTexts,
    ) -> Result<Vec<String>, Fault> {
        let is_met = |it: &Proposal| it.files.iter().any(|file| paths.contains(&file.path));
        let mut others = recover_writes(self.store, self.lock)?.proposals;
        others.retain(|it| it.state == State::Waiting && it.run.is_none() && is_met(it));
        let mut brought = Vec::new();
        for proposal in others.into_iter().filter(|it| it.id != self.proposal.id) {
            let order = DecisionRequest::rebase(&proposal.id);
            let mut context =
                DecisionContext { store: self.store, lock: self.lock, proposal, order: &order };
            // A proposal that no longer applies becomes stale when it is decided.
            let Ok(files) = context.rebased(open) else { continue };
            context.proposal.revise(files);
            context.keep(Choice::Rebase, format!("after {}", self.proposal.id))?;
            brought.push(order.fix);
        }
        Ok(brought)
    }

    pub(super) fn rebase(&mut self, open: &OpenTexts) -> Result<Decided, Fault> {
        if self.proposal.run.is_some() {
            return Err(Fault::input("this is the draft of a run, which updates it itself")
                .hint("accept or reject it"));
        }
        let files = self.rebased(open)?;
        self.proposal.revise(files);
        self.proposal.state = State::Waiting;
        let own = if self.order.files.is_empty() { "" } else { "with your own text" };
        self.keep(Choice::Rebase, own.to_owned())
    }
}

/// Returns the path of a changed file, and how it changed.
fn differs(root: &Path, file: &ProposedFile, open: &OpenTexts) -> Option<(String, &'static str)> {
    let base = file.base.as_deref();
    let path = file.path.clone();
    match edits::read(&root.join(&path)) {
        Err(_) => return Some((path, "cannot be read as it could before")),
        Ok(now) if Some(now.as_str()) != base => return Some((path, "changed")),
        Ok(_) => {}
    }
    let is_other =
        open.get(&path).is_some_and(|text| !base.is_some_and(|it| is_shown_as(it, text)));
    is_other.then_some((path, "changed in the editor, unsaved,"))
}

/// Returns the fault of a file with unsaved changes.
pub(super) fn unsaved(path: &str) -> Fault {
    Fault::input(format!("{path} has unsaved changes in the editor; nothing was changed"))
        .kind(FaultKind::Stale)
        .hint("save or undo them, then decide")
}
