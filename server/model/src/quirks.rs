//! Parameters that a model has been seen to refuse, and is not sent again.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use crate::complaint::Complaint;

/// What the next request does without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refused {
    /// Reasoning models take none.
    pub(crate) temperature: bool,
    /// It goes by the name `max_completion_tokens`.
    pub(crate) max_tokens: bool,
    /// Older servers do not know how to count in a stream.
    pub(crate) stream_options: bool,
    /// It answers in one piece only.
    pub(crate) stream: bool,
}

/// The same, learnt by all tasks together.
#[derive(Default)]
pub(crate) struct Quirks {
    temperature: AtomicBool,
    max_tokens: AtomicBool,
    stream_options: AtomicBool,
    stream: AtomicBool,
}

/// Words by which services say that they do not take a parameter at all, not just this value of it.
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

impl Quirks {
    pub(crate) fn refused(&self) -> Refused {
        let on = |it: &AtomicBool| it.load(Ordering::Relaxed);
        Refused {
            temperature: on(&self.temperature),
            max_tokens: on(&self.max_tokens),
            stream_options: on(&self.stream_options),
            stream: on(&self.stream),
        }
    }

    /// Whether a complaint is of a parameter that the next body will not have. What counts is what this body
    /// held, not what other tasks have learnt meanwhile; so asking again ends after each parameter was
    /// dropped once.
    pub(crate) fn learn(&self, body: &Value, complaint: &Complaint) -> bool {
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

/// Gemini keeps its parameters in a folder of their own.
fn holds(body: &Value, name: &str) -> bool {
    body.get(name).is_some()
        || body.pointer("/generationConfig").is_some_and(|it| it.get(name).is_some())
}

/// Whether the service does not know the parameter. One that names it is believed; else its words are read.
fn is_of(complaint: &Complaint, name: &str) -> bool {
    if let Some(parameter) = &complaint.unsupported {
        return parameter == name;
    }
    let message = complaint.message.to_lowercase();
    let mut words = message.split(|c: char| !c.is_alphanumeric() && c != '_');
    !complaint.names_parameter
        && words.any(|word| word == name)
        && UNKNOWN.iter().any(|words| message.contains(words))
}
