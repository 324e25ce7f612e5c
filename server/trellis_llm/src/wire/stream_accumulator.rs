//! Accumulation of an answer, and its evaluation at the end.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::chat::{ToolCall, Usage};
use crate::error_body::{ErrorBody, shorten};

/// Maximum number of tool calls in a reply. No model makes more; a broken service must not exhaust
/// the memory.
const MOST_CALLS: usize = 128;

/// Maximum depth of tool arguments. JSON readers stop at 128, and arguments are written within
/// other JSON.
const DEEPEST: usize = 64;

/// The received parts of a reply.
#[derive(Default)]
pub(crate) struct StreamAccumulator {
    pub(crate) text: String,
    calls: Vec<PartialToolCall>,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    /// Number of input tokens read from the provider's cache.
    pub(crate) cached: u64,
    pub(crate) model: Option<String>,
    /// The model's refusal, sent instead of an answer.
    pub(crate) refusal: String,
    /// End of the reply; `None` until then.
    pub(crate) end: Option<StopReason>,
}

/// A partially received tool call.
#[derive(Default)]
pub(crate) struct PartialToolCall {
    /// The provider's number of the call.
    index: u64,
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// JSON text.
    pub(crate) arguments: String,
    pub(crate) signature: Option<String>,
}

/// Faults of a tool call.
#[derive(Debug, Error)]
enum ToolCallError {
    #[error("a tool call has no name")]
    NoName,
    #[error("the arguments of the tool call `{name}` are not a JSON object")]
    NoObject { name: String },
    #[error("the arguments of the tool call `{name}` are nested too deeply")]
    TooDeep { name: String },
}

/// Reasons why a model stopped.
pub(crate) enum StopReason {
    /// The reply is complete.
    Done,
    /// The reply hit the output limit.
    Length,
    /// The provider or the model refused to continue, with the reason in a few words.
    Declined(String),
}

/// Reasons why an answer is no reply.
pub(crate) enum UnusableReply {
    /// An error in an answer with a success status, or in mid-stream.
    Failed(Box<ErrorBody>),
    /// An answer in an unexpected format.
    Garbled(String),
    /// An answer in the right format without usable content.
    Nonsense(String),
}

/// A reply that has ended.
pub(crate) enum CompleteReply {
    Reply {
        text: String,
        calls: Vec<ToolCall>,
    },
    Truncated(String),
    /// No usable reply, with the reason as text.
    Nothing(String),
}

impl StreamAccumulator {
    /// Returns the call of this number, creating a new one if necessary.
    pub(crate) fn call(&mut self, index: u64) -> Result<&mut PartialToolCall, UnusableReply> {
        let at = match self.calls.iter().position(|it| it.index == index) {
            Some(at) => at,
            None if self.calls.len() < MOST_CALLS => {
                self.calls.push(PartialToolCall { index, ..PartialToolCall::default() });
                self.calls.len() - 1
            }
            None => {
                return Err(UnusableReply::Nonsense(format!(
                    "it has more than {MOST_CALLS} tool calls"
                )));
            }
        };
        Ok(&mut self.calls[at])
    }

    /// Adds a call received in one piece.
    pub(crate) fn add_call(
        &mut self,
        id: Option<&str>,
        name: &str,
        arguments: Option<&Value>,
    ) -> Result<&mut PartialToolCall, UnusableReply> {
        let call = self.call(self.calls.len() as u64)?;
        (call.id, call.name) = (id.map(str::to_owned), name.to_owned());
        // Arguments are an object, its text, or omitted.
        call.arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        Ok(call)
    }

    /// Returns the error reported in the answer itself, as by gateways and streams.
    pub(crate) fn failed(value: &Value) -> Result<(), UnusableReply> {
        match ErrorBody::in_answer(value) {
            Some(complaint) => Err(UnusableReply::Failed(Box::new(complaint))),
            None => Ok(()),
        }
    }

    /// Returns the tokens of the request, if both counts were received.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let (input_tokens, output_tokens) = self.input.zip(self.output)?;
        Some(Usage { input_tokens, output_tokens, cached_tokens: self.cached.min(input_tokens) })
    }

    /// Evaluates the answer; `clean` removes keys from every text.
    pub(crate) fn whole(&self, clean: impl Fn(&str) -> String) -> CompleteReply {
        let text = clean(&self.text);
        match &self.end {
            Some(StopReason::Length) => return CompleteReply::Truncated(text),
            Some(StopReason::Declined(why)) => return CompleteReply::Nothing(clean(why)),
            _ if text.trim().is_empty() && !self.refusal.is_empty() => {
                let words = shorten(&clean(&self.refusal));
                return CompleteReply::Nothing(format!("the model declined: {words}"));
            }
            _ => {}
        }
        let calls = self.calls.iter().enumerate();
        match calls.map(|(at, call)| call.read(at, &clean)).collect::<Result<Vec<_>, _>>() {
            Ok(calls) if calls.is_empty() && text.trim().is_empty() => {
                CompleteReply::Nothing("the reply is empty".to_owned())
            }
            Ok(calls) => CompleteReply::Reply { text, calls },
            Err(fault) => CompleteReply::Nothing(fault.to_string()),
        }
    }
}

impl PartialToolCall {
    fn read(&self, at: usize, clean: &impl Fn(&str) -> String) -> Result<ToolCall, ToolCallError> {
        let name = clean(&self.name);
        if name.is_empty() {
            return Err(ToolCallError::NoName);
        }
        let arguments: Option<Map<String, Value>> = match self.arguments.trim() {
            "" => Some(Map::new()),
            text => serde_json::from_str(text).ok(),
        };
        let Some(arguments) = arguments else {
            return Err(ToolCallError::NoObject { name });
        };
        let clean_all =
            |(key, value): (String, Value)| Some((clean(&key), cleaned(value, clean, 1)?));
        let Some(arguments) = arguments.into_iter().map(clean_all).collect() else {
            return Err(ToolCallError::TooDeep { name });
        };
        let id = self.id.as_deref().map(clean).filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("call_{at}"));
        Ok(ToolCall { id, name, arguments, signature: self.signature.as_deref().map(clean) })
    }
}

/// Cleans all texts of a value, however they were escaped; `None` if the value is nested deeper
/// than JSON readers accept.
fn cleaned(value: Value, clean: &impl Fn(&str) -> String, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    Some(match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(values) => {
            values.into_iter().map(|it| cleaned(it, clean, depth + 1)).collect::<Option<_>>()?
        }
        Value::Object(fields) => {
            let field =
                |(key, it): (String, Value)| Some((clean(&key), cleaned(it, clean, depth + 1)?));
            Value::Object(fields.into_iter().map(field).collect::<Option<_>>()?)
        }
        other => other,
    })
}
