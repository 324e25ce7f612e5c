//! Who decides about a fix that a person has to see.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::cancelled;
use super::terminal::Terminal;
use crate::error::Fault;
use crate::output::Output;
use crate::proposals::{
    Choice, DecisionRequest, LOOK, OpenDocuments, PendingProposals, Proposal, ProposedFile, State,
    Store, decide,
};

/// Somebody, or nobody.
pub(crate) enum Approver<'a> {
    /// What has to be seen waits as a proposal, and the loop goes on without it.
    Nobody,
    Terminal(Terminal),
    /// An editor or another client: where it `wait`s, the loop goes on with other work and ends when every proposal is
    /// decided there, which writes it as well.
    Editor {
        /// What is open there, unsaved texts included.
        open: &'a OpenDocuments,
        /// Told of each proposal, with its id.
        report: &'a (dyn Fn(State, &str) + Send + Sync),
        wait: bool,
    },
}

/// What was decided.
pub(crate) enum Verdict {
    Keep,
    /// With these texts in place of those proposed.
    Edited(Vec<ProposedFile>),
    Rejected(String),
    /// The id under which it waits.
    Waits(String),
    Skip,
    Stop,
}

impl Approver<'_> {
    /// Asks about a fix; `why` says why it is asked about.
    pub(super) async fn decide(
        &self,
        root: &Path,
        mut proposal: Proposal,
        why: &str,
        output: &Output,
        cancel: &CancellationToken,
    ) -> Result<Verdict, Fault> {
        match self {
            Approver::Nobody => {
                output.note(format_args!("  needs your review: {why}"));
                Store::of(root).put(&mut proposal).await?;
                Ok(Verdict::Waits(proposal.id))
            }
            Approver::Terminal(terminal) => terminal.decide(proposal, why, output, cancel).await,
            Approver::Editor { report, wait, .. } => {
                Store::of(root).put(&mut proposal).await?;
                report(State::Waiting, &proposal.id);
                if *wait {
                    output.note(format_args!("  {} needs your review: {why}", proposal.id));
                }
                Ok(Verdict::Waits(proposal.id))
            }
        }
    }

    /// Whether somebody decides about fixes that wait while the loop goes on.
    pub(super) fn is_there(&self) -> bool {
        matches!(self, Approver::Editor { wait: true, .. })
    }

    /// What was decided about one of these fixes; with `wait`, as soon as something is.
    pub(super) async fn decided(
        &self,
        root: &Path,
        ids: &[String],
        wait: bool,
        cancel: &CancellationToken,
    ) -> Result<Option<Proposal>, Fault> {
        let store = Store::of(root);
        if !wait {
            return PendingProposals::first_settled(&store, ids);
        }
        PendingProposals::settled(&store, ids, cancel).await?.ok_or_else(cancelled).map(Some)
    }

    /// Writes a fix that may stay; refused over what was changed meanwhile, unsaved texts included.
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
        let nothing_open = || -> futures_util::future::BoxFuture<'static, _> {
            Box::pin(async { Ok(crate::proposals::OpenTexts::new()) })
        };
        let decided = match self {
            Approver::Editor { open, report, .. } => {
                let mut decided = decide(store, &order, *open, None).await;
                // Somebody decides about another one, whose tests take their time.
                while decided.as_ref().is_err_and(|it| it.kind == Some("busy")) {
                    tokio::select! {
                        () = cancel.cancelled() => return Err(cancelled()),
                        () = tokio::time::sleep(LOOK) => {}
                    }
                    decided = decide(store, &order, *open, None).await;
                }
                let state = store.get(&proposal.id).map(|it| it.state);
                state.into_iter().for_each(|it| report(it, &proposal.id));
                decided?
            }
            _ => decide(store, &order, &nothing_open, None).await?,
        };
        Ok(decided.proposal)
    }
}
