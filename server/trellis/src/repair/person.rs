//! Who decides about a fix that a person has to see.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::cancelled;
use super::terminal::Terminal;
use crate::error::Fault;
use crate::output::Output;
use crate::proposals::{
    Choice, OpenNow, Order, Proposal, ProposedFile, State, Store, Waiting, decide,
};

/// Somebody, or nobody.
pub(crate) enum Person<'a> {
    /// What has to be seen waits as a proposal, and the loop goes on without it.
    Nobody,
    Terminal(Terminal),
    /// An editor or another client: where it `wait`s, so does the loop, until the proposal is decided there, which writes it as
    /// well.
    Editor {
        /// What is open there, unsaved texts included.
        open: &'a OpenNow,
        /// Told of each proposal, with its id.
        told: &'a (dyn Fn(State, &str) + Send + Sync),
        wait: bool,
    },
}

/// What was decided.
pub(crate) enum Verdict {
    Keep,
    /// With these texts in place of those proposed.
    Edited(Vec<ProposedFile>),
    /// It was written where it was decided.
    Written(Box<Proposal>),
    Rejected(String),
    /// Nobody was there: the id under which it waits.
    Waits(String),
    Skip,
    Stop,
}

impl Person<'_> {
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
            Person::Nobody => {
                output.note(format_args!("  a person has to see it: {why}"));
                Store::of(root).put(&mut proposal).await?;
                Ok(Verdict::Waits(proposal.id))
            }
            Person::Terminal(terminal) => terminal.decide(proposal, why, output, cancel).await,
            Person::Editor { told, wait: false, .. } => {
                Store::of(root).put(&mut proposal).await?;
                told(State::Waiting, &proposal.id);
                Ok(Verdict::Waits(proposal.id))
            }
            Person::Editor { told, .. } => {
                let store = Store::of(root);
                store.put(&mut proposal).await?;
                told(State::Waiting, &proposal.id);
                output.note(format_args!("  {} waits for your decision: {why}", proposal.id));
                let settled = Waiting::settled(&store, &proposal.id, cancel).await?;
                let settled = settled.ok_or_else(cancelled)?;
                Ok(match settled.state {
                    State::Accepted => Verdict::Written(Box::new(settled)),
                    _ => Verdict::Rejected(
                        settled.history.last().map(|it| it.note.clone()).unwrap_or_default(),
                    ),
                })
            }
        }
    }

    /// Writes a fix that may stay; refused over what was changed meanwhile, unsaved texts included.
    pub(super) async fn write(
        &self,
        store: &Store,
        proposal: &Proposal,
    ) -> Result<Proposal, Fault> {
        let order = Order {
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
            Person::Editor { open, told, .. } => {
                let decided = decide(store, &order, *open, None).await;
                let state = store.get(&proposal.id).map(|it| it.state);
                state.into_iter().for_each(|it| told(it, &proposal.id));
                decided?
            }
            _ => decide(store, &order, &nothing_open, None).await?,
        };
        Ok(decided.proposal)
    }
}
