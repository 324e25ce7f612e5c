//! How a model is opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::editor::Editor;
use crate::gate::{Gates, Pace};
use crate::retry::Retry;
use crate::secret::Secret;

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
