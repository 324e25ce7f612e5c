//! From a model's name and settings to a [`Model`].

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use thiserror::Error;

use crate::embedding::EMBEDDERS;
use crate::model::{Backend, Model};
use crate::openai::OpenAi;
use crate::recording::{Recorder, Recording};
use crate::retry::Retry;
use crate::secret::Secret;

/// The forms a model's name can take.
pub const PROVIDERS: [&str; 2] = ["openai:MODEL", "recorded:FILE"];

/// How a model is opened. What is `None` here is looked up in the provider's environment variables.
#[derive(Clone, Default)]
pub struct Settings {
    /// Wait as long as the recorded model took. Recordings only.
    pub replay_latency: bool,
    /// Append what the model answers to this file.
    pub record: Option<PathBuf>,
    /// The key; else the provider's variable (`OPENAI_API_KEY`).
    pub api_key: Option<Secret>,
    /// Where the service answers; else the provider's variable (`OPENAI_BASE_URL`), else its public
    /// address.
    pub base_url: Option<String>,
    /// How long one try may take.
    pub timeouts: Timeouts,
    /// How often and after which waits a live model is asked again.
    pub retry: Retry,
}

/// How long one try may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// To connect.
    pub connect: Duration,
    /// In all, from the request's first byte to the answer's last.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), total: Duration::from_secs(300) }
    }
}

/// Why a model cannot be opened. No variant ever holds a key.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The name has no known provider in front.
    #[error("unknown model provider in `{spec}`; known are {}", PROVIDERS.join(", "))]
    UnknownProvider {
        /// The name as given.
        spec: String,
    },
    /// The name is none of an embedder.
    #[error("unknown embeddings `{spec}`; known are {}", EMBEDDERS.join(", "))]
    UnknownEmbedder {
        /// The name as given.
        spec: String,
    },
    /// The name ends after the provider.
    #[error("`{spec}` names a provider but no model or file")]
    NoModelName {
        /// The name as given.
        spec: String,
    },
    /// The provider wants a key and there is none.
    #[error("no API key for `{spec}`: {variable} is not set")]
    NoKey {
        /// The name as given.
        spec: String,
        /// The environment variable looked at.
        variable: &'static str,
    },
    /// The key holds characters that no HTTP header can carry.
    #[error("the API key for `{spec}` has characters that no HTTP header can carry")]
    BadKey {
        /// The name as given.
        spec: String,
    },
    /// The base URL cannot be used. It is not shown, since it may hold a password.
    #[error("the base URL for `{spec}` cannot be used: {reason}")]
    BadBaseUrl {
        /// The name as given.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The recording cannot be read.
    #[error("cannot read the recording {}: {reason}", .path.display())]
    Unreadable {
        /// The recording.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A line of the recording is not what it should be.
    #[error("{}, line {line}: {what}", .path.display())]
    Malformed {
        /// The recording.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The file to record in cannot be opened.
    #[error("cannot record in {}: {reason}", .path.display())]
    Unrecordable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A recording would be replayed and appended to at once.
    #[error("cannot record in {}, the recording being replayed", .path.display())]
    RecordsOnItself {
        /// The file.
        path: PathBuf,
    },
    /// The HTTP client cannot be set up, for instance without any root certificate on the system.
    #[error("cannot set up the HTTP client: {reason}")]
    Client {
        /// What the client said.
        reason: String,
    },
}

impl OpenError {
    /// What to do about it, as one sentence fragment.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UnknownProvider { .. } => {
                "write the provider, a colon, then the model, such as openai:MODEL"
            }
            Self::UnknownEmbedder { .. } => {
                "builtin needs nothing; the others name a provider, a colon, then the model"
            }
            Self::NoModelName { .. } => {
                "write the model's name, or the recording's path, after the colon"
            }
            Self::NoKey { .. } => {
                "set the variable; only services on this machine (a loopback base URL) may do without"
            }
            Self::BadKey { .. } => {
                "copy the key again, without line breaks or quotes of other alphabets"
            }
            Self::BadBaseUrl { .. } => {
                "give it as http(s)://HOST[:PORT]/v1, and the key in its own variable"
            }
            Self::Unreadable { .. } => "check the path after recorded:",
            Self::Malformed { .. } => "mend the line; a recording has one JSON object a line",
            Self::Unrecordable { .. } => {
                "give --record a file in a folder that exists and can be written"
            }
            Self::RecordsOnItself { .. } => "give --record another file",
            Self::Client { .. } => {
                "install the system's root certificates (package ca-certificates)"
            }
        }
    }
}

/// Opens the model named `spec`, one of the forms in [`PROVIDERS`]. `env` looks up environment
/// variables.
///
/// # Errors
///
/// An unknown provider, a missing key, an unusable base URL, a missing or malformed recording: see
/// [`OpenError`].
pub fn open(
    spec: &str,
    settings: &Settings,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Model, OpenError> {
    let unknown = || OpenError::UnknownProvider { spec: spec.to_owned() };
    let (provider, name) = spec.split_once(':').ok_or_else(unknown)?;
    if name.is_empty() && matches!(provider, "openai" | "recorded") {
        return Err(OpenError::NoModelName { spec: spec.to_owned() });
    }
    let (backend, retry) = match provider {
        "openai" => {
            (Backend::OpenAi(OpenAi::open(spec, name, settings, &env)?), settings.retry.clone())
        }
        "recorded" => (recorded(spec, name, settings)?, settings.retry.at_once()),
        _ => return Err(unknown()),
    };
    let recorder = settings.record.as_deref().map(record).transpose()?;
    Ok(Model { name: spec.to_owned(), backend, retry, recorder })
}

fn recorded(spec: &str, file: &str, settings: &Settings) -> Result<Backend, OpenError> {
    let path = Path::new(file);
    if let Some(record) = settings.record.as_deref().filter(|record| same_file(record, path)) {
        return Err(OpenError::RecordsOnItself { path: record.to_owned() });
    }
    Recording::open(spec, path, settings.replay_latency).map(Backend::Recorded)
}

fn record(path: &Path) -> Result<Recorder, OpenError> {
    Recorder::open(path).map_err(|reason| OpenError::Unrecordable { path: path.to_owned(), reason })
}

/// Whether both paths lead to one file that exists.
fn same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}
