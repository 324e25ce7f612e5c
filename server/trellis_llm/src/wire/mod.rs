//! Wire formats: serialization of requests, and parsing of answers, whole or streamed, into one
//! form.
//!
//! A format is a table of functions, because formats share only their inputs and outputs;
//! transport, retries and limits are the same for all and are implemented elsewhere.

mod anthropic;
mod gemini;
mod listed;
mod ollama;
mod openai;
mod stream_accumulator;

use serde_json::Value;

use crate::chat::ChatRequest;
use crate::endpoint;
use crate::model_list::ListedModel;
use crate::unsupported_params::OmittedParams;
pub(crate) use stream_accumulator::{CompleteReply, StopReason, StreamAccumulator, UnusableReply};

/// Wire format of a service.
pub(crate) struct WireFormat {
    /// Serializes the request's body.
    pub(crate) body: fn(&WireRequest<'_>) -> Value,
    /// Processes one streamed event.
    pub(crate) event: fn(&mut StreamAccumulator, &Value) -> Result<(), UnusableReply>,
    /// Processes an answer in one piece.
    pub(crate) whole: fn(&mut StreamAccumulator, &Value) -> Result<(), UnusableReply>,
    /// Converts a user's text to a base URL; most formats use the text as it is.
    pub(crate) base: fn(&str) -> String,
    /// Returns the path below the base URL for a model, streamed or not, with its query.
    pub(crate) path: fn(&str, bool) -> String,
    /// Path for a base URL that has none.
    pub(crate) home: &'static str,
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// Name of an answer in messages.
    pub(crate) answer: &'static str,
    /// The list of models; `None` if the service has none of the names that requests use.
    pub(crate) models: Option<ModelList>,
}

/// The list of models of a service.
pub(crate) struct ModelList {
    /// Path below the base URL, with its query.
    pub(crate) path: &'static str,
    /// Reads an answer; `None` if it is no list.
    pub(crate) read: fn(&Value) -> Option<Vec<ListedModel>>,
}

/// Parts of a request.
pub(crate) struct WireRequest<'a> {
    pub(crate) model: &'a str,
    pub(crate) ask: &'a ChatRequest,
    pub(crate) stream: bool,
    /// Parameters that this model has rejected.
    pub(crate) refused: OmittedParams,
}

impl WireRequest<'_> {
    /// Returns the temperature, unless the model rejects the parameter.
    fn temperature(&self) -> Option<f64> {
        // The decimal form keeps 0.2 from becoming 0.20000000298.
        let exact = self.ask.temperature.to_string().parse().ok();
        exact.filter(|_| !self.refused.temperature)
    }
}

pub(crate) const OPENAI: WireFormat = WireFormat {
    body: openai::body,
    event: openai::event,
    whole: openai::whole,
    base: str::to_owned,
    path: |_, _| "/chat/completions".to_owned(),
    home: "/v1",
    headers: &[],
    answer: "chat completion",
    models: Some(ModelList { path: "/models", read: listed::openai }),
};

/// OpenAI's format at Azure's address. Azure lists models, but requests name deployments.
pub(crate) const AZURE: WireFormat = WireFormat {
    path: |_, _| "/openai/v1/chat/completions".to_owned(),
    home: "",
    models: None,
    ..OPENAI
};

pub(crate) const ANTHROPIC: WireFormat = WireFormat {
    body: anthropic::body,
    event: anthropic::event,
    whole: anthropic::whole,
    base: str::to_owned,
    path: |_, _| "/v1/messages".to_owned(),
    home: "",
    headers: &[("anthropic-version", "2023-06-01")],
    answer: "message",
    models: Some(ModelList { path: "/v1/models?limit=1000", read: listed::anthropic }),
};

pub(crate) const GEMINI: WireFormat = WireFormat {
    body: gemini::body,
    event: gemini::take,
    whole: gemini::whole,
    base: str::to_owned,
    path: gemini::path,
    home: "",
    headers: &[],
    answer: "generated content",
    models: Some(ModelList { path: "/v1beta/models?pageSize=1000", read: listed::gemini }),
};

pub(crate) const OLLAMA: WireFormat = WireFormat {
    body: ollama::body,
    event: ollama::take,
    whole: ollama::take,
    base: endpoint::ollama_base,
    path: |_, _| "/api/chat".to_owned(),
    home: "",
    headers: &[],
    answer: "chat answer",
    models: Some(ModelList { path: "/api/tags", read: listed::ollama }),
};

/// Returns a text field, if present.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// Returns a count, if present.
fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// Returns the entries of a list; empty if there is no list.
fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
