//! What is asked and what comes back, whichever provider answers.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

/// One question to a model, with the place in the run it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Node, task or issue id; in repair the first test id of the failure group, sorted.
    pub node: String,
    /// Stage of that node, one of [`crate::STAGES`].
    pub stage: String,
    /// Counted from 0 within that stage of that node; for `diagnosis` the number of the vote.
    pub attempt: u32,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call; none for most questions.
    pub tools: Arc<[Tool]>,
    /// Sampling temperature, usually 0 to 1. Left out for models that refuse to be given one.
    pub temperature: f32,
    /// Upper limit of the reply in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said; may be empty beside calls or results.
    pub text: String,
    /// Tools an assistant wanted called, as they came in its [`Reply`].
    pub calls: Vec<ToolCall>,
    /// What the calls of the message before came to, in their order; of a user only.
    pub results: Vec<ToolResult>,
}

impl Message {
    /// A turn of words.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), results: Vec::new() }
    }

    /// What the model said, to be sent back to it.
    pub fn said(reply: &Reply) -> Self {
        let calls = reply.tool_calls.clone();
        Self { calls, ..Self::new(Role::Assistant, &reply.text) }
    }

    /// Its size in a request, about, in bytes.
    pub fn bytes(&self) -> usize {
        let calls = self.calls.iter().map(|it| it.name.len() + json_bytes(&it.arguments));
        let results = self.results.iter().map(|it| it.text.len());
        self.text.len() + calls.sum::<usize>() + results.sum::<usize>()
    }

    /// What its calls came to.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Self { results, ..Self::new(Role::User, "") }
    }
}

fn json_bytes(arguments: &Map<String, Value>) -> usize {
    arguments.iter().map(|(name, value)| name.len() + value.to_string().len() + 6).sum()
}

/// Something a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Letters, digits and `_`, at most 64.
    pub name: String,
    /// What it does and when it is of use, for the model.
    pub description: String,
    /// A JSON schema of type `object`.
    pub parameters: Value,
}

/// What a tool call came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's [`ToolCall::id`].
    pub id: String,
    /// The called tool.
    pub name: String,
    /// What the model is shown.
    pub text: String,
    /// Whether the call failed; the text says why.
    pub is_error: bool,
}

/// Who speaks in a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The engine's question.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// What the model sent. Untrusted: nothing in it has been judged, only read.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The text; may be empty when there are tool calls.
    pub text: String,
    /// The tools the model wants called, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens spent on the answered request, where the provider says.
    pub usage: Option<Usage>,
    /// The model that answered, in the provider's words (a recording: in its `model` field, else
    /// the recording's name).
    pub model: String,
    /// How long the answered request took, without retries before it; of a recorded reply, its
    /// `latency_ms`, else zero.
    pub latency: Duration,
}

/// A tool the model wants called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Tells calls of one conversation apart; made up where the provider has none.
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Its arguments, always an object.
    pub arguments: Map<String, Value>,
    /// An opaque text that the provider wants back with the call (Gemini's `thoughtSignature`).
    pub signature: Option<String>,
}

/// Tokens spent on one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the reply, thoughts included.
    pub output_tokens: u64,
    /// Of the question's, those the provider had in its cache, which are cheaper.
    pub cached_tokens: u64,
}
