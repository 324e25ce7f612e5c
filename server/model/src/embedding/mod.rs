//! Texts as vectors, whoever makes them.

mod builtin;
mod remote;
mod wordpiece;

use std::fmt;

use crate::error::ModelError;
use crate::open_error::OpenError;
use crate::settings::Settings;
use remote::Remote;

/// The forms an embedder's name can take.
pub const EMBEDDERS: [&str; 3] = ["builtin", "openai:MODEL", "ollama:MODEL"];

/// Turns texts into vectors. Vectors of different embedders have nothing to do with each other.
pub struct Embedder(Kind);

/// Who does it. A closed list: a provider more is a variant more, and no caller sees it.
enum Kind {
    BuiltIn,
    Remote(Box<Remote>),
}

/// Vectors of equal length, each of length 1 in space, or all zero for a text that means nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Vectors {
    dimensions: usize,
    numbers: Vec<f32>,
}

/// Opens the embedder named `spec`, one of the forms in [`EMBEDDERS`]. `env` looks up environment variables:
/// `OPENAI_BASE_URL` and `OPENAI_API_KEY`, or `OLLAMA_HOST` and `OLLAMA_API_KEY`. Sends nothing yet.
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
        None if spec == "builtin" => return Ok(Embedder(Kind::BuiltIn)),
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
    Ok(Embedder(Kind::Remote(Box::new(remote))))
}

impl Embedder {
    /// The vectors of texts, one each, in their order. Sent to a service in batches, with retries.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]; each has a hint. The built-in embedder never fails.
    pub async fn embed(&self, texts: &[String]) -> Result<Vectors, ModelError> {
        match &self.0 {
            Kind::BuiltIn => Ok(builtin::embed(texts)),
            Kind::Remote(remote) => remote.embed(texts).await,
        }
    }

    /// The name it was opened by.
    pub fn name(&self) -> &str {
        match &self.0 {
            Kind::BuiltIn => "builtin",
            Kind::Remote(remote) => remote.name(),
        }
    }

    /// What tells its vectors from those of another: the name, and where the service answers.
    pub fn identity(&self) -> String {
        match &self.0 {
            Kind::BuiltIn => "builtin".to_owned(),
            Kind::Remote(remote) => remote.identity(),
        }
    }

    /// Whether texts stay within the process, and cost next to nothing.
    pub fn is_built_in(&self) -> bool {
        matches!(self.0, Kind::BuiltIn)
    }
}

impl fmt::Debug for Embedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedder").field(&self.name()).finish()
    }
}

impl Vectors {
    /// Takes rows one behind the other and brings each to length 1. `None` if they do not come out even or hold what is no
    /// number.
    pub fn new(dimensions: usize, mut numbers: Vec<f32>) -> Option<Vectors> {
        let even =
            numbers.is_empty() || (dimensions > 0 && numbers.len().is_multiple_of(dimensions));
        if !even || !numbers.iter().all(|it| it.is_finite()) {
            return None;
        }
        numbers.chunks_mut(dimensions.max(1)).for_each(normalize);
        Some(Vectors { dimensions, numbers })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.numbers.len() / self.dimensions.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Numbers a vector.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// All vectors, in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.numbers.chunks_exact(self.dimensions.max(1))
    }

    /// The cosine of each with a vector of length 1, from -1 to 1. `None` if that is of another embedder, as its length
    /// shows.
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
