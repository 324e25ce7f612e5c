//! Sends requests to models: reserves their cost, chooses the model for their difficulty, journals
//! them, and never pays twice for the same reply.
//!
//! The client also handles errors that another request can avoid: it shortens a request that is too
//! long, and repeats one whose reply was truncated with more room.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use trellis_engine::Reply;
use trellis_llm::{ChatReply, ChatRequest, Message, ModelError, ToolCall, Usage};

use crate::budget::{Budget, BudgetExceeded, Spent};
use crate::config::Config;
use crate::convert;
use crate::fault::Fault;
use crate::llm_session::no_journal;
use crate::models::{self, ModelArgs, ModelHandle, Models};
use crate::reporter::Reporter;
use trellis_store::cost::StageCost;
use trellis_store::disk;
use trellis_store::journal::{CallDetails, Event, Journal, RecordedReply, RecordedToolCall};
use trellis_store::replay::{CachedReply, ReplyKey};

/// Bytes per token for safe estimates. Code and English have three to four.
const TOKEN_BYTES: usize = 3;
/// Tokens of a message besides its text.
const MESSAGE_TOKENS: u64 = 16;
/// Minimum size of a shortened request, in tokens.
const LEAST_CONTEXT: usize = 1500;
/// Token counts from here on are implausible for one request.
const ABSURD_TOKENS: u64 = 1_000_000_000;
/// Factor by which a truncated reply gets more room.
const MORE_OUTPUT: u32 = 4;
/// Room for a vote: one letter, and the thoughts before it.
const VOTE_TOKENS: u32 = 2048;
/// Room for a reply of a model with an unknown limit, in tokens.
const MOST_OUTPUT: u32 = 32_768;

/// Sends chat requests within the budget and reuses journaled replies.
pub struct LlmClient {
    pub models: Models,
    pub budget: Budget,
    /// Replies that an earlier start of the run has paid for.
    cached_replies: Mutex<HashMap<ReplyKey, CachedReply>>,
    /// Approximate number of tokens of a request.
    context_tokens: usize,
    /// Output for notes on replies that do not come.
    reporter: Reporter,
}

/// Identity and surroundings of one request.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// Id of the node, subgraph, task or issue.
    pub id: &'a str,
    pub journal: &'a Journal,
    pub cancel: &'a CancellationToken,
}

/// Interval in seconds at which a missing reply is reported.
const SILENCE: u64 = 60;

/// Waits for a reply, and calls `silent` at intervals with the seconds waited so far.
async fn with_heartbeat<T>(answer: impl Future<Output = T>, silent: impl Fn(u64)) -> T {
    tokio::pin!(answer);
    let mut seconds = 0;
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            () = tokio::time::sleep(Duration::from_secs(SILENCE)) => {
                seconds += SILENCE;
                silent(seconds);
            }
        }
    }
}

/// Outcome of a request.
#[derive(Debug)]
pub enum Completion {
    Reply(ChatReply),
    /// An unusable reply, with the reason.
    Unusable(String),
    /// The request does not fit into the model's context.
    ContextTooLong(String),
    /// The reply was truncated even with more room.
    Truncated {
        partial: String,
    },
    /// There is no reply, and there will be none.
    None(String),
}

impl Completion {
    /// Returns the reply as the engine knows it. A truncated reply may still be usable; the engine
    /// detects its faults.
    pub fn into_reply(self) -> Reply {
        match self {
            Completion::Reply(reply) => Reply::Text(reply.text),
            Completion::Truncated { partial } => Reply::Text(partial),
            Completion::Unusable(why) => Reply::Unusable { why },
            Completion::ContextTooLong(reason) | Completion::None(reason) => {
                Reply::Failed { reason }
            }
        }
    }
}

/// Reason that no further request is sent.
pub enum CallError {
    Cancelled,
    Fault(Fault),
    /// The next request would exceed the budget.
    Budget(BudgetExceeded),
    Journal(std::io::Error),
}

impl CallError {
    /// Converts the error where work ends with it. `cancelled` creates the fault of cancelled work.
    pub fn into_fault(self, cancelled: fn() -> Fault) -> Fault {
        match self {
            CallError::Cancelled => cancelled(),
            CallError::Fault(fault) => fault,
            CallError::Budget(exhausted) => exhausted.into(),
            CallError::Journal(error) => no_journal(error),
        }
    }
}

