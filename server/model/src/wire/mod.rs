//! The wire formats: questions written, answers gathered, whole or streamed, into one shape.
//!
//! A format is a row of functions, since all they have in common is what goes in and what comes out; the
//! transport, retries and limits are the same for all and stand elsewhere.

mod anthropic;
mod gathered;
mod gemini;
mod ollama;
mod openai;

use serde_json::Value;

use crate::ask::Ask;
use crate::endpoint;
use crate::quirks::Refused;
pub(crate) use gathered::{End, Gathered, Unusable, Whole};

/// How a service talks.
pub(crate) struct Wire {
    /// The request's body.
    pub(crate) body: fn(&Question<'_>) -> Value,
    /// Takes in one streamed event.
    pub(crate) event: fn(&mut Gathered, &Value) -> Result<(), Unusable>,
    /// Takes in an answer that came in one piece.
    pub(crate) whole: fn(&mut Gathered, &Value) -> Result<(), Unusable>,
    /// A base URL out of what people give; most give one.
    pub(crate) base: fn(&str) -> String,
    /// The path below the base address, for this model, streamed or not; with its query.
    pub(crate) path: fn(&str, bool) -> String,
    /// The path of a base address that has none.
    pub(crate) home: &'static str,
    /// Headers that every request has.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// What an answer is called in messages.
    pub(crate) answer: &'static str,
}

/// What a request is made of.
pub(crate) struct Question<'a> {
    pub(crate) model: &'a str,
    pub(crate) ask: &'a Ask,
    pub(crate) stream: bool,
    /// What this model has been seen to refuse.
    pub(crate) refused: Refused,
}

impl Question<'_> {
    /// The temperature, unless the model wants none.
    fn temperature(&self) -> Option<f64> {
        // By way of its decimal form: 0.2 is not to become 0.20000000298.
        let exact = self.ask.temperature.to_string().parse().ok();
        exact.filter(|_| !self.refused.temperature)
    }
}

pub(crate) const OPENAI: Wire = Wire {
    body: openai::body,
    event: openai::event,
    whole: openai::whole,
    base: str::to_owned,
    path: |_, _| "/chat/completions".to_owned(),
    home: "/v1",
    headers: &[],
    answer: "chat completion",
};

/// OpenAI's format at Azure's address.
pub(crate) const AZURE: Wire =
    Wire { path: |_, _| "/openai/v1/chat/completions".to_owned(), home: "", ..OPENAI };

pub(crate) const ANTHROPIC: Wire = Wire {
    body: anthropic::body,
    event: anthropic::event,
    whole: anthropic::whole,
    base: str::to_owned,
    path: |_, _| "/v1/messages".to_owned(),
    home: "",
    headers: &[("anthropic-version", "2023-06-01")],
    answer: "message",
};

pub(crate) const GEMINI: Wire = Wire {
    body: gemini::body,
    event: gemini::take,
    whole: gemini::whole,
    base: str::to_owned,
    path: gemini::path,
    home: "",
    headers: &[],
    answer: "generated content",
};

pub(crate) const OLLAMA: Wire = Wire {
    body: ollama::body,
    event: ollama::take,
    whole: ollama::take,
    base: endpoint::ollama_base,
    path: |_, _| "/api/chat".to_owned(),
    home: "",
    headers: &[],
    answer: "chat answer",
};

/// A text field, or none.
fn text<'v>(value: &'v Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// A count, or none.
fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name)?.as_u64()
}

/// The entries of a list; none where there is no list.
fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
