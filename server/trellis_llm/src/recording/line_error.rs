//! Faults of a recording's lines.

use serde_json::Value;
use thiserror::Error;

use super::STAGES;
use super::line::fault_names;

/// The fault of one line of a recording.
#[derive(Debug, Error)]
pub enum LineError {
    /// The line is not text.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The line is not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(serde_json::Error),
    /// The line is JSON, but no object.
    #[error("it must be an object, found {found}")]
    NotObject {
        /// The kind of the value.
        found: String,
    },
    /// The stage is not one of [`STAGES`].
    #[error("unknown stage `{stage}`; the stages are {}", STAGES.join(", "))]
    UnknownStage {
        /// The stage as written.
        stage: String,
    },
    /// A field has a value of the wrong kind.
    #[error("`{field}` must be {wanted}, found {found}")]
    WrongValue {
        /// Name of the field.
        field: &'static str,
        /// The expected kind.
        wanted: &'static str,
        /// The kind of the value, or the value.
        found: String,
    },
    /// The recorded error is unknown.
    #[error(
        "`error` must be {{\"status\": 400 to 599}} or one of {}, found {found}",
        fault_names()
    )]
    UnknownFault {
        /// The error as written.
        found: Value,
    },
    /// The line records nothing.
    #[error("it has neither `reply`, `tool_calls` nor `error`")]
    NoOutcome,
    /// The line records an error and a reply.
    #[error("it has an `error` and a reply; only \"truncated\" allows both")]
    TwoOutcomes,
    /// A required text is empty.
    #[error("`{field}` is empty")]
    Empty {
        /// Name of the field.
        field: &'static str,
    },
    /// A required field is absent.
    #[error("`{field}` is missing")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A tool call has no arguments.
    #[error("`{tool}` has no `arguments` object")]
    NoArguments {
        /// Name of the tool.
        tool: String,
    },
    /// A tool call is malformed.
    #[error("in `tool_calls`, {0}")]
    ToolCall(Box<LineError>),
}
