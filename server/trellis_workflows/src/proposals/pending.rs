//! Presents a run's draft to a person and waits for the decision.

use std::path::Path;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

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

/// A decision about a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Approved unchanged.
    Approved {
        /// Id of the proposal.
        id: String,
    },
    /// Approved with these texts instead of the proposed ones.
    Rewritten {
        /// Id of the proposal.
        id: String,
        files: Vec<ProposedFile>,
    },
    /// Rejected.
    Declined {
        /// Id of the proposal.
        id: String,
        /// The person's reason; may be empty.
        why: String,
    },
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
    ) -> Result<Option<Decision>, Fault> {
        let id = tokio::select! {
            () = cancel.cancelled() => return Ok(None),
            id = self.put(node, draft) => id?,
        };
        loop {
            // Registered before the check, so that no signal in between is missed.
            let rings = DECIDED.notified();
            if let Some(answer) = answer(&self.store.get(&id)?) {
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
    pub async fn present(&self, node: &str, draft: Proposal) -> Result<Option<Decision>, Fault> {
        let id = self.put(node, draft).await?;
        Ok(answer(&self.store.get(&id)?))
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

/// Returns the decision about a proposal; `None` while it waits.
fn answer(proposal: &Proposal) -> Option<Decision> {
    let id = proposal.id.clone();
    let asked = proposal.run.as_ref().map(|it| it.asked.as_str());
    match proposal.state {
        State::Accepted if asked == Some(of(&proposal.files).as_str()) => {
            Some(Decision::Approved { id })
        }
        State::Accepted => Some(Decision::Rewritten { id, files: proposal.files.clone() }),
        State::Rejected => {
            let why = proposal.history.last().map(|it| it.note.clone()).unwrap_or_default();
            Some(Decision::Declined { id, why })
        }
        State::Waiting | State::Stale | State::Undone | State::Failed => None,
    }
}

/// Returns a hash that identifies a draft.
fn of(files: &[ProposedFile]) -> String {
    let text = |it: &ProposedFile| format!("{}\n{}\n", hash(&it.path), hash(&it.proposed));
    hash(files.iter().map(text).collect::<String>())
}
