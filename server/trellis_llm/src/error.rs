//! Errors of model requests.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::chat::{ChatReply, Usage};

/// Reasons why [`crate::Model::ask`] returns no reply. No variant holds a key.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The recording has no reply for this request.
    #[error("no recorded reply for {node} {stage} {attempt}")]
    NoRecordedReply {
        /// The requested node.
        node: String,
        /// The requested stage.
        stage: String,
        /// The requested attempt.
        attempt: u32,
    },
    /// No answer, even after retries: too many requests, a failing server, a timeout, no
    /// connection.
    #[error("{model} is unavailable after {tries} {}: {outage}", if *.tries == 1 { "try" } else { "tries" })]
    Unavailable {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// The failure of the last try.
        outage: TransientError,
        /// Number of tries, including the first.
        tries: u32,
    },
    /// The provider rejects the request: any status from 300 to 499 but 429.
    #[error("{model} refused the request with status {status}{}", after_colon(.message))]
    Refused {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// The HTTP status.
        status: u16,
        /// The provider's message, shortened; may be empty.
        message: String,
    },
    /// The reply hit the output limit before it was complete.
    #[error("the reply of {model} was cut off at the output limit")]
    Truncated {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// The text before the cut; may be empty.
        partial: String,
        /// Tokens of the request, if known.
        usage: Option<Usage>,
    },
    /// The server cannot prove its identity.
    #[error("cannot trust the connection to {model}: {reason}")]
    Untrusted {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// Message of the TLS library.
        reason: String,
    },
    /// The request does not fit into the model's context.
    #[error("the prompt is too long for {model}{}", after_colon(.message))]
    TooLong {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// The provider's message, shortened; may be empty.
        message: String,
    },
    /// An unusable reply: empty, declined, filtered, or a tool call with invalid JSON.
    #[error("{model} sent an unusable reply: {what}")]
    BadResponse {
        /// The model's name, as given to [`crate::open`].
        model: String,
        /// The fault of the reply.
        what: String,
        /// Tokens of the request, if known.
        usage: Option<Usage>,
    },
    /// The answer could not be added to the recording.
    #[error("cannot record a reply in {}: {reason}", .path.display())]
    NotRecorded {
        /// The recording being written.
        path: PathBuf,
        /// Reason of the failure.
        reason: RecordError,
    },
}

/// Reasons why an answer cannot be added to a recording.
#[derive(Debug, Error)]
pub enum RecordError {
    /// Recordings have no such stage.
    #[error("unknown stage `{stage}`")]
    UnknownStage {
        /// The requested stage.
        stage: String,
    },
    /// The answer cannot be serialized.
    #[error(transparent)]
    NotSerialized(#[from] serde_json::Error),
    /// The file cannot be written.
    #[error(transparent)]
    NotWritten(#[from] io::Error),
}

/// A failure that may be temporary.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TransientError {
    /// Status 429 or 500 to 599.
    #[error("status {status}{}", after_colon(.message))]
    Status {
        /// The HTTP status.
        status: u16,
        /// The provider's message, shortened; may be empty.
        message: String,
    },
    /// No complete answer in time.
    #[error("timed out{}", .after.map(|limit| format!(" after {limit:?}")).unwrap_or_default())]
    TimedOut {
        /// The limit that passed; unknown in a recording.
        after: Option<Duration>,
    },
    /// The answer stopped arriving.
    #[error("nothing arrived for {after:?}")]
    Stalled {
        /// The limit that passed.
        after: Duration,
    },
    /// An answer that is not in the service's format, or is larger than any valid one.
    #[error("unusable reply: {what}")]
    Garbled {
        /// The fault of the answer, shortened.
        what: String,
    },
    /// The connection could not be made, or broke.
    #[error("no connection{}", after_colon(.reason))]
    Connection {
        /// The network's message; may be empty.
        reason: String,
    },
}

impl ModelError {
    /// Returns the tokens that were spent without a reply.
    pub fn usage(&self) -> Option<Usage> {
        match self {
            Self::Truncated { usage, .. } | Self::BadResponse { usage, .. } => *usage,
            _ => None,
        }
    }

    /// Returns whether the model could not be reached at all, so that further requests are
    /// pointless for now.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// Returns whether any other request would fail for the same reason: the key, the account, the
    /// model's name.
    pub fn affects_all_requests(&self) -> bool {
        matches!(self, Self::Untrusted { .. })
            || matches!(self, Self::Refused { status: 300..=399 | 401..=405 | 503, .. })
    }

    /// Returns advice as one sentence fragment.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NoRecordedReply { .. } => {
                "add a line for it to the recording, or use a live model"
            }
            Self::Unavailable { outage, .. } => outage.hint(),
            Self::Refused { status, .. } => refusal_hint(*status),
            Self::Truncated { .. } => {
                "try again with a higher output limit, or request less in one prompt"
            }
            Self::Untrusted { .. } => {
                "check the base URL; if it is right, add the issuer to the system's \
                 certificates, or set SSL_CERT_FILE to a file that contains it"
            }
            Self::TooLong { .. } => "give less context, or use a model with a larger context",
            Self::BadResponse { .. } => "try again or change the wording; another model may answer",
            Self::NotRecorded { .. } => {
                "free some space on the disk or unlock the file and resume, or run without \
                 --record"
            }
        }
    }
}

impl TransientError {
    /// Adds the wait requested by the provider, which is too long to be waited here, to the
    /// message.
    pub(crate) fn with_wait(self, asked: Option<Duration>) -> Self {
        match (self, asked) {
            (Self::Status { status, message }, Some(asked)) => {
                let point = if message.is_empty() { "" } else { "; " };
                Self::Status {
                    status,
                    message: format!("{message}{point}it asks to wait {asked:?}"),
                }
            }
            (outage, _) => outage,
        }
    }

    fn hint(&self) -> &'static str {
        match self {
            Self::Status { status: 429, .. } => {
                "wait, lower --jobs, or check the provider's quota; the run can be resumed"
            }
            Self::Status { .. } => {
                "the provider has a problem; try again later, the run can be resumed"
            }
            Self::Garbled { .. } => {
                "check that the base URL points to a service of this kind; the run can be \
                 resumed"
            }
            Self::TimedOut { .. } | Self::Stalled { .. } => {
                "raise the timeout or use a faster model; the run can be resumed"
            }
            Self::Connection { .. } => {
                "check the network, the proxy and the base URL; the run can be resumed"
            }
        }
    }
}

fn refusal_hint(status: u16) -> &'static str {
    match status {
        300..=399 => "set the base URL to the address the provider redirects to",
        401 | 403 => "check the provider's API key",
        402 => "the account has no credit left: check it at the provider; the run can be resumed",
        404 => "check the model name and the base URL",
        503 => "choose a model in the editor, or another provider",
        _ => "check the model name and its limits against the provider's message",
    }
}

/// Rejects an empty reply, with the same rule for every provider.
pub(crate) fn usable(model: &str, reply: ChatReply) -> Result<ChatReply, ModelError> {
    if reply.text.trim().is_empty() && reply.tool_calls.is_empty() {
        return Err(ModelError::BadResponse {
            model: model.to_owned(),
            what: "the reply is empty".to_owned(),
            usage: reply.usage,
        });
    }
    Ok(reply)
}

fn after_colon(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(": {text}") }
}
