//! Loop in which a model calls tools until it is done or a limit is reached.

use std::time::Instant;

use tokio::time::timeout_at;
use trellis_llm::{ChatReply, ChatRequest, Message, Role, ToolCall, ToolResult};

use super::arguments::{Arguments, summary};
use super::compact::shorten;
use super::limits::{Limit, Limits};
use super::overlay::Changes;
use super::table::Done;
use super::tool_set::{ToolInvocation, ToolSet};
use super::truncate::counted;

/// Result of a conversation.
#[derive(Debug)]
pub struct Transcript {
    /// Changed files by path; `None` for a deleted file. Each change was accepted by its tool,
    /// however the conversation ended.
    pub changes: Changes,
    /// Tool calls, in order.
    pub calls: Vec<CallRecord>,
    /// Number of chat requests to the model.
    pub asks: usize,
    pub ending: StopReason,
}

/// A tool call, for the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Name as the model wrote it.
    pub name: String,
    /// Short form of the arguments.
    pub arguments: String,
    /// Size of the result.
    pub bytes: usize,
    pub is_error: bool,
    pub microseconds: u64,
}

/// Reason why a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model called `done`, with or without changes.
    Done { summary: String },
    /// The model called no tool despite reminders; `said` is its last text.
    Silent { said: String },
    /// A limit was reached; the changes so far are kept.
    Limit(Limit),
}

impl StopReason {
    /// Returns a sentence for people.
    pub fn report(&self, limits: &Limits) -> String {
        match self {
            StopReason::Done { summary } => format!("the model is done: {summary}"),
            StopReason::Silent { .. } => "the model called no tool any more".to_owned(),
            StopReason::Limit(limit) => format!("the conversation ended: {}", limit.reason(limits)),
        }
    }
}

/// Returns whether a text holds code or an edit: a model that answers so at once does not want
/// tools.
fn is_answer(text: &str) -> bool {
    text.lines().any(|it| it.starts_with("```") || it.starts_with("<<<<<<< "))
}

const REMINDER: &str = "Go on with the tools: only what they change counts. If the work is done, or cannot be, call `done`.";

/// Runs the conversation to its end. Every request is `first` with the tools and all messages so
/// far; its key in the run (node, stage, attempt) stays the same. Dropping the future ends the
/// conversation; `toolbox` then holds the changes of the answered calls.
///
/// # Errors
///
/// The error of `ask`; `toolbox` then holds the earlier changes too.
pub async fn converse<E, F>(
    mut ask: impl FnMut(ChatRequest) -> F,
    first: ChatRequest,
    toolbox: &mut ToolSet,
) -> Result<Transcript, E>
where
    F: Future<Output = Result<ChatReply, E>>,
{
    let mut question = ChatRequest { tools: toolbox.tools(), ..first };
    let mut talk = Talk::new(toolbox);
    let ending = loop {
        if let Some(limit) = talk.reached() {
            break StopReason::Limit(limit);
        }
        shorten(&mut question.messages, talk.limits.tokens);
        talk.asks += 1;
        let Ok(reply) = timeout_at(talk.ends.into(), ask(question.clone())).await else {
            break StopReason::Limit(Limit::Time);
        };
        let reply = reply?;
        match talk.answer(&reply).await {
            Ok(message) => question.messages.extend([Message::from_reply(&reply), message]),
            Err(ending) => break ending,
        }
    };
    Ok(Transcript { changes: talk.toolbox.changes(), calls: talk.calls, asks: talk.asks, ending })
}

struct Talk<'t> {
    toolbox: &'t mut ToolSet,
    limits: Limits,
    ends: Instant,
    asks: usize,
    calls: Vec<CallRecord>,
    /// Bytes of all results.
    bytes: usize,
    /// Number of consecutive replies without a call.
    silent: usize,
}