/// Facts about a request for the journal, besides its outcome.
#[derive(Clone, Copy)]
pub struct CallMeta {
    pub prompt_version: u32,
    pub why: &'static str,
    /// The request offers tools.
    pub tools: bool,
}

impl LlmClient {
    /// Opens the models that the arguments and the configuration name, with their budget.
    ///
    /// # Errors
    ///
    /// A model cannot be opened, or its price is needed and not known.
    pub fn open(
        args: &ModelArgs,
        config: &Config,
        context_tokens: usize,
        reporter: &Reporter,
    ) -> Result<LlmClient, Fault> {
        let models = Models::open(args, config, &models::env)?;
        let limits = args.budget(config);
        models.require_prices(limits)?;
        let (budget, cached_replies) = (Budget::new(limits, Spent::default()), Mutex::default());
        let reporter = reporter.clone();
        Ok(LlmClient { models, budget, cached_replies, context_tokens, reporter })
    }

    /// Continues an earlier run: with what it has spent, and with its replies.
    pub fn resuming(self, spent: Spent, replies: HashMap<ReplyKey, CachedReply>) -> LlmClient {
        self.preload_cache(replies);
        LlmClient { budget: self.budget.after(spent), ..self }
    }

    /// Sends a request of the engine and adds its cost to `cost`. Shortens the request while it is
    /// too long for the model.
    pub async fn ask(
        &self,
        call: CallContext<'_>,
        ask: &trellis_engine::ModelRequest,
        cost: &mut StageCost,
    ) -> Result<Completion, CallError> {
        let opened = self.models.of(ask.tier);
        let purpose = CallMeta { prompt_version: ask.prompt_version, why: ask.why, tools: false };
        let mut tokens = self.tokens(opened);
        loop {
            let question = convert::ask(call.id, ask, tokens);
            let answer = self.send(call, opened, question, purpose, cost).await?;
            if !matches!(answer, Completion::ContextTooLong(_)) || tokens <= LEAST_CONTEXT {
                return Ok(answer);
            }
            tokens = (tokens / 2).max(LEAST_CONTEXT);
        }
    }

    /// Returns the approximate number of tokens of a request to this model.
    pub fn tokens(&self, opened: &ModelHandle) -> usize {
        self.models.context_tokens(opened, self.context_tokens)
    }

    /// Sends a request as it is; repeats it once with more room if the reply is truncated.
    pub async fn send(
        &self,
        call: CallContext<'_>,
        opened: &ModelHandle,
        mut question: ChatRequest,
        purpose: CallMeta,
        cost: &mut StageCost,
    ) -> Result<Completion, CallError> {
        let output = match question.stage == trellis_engine::Stage::Diagnosis.as_str() {
            true => opened.output.min(VOTE_TOKENS),
            false => opened.output,
        };
        question.max_output_tokens = Some(output);
        let answer = self.send_once(call, opened, &question, purpose, cost).await?;
        let longest = opened.card.and_then(|it| it.longest_reply).unwrap_or(MOST_OUTPUT.into());
        let room = output.saturating_mul(MORE_OUTPUT).min(longest.min(u32::MAX.into()) as u32);
        if !matches!(answer, Completion::Truncated { .. }) || room <= output {
            return Ok(answer);
        }
        question.max_output_tokens = Some(room);
        let answer = self.send_once(call, opened, &question, purpose, cost).await?;
        Ok(match answer {
            Completion::Truncated { partial } if !has_whole_block(&partial) => {
                Completion::Unusable(format!(
                    "it was cut off after {room} tokens, before any code was complete; answer in fewer words"
                ))
            }
            other => other,
        })
    }

    /// Waits for the reply. Delays and retries are reported and journaled.
    async fn asked(
        &self,
        call: CallContext<'_>,
        opened: &ModelHandle,
        question: &ChatRequest,
    ) -> Result<ChatReply, ModelError> {
        let tell = |text: String| {
            self.reporter.note(format_args!("{}: {text}", call.id));
            let (node, what) = (call.id.to_owned(), "model".to_owned());
            // If the journal cannot be written, recording the reply fails as well.
            let _ = call.journal.log(Event::Note { node, what, text });
        };
        let silent = |seconds: u64| {
            tell(format!("no answer from {} for {seconds} s", opened.model.name()));
        };
        with_heartbeat(opened.model.ask_with_progress(question, &tell), silent).await
    }

