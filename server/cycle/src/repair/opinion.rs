//! What a model says of a failure before anything is tried: a guess, shown as one.

use serde::Deserialize;

use super::diagnostic::{IssueType, Severity};

/// The part of a model's report that is used; the rest is measured here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opinion {
    pub issue_type: Option<IssueType>,
    pub severity: Option<Severity>,
    /// Empty where it names none.
    pub root_cause: String,
    pub ideas: Vec<Idea>,
}

/// A fix that was suggested in words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Idea {
    pub description: String,
    /// The model's own, from 0 to 1.
    pub confidence: f64,
}

/// Of a text more than this many characters are not kept.
const LONGEST: usize = 2_000;

#[derive(Deserialize)]
struct Report {
    #[serde(default)]
    issue_type: String,
    #[serde(default)]
    severity: String,
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
}

/// Reads a model's report; none where it is none.
pub fn opinion(text: &str) -> Option<Opinion> {
    let (first, last) = (text.find('{')?, text.rfind('}')?);
    let report: Report = serde_json::from_str(text.get(first..=last)?).ok()?;
    let short = |text: &str| text.trim().chars().take(LONGEST).collect::<String>();
    let ideas = report.suggested_fixes.iter().map(|it| Idea {
        description: short(&it.description),
        confidence: if it.confidence.is_finite() { it.confidence.clamp(0.0, 1.0) } else { 0.0 },
    });
    Some(Opinion {
        issue_type: IssueType::named(&report.issue_type),
        severity: Severity::named(&report.severity),
        root_cause: short(&report.root_cause),
        ideas: ideas.collect(),
    })
}
