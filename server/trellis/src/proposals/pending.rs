//! A run puts a draft before a person, and waits for the decision.

use std::path::Path;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::proposal::{Draft, Proposal, ProposedFile, State};
use super::store::{LOOK, Store};
use crate::error::Fault;
use crate::workspace::disk::hash;

/// Rings when anything was decided in this process. What was decided is in the files; this only says to look.
static DECIDED: Notify = Notify::const_new();

/// Wakes all who wait.
pub(super) fn wake() {
    DECIDED.notify_waiters();
}

/// What was decided about a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// As it stands.
    Approved {
        /// Of the proposal.
        id: String,
    },
    /// With these texts in place of those proposed.
    Rewritten {
        /// Of the proposal.
        id: String,
        files: Vec<ProposedFile>,
    },
    /// Not at all.
    Declined {
        /// Of the proposal.
        id: String,
        /// In the person's words; empty where there are none.
        why: String,
    },
}

type DecisionReceiver = dyn Fn(State, &str) + Send + Sync;

/// Where drafts of one output folder are put before a person.
pub(crate) struct PendingProposals {
    store: Store,
    /// Told of a proposal that is new, with its id.
    report: Box<DecisionReceiver>,
}

impl PendingProposals {
    pub(crate) fn new(
        root: &Path,
        report: impl Fn(State, &str) + Send + Sync + 'static,
    ) -> PendingProposals {
        PendingProposals { store: Store::of(root), report: Box::new(report) }
    }

    /// Puts a draft of a node before a person and waits, for days if need be; none when it was cancelled, after which the
    /// proposal goes on waiting. The same draft is asked about once: what was decided of it before is the answer, by whatever
    /// process.
    pub(crate) async fn ask(
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
            // Made before the look, so that no ring is missed in between.
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

    /// Waits until one of these proposals is accepted, rejected or undone again, for days if need be; none when it was cancelled.
    pub(crate) async fn settled(
        store: &Store,
        ids: &[String],
        cancel: &CancellationToken,
    ) -> Result<Option<Proposal>, Fault> {
        loop {
            let rings = DECIDED.notified();
            if let Some(proposal) = PendingProposals::first_settled(store, ids)? {
                return Ok(Some(proposal));
            }
            tokio::select! {
                () = cancel.cancelled() => return Ok(None),
                () = rings => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }

    /// The one of these proposals about which was decided first, of those in the tree in the order in which they were written;
    /// one that was undone again counts as decided.
    pub(crate) fn first_settled(store: &Store, ids: &[String]) -> Result<Option<Proposal>, Fault> {
        let mut settled = Vec::new();
        for id in ids {
            let proposal = store.get(id)?;
            if matches!(proposal.state, State::Accepted | State::Rejected | State::Undone) {
                settled.push(proposal);
            }
        }
        Ok(settled.into_iter().min_by_key(Proposal::last_edit))
    }

    /// The same where nobody is there to wait for: what was decided before, else none, and the draft waits.
    pub(crate) async fn look(
        &self,
        node: &str,
        draft: Proposal,
    ) -> Result<Option<Decision>, Fault> {
        let id = self.put(node, draft).await?;
        Ok(answer(&self.store.get(&id)?))
    }

    /// The id under which the draft lies.
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
            older.step(State::Stale.as_str(), "the run has made another draft");
            self.store.save(&older, &lock)?;
        }
        draft.run = Some(Draft { node: node.to_owned(), asked });
        self.store.add(&mut draft, &lock)?;
        (self.report)(draft.state, &draft.id);
        Ok(draft.id)
    }
}

/// None while it waits.
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

/// Tells drafts apart.
fn of(files: &[ProposedFile]) -> String {
    let text = |it: &ProposedFile| format!("{}\n{}\n", hash(&it.path), hash(&it.proposed));
    hash(files.iter().map(text).collect::<String>())
}
