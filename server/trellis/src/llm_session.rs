//! Whoever is asked by a door without a planning graph: a model, at a desk with a budget, and the journal that is told of it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::{ModelRequest, Observation, Policy};
use tokio_util::sync::CancellationToken;

use crate::llm_client::{Completion, LlmClient, CallError, CallContext};
use crate::error::{Exit, Fault};
use crate::budget::{Budget, Spent};
use crate::models::{self, ModelArgs, Models};
use crate::output::Output;
use crate::agent::run;
use crate::tools::ToolSet;
use crate::workspace::cost::StageCost;
use crate::workspace::journal::{Event, Journal};
use crate::workspace::replay::{GAVE_UP, CachedReply, ReplyKey, heard_by};

pub(crate) struct LlmSession {
    desk: Arc<LlmClient>,
    journal: Arc<Journal>,
    cost: StageCost,
    /// The door, as notes in the journal name it.
    door: &'static str,
    /// What is said of work that was stopped.
    cancelled: fn() -> Fault,
}

impl LlmSession {
    /// For the project at `home`.
    pub(crate) fn open(
        (door, cancelled): (&'static str, fn() -> Fault),
        (home, output): (&Path, &Output),
        args: &ModelArgs,
    ) -> Result<LlmSession, Fault> {
        let config = models::config(home)?;
        let models = Models::open(args, &config, &models::env)?;
        let budget = args.budget(&config);
        models.know_prices(budget)?;
        let ledger = Budget::new(budget, Spent::default());
        let tokens = Policy::generate().context_tokens;
        let journal = Arc::new(Journal::join(home).map_err(no_journal)?);
        let desk = LlmClient::new(models, ledger, HashMap::new(), tokens, output).for_workflow(door);
        let desk = Arc::new(desk);
        Ok(LlmSession { desk, journal, cost: StageCost::default(), door, cancelled })
    }

    /// The same for somebody else who asks beside: one budget for all.
    pub(crate) fn share(&self) -> LlmSession {
        let (desk, journal) = (self.desk.clone(), self.journal.clone());
        LlmSession { desk, journal, cost: StageCost::default(), ..*self }
    }

    /// Replies that were paid for before.
    pub(crate) fn remember(&self, heard: HashMap<ReplyKey, CachedReply>) {
        self.desk.remember(heard);
    }

    /// Replies to the door that were paid for before, since it gave up last.
    pub(crate) fn remember_all(&self, home: &Path) -> Result<(), Fault> {
        let bytes = trellis_sandbox::files::read(Journal::path(home)).map_err(no_journal)?;
        self.remember(heard_by(&String::from_utf8_lossy(&bytes), self.door));
        Ok(())
    }

    /// Writes down that the door ended without success.
    pub(crate) fn gave_up(&self, text: String) -> Result<(), Fault> {
        let event = Event::Note { node: self.door.to_owned(), what: GAVE_UP.to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// Whether every model that may be asked can call tools.
    pub(crate) fn has_tools(&self) -> bool {
        self.desk.models.all().iter().all(|it| it.model.has_tools())
    }

    /// The model's.
    pub(crate) fn name(&self) -> String {
        self.desk.models.name()
    }

    pub(crate) fn spent(&self) -> Spent {
        self.desk.ledger.spent()
    }

    /// Keeps a note of a group of tests, or of a piece of work.
    pub(crate) fn note(&self, group: &str, text: String) -> Result<(), Fault> {
        let event = Event::Note { node: group.to_owned(), what: self.door.to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// One question about it, one answer.
    pub(crate) async fn ask(
        &mut self,
        group: &str,
        ask: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<Observation, Fault> {
        let slip = CallContext { id: group, journal: &self.journal, cancel };
        Ok(
            match self
                .desk
                .ask(slip, ask, &mut self.cost)
                .await
                .map_err(|halt| stopped(halt, self.cancelled))?
            {
                Completion::Reply(reply) => Observation::Reply(reply.text),
                Completion::Truncated { partial } => Observation::Reply(partial),
                Completion::Unusable(why) => Observation::Unusable { why },
                Completion::ContextTooLong(reason) | Completion::None(reason) => Observation::NoReply { reason },
            },
        )
    }

    /// The model works with tools until it is done.
    pub(crate) async fn work(
        &mut self,
        group: &str,
        ask: &ModelRequest,
        toolbox: &mut ToolSet,
        cancel: &CancellationToken,
    ) -> Result<Observation, Fault> {
        let slip = CallContext { id: group, journal: &self.journal, cancel };
        let reasks = Policy::generate().malformed_reasks;
        let seen = run(&self.desk, slip, ask, toolbox, reasks, &mut self.cost).await;
        seen.map_err(|halt| stopped(halt, self.cancelled))
    }
}

fn stopped(halt: CallError, cancelled: fn() -> Fault) -> Fault {
    match halt {
        CallError::Cancelled => cancelled(),
        CallError::Fault(fault) => fault,
        CallError::Budget(exhausted) => exhausted.into(),
        CallError::Journal(error) => no_journal(error),
    }
}

pub(crate) fn no_journal(error: std::io::Error) -> Fault {
    Fault::new(Exit::Internal, format!("cannot write the journal: {error}"))
        .hint("make `.trellis` writable and free some space on the disk; kept changes stay")
}
