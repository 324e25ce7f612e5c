//! Reading and writing of one line of a recording.
//!
//! The parser is hand-written: recordings are often written by hand, and its error messages name
//! the wrong field and the expected value.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{LineError, STAGES};
use crate::chat::{ChatReply, ChatRequest, ToolCall, Usage};
use crate::error::{ModelError, TransientError};

/// Content of a line, checked.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) node: String,
    pub(super) stage: String,
    pub(super) attempt: Option<u32>,
    pub(super) said: RecordedOutcome,
    pub(super) usage: Option<Usage>,
    pub(super) latency: Duration,
    pub(super) model: Option<String>,
}

/// Recorded outcome of a request.
#[derive(Debug)]
pub(super) enum RecordedOutcome {
    Reply { text: String, tool_calls: Vec<ToolCall> },
    Failed { fault: RecordedError, partial: String },
}

/// Errors that a line can record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordedError {
    Status(u16),
    Timeout,
    Truncated,
    Unreachable,
    BadResponse,
}

/// Names of the errors other than a status.
const FAULTS: [(&str, RecordedError); 4] = [
    ("timeout", RecordedError::Timeout),
    ("truncated", RecordedError::Truncated),
    ("unreachable", RecordedError::Unreachable),
    ("bad_response", RecordedError::BadResponse),
];

/// Parses a line. Unknown fields are ignored, `null` counts as absent.
///
/// # Errors
///
/// The fault of the line, with the name of the field.
pub(super) fn parse(raw: &[u8]) -> Result<Line, LineError> {
    let text = str::from_utf8(raw).map_err(|_| LineError::NotText)?;
    let value: Value = serde_json::from_str(text).map_err(LineError::NotJson)?;
    let Value::Object(fields) = value else {
        return Err(LineError::NotObject { found: kind(&value) });
    };
    Ok(Line {
        node: required_text(&fields, "node")?,
        stage: stage(&fields)?,
        attempt: attempt(&fields)?,
        said: said(&fields)?,
        usage: usage(&fields)?,
        latency: latency(&fields)?,
        model: text_field(&fields, "model")?,
    })
}

fn stage(fields: &Map<String, Value>) -> Result<String, LineError> {
    let stage = required_text(fields, "stage")?;
    if STAGES.contains(&stage.as_str()) {
        Ok(stage)
    } else {
        Err(LineError::UnknownStage { stage })
    }
}

fn attempt(fields: &Map<String, Value>) -> Result<Option<u32>, LineError> {
    let Some(value) = present(fields, "attempt") else { return Ok(None) };
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.map(Some).ok_or_else(|| wrong("attempt", "a whole number from 0", value))
}

fn said(fields: &Map<String, Value>) -> Result<RecordedOutcome, LineError> {
    let reply = text_field(fields, "reply")?;
    let tool_calls = tool_calls(fields)?;
    match (fault(fields)?, reply, tool_calls) {
        (None, None, None) => Err(LineError::NoOutcome),
        (None, reply, calls) => Ok(RecordedOutcome::Reply {
            text: reply.unwrap_or_default(),
            tool_calls: calls.unwrap_or_default(),
        }),
        (Some(RecordedError::Truncated), partial, _) => Ok(RecordedOutcome::Failed {
            fault: RecordedError::Truncated,
            partial: partial.unwrap_or_default(),
        }),
        (Some(fault), None, None) => Ok(RecordedOutcome::Failed { fault, partial: String::new() }),
        (Some(_), ..) => Err(LineError::TwoOutcomes),
    }
}

fn fault(fields: &Map<String, Value>) -> Result<Option<RecordedError>, LineError> {
    let Some(value) = present(fields, "error") else { return Ok(None) };
    let status =
        value.get("status").and_then(Value::as_u64).filter(|status| (400..600).contains(status));
    let status = status.and_then(|status| u16::try_from(status).ok()).map(RecordedError::Status);
    let named = FAULTS.iter().find(|(name, _)| value == name).map(|(_, fault)| *fault);
    let unknown = || LineError::UnknownFault { found: value.clone() };
    status.or(named).map(Some).ok_or_else(unknown)
}

/// Returns the names of the errors other than a status, for messages.
pub(super) fn fault_names() -> String {
    FAULTS.map(|(name, _)| format!("\"{name}\"")).join(", ")
}

fn tool_calls(fields: &Map<String, Value>) -> Result<Option<Vec<ToolCall>>, LineError> {
    let Some(value) = present(fields, "tool_calls") else { return Ok(None) };
    let calls = value.as_array().ok_or_else(|| wrong("tool_calls", "a list", value))?;
    let read = |(index, value)| tool_call(index, value);
    calls.iter().enumerate().map(read).collect::<Result<_, _>>().map(Some)
}

fn tool_call(index: usize, value: &Value) -> Result<ToolCall, LineError> {
    let fields =
        value.as_object().ok_or_else(|| wrong("tool_calls", "a list of objects", value))?;
    let within = |error| LineError::ToolCall(Box::new(error));
    let name = required_text(fields, "name").map_err(within)?;
    match fields.get("arguments") {
        Some(Value::Object(arguments)) => Ok(ToolCall {
            id: format!("call_{index}"),
            name,
            arguments: arguments.clone(),
            signature: None,
        }),
        Some(other) => Err(within(wrong("arguments", "an object", other))),
        None => Err(within(LineError::NoArguments { tool: name })),
    }
}

