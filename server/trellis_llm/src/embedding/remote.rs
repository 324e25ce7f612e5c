//! Embeddings from a service: OpenAI-compatible, or in Ollama's own format.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Vectors;
use crate::endpoint;
use crate::error::ModelError;
use crate::error_body::{ErrorBody, shorten};
use crate::open_error::OpenError;
use crate::providers;
use crate::retry::{AttemptError, RetryPolicy, with_retries};
use crate::service::{HttpResponse, Service};
use crate::settings::Settings;

/// Texts per request. Services accept 100 and more; with fewer, also slow services answer within
/// the timeout.
const BATCH: usize = 64;

/// One embedding model at one service.
pub(super) struct Remote {
    service: Service,
    model: String,
    form: ResponseFormat,
    retry: RetryPolicy,
}

/// Formats of a service's responses.
#[derive(Clone, Copy)]
enum ResponseFormat {
    OpenAi,
    Ollama,
}

/// Faults of a service's answer.
#[derive(Debug, Error)]
enum EmbeddingsError {
    #[error("it holds no embeddings ({source}); it begins: {start}")]
    Unreadable { source: serde_json::Error, start: String },
    #[error("{found} embeddings for {wanted} texts")]
    Count { found: usize, wanted: usize },
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
}

#[derive(Deserialize)]
struct OpenAiAnswer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    /// Index of the text in the request.
    index: usize,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct OllamaAnswer {
    embeddings: Vec<Vec<f32>>,
}

impl Remote {
    pub(super) fn openai(
        spec: &str,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let provider = providers::OPENAI;
        let address = |base: Option<&str>| {
            let base = base.or(provider.base).unwrap_or_default();
            endpoint::below(base, provider.wire.home, "/embeddings")
        };
        let service = Service::open(spec, &provider.place, &[], settings, env, address)?;
        Ok(Self::new(service, model, ResponseFormat::OpenAi, settings))
    }

    pub(super) fn ollama(
        spec: &str,
        model: &str,
        settings: &Settings,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, OpenError> {
        let provider = providers::OLLAMA;
        let address = |base: Option<&str>| {
            let base = base.or(provider.base).unwrap_or_default();
            endpoint::below(&(provider.wire.base)(base), provider.wire.home, "/api/embed")
        };
        let service = Service::open(spec, &provider.place, &[], settings, env, address)?;
        Ok(Self::new(service, model, ResponseFormat::Ollama, settings))
    }

    fn new(service: Service, model: &str, form: ResponseFormat, settings: &Settings) -> Self {
        Self { service, model: model.to_owned(), form, retry: settings.retry.clone() }
    }

    pub(super) fn name(&self) -> &str {
        self.service.name()
    }

    pub(super) fn identity(&self) -> String {
        format!("{} at {}", self.service.name(), self.service.place())
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vectors, ModelError> {
        let mut rows: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for batch in texts.chunks(BATCH) {
            rows.extend(
                with_retries(&self.retry, self.name(), || self.once(batch), &|_| {}).await?,
            );
        }
        let dimensions = rows.first().map_or(0, Vec::len);
        let even = rows.iter().all(|row| row.len() == dimensions && dimensions > 0);
        let vectors = even.then(|| Vectors::new(dimensions, rows.concat())).flatten();
        vectors.ok_or_else(|| self.bad("its vectors are empty, or of different lengths".to_owned()))
    }

    async fn once(&self, batch: &[String]) -> Result<Vec<Vec<f32>>, AttemptError> {
        let answer = self.service.post(&Body { model: &self.model, input: batch }).await?;
        let refused = if answer.status.is_success() {
            ErrorBody::read(&answer.body).status
        } else {
            Some(answer.status.as_u16())
        };
        if let Some(status) = refused {
            return Err(self.service.refused(status, &answer));
        }
        self.read(&answer, batch.len()).map_err(|fault| self.service.bad(fault.to_string(), None))
    }

    fn read(&self, answer: &HttpResponse, wanted: usize) -> Result<Vec<Vec<f32>>, EmbeddingsError> {
        let unreadable = |source| EmbeddingsError::Unreadable {
            source,
            start: shorten(&String::from_utf8_lossy(&answer.body)),
        };
        let rows = match self.form {
            ResponseFormat::OpenAi => {
                let read: OpenAiAnswer =
                    serde_json::from_slice(&answer.body).map_err(unreadable)?;
                in_order(read.data)
            }
            ResponseFormat::Ollama => {
                let read: OllamaAnswer =
                    serde_json::from_slice(&answer.body).map_err(unreadable)?;
                read.embeddings
            }
        };
        let found = rows.len();
        if found == wanted { Ok(rows) } else { Err(EmbeddingsError::Count { found, wanted }) }
    }

    fn bad(&self, what: String) -> ModelError {
        ModelError::BadResponse { model: self.name().to_owned(), what, usage: None }
    }
}

/// Sorts vectors in the order of the texts. A duplicate or missing index shows in the count.
fn in_order(mut entries: Vec<Entry>) -> Vec<Vec<f32>> {
    entries.sort_by_key(|it| it.index);
    entries.dedup_by_key(|it| it.index);
    entries.into_iter().map(|it| it.embedding).collect()
}
