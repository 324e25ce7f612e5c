//! From a model's name and settings to a [`Model`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::editor::Editor;
use crate::embedding::EMBEDDERS;
use crate::gate::{Gates, Pace};
use crate::live::Live;
use crate::model::{Backend, Model};
use crate::providers;
use crate::recording::{Recorder, Recording};
use crate::retry::Retry;
use crate::secret::Secret;

/// The forms a model's name can take.
pub const PROVIDERS: [&str; 10] = [
    "openai:MODEL",
    "anthropic:MODEL",
    "gemini:MODEL",
    "ollama:MODEL",
    "azure:DEPLOYMENT",
    "groq:MODEL",
    "openrouter:MODEL",
    "lmstudio:MODEL",
    "editor[:MODEL]",
    "recorded:FILE",
];

/// How a model is opened. What is `None` here is looked up in the provider's environment variables.
#[derive(Clone)]
pub struct Settings {
    /// Wait as long as the recorded model took. Recordings only.
    pub replay_latency: bool,
    /// Append what the model answers to this file.
    pub record: Option<PathBuf>,
    /// For a provider of the user's own: the known one whose format it speaks. Neither that one's key nor its
    /// address is used then.
    pub like: Option<String>,
    /// The key; else that of `key_variable`, else of the provider's variable (`OPENAI_API_KEY`).
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key, in place of the provider's own.
    pub key_variable: Option<String>,
    /// Where the service answers; else the provider's variable (`OPENAI_BASE_URL`), else its public
    /// address.
    pub base_url: Option<String>,
    /// Whether replies are asked for in pieces; then a service that falls silent is noticed early. A service
    /// that answers in one piece all the same is understood.
    pub stream: bool,
    /// How long one try may take.
    pub timeouts: Timeouts,
    /// How often and after which waits a live model is asked again.
    pub retry: Retry,
    /// Bounds on requests to the provider.
    pub pace: Pace,
    /// Where the bounds are kept; models opened with clones of it share them.
    pub gates: Gates,
    /// Who answers for `editor`.
    pub editor: Option<Arc<dyn Editor>>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            replay_latency: false,
            record: None,
            like: None,
            api_key: None,
            key_variable: None,
            base_url: None,
            stream: true,
            timeouts: Timeouts::default(),
            retry: Retry::default(),
            pace: Pace::default(),
            gates: Gates::default(),
            editor: None,
        }
    }
}

/// How long one try may take. `None`: 10 minutes in all and 2 without a sign of life, or for services on this
/// machine, which may have to load a model and think with slow processors, 2 hours and 15 minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// To connect.
    pub connect: Duration,
    /// Of a streamed answer, from one line to the next.
    pub idle: Option<Duration>,
    /// In all, from the request's first byte to the answer's last.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: None, total: None }
    }
}

impl Timeouts {
    /// The same with nothing left open.
    pub(crate) fn for_service(&self, is_here: bool) -> Self {
        let (idle, total) = if is_here { (15 * 60, 120 * 60) } else { (2 * 60, 10 * 60) };
        Self {
            connect: self.connect,
            idle: self.idle.or(Some(Duration::from_secs(idle))),
            total: self.total.or(Some(Duration::from_secs(total))),
        }
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
        /// The environment variables looked at.
        variable: String,
    },
    /// The provider has no public address, and none is given.
    #[error("no address for `{spec}`: {variable} is not set ({reason})")]
    NoBaseUrl {
        /// The name as given.
        spec: String,
        /// The environment variable looked at.
        variable: &'static str,
        /// What is wrong without it.
        reason: String,
    },
    /// The editor's models can be used from within the editor only.
    #[error("`{spec}` asks the editor for a model, and no editor is connected")]
    NoEditor {
        /// The name as given.
        spec: String,
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
            Self::NoBaseUrl { .. } => {
                "set the variable, or base_url in the user's trellis.toml, to the service's address"
            }
            Self::NoEditor { .. } => {
                "start the run from the editor, or name another provider's model"
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
    let (name, model) = spec.split_once(':').unwrap_or((spec, ""));
    let kind = settings.like.as_deref().unwrap_or(name);
    if model.is_empty() && (kind == "recorded" || providers::find(kind).is_some()) {
        return Err(OpenError::NoModelName { spec: spec.to_owned() });
    }
    let gate = || Some(settings.gates.of(name, &settings.pace));
    let (backend, retry, gate) = match (kind, providers::find(kind)) {
        (_, Some(provider)) => {
            let live = Live::open(spec, provider, model, settings, &env)?;
            (Backend::Live(Box::new(live)), settings.retry.clone(), gate())
        }
        ("editor", _) => (from_editor(spec, model, settings)?, settings.retry.clone(), gate()),
        ("recorded", _) => (recorded(spec, model, settings)?, settings.retry.at_once(), None),
        _ => return Err(OpenError::UnknownProvider { spec: spec.to_owned() }),
    };
    let recorder = settings.record.as_deref().map(record).transpose()?;
    Ok(Model { name: spec.to_owned(), backend, retry, gate, recorder })
}

fn from_editor(spec: &str, model: &str, settings: &Settings) -> Result<Backend, OpenError> {
    let none = || OpenError::NoEditor { spec: spec.to_owned() };
    let editor = settings.editor.clone().ok_or_else(none)?;
    Ok(Backend::Editor { editor, name: spec.to_owned(), model: model.to_owned() })
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
