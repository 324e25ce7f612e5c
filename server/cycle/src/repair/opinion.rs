//! What a model says of a failure before anything is tried: a guess, shown as one.

use serde::Deserialize;

use crate::reply::{Change, Edit};

/// The part of a model's report that is used; the rest is measured here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opinion {
    /// Empty where it names none.
    pub root_cause: String,
    pub ideas: Vec<Idea>,
}

/// A fix that was suggested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idea {
    pub description: String,
    /// The model's own, from 0 to 1.
    pub confidence: f64,
    /// Edits that make it; none where the model did not say.
    pub(crate) edits: Vec<Edit>,
}

/// Of a text more than this many characters are not kept.
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
    #[serde(default)]
    confidence: f64,
    #[serde(default)]
    changes: Vec<Change>,
}

impl Idea {
    /// Whether it says what to change, and can be tried.
    pub fn is_complete(&self) -> bool {
        !self.edits.is_empty()
    }
}

/// Reads a model's report, whatever stands before it; none where there is none.
pub fn opinion(text: &str) -> Option<Opinion> {
    let report = text.match_indices('{').find_map(|(at, _)| report(&text[at..]))?;
    let short = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
    let ideas = report.suggested_fixes.into_iter().map(|it| Idea {
        description: short(&it.description),
        confidence: if it.confidence.is_finite() { it.confidence.clamp(0.0, 1.0) } else { 0.0 },
        edits: it.changes.into_iter().map(Edit::from).collect(),
    });
    Some(Opinion { root_cause: short(&report.root_cause), ideas: ideas.collect() })
}

/// The report that a text begins with.
fn report(text: &str) -> Option<Report> {
    let mut all = serde_json::Deserializer::from_str(text).into_iter::<Report>();
    let found = all.next()?.ok()?;
    let is_one = !found.root_cause.trim().is_empty() || !found.suggested_fixes.is_empty();
    is_one.then_some(found)
}
