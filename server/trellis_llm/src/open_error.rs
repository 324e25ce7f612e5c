//! Errors of opening a model.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::endpoint::BaseUrlError;
use crate::recording::LineError;

/// Reasons why a model cannot be opened. No variant holds a key.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The name does not begin with a known provider.
    #[error("unknown model provider in `{spec}`; known providers: {known}")]
    UnknownProvider {
        /// The name as given.
        spec: String,
        /// The known forms of names.
        known: String,
    },
    /// The name is not that of an embedder.
    #[error("unknown embeddings `{spec}`; known kinds: {known}")]
    UnknownEmbedder {
        /// The name as given.
        spec: String,
        /// The known forms of names.
        known: String,
    },
    /// The name ends after the provider.
    #[error("`{spec}` names a provider, but no model or file")]
    NoModelName {
        /// The name as given.
        spec: String,
    },
    /// The provider requires a key, and none is set.
    #[error("no API key for `{spec}`: {variable} is not set")]
    NoKey {
        /// The name as given.
        spec: String,
        /// The environment variables that were read.
        variable: String,
    },
    /// The provider has no public address, and none is set.
    #[error("no address for `{spec}`: {variable} is not set ({reason})")]
    NoBaseUrl {
        /// The name as given.
        spec: String,
        /// The environment variable that was read.
        variable: &'static str,
        /// The fault without an address.
        reason: BaseUrlError,
    },
    /// The editor's models are available from within the editor only.
    #[error("`{spec}` needs a model of the editor, and no editor is connected")]
    NoEditor {
        /// The name as given.
        spec: String,
    },
    /// The key holds characters that no HTTP header can carry.
    #[error("the API key for `{spec}` contains characters that an HTTP header cannot carry")]
    BadKey {
        /// The name as given.
        spec: String,
    },
    /// The base URL is unusable. It is not shown, since it may hold a password.
    #[error("the base URL for `{spec}` cannot be used: {reason}")]
    BadBaseUrl {
        /// The name as given.
        spec: String,
        /// The fault of the base URL.
        reason: BaseUrlError,
    },
    /// The recording cannot be read.
    #[error("cannot read the recording {}: {reason}", .path.display())]
    Unreadable {
        /// The recording.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// A line of the recording is malformed.
    #[error("{}, line {line}: {what}", .path.display())]
    Malformed {
        /// The recording.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The fault of the line.
        what: LineError,
    },
    /// The file to record in cannot be opened.
    #[error("cannot record in {}: {reason}", .path.display())]
    Unrecordable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: io::Error,
    },
    /// The same recording would be replayed and appended to at once.
    #[error("cannot record in {}, because it is the recording being replayed", .path.display())]
    RecordsOnItself {
        /// The file.
        path: PathBuf,
    },
    /// The HTTP client cannot be set up, for instance without any root certificate on the system.
    #[error("cannot set up the HTTP client: {reason}")]
    Client {
        /// The client's message.
        reason: String,
    },
}

impl OpenError {
    /// Returns advice as one sentence fragment.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } => {
                "write the provider, a colon, then the model, such as openai:MODEL"
            }
            Self::UnknownEmbedder { .. } => {
                "`builtin` needs no model; for the others write the provider, a colon, then the \
                 model"
            }
            Self::NoModelName { .. } => {
                "write the model's name, or the recording's path, after the colon"
            }
            Self::NoBaseUrl { .. } => {
                "set the variable, or base_url in the user's trellis.toml, to the service's address"
            }
            Self::NoEditor { .. } => {
                "start the run from the editor, or choose another provider's model"
            }
            Self::NoKey { .. } => {
                "set the variable; only services on this machine (a loopback base URL) work \
                 without a key"
            }
            Self::BadKey { .. } => "copy the key again, without line breaks or typographic quotes",
            Self::BadBaseUrl { .. } => {
                "give it as http(s)://HOST[:PORT]/v1, and put the key in its own variable"
            }
            Self::Unreadable { .. } => "check the path after recorded:",
            Self::Malformed { .. } => "fix the line; each line of a recording is one JSON object",
            Self::Unrecordable { .. } => "give --record a writable file in an existing folder",
            Self::RecordsOnItself { .. } => "give --record another file",
            Self::Client { .. } => {
                "install the system's root certificates (package ca-certificates)"
            }
        }
    }
}