    async fn send_once(
        &self,
        call: CallContext<'_>,
        opened: &ModelHandle,
        question: &ChatRequest,
        purpose: CallMeta,
        cost: &mut StageCost,
    ) -> Result<Completion, CallError> {
        let prompt = hash(question);
        if let Some(known) = self.take_cached(call.id, question, &prompt, opened) {
            *cost += StageCost {
                calls: 1,
                input_tokens: known.input_tokens,
                output_tokens: known.output_tokens,
                nano_usd: known.nano_usd,
            };
            return Ok(Completion::Reply(reply_of(known)));
        }
        let most = most(question, opened);
        let reservation = tokio::select! {
            () = call.cancel.cancelled() => return Err(CallError::Cancelled),
            admitted = self.budget.reserve(most) => admitted.map_err(CallError::Budget)?,
        };
        let started = Instant::now();
        let reply = tokio::select! {
            () = call.cancel.cancelled() => return Err(CallError::Cancelled),
            reply = self.asked(call, opened, question) => reply,
        };
        let (usage, is_estimate) = usage(question, &reply, opened);
        let usd = opened.card.map(|card| card.cost(usage.unwrap_or_default()));
        let nano_usd = usd.map(|usd| (usd * 1e9).round() as u64);
        let spent = usage.unwrap_or_default();
        tracing::debug!(
            node = call.id,
            stage = question.stage,
            model = opened.model.name(),
            milliseconds = started.elapsed().as_millis(),
            input_tokens = spent.input_tokens,
            output_tokens = spent.output_tokens,
            failed = reply.is_err(),
            "a model was asked"
        );
        reservation.commit(Spent::of(spent, usd.unwrap_or_default()));
        *cost += StageCost {
            calls: 1,
            input_tokens: spent.input_tokens,
            output_tokens: spent.output_tokens,
            nano_usd: nano_usd.unwrap_or_default(),
        };
        let details = CallDetails {
            asked: opened.model.name().to_owned(),
            why: purpose.why.to_owned(),
            prompt_version: purpose.prompt_version,
            tools: purpose.tools,
            cached_tokens: spent.cached_tokens,
            nano_usd,
            is_estimate,
            // Replies of a recording are not journaled: they cost nothing, and come in the right
            // order only from the recording's beginning.
            reply: reply.as_ref().ok().filter(|_| !opened.model.is_recorded()).map(said),
            ..CallDetails::default()
        };
        let event = Event::ModelCall {
            node: call.id.to_owned(),
            stage: question.stage.clone(),
            attempt: question.attempt,
            prompt,
            model: reply.as_ref().map_or(opened.model.name(), |reply| &reply.model).to_owned(),
            milliseconds: started.elapsed().as_millis() as u64,
            input_tokens: usage.map(|usage| usage.input_tokens),
            output_tokens: usage.map(|usage| usage.output_tokens),
            error: reply.as_ref().err().map(ToString::to_string),
            details: Box::new(details),
        };
        call.journal.log(event).map_err(CallError::Journal)?;
        answer(opened, reply)
    }

    /// Adds replies that an earlier start has paid for.
    pub fn preload_cache(&self, cached: HashMap<ReplyKey, CachedReply>) {
        self.cached_replies.lock().unwrap_or_else(PoisonError::into_inner).extend(cached);
    }

    /// Takes the reply that an earlier start of the run got for the same request. Each reply is
    /// used once.
    fn take_cached(
        &self,
        id: &str,
        question: &ChatRequest,
        prompt: &str,
        opened: &ModelHandle,
    ) -> Option<CachedReply> {
        let key = (
            id.to_owned(),
            question.stage.clone(),
            question.attempt,
            prompt.to_owned(),
            opened.model.name().to_owned(),
        );
        self.cached_replies.lock().unwrap_or_else(PoisonError::into_inner).remove(&key)
    }
}

/// Returns whether a truncated text contains a complete fenced block.
fn has_whole_block(text: &str) -> bool {
    text.lines().filter(|line| line.trim_start().starts_with("```")).count() > 1
}

/// Sorts errors by who can do something about them.
fn answer(
    opened: &ModelHandle,
    reply: Result<ChatReply, ModelError>,
) -> Result<Completion, CallError> {
    let error = match reply {
        Ok(reply) => return Ok(Completion::Reply(reply)),
        Err(error) => error,
    };
    // A recording repeats what happened then; a live model that is unavailable is so for every
    // request.
    let is_live = !opened.model.is_recorded();
    match &error {
        ModelError::Truncated { partial, .. } => {
            Ok(Completion::Truncated { partial: partial.clone() })
        }
        ModelError::BadResponse { what, .. } => Ok(Completion::Unusable(what.clone())),
        ModelError::TooLong { .. } => Ok(Completion::ContextTooLong(error.to_string())),
        ModelError::NotRecorded { .. } => {
            Err(CallError::Fault(Fault::internal(&error).hint(error.hint())))
        }
        _ if is_live && (error.is_unavailable() || error.affects_all_requests()) => {
            Err(CallError::Fault(Fault::unavailable(&error).hint(error.hint())))
        }
        _ => Ok(Completion::None(error.to_string())),
    }
}