impl<'t> Talk<'t> {
    fn new(toolbox: &'t mut ToolSet) -> Talk<'t> {
        let limits = toolbox.limits;
        let ends = Instant::now() + limits.time;
        Talk { toolbox, limits, ends, asks: 0, calls: Vec::new(), bytes: 0, silent: 0 }
    }

    fn reached(&self) -> Option<Limit> {
        let reached = [
            (self.calls.len() >= self.limits.calls, Limit::Calls),
            (self.bytes >= self.limits.all_bytes, Limit::Bytes),
            (Instant::now() >= self.ends, Limit::Time),
        ];
        reached.into_iter().find_map(|(is, limit)| is.then_some(limit))
    }

    /// Returns the answer to a reply, or the reason to stop.
    async fn answer(&mut self, reply: &ChatReply) -> Result<Message, StopReason> {
        if reply.tool_calls.is_empty() {
            self.silent += 1;
            let is_plain = self.calls.is_empty() && is_answer(&reply.text);
            return match is_plain || self.silent > self.limits.reminders {
                true => Err(StopReason::Silent { said: reply.text.clone() }),
                false => Ok(Message::new(Role::User, REMINDER)),
            };
        }
        self.silent = 0;
        let mut results: Vec<ToolResult> = Vec::new();
        for call in &reply.tool_calls {
            let is_done = call.name == Done::NAME;
            if let Some(limit) = self.reached().filter(|_| !is_done) {
                return Err(StopReason::Limit(limit));
            }
            let rash = is_done && results.iter().any(|it| it.is_error);
            let (called, microseconds) =
                if rash { (too_early(), 0) } else { self.call(call).await };
            results.push(self.record(call, called, microseconds)?);
        }
        if let (Some(last), Some(note)) = (results.last_mut(), self.note()) {
            last.text.push_str(&note);
        }
        Ok(Message::results(results))
    }

    async fn call(&mut self, call: &ToolCall) -> (ToolInvocation, u64) {
        let since = Instant::now();
        let deadline = self.ends.min(since + self.limits.call_time);
        let room = self.limits.result_bytes.min(self.limits.all_bytes.saturating_sub(self.bytes));
        let called = self.toolbox.call_within(&call.name, &call.arguments, room, deadline).await;
        (called, since.elapsed().as_micros() as u64)
    }

    /// Records a call; returns the reason to stop after a successful `done`.
    fn record(
        &mut self,
        call: &ToolCall,
        called: ToolInvocation,
        microseconds: u64,
    ) -> Result<ToolResult, StopReason> {
        self.bytes += called.text.len();
        self.calls.push(CallRecord {
            name: call.name.clone(),
            arguments: summary(&call.arguments),
            bytes: called.text.len(),
            is_error: called.is_error,
            microseconds,
        });
        match called.done {
            Some(summary) => Err(StopReason::Done { summary }),
            None => Ok(ToolResult {
                id: call.id.clone(),
                name: call.name.clone(),
                text: called.text,
                is_error: called.is_error,
            }),
        }
    }

    /// Returns a note about the remaining budget, once little is left.
    fn note(&self) -> Option<String> {
        let limits = &self.limits;
        let calls = limits.calls.saturating_sub(self.calls.len());
        let bytes = limits.all_bytes.saturating_sub(self.bytes);
        let time = self.ends.saturating_duration_since(Instant::now());
        let notes = [
            (calls <= limits.reported_by).then(|| counted(calls, "call")),
            (bytes <= limits.all_bytes / 8).then(|| format!("{bytes} bytes of results")),
            (time <= limits.time / 8).then(|| format!("{} seconds", time.as_secs())),
        ];
        let notes: Vec<String> = notes.into_iter().flatten().collect();
        (!notes.is_empty())
            .then(|| format!("\n({} left; then the work ends as it is)", notes.join(", ")))
    }
}

/// The model could not know, when it called `done`, that an earlier call of the same reply would
/// fail.
fn too_early() -> ToolInvocation {
    let text = "not done yet: a call of the same reply failed; see to it, then call `done` again";
    ToolInvocation { text: text.to_owned(), is_error: true, done: None }
}
