//! A model's diagnosis of a failure before any fix: a guess, and shown as such.

use serde::Deserialize;

use crate::reply::{self, Change, Edit};

/// The parts of a model's report that are used; other facts are measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelDiagnosis {
    /// Cause of the failure; empty if the model names none.
    pub root_cause: String,
    pub ideas: Vec<SuggestedChange>,
}

/// A suggested fix.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuggestedChange {
    pub description: String,
    /// The model's own confidence, from 0 to 1, if it gave one. It is not asked for.
    pub confidence: Option<f64>,
    /// Edits of the fix; empty if the model gave none.
    pub(crate) edits: Vec<Edit>,
}

/// Maximum length of a text, in characters; the rest is cut off.
const LONGEST: usize = 2_000;

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    root_cause: String,
    #[serde(default)]
    suggested_fixes: Vec<SuggestedFix>,
}

#[derive(Deserialize)]
struct SuggestedFix {
    #[serde(default)]
    description: String,
    confidence: Option<f64>,
    #[serde(default)]
    changes: Vec<Change>,
}

impl SuggestedChange {
    /// Returns whether the suggestion has edits and can be tried.
    pub fn is_complete(&self) -> bool {
        !self.edits.is_empty()
    }
}

/// Parses a model's report, after any other text; of several, the last one counts. `None` if there
/// is none.
pub fn parse_diagnosis(text: &str) -> Option<ModelDiagnosis> {
    let report = last_report(reply::answer_of(text))?;
    let short = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
    let ideas = report.suggested_fixes.into_iter().map(|it| SuggestedChange {
        description: short(&it.description),
        confidence: it.confidence.filter(|it| it.is_finite()).map(|it| it.clamp(0.0, 1.0)),
        edits: it.changes.into_iter().map(Edit::from).collect(),
    });
    Some(ModelDiagnosis { root_cause: short(&report.root_cause), ideas: ideas.collect() })
}

/// Returns the last report of a text that is not part of another one.
fn last_report(text: &str) -> Option<Report> {
    let mut found = None;
    let mut left = text;
    while let Some(at) = left.find('{') {
        left = &left[at..];
        let length = match report(left) {
            Some((it, length)) => {
                found = Some(it);
                length
            }
            None => 1,
        };
        left = &left[length..];
    }
    found
}

/// Parses the report at the beginning of a text. Returns its length, too.
fn report(text: &str) -> Option<(Report, usize)> {
    let mut all = serde_json::Deserializer::from_str(text).into_iter::<Report>();
    let found = all.next()?.ok()?;
    let is_one = !found.root_cause.trim().is_empty() || !found.suggested_fixes.is_empty();
    is_one.then(|| (found, all.byte_offset()))
}
