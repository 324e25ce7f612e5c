//! Presents a run's draft to a person and waits for the decision.

use std::collections::BTreeMap;
use std::path::Path;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use trellis_engine::{Decision, EditedFiles};

use super::proposal::{Draft, Proposal, ProposedFile, State};
use super::store::{LOOK, Store};
use crate::fault::Fault;
use trellis_store::disk::hash;

/// Signals any decision in this process. The decision itself is in the files.
static DECIDED: Notify = Notify::const_new();

/// Wakes all waiting tasks.
pub(super) fn wake() {
    DECIDED.notify_waiters();
}

/// A decided draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedDraft {
    /// Id of the proposal.
    pub id: String,
    pub decision: Decision,
}

type DecisionReceiver = dyn Fn(State, &str) + Send + Sync;

/// Drafts of one output folder that wait for a person.
pub struct PendingProposals {
    store: Store,
    /// Receives the state and id of each new proposal.
    report: Box<DecisionReceiver>,
}

impl PendingProposals {
    pub fn new(
        root: &Path,
        report: impl Fn(State, &str) + Send + Sync + 'static,
    ) -> PendingProposals {
        PendingProposals { store: Store::of(root), report: Box::new(report) }
    }

    /// Presents a draft of a node and waits for the decision, for days if need be. `None` if it was
    /// cancelled; the proposal then keeps waiting. The same draft is presented only once: an
    /// earlier decision about it, by any process, is the result.
    pub async fn ask(
        &self,
        node: &str,
        draft: Proposal,
        cancel: &CancellationToken,
    ) -> Result<Option<DecidedDraft>, Fault> {
        let shown = draft.files.clone();
        let id = tokio::select! {
            () = cancel.cancelled() => return Ok(None),
            id = self.put(node, draft) => id?,
        };
        loop {
            // Registered before the check, so that no signal in between is missed.
            let rings = DECIDED.notified();
            if let Some(answer) = answer(&self.store.get(&id)?, &shown) {
                return Ok(Some(answer));
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(None),
                () = rings => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Waits until one of these proposals is accepted, rejected or undone, for days if need be.
    /// `None` if it was cancelled.
    pub async fn settled(
        store: &Store,
        ids: &[String],
        cancel: &CancellationToken,
    ) -> Result<Option<Proposal>, Fault> {
        loop {
            let rings = DECIDED.notified();
            if let Some(proposal) = PendingProposals::first_decided(store, ids)? {
                return Ok(Some(proposal));
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(None),
                () = rings => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// Returns the decided proposal that comes first in the order in which their edits were
    /// written; those without an edit come before. An undone proposal counts as decided.
    pub fn first_decided(store: &Store, ids: &[String]) -> Result<Option<Proposal>, Fault> {
        let mut settled = Vec::new();
        for id in ids {
            let proposal = store.get(id)?;
            if matches!(proposal.state, State::Accepted | State::Rejected | State::Undone) {
                settled.push(proposal);
            }
        }
        Ok(settled.into_iter().min_by_key(Proposal::last_edit))
    }

    /// Presents a draft without waiting. Returns an earlier decision about it, or `None`; the draft
    /// then waits.
    pub async fn present(
        &self,
        node: &str,
        draft: Proposal,
    ) -> Result<Option<DecidedDraft>, Fault> {
        let shown = draft.files.clone();
        let id = self.put(node, draft).await?;
        Ok(answer(&self.store.get(&id)?, &shown))
    }

    /// Stores the draft unless it is known, and returns its proposal's id.
    async fn put(&self, node: &str, mut draft: Proposal) -> Result<String, Fault> {
        let asked = of(&draft.files);
        let lock = self.store.lock_soon().await?;
        let mut known = self.store.list()?.proposals;
        known.retain(|it| it.run.as_ref().is_some_and(|it| it.node == node));
        let same = |it: &&Proposal| {
            it.run.as_ref().is_some_and(|it| it.asked == asked) && it.state != State::Stale
        };
        if let Some(it) = known.iter().rev().find(same) {
            return Ok(it.id.clone());
        }
        for mut older in known.into_iter().filter(|it| it.state == State::Waiting) {
            older.state = State::Stale;
            older.add_history(State::Stale.as_str(), "the run has made another draft");
            self.store.save(&older, &lock)?;
        }
        draft.run = Some(Draft { node: node.to_owned(), asked });
        self.store.add(&mut draft, &lock)?;
        (self.report)(draft.state, &draft.id);
        Ok(draft.id)
    }
}

/// Returns the decision about a proposal that shows these texts; `None` while it waits.
fn answer(proposal: &Proposal, shown: &[ProposedFile]) -> Option<DecidedDraft> {
    let id = proposal.id.clone();
    let asked = proposal.run.as_ref().map(|it| it.asked.as_str());
    let decision = match proposal.state {
        State::Accepted if asked == Some(of(&proposal.files).as_str()) => {
            Decision::Accept { by: format!("your review ({id})") }
        }
        State::Accepted => Decision::AcceptEdited(EditedFiles {
            files: texts(&proposal.files),
            before: texts(shown),
        }),
        State::Rejected => {
            let note = proposal.history.last().map(|it| it.note.clone()).unwrap_or_default();
            let why = if note.is_empty() { "no reason was given".to_owned() } else { note };
            Decision::Reject { why }
        }
        State::Waiting | State::Stale | State::Undone | State::Failed => return None,
    };
    Some(DecidedDraft { id, decision })
}

/// Returns the proposed texts by path.
fn texts(files: &[ProposedFile]) -> BTreeMap<String, String> {
    files.iter().map(|it| (it.path.clone(), it.proposed.clone())).collect()
}

/// Returns a hash that identifies a draft.
fn of(files: &[ProposedFile]) -> String {
    let text = |it: &ProposedFile| format!("{}\n{}\n", hash(&it.path), hash(&it.proposed));
    hash(files.iter().map(text).collect::<String>())
}
