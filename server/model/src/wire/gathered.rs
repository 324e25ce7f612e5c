//! An answer as it comes together, and what it is worth when it has ended.

use serde_json::{Map, Value};

use crate::ask::{ToolCall, Usage};
use crate::complaint::{Complaint, shorten};

/// No model calls more tools at once; a broken service must not fill the memory.
const MOST_CALLS: usize = 128;

/// Arguments of tools are no deeper; JSON readers stop at 128, and they are written within other JSON.
const DEEPEST: usize = 64;

/// Pieces of a reply.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) text: String,
    calls: Vec<Call>,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    /// Of the input, what the provider had in its cache.
    pub(crate) cached: u64,
    pub(crate) model: Option<String>,
    /// What the model said instead of an answer.
    pub(crate) refusal: String,
    /// How the reply ended; none as long as it has not.
    pub(crate) end: Option<End>,
}

/// A tool call in the making.
#[derive(Default)]
pub(crate) struct Call {
    /// The provider's number for it.
    index: u64,
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    /// JSON text.
    pub(crate) arguments: String,
    pub(crate) signature: Option<String>,
}

/// Why a model stopped.
pub(crate) enum End {
    /// It was done.
    Done,
    /// It hit the output limit.
    Length,
    /// The provider, or the model, would not go on; with the reason in a few words.
    Declined(String),
}

/// Why what came is no reply.
pub(crate) enum Unusable {
    /// The answer says that the request failed, under a good status or in mid-stream.
    Failed(Box<Complaint>),
    /// It is not what this kind of service answers.
    Garbled(String),
    /// It is, and says nothing of use.
    Nonsense(String),
}

/// A reply that came to its end.
pub(crate) enum Whole {
    Said {
        text: String,
        calls: Vec<ToolCall>,
    },
    Truncated(String),
    /// Nothing that could be used, in words.
    Nothing(String),
}

impl Gathered {
    /// The call of this number, begun where it is new.
    pub(crate) fn call(&mut self, index: u64) -> Result<&mut Call, Unusable> {
        let at = match self.calls.iter().position(|it| it.index == index) {
            Some(at) => at,
            None if self.calls.len() < MOST_CALLS => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
            None => {
                return Err(Unusable::Nonsense(format!(
                    "it has more than {MOST_CALLS} tool calls"
                )));
            }
        };
        Ok(&mut self.calls[at])
    }

    /// A call that came in one piece.
    pub(crate) fn add_call(
        &mut self,
        id: Option<&str>,
        name: &str,
        arguments: Option<&Value>,
    ) -> Result<&mut Call, Unusable> {
        let call = self.call(self.calls.len() as u64)?;
        (call.id, call.name) = (id.map(str::to_owned), name.to_owned());
        // Arguments are an object, or its text, or left out.
        call.arguments = match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        Ok(call)
    }

    /// A failure told in the answer itself, as gateways and streams do.
    pub(crate) fn failed(value: &Value) -> Result<(), Unusable> {
        match Complaint::in_answer(value) {
            Some(complaint) => Err(Unusable::Failed(Box::new(complaint))),
            None => Ok(()),
        }
    }

    /// Tokens spent, where both counts came.
    pub(crate) fn usage(&self) -> Option<Usage> {
        let (input_tokens, output_tokens) = self.input.zip(self.output)?;
        Some(Usage { input_tokens, output_tokens, cached_tokens: self.cached.min(input_tokens) })
    }

    /// What it comes to; `clean` takes keys out of every text.
    pub(crate) fn whole(&self, clean: impl Fn(&str) -> String) -> Whole {
        let text = clean(&self.text);
        match &self.end {
            Some(End::Length) => return Whole::Truncated(text),
            Some(End::Declined(why)) => return Whole::Nothing(clean(why)),
            _ if text.trim().is_empty() && !self.refusal.is_empty() => {
                let words = shorten(&clean(&self.refusal));
                return Whole::Nothing(format!("the model declined: {words}"));
            }
            _ => {}
        }
        let calls = self.calls.iter().enumerate();
        match calls.map(|(at, call)| call.read(at, &clean)).collect::<Result<Vec<_>, _>>() {
            Ok(calls) if calls.is_empty() && text.trim().is_empty() => {
                Whole::Nothing("the reply is empty".to_owned())
            }
            Ok(calls) => Whole::Said { text, calls },
            Err(why) => Whole::Nothing(why),
        }
    }
}

impl Call {
    fn read(&self, at: usize, clean: &impl Fn(&str) -> String) -> Result<ToolCall, String> {
        let name = clean(&self.name);
        if name.is_empty() {
            return Err("a tool call has no name".to_owned());
        }
        let arguments: Option<Map<String, Value>> = match self.arguments.trim() {
            "" => Some(Map::new()),
            text => serde_json::from_str(text).ok(),
        };
        let Some(arguments) = arguments else {
            return Err(format!("the arguments of the tool call `{name}` are not a JSON object"));
        };
        let clean_all =
            |(key, value): (String, Value)| Some((clean(&key), cleaned(value, clean, 1)?));
        let Some(arguments) = arguments.into_iter().map(clean_all).collect() else {
            return Err(format!("the arguments of the tool call `{name}` are nested too deeply"));
        };
        let id = self.id.as_deref().map(clean).filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| format!("call_{at}"));
        Ok(ToolCall { id, name, arguments, signature: self.signature.as_deref().map(clean) })
    }
}

/// A value with all its texts cleaned, however they were escaped; none where it is deeper than what can be
/// written down and read again.
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
