//! The approver of fixes that need a review.

use std::path::Path;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use trellis_engine::Decision;

use super::cancelled;
use super::terminal::Terminal;
use crate::fault::{Fault, FaultKind};
use crate::proposals::{
    Choice, DecisionRequest, LOOK, OpenDocuments, OpenTexts, PendingProposals, Proposal, State,
    Store, decide,
};
use crate::reporter::Reporter;

/// The approver of fixes.
pub enum Approver<'a> {
    /// No approver: fixes that need a review wait as proposals, and the loop continues without
    /// them.
    Nobody,
    Terminal(Terminal),
    /// An editor or another client. If `wait` is set, the loop continues with other work and ends
    /// once every proposal is decided there. A decision also writes the fix.
    Editor {
        /// Documents open in the editor, including unsaved text.
        open: &'a OpenDocuments,
        /// Receives the state and id of each proposal.
        report: &'a (dyn Fn(State, &str) + Send + Sync),
        wait: bool,
    },
}

fn nothing_open() -> BoxFuture<'static, Result<OpenTexts, Fault>> {
    Box::pin(async { Ok(OpenTexts::new()) })
}

impl Approver<'_> {
    /// Asks for a decision about a fix. `why` is the reason for the review.
    pub(super) async fn decide(
        &self,
        root: &Path,
        mut proposal: Proposal,
        why: &str,
        reporter: &Reporter,
        cancel: &CancellationToken,
    ) -> Result<Decision, Fault> {
        match self {
            Approver::Nobody => {
                reporter.note(format_args!("  needs your review: {why}"));
                Store::of(root).put(&mut proposal).await?;
                Ok(Decision::Defer { proposal: proposal.id })
            }
            Approver::Terminal(terminal) => terminal.decide(proposal, why, reporter, cancel).await,
            Approver::Editor { report, wait, .. } => {
                Store::of(root).put(&mut proposal).await?;
                report(State::Waiting, &proposal.id);
                if *wait {
                    reporter.note(format_args!("  {} needs your review: {why}", proposal.id));
                }
                Ok(Decision::Defer { proposal: proposal.id })
            }
        }
    }

    /// Returns whether an approver decides about waiting fixes while the loop continues.
    pub(super) fn is_waiting_editor(&self) -> bool {
        matches!(self, Approver::Editor { wait: true, .. })
    }

    /// Returns a decided proposal among `ids`. With `wait`, waits until there is one.
    pub(super) async fn next_decided(
        &self,
        root: &Path,
        ids: &[String],
        wait: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<Proposal>, Fault> {
        let store = Store::of(root);
        if !wait {
            return PendingProposals::first_decided(&store, ids);
        }
        PendingProposals::settled(&store, ids, cancel).await?.ok_or_else(cancelled).map(Some)
    }

    /// Returns the function that tells the documents open in an editor.
    fn open(&self) -> &OpenDocuments {
        match self {
            Approver::Editor { open, .. } => *open,
            _ => &nothing_open,
        }
    }

    /// Writes an approved fix. Refuses if files were changed meanwhile, unsaved text included.
    pub(super) async fn write(
        &self,
        store: &Store,
        proposal: &Proposal,
        cancel: &CancellationToken,
    ) -> Result<Proposal, Fault> {
        let order = DecisionRequest {
            fix: proposal.id.clone(),
            revision: None,
            choice: Choice::Accept,
            hunks: Vec::new(),
            files: Vec::new(),
            note: "by repair, tested before".to_owned(),
        };
        let open = self.open();
        let mut decided = decide(store, &order, open, None).await;
        // Another decision is in progress, and its tests take time.
        while decided.as_ref().is_err_and(|it| it.kind == Some(FaultKind::Busy)) {
            tokio::select! {
                () = cancel.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(LOOK) => {}
            }
            decided = decide(store, &order, open, None).await;
        }
        if let Approver::Editor { report, .. } = self {
            let state = store.get(&proposal.id).map(|it| it.state);
            state.into_iter().for_each(|it| report(it, &proposal.id));
        }
        let decided = decided?;
        Ok(decided.proposal)
    }
}
