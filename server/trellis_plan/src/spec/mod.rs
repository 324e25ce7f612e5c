//! The specification that a plan was made from: its sentences, kept in `metadata.spec`, and the
//! numbers of those that a node serves.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::node::Node;
use crate::plan::Plan;

mod boundaries;
mod changes;
mod sentences;

pub(crate) use changes::new_numbers;
pub use changes::{SentenceChange, sentence_changes};
pub use sentences::sentences;

/// A numbered part of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// Number from 1.
    pub number: usize,
    pub kind: SentenceKind,
    /// Text without emphasis and line breaks; that of code and tables keeps its lines.
    pub text: String,
}

/// Kind of a part of a specification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SentenceKind {
    #[default]
    Sentence,
    /// A title: nothing has to serve it.
    Heading,
    Code,
    Table,
}

impl SentenceKind {
    /// Returns `sentence`, `heading`, `code` or `table`.
    pub fn name(self) -> &'static str {
        match self {
            SentenceKind::Sentence => "sentence",
            SentenceKind::Heading => "heading",
            SentenceKind::Code => "code",
            SentenceKind::Table => "table",
        }
    }

    fn is_default(&self) -> bool {
        *self == SentenceKind::default()
    }
}

/// The specification of a plan, as `metadata.spec` keeps it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Path of the file, relative to that of the plan.
    pub path: Option<String>,
    /// SHA-256 of the file when the sentences were taken from it, in hexadecimal.
    pub sha256: Option<String>,
    /// In the order of the text.
    pub sentences: Vec<Sentence>,
    /// Numbers of sentences that describe nothing to build.
    pub background: Vec<usize>,
    /// Features that the sentences ask for; each gets an acceptance test.
    pub features: Vec<SpecFeature>,
}

/// A feature of a specification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecFeature {
    pub name: String,
    /// Numbers of the sentences that ask for it.
    #[serde(default)]
    pub sentences: Vec<usize>,
}

/// The reason why `metadata.spec` or `serves` cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    #[error("`metadata.spec` cannot be read: {0}")]
    Malformed(String),
    #[error("`metadata.spec` has two sentences with the number {0}")]
    RepeatedNumber(usize),
    #[error("`serves` is {found}, expected a list of sentence numbers")]
    Serves { found: String },
}

/// The form of `metadata.spec` in a file.
#[derive(Serialize, Deserialize)]
struct StoredSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(default)]
    sentences: Vec<StoredSentence>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    background: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    features: Vec<SpecFeature>,
}

/// The form of one sentence in a file.
#[derive(Serialize, Deserialize)]
struct StoredSentence {
    number: usize,
    #[serde(default, skip_serializing_if = "SentenceKind::is_default")]
    kind: SentenceKind,
    text: String,
}

impl Spec {
    /// Returns the value of `metadata.spec`.
    pub fn to_json(&self) -> Value {
        let sentence = |it: &Sentence| StoredSentence {
            number: it.number,
            kind: it.kind,
            text: it.text.clone(),
        };
        let stored = StoredSpec {
            path: self.path.clone(),
            sha256: self.sha256.clone(),
            sentences: self.sentences.iter().map(sentence).collect(),
            background: self.background.clone(),
            features: self.features.clone(),
        };
        // Every key is a string, so this cannot fail.
        serde_json::to_value(stored).unwrap_or_default()
    }

    fn parse(raw: &RawValue) -> Result<Spec, SpecError> {
        // A list would be read as the fields in their order.
        if !raw.get().starts_with('{') {
            return Err(SpecError::Malformed("it is not an object".to_owned()));
        }
        let stored: StoredSpec =
            serde_json::from_str(raw.get()).map_err(|e| SpecError::Malformed(e.to_string()))?;
        let sentence =
            |it: StoredSentence| Sentence { number: it.number, kind: it.kind, text: it.text };
        let sentences: Vec<Sentence> = stored.sentences.into_iter().map(sentence).collect();
        let mut numbers: Vec<usize> = sentences.iter().map(|it| it.number).collect();
        numbers.sort_unstable();
        match numbers.windows(2).find(|it| it[0] == it[1]) {
            Some(twice) => Err(SpecError::RepeatedNumber(twice[0])),
            None => Ok(Spec {
                path: stored.path,
                sha256: stored.sha256,
                sentences,
                background: stored.background,
                features: stored.features,
            }),
        }
    }
}

impl Plan {
    /// Returns the specification that the plan keeps in `metadata.spec`. A dialect without `metadata`
    /// keeps it in a field `spec` of the file.
    pub fn spec(&self) -> Result<Option<Spec>, SpecError> {
        let raw = self.metadata().get("spec").or_else(|| self.extra().get("spec"));
        raw.filter(|it| it.get() != "null").map(Spec::parse).transpose()
    }
}

impl Node {
    /// Returns the numbers of the sentences that the node serves, sorted; none without the field.
    pub fn serves(&self) -> Result<Vec<usize>, SpecError> {
        let Some(raw) = self.extra.get("serves").filter(|it| it.get() != "null") else {
            return Ok(Vec::new());
        };
        let numbers: Result<Vec<usize>, _> = serde_json::from_str(raw.get());
        let mut numbers = numbers.map_err(|_| SpecError::Serves { found: raw.get().to_owned() })?;
        numbers.sort_unstable();
        numbers.dedup();
        Ok(numbers)
    }
}

impl fmt::Display for SentenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
