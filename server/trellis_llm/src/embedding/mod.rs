//! Conversion of texts to vectors, built-in or by a service.

mod builtin;
mod remote;
mod wordpiece;

use std::fmt;

use crate::error::ModelError;
use crate::open_error::OpenError;
use crate::settings::Settings;
use remote::Remote;

/// The forms of an embedder's name.
pub const EMBEDDERS: [&str; 3] = ["builtin", "openai:MODEL", "ollama:MODEL"];

/// Converts texts to vectors. Vectors of different embedders cannot be compared.
pub struct Embedder(EmbedderKind);

/// Kinds of embedders. A closed list: a further provider is a further variant, hidden from callers.
enum EmbedderKind {
    BuiltIn,
    Remote(Box<Remote>),
}

/// Vectors of equal dimension, each with length 1, or all zero for a text without meaning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    dimensions: usize,
    numbers: Vec<f32>,
}

/// Opens the embedder named `spec`, one of the forms in [`EMBEDDERS`]. `env` looks up environment
/// variables: `OPENAI_BASE_URL` and `OPENAI_API_KEY`, or `OLLAMA_HOST` and `OLLAMA_API_KEY`. Sends
/// no request yet.
///
/// # Errors
///
/// An unknown provider, a missing key, an unusable base URL: see [`OpenError`].
pub fn open_embedder(
    spec: &str,
    settings: &Settings,
    env: impl Fn(&str) -> Option<String>,
) -> Result<Embedder, OpenError> {
    let remote = match spec.split_once(':') {
        None if spec == "builtin" => return Ok(Embedder(EmbedderKind::BuiltIn)),
        Some(("openai" | "ollama", "")) => {
            return Err(OpenError::NoModelName { spec: spec.to_owned() });
        }
        Some(("openai", model)) => Remote::openai(spec, model, settings, &env)?,
        Some(("ollama", model)) => Remote::ollama(spec, model, settings, &env)?,
        _ => {
            return Err(OpenError::UnknownEmbedder {
                spec: spec.to_owned(),
                known: EMBEDDERS.join(", "),
            });
        }
    };
    Ok(Embedder(EmbedderKind::Remote(Box::new(remote))))
}

impl Embedder {
    /// Returns one vector per text, in order. Texts for a service are sent in batches, with
    /// retries.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; each has a hint. The built-in embedder never fails.
    pub async fn embed(&self, texts: &[String]) -> Result<Vectors, ModelError> {
        match &self.0 {
            EmbedderKind::BuiltIn => Ok(builtin::embed(texts)),
            EmbedderKind::Remote(remote) => remote.embed(texts).await,
        }
    }

    /// Returns the name under which the embedder was opened.
    pub fn name(&self) -> &str {
        match &self.0 {
            EmbedderKind::BuiltIn => "builtin",
            EmbedderKind::Remote(remote) => remote.name(),
        }
    }

    /// Returns an identifier of the embedder's vectors: the name and the address of the service.
    pub fn identity(&self) -> String {
        match &self.0 {
            EmbedderKind::BuiltIn => "builtin".to_owned(),
            EmbedderKind::Remote(remote) => remote.identity(),
        }
    }

    /// Returns whether texts stay within the process, at almost no cost.
    pub fn is_built_in(&self) -> bool {
        matches!(self.0, EmbedderKind::BuiltIn)
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(&self.name()).finish()
    }
}

impl Vectors {
    /// Splits `numbers` into rows of length `dimensions` and normalizes each. `None` if the last
    /// row would be incomplete or a number is not finite.
    pub fn new(dimensions: usize, mut numbers: Vec<f32>) -> Option<Vectors> {
        let even =
            numbers.is_empty() || (dimensions > 0 && numbers.len().is_multiple_of(dimensions));
        if !even || !numbers.iter().all(|it| it.is_finite()) {
            return None;
        }
        numbers.chunks_mut(dimensions.max(1)).for_each(normalize);
        Some(Vectors { dimensions, numbers })
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.dimensions.max(1)
    }

    /// Returns whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Returns the dimension of the vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns all vectors, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.dimensions.max(1))
    }

    /// Returns the cosine of each vector with a vector of length 1, from -1 to 1. `None` if that
    /// vector has another dimension, and thus comes from another embedder.
    pub fn similarities(&self, query: &[f32]) -> Option<Vec<f32>> {
        let fits = self.is_empty() || query.len() == self.dimensions;
        let cosine = |row: &[f32]| row.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
        fits.then(|| self.rows().map(|row| cosine(row).clamp(-1.0, 1.0)).collect())
    }
}

fn normalize(row: &mut [f32]) {
    let length = row.iter().map(|it| f64::from(*it).powi(2)).sum::<f64>().sqrt();
    if length > 0.0 {
        row.iter_mut().for_each(|it| *it = (f64::from(*it) / length) as f32);
    }
}
