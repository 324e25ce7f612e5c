//! The LLM session of workflows without a planning graph: client, budget and journal.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use trellis_engine::{ModelRequest, Policy, Reply, Stage};

use crate::agent::run;
use crate::budget::Spent;
use crate::fault::{Exit, Fault, of_newer};
use crate::llm_client::{CallContext, Completion, LlmClient};
use crate::models::{self, ModelArgs};
use crate::reporter::Reporter;
use crate::tools::ToolSet;
use trellis_store::cost::StageCost;
use trellis_store::journal::{Event, Journal};
use trellis_store::origin::{Origin, Workflow};
use trellis_store::replay::{CachedReply, GAVE_UP, ReplyKey, replies_of};

pub struct LlmSession {
    llm: Arc<LlmClient>,
    journal: Arc<Journal>,
    cost: StageCost,
    workflow: Workflow,
    /// Creates the fault for cancelled work.
    cancelled: fn() -> Fault,
}

impl LlmSession {
    /// Opens a session for the project at `home`. `cancelled` creates the fault for cancelled work.
    pub fn open(
        home: &Path,
        origin: Origin,
        args: &ModelArgs,
        reporter: &Reporter,
        cancelled: fn() -> Fault,
    ) -> Result<LlmSession, Fault> {
        let tokens = Policy::generate().context_tokens;
        LlmSession::open_with(home, origin, args, reporter, cancelled, tokens)
    }

    /// Opens a session whose requests have up to about `tokens` tokens.
    pub fn open_with(
        home: &Path,
        origin: Origin,
        args: &ModelArgs,
        reporter: &Reporter,
        cancelled: fn() -> Fault,
        tokens: usize,
    ) -> Result<LlmSession, Fault> {
        let llm = Arc::new(LlmClient::open(args, &models::config(home)?, tokens, reporter)?);
        let workflow = origin.workflow;
        let journal = Arc::new(Journal::join(home, origin).map_err(no_journal)?);
        Ok(LlmSession { llm, journal, cost: StageCost::default(), workflow, cancelled })
    }

    /// Creates a parallel session that shares the budget.
    pub fn fork(&self) -> LlmSession {
        let (llm, journal) = (self.llm.clone(), self.journal.clone());
        LlmSession { llm, journal, cost: StageCost::default(), ..*self }
    }

    /// Adds replies that were paid for before.
    pub fn preload_cache(&self, cached: HashMap<ReplyKey, CachedReply>) {
        self.llm.preload_cache(cached);
    }

    /// Adds the workflow's journaled replies since it last gave up.
    pub fn load_replies(&self, home: &Path) -> Result<(), Fault> {
        let bytes = trellis_os::files::read(Journal::path(home)).map_err(no_journal)?;
        self.preload_cache(replies_of(&trellis_store::journal::text_of(&bytes), self.workflow));
        Ok(())
    }

    /// Journals that the workflow ended without success.
    pub fn gave_up(&self, text: String) -> Result<(), Fault> {
        let event =
            Event::Note { node: self.workflow.as_str().to_owned(), what: GAVE_UP.to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// Journals that a stage of the work on a subject ended without success.
    pub fn gave_up_on(&self, subject: &str, stage: Stage, why: &str) -> Result<(), Fault> {
        let text = format!("{}: {why}", stage.as_str());
        let event = Event::Note { node: subject.to_owned(), what: GAVE_UP.to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// Returns whether all of the session's models can call tools.
    pub fn has_tools(&self) -> bool {
        self.llm.models.all().iter().all(|it| it.model.has_tools())
    }

    /// Returns the approximate number of tokens of a request that every model of the session reads.
    pub fn context_tokens(&self) -> usize {
        let all = self.llm.models.all().into_iter();
        all.map(|it| self.llm.tokens(it)).min().unwrap_or_default()
    }

    /// Returns the models' name.
    pub fn name(&self) -> String {
        self.llm.models.name()
    }

    pub fn spent(&self) -> Spent {
        self.llm.budget.spent()
    }

    /// Journals a note about a group of tests or a piece of work.
    pub fn note(&self, group: &str, text: String) -> Result<(), Fault> {
        let event =
            Event::Note { node: group.to_owned(), what: self.workflow.as_str().to_owned(), text };
        self.journal.log(event).map_err(no_journal)
    }

    /// Sends one request about `group` and returns the reply.
    pub async fn complete(
        &mut self,
        group: &str,
        ask: &ModelRequest,
        cancel: &CancellationToken,
    ) -> Result<Reply, Fault> {
        let call = CallContext { id: group, journal: &self.journal, cancel };
        let completion = self.llm.ask(call, ask, &mut self.cost).await;
        completion.map(Completion::into_reply).map_err(|error| error.into_fault(self.cancelled))
    }

    /// Lets the model work with tools until it is done.
    pub async fn run_agent(
        &mut self,
        group: &str,
        ask: &ModelRequest,
        toolbox: &mut ToolSet,
        cancel: &CancellationToken,
    ) -> Result<Reply, Fault> {
        let call = CallContext { id: group, journal: &self.journal, cancel };
        let reasks = Policy::generate().malformed_reasks;
        let reply = run(&self.llm, call, ask, toolbox, reasks, &mut self.cost).await;
        reply.map_err(|error| error.into_fault(self.cancelled))
    }
}

pub fn no_journal(error: std::io::Error) -> Fault {
    if let Some(fault) = of_newer(&error) {
        return fault;
    }
    Fault::new(Exit::Internal, format!("cannot write the journal: {error}"))
        .hint("make `.trellis` writable and free some space on the disk; kept changes stay")
}