fn usage(fields: &Map<String, Value>) -> Result<Option<Usage>, LineError> {
    let Some(value) = present(fields, "usage") else { return Ok(None) };
    let tokens = |name| value.get(name).and_then(Value::as_u64);
    let (input, output) = (tokens("input_tokens"), tokens("output_tokens"));
    let usage = input.zip(output).map(|(input_tokens, output_tokens)| Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    });
    let wrong = || LineError::WrongValue {
        field: "usage",
        wanted: "{\"input_tokens\": n, \"output_tokens\": n}",
        found: value.to_string(),
    };
    usage.map(Some).ok_or_else(wrong)
}

fn latency(fields: &Map<String, Value>) -> Result<Duration, LineError> {
    let Some(value) = present(fields, "latency_ms") else { return Ok(Duration::ZERO) };
    let latency = value.as_f64().and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok());
    latency.ok_or_else(|| wrong("latency_ms", "milliseconds, a number from 0", value))
}

fn required_text(fields: &Map<String, Value>, field: &'static str) -> Result<String, LineError> {
    match text_field(fields, field)? {
        Some(text) if !text.is_empty() => Ok(text),
        Some(_) => Err(LineError::Empty { field }),
        None => Err(LineError::Missing { field }),
    }
}

fn text_field(
    fields: &Map<String, Value>,
    field: &'static str,
) -> Result<Option<String>, LineError> {
    let Some(value) = present(fields, field) else { return Ok(None) };
    value.as_str().map(|text| Some(text.to_owned())).ok_or_else(|| wrong(field, "a text", value))
}

fn present<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null())
}

fn wrong(field: &'static str, wanted: &'static str, found: &Value) -> LineError {
    LineError::WrongValue { field, wanted, found: kind(found) }
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

/// A line to be written, with fields in the order of the documentation.
#[derive(Serialize)]
struct SerializedLine<'a> {
    node: &'a str,
    stage: &'a str,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latency_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
}

/// Serializes the outcome of a request as a line with its line break. `None` for outcomes that do
/// not come from a model: a reply missing in the replayed recording stays missing in the new one.
pub(super) fn write(
    ask: &ChatRequest,
    result: &Result<ChatReply, ModelError>,
) -> serde_json::Result<Option<String>> {
    let Some(written) = written(ask, result) else { return Ok(None) };
    let mut line = serde_json::to_string(&written)?;
    line.push('\n');
    Ok(Some(line))
}

fn written<'a>(
    ask: &'a ChatRequest,
    result: &'a Result<ChatReply, ModelError>,
) -> Option<SerializedLine<'a>> {
    let mut line = SerializedLine {
        node: &ask.node,
        stage: &ask.stage,
        attempt: ask.attempt,
        reply: None,
        tool_calls: None,
        error: None,
        usage: None,
        latency_ms: None,
        model: None,
    };
    match result {
        Ok(reply) => {
            line.reply = (!reply.text.is_empty()).then_some(&reply.text);
            line.tool_calls = (!reply.tool_calls.is_empty()).then(|| calls_json(&reply.tool_calls));
            line.usage = reply.usage.map(usage_json);
            // Latencies of half a billion years do not occur; saturating is better than failing.
            line.latency_ms = Some(u64::try_from(reply.latency.as_millis()).unwrap_or(u64::MAX));
            line.model = Some(&reply.model);
        }
        Err(error) => {
            line.error = Some(error_json(error)?);
            line.usage = error.usage().map(usage_json);
            if let ModelError::Truncated { partial, .. } = error {
                line.reply = (!partial.is_empty()).then_some(partial);
            }
        }
    }
    Some(line)
}

fn error_json(error: &ModelError) -> Option<Value> {
    match error {
        // A request that was too long is repeated with a shorter prompt under the same key; that
        // outcome is recorded instead.
        ModelError::NoRecordedReply { .. }
        | ModelError::NotRecorded { .. }
        | ModelError::TooLong { .. } => None,
        ModelError::Untrusted { .. } => Some(json!("unreachable")),
        ModelError::Unavailable { outage: TransientError::Status { status, .. }, .. }
        | ModelError::Refused { status, .. } => Some(json!({ "status": status })),
        ModelError::Unavailable {
            outage: TransientError::TimedOut { .. } | TransientError::Stalled { .. },
            ..
        } => Some(json!("timeout")),
        ModelError::Unavailable { outage: TransientError::Garbled { .. }, .. } => {
            Some(json!("bad_response"))
        }
        ModelError::Unavailable { outage: TransientError::Connection { .. }, .. } => {
            Some(json!("unreachable"))
        }
        ModelError::Truncated { .. } => Some(json!("truncated")),
        ModelError::BadResponse { .. } => Some(json!("bad_response")),
    }
}

fn calls_json(calls: &[ToolCall]) -> Value {
    calls.iter().map(|call| json!({ "name": call.name, "arguments": call.arguments })).collect()
}

fn usage_json(usage: Usage) -> Value {
    json!({ "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens })
}
