//! Parameters that a model has rejected, and that are omitted in later requests.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::error_body::ErrorBody;

/// Parameters omitted in the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OmittedParams {
    /// Omitted for reasoning models.
    pub(crate) temperature: bool,
    /// Renamed to `max_completion_tokens`.
    pub(crate) max_tokens: bool,
    /// Omitted for older servers, which cannot count tokens in a stream.
    pub(crate) stream_options: bool,
    /// Omitted for services that answer in one piece only.
    pub(crate) stream: bool,
}

/// The rejected parameters of a model, shared by all tasks.
#[derive(Default)]
pub(crate) struct UnsupportedParams {
    temperature: AtomicBool,
    max_tokens: AtomicBool,
    stream_options: AtomicBool,
    stream: AtomicBool,
}

/// Phrases for a parameter that is not supported at all, in contrast to a rejected value.
const UNKNOWN: [&str; 9] = [
    "unsupported",
    "not supported",
    "does not support",
    "deprecated",
    "unrecognized",
    "unknown",
    "not permitted",
    "only the default",
    "not allowed",
];

impl UnsupportedParams {
    pub(crate) fn refused(&self) -> OmittedParams {
        let on = |it: &AtomicBool| it.load(Ordering::Relaxed);
        OmittedParams {
            temperature: on(&self.temperature),
            max_tokens: on(&self.max_tokens),
            stream_options: on(&self.stream_options),
            stream: on(&self.stream),
        }
    }

    /// Returns whether the complaint concerns a parameter that the next body will omit. Only the
    /// parameters of this body count, not those rejected meanwhile in other tasks; so the retries
    /// end after each parameter was dropped once.
    pub(crate) fn learn(&self, body: &Value, complaint: &ErrorBody) -> bool {
        let known: [(&str, &AtomicBool, bool); 4] = [
            ("temperature", &self.temperature, holds(body, "temperature")),
            ("max_tokens", &self.max_tokens, holds(body, "max_tokens")),
            ("stream_options", &self.stream_options, holds(body, "stream_options")),
            ("stream", &self.stream, body.get("stream") == Some(&Value::Bool(true))),
        ];
        let lesson = known.iter().find(|(name, _, held)| *held && is_of(complaint, name));
        lesson.inspect(|(_, flag, _)| flag.store(true, Ordering::Relaxed)).is_some()
    }
}

/// Returns whether a body has the parameter, at its top level or in Gemini's `generationConfig`.
fn holds(body: &Value, name: &str) -> bool {
    body.get(name).is_some()
        || body.pointer("/generationConfig").is_some_and(|it| it.get(name).is_some())
}

/// Returns whether the service does not support the parameter: by the parameter's name in the error
/// if given, else by the text of the message.
fn is_of(complaint: &ErrorBody, name: &str) -> bool {
    if let Some(parameter) = &complaint.unsupported {
        return parameter == name;
    }
    let message = complaint.message.to_lowercase();
    let mut words = message.split(|c: char| !c.is_alphanumeric() && c != '_');
    !complaint.names_parameter
        && words.any(|word| word == name)
        && UNKNOWN.iter().any(|words| message.contains(words))
}
