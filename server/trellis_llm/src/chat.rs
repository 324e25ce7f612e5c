//! Chat requests and replies, independent of the provider.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

/// One request to a model, with its position in the run.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// Node, task or issue id; in repair the first test id of the failure group, sorted.
    pub node: String,
    /// Stage of that node, one of [`crate::STAGES`].
    pub stage: String,
    /// Number of the request within that stage of that node, from 0; for `diagnosis` the number of
    /// the vote.
    pub attempt: u32,
    /// The conversation, oldest message first.
    pub messages: Vec<Message>,
    /// Tools that the model may call; empty for most requests.
    pub tools: Arc<[Tool]>,
    /// Sampling temperature, usually 0 to 1. Omitted for models that reject the parameter.
    pub temperature: f32,
    /// Upper limit of the reply in tokens; `None` leaves the limit to the provider.
    pub max_output_tokens: Option<u32>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Author of the turn.
    pub role: Role,
    /// Text of the turn; may be empty next to calls or results.
    pub text: String,
    /// Tool calls of an assistant, as received in its [`ChatReply`].
    pub calls: Vec<ToolCall>,
    /// Results of the previous message's calls, in their order; in user messages only.
    pub results: Vec<ToolResult>,
}

impl Message {
    /// Creates a turn with text only.
    pub fn new(role: Role, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), calls: Vec::new(), results: Vec::new() }
    }

    /// Creates the assistant's turn of a reply, to be sent back to the model.
    pub fn from_reply(reply: &ChatReply) -> Self {
        let calls = reply.tool_calls.clone();
        Self { calls, ..Self::new(Role::Assistant, &reply.text) }
    }

    /// Returns the approximate size of the message in a request, in bytes.
    pub fn bytes(&self) -> usize {
        let calls = self.calls.iter().map(|it| it.name.len() + json_bytes(&it.arguments));
        let results = self.results.iter().map(|it| it.text.len());
        self.text.len() + calls.sum::<usize>() + results.sum::<usize>()
    }

    /// Creates the user's turn with the results of tool calls.
    pub fn results(results: Vec<ToolResult>) -> Self {
        Self { results, ..Self::new(Role::User, "") }
    }
}

fn json_bytes(arguments: &Map<String, Value>) -> usize {
    arguments.iter().map(|(name, value)| name.len() + value.to_string().len() + 6).sum()
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Letters, digits and `_`, at most 64 characters.
    pub name: String,
    /// Description of the tool's function and use, for the model.
    pub description: String,
    /// A JSON schema of type `object`.
    pub parameters: Value,
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's [`ToolCall::id`].
    pub id: String,
    /// Name of the called tool.
    pub name: String,
    /// The text shown to the model.
    pub text: String,
    /// True if the call failed; the text holds the reason.
    pub is_error: bool,
}

/// Author of a [`Message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Standing instructions.
    System,
    /// The engine's request.
    User,
    /// An earlier reply of the model.
    Assistant,
}

/// A model's reply. The content is untrusted: it was parsed, but not checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// The text; may be empty if there are tool calls.
    pub text: String,
    /// Tool calls of the model, in its order.
    pub tool_calls: Vec<ToolCall>,
    /// Tokens of the answered request, if the provider reports them.
    pub usage: Option<Usage>,
    /// The model that answered, as named by the provider (for a recording: its `model` field, else
    /// the recording's name).
    pub model: String,
    /// Duration of the answered request, without earlier tries; for a recorded reply its
    /// `latency_ms`, else zero.
    pub latency: Duration,
}

/// A tool call by a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// Id of the call, unique in a conversation; generated if the provider has none.
    pub id: String,
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Arguments of the call, always an object.
    pub arguments: Map<String, Value>,
    /// An opaque text that the provider expects back with the call (Gemini's `thoughtSignature`).
    pub signature: Option<String>,
}

/// Tokens of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the prompt.
    pub input_tokens: u64,
    /// Tokens of the reply, including thoughts.
    pub output_tokens: u64,
    /// Number of prompt tokens read from the provider's cache, which are cheaper.
    pub cached_tokens: u64,
}
