//! A model, whoever provides it.

use std::fmt;
use std::sync::Arc;

use crate::ask::{Ask, Reply};
use crate::editor::{self, Editor};
use crate::error::ModelError;
use crate::gate::Gate;
use crate::live::Live;
use crate::recording::{Recorder, Recording};
use crate::retry::{Failure, Retry, persist};

/// A chat model. Shared between tasks behind an `Arc`; dropping the future of a question cancels
/// it.
pub struct Model {
    pub(crate) name: String,
    pub(crate) backend: Backend,
    pub(crate) retry: Retry,
    /// Shared with the other models of its provider; none where nobody is kept waiting.
    pub(crate) gate: Option<Arc<Gate>>,
    pub(crate) recorder: Option<Recorder>,
}

/// Who answers. A closed list: a provider more is a variant more, and no caller sees it.
pub(crate) enum Backend {
    Live(Box<Live>),
    Editor { editor: Arc<dyn Editor>, name: String, model: String },
    Recorded(Recording),
}

impl Backend {
    async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
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
    /// Puts a question and waits for the reply; retries what may pass, records the outcome where
    /// wanted.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; each has a hint. A reply that cannot be recorded is an error too, since
    /// a run that was to be recorded and has gaps is of no use.
    pub async fn ask(&self, ask: &Ask) -> Result<Reply, ModelError> {
        self.ask_telling(ask, &|_| {}).await
    }

    /// The same; why a question is put again is told as a sentence.
    ///
    /// # Errors
    ///
    /// As for [`Model::ask`].
    pub async fn ask_telling(
        &self,
        ask: &Ask,
        tell: &(dyn Fn(String) + Sync),
    ) -> Result<Reply, ModelError> {
        let result = persist(&self.retry, &self.name, || self.once(ask), tell).await;
        if let Some(recorder) = &self.recorder {
            recorder.write(ask, &result)?;
        }
        result
    }

    async fn once(&self, ask: &Ask) -> Result<Reply, Failure> {
        let Some(gate) = &self.gate else { return self.backend.once(ask).await };
        let _permit = gate.enter().await;
        let result = self.backend.once(ask).await;
        if let Err(Failure::Passing { retry_after: Some(wait), .. }) = &result {
            gate.pause((*wait).min(self.retry.longest_wait));
        }
        result
    }

    /// Whether its replies come out of a file.
    pub fn is_recorded(&self) -> bool {
        matches!(self.backend, Backend::Recorded(_))
    }

    /// Whether it can call tools, as far as that is known: servers of local models have models of either kind.
    pub fn has_tools(&self) -> bool {
        match &self.backend {
            Backend::Live(_) => {
                !["ollama:", "lmstudio:"].iter().any(|it| self.name.starts_with(it))
            }
            Backend::Editor { .. } => true,
            Backend::Recorded(recording) => recording.calls_tools(),
        }
    }

    /// The name the model was opened by, such as `openai:MODEL`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Model").field("name", &self.name).finish_non_exhaustive()
    }
}
