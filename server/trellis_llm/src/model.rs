//! A chat model of any provider.

use std::fmt;
use std::sync::Arc;

use crate::chat::{ChatReply, ChatRequest};
use crate::editor::{self, Editor};
use crate::error::ModelError;
use crate::http_model::HttpModel;
use crate::rate_limit::RateLimiter;
use crate::recording::{Recorder, Recording};
use crate::retry::{AttemptError, RetryPolicy, with_retries};

/// A chat model. Shared between tasks behind an `Arc`; dropping the future of a request cancels it.
pub struct Model {
    pub(crate) name: String,
    pub(crate) backend: Backend,
    pub(crate) retry: RetryPolicy,
    /// Shared with the other models of the provider; `None` for recordings, which have no limit.
    pub(crate) gate: Option<Arc<RateLimiter>>,
    pub(crate) recorder: Option<Recorder>,
}

/// Sources of replies. A closed list: a further provider is a further variant, hidden from callers.
pub(crate) enum Backend {
    Live(Box<HttpModel>),
    Editor { editor: Arc<dyn Editor>, name: String, model: String },
    Recorded(Recording),
}

impl Backend {
    async fn once(&self, ask: &ChatRequest) -> Result<ChatReply, AttemptError> {
        match self {
            Self::Live(live) => live.once(ask).await,
            Self::Editor { editor, name, model } => {
                editor::once(editor.as_ref(), name, model, ask).await
            }
            Self::Recorded(recording) => recording.once(ask).await,
        }
    }
}

impl Model {
    /// Sends a request and waits for the reply; retries temporary failures, records the outcome if
    /// a recording was requested.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; each has a hint. A reply that cannot be recorded is an error too, since
    /// an incomplete recording is useless.
    pub async fn ask(&self, ask: &ChatRequest) -> Result<ChatReply, ModelError> {
        self.ask_with_progress(ask, &|_| {}).await
    }

    /// Works like [`Model::ask`] and reports the reason of each retry to `tell`, as a sentence.
    ///
    /// # Errors
    ///
    /// As for [`Model::ask`].
    pub async fn ask_with_progress(
        &self,
        ask: &ChatRequest,
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<ChatReply, ModelError> {
        let result = with_retries(&self.retry, &self.name, || self.once(ask), tell).await;
        if let Some(recorder) = &self.recorder {
            recorder.write(ask, &result)?;
        }
        result
    }

    async fn once(&self, ask: &ChatRequest) -> Result<ChatReply, AttemptError> {
        let Some(gate) = &self.gate else { return self.backend.once(ask).await };
        let _permit = gate.acquire().await;
        let result = self.backend.once(ask).await;
        if let Err(AttemptError::Temporary { retry_after: Some(wait), .. }) = &result {
            gate.delay((*wait).min(self.retry.longest_wait));
        }
        result
    }

    /// Returns whether the replies come from a file.
    pub fn is_recorded(&self) -> bool {
        matches!(self.backend, Backend::Recorded(_))
    }

    /// Returns whether the model can call tools. For servers of local models, where some models
    /// cannot, the answer is false.
    pub fn has_tools(&self) -> bool {
        match &self.backend {
            Backend::Live(_) => {
                !["ollama:", "lmstudio:"].iter().any(|it| self.name.starts_with(it))
            }
            Backend::Editor { .. } => true,
            Backend::Recorded(recording) => recording.calls_tools(),
        }
    }

    /// Returns the name under which the model was opened, such as `openai:MODEL`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("name", &self.name).finish_non_exhaustive()
    }
}
