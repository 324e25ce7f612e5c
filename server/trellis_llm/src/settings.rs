//! Settings of a model.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::editor::Editor;
use crate::rate_limit::{RateLimiters, RateLimits};
use crate::retry::RetryPolicy;
use crate::secret::Secret;

/// Settings of a model. Values that are `None` are looked up in the provider's environment
/// variables.
#[derive(Clone)]
pub struct Settings {
    /// True to wait as long as the recorded model took; for recordings only.
    pub replay_latency: bool,
    /// File to which the model's answers are appended.
    pub record: Option<PathBuf>,
    /// For a provider defined by the user: the known provider with the same wire format. That
    /// provider's key and address are not used then.
    pub like: Option<String>,
    /// The key; else that of `key_variable`, else of the provider's variable (`OPENAI_API_KEY`).
    pub api_key: Option<Secret>,
    /// Environment variable with the key, instead of the provider's own.
    pub key_variable: Option<String>,
    /// Base URL of the service; else the provider's variable (`OPENAI_BASE_URL`), else the public
    /// base URL.
    pub base_url: Option<String>,
    /// True to request streamed replies, so that a stalled service is detected early. A service
    /// that answers in one piece is understood as well.
    pub stream: bool,
    /// Time limits of one try.
    pub timeouts: Timeouts,
    /// Retries of a live model.
    pub retry: RetryPolicy,
    /// Bounds on requests to the provider.
    pub pace: RateLimits,
    /// Rate limiters of all providers; models opened with clones of them share them.
    pub gates: RateLimiters,
    /// Client for models of the form `editor`.
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
            retry: RetryPolicy::default(),
            pace: RateLimits::default(),
            gates: RateLimiters::default(),
            editor: None,
        }
    }
}

/// Time limits of one try. `None` in `total` and `idle` means 10 minutes and 2 minutes; for
/// services on this machine, which may have to load a model and run on slow processors, 2 hours and
/// 15 minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// Limit for connecting.
    pub connect: Duration,
    /// Limit between two lines of a streamed answer.
    pub idle: Option<Duration>,
    /// Limit from the first byte of the request to the last byte of the answer.
    pub total: Option<Duration>,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), idle: None, total: None }
    }
}

impl Timeouts {
    /// Fills in the limits that are not set.
    pub(crate) fn for_service(&self, is_here: bool) -> Self {
        let (idle, total) = if is_here { (15 * 60, 120 * 60) } else { (2 * 60, 10 * 60) };
        Self {
            connect: self.connect,
            idle: self.idle.or(Some(Duration::from_secs(idle))),
            total: self.total.or(Some(Duration::from_secs(total))),
        }
    }
}