/// Returns a hash of everything in a request that may differ between two of one stage and attempt.
fn hash(question: &ChatRequest) -> String {
    let mut text = String::new();
    for message in &question.messages {
        text += &message.text;
        for call in &message.calls {
            text +=
                &format!("\n{} {}", call.name, serde_json::Value::Object(call.arguments.clone()));
        }
        message.results.iter().for_each(|it| text += &format!("\n{}\n{}", it.name, it.text));
    }
    disk::hash(text)
}

fn said(reply: &ChatReply) -> RecordedReply {
    let call = |it: &ToolCall| RecordedToolCall {
        id: it.id.clone(),
        name: it.name.clone(),
        arguments: it.arguments.clone(),
        signature: it.signature.clone(),
    };
    RecordedReply { text: reply.text.clone(), calls: reply.tool_calls.iter().map(call).collect() }
}

fn reply_of(cached: CachedReply) -> ChatReply {
    let call = |it: RecordedToolCall| ToolCall {
        id: it.id,
        name: it.name,
        arguments: it.arguments,
        signature: it.signature,
    };
    ChatReply {
        text: cached.said.text,
        tool_calls: cached.said.calls.into_iter().map(call).collect(),
        usage: None,
        model: cached.model,
        latency: std::time::Duration::ZERO,
    }
}

/// Returns the maximum cost of a request.
fn most(question: &ChatRequest, opened: &ModelHandle) -> Spent {
    let output_tokens = question.max_output_tokens.unwrap_or(opened.output).into();
    let usage = Usage { input_tokens: size(question), output_tokens, cached_tokens: 0 };
    Spent::of(usage, opened.card.map_or(0.0, |card| card.cost(usage)))
}

/// Estimates the tokens of a request from its size.
fn size(question: &ChatRequest) -> u64 {
    let words: usize = question.messages.iter().map(Message::bytes).sum();
    let tools = question.tools.iter();
    let tools: usize = tools.map(|it| it.description.len() + it.parameters.to_string().len()).sum();
    let messages = question.messages.len() as u64 * MESSAGE_TOKENS;
    (words + tools).div_ceil(TOKEN_BYTES) as u64 + messages
}

/// Returns the usage that the provider reports, else an estimate if a live model replied. The flag
/// says whether it is an estimate.
fn usage(
    question: &ChatRequest,
    reply: &Result<ChatReply, ModelError>,
    opened: &ModelHandle,
) -> (Option<Usage>, bool) {
    let report = match reply {
        Ok(reply) => reply.usage,
        Err(error) => error.usage(),
    };
    // A provider that reports zero tokens for a thousand words, or an absurd number, reports
    // nothing.
    let report = report.filter(|it| {
        let most = it.input_tokens.max(it.output_tokens);
        (1..ABSURD_TOKENS).contains(&most)
    });
    let output_tokens = match reply {
        Ok(reply) => reply.text.len().div_ceil(TOKEN_BYTES) as u64,
        // A truncated reply used all of its room.
        Err(ModelError::Truncated { .. }) => question.max_output_tokens.unwrap_or_default().into(),
        Err(ModelError::BadResponse { .. }) => 0,
        Err(_) => return (report, false),
    };
    if report.is_some() || opened.model.is_recorded() {
        return (report, false);
    }
    (Some(Usage { input_tokens: size(question), output_tokens, cached_tokens: 0 }), true)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_model_is_reported_each_minute() {
        let report = Mutex::new(Vec::new());
        let answer = tokio::time::sleep(Duration::from_secs(150));
        with_heartbeat(answer, |seconds| report.lock().expect("free").push(seconds)).await;
        assert_eq!(*report.lock().expect("free"), [60, 120]);
    }

    #[test]
    fn the_journal_names_stages_as_the_engine_does() {
        let stage = trellis_engine::Stage::WriteTests;
        assert_eq!(trellis_store::replay::WRITE_TESTS, stage.as_str());
    }
}
