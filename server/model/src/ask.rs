//! What is asked and what comes back, whichever provider answers.

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
    /// Sampling temperature, usually 0 to 1. Left out for models that refuse to be given one.
    pub temperature: f32,
    /// Upper limit of the reply in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<u32>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub text: String,
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
    /// Name of the tool, as the model wrote it.
    pub name: String,
    /// Its arguments, always an object.
    pub arguments: Map<String, Value>,
}

/// Tokens spent on one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the question.
    pub input_tokens: u64,
    /// Tokens of the reply.
    pub output_tokens: u64,
}
