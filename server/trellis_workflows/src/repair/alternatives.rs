//! Fixes that a repair did not keep, each with its outcome (R0).

use std::collections::BTreeMap;

use trellis_engine::repair::{FixScore, ModelDiagnosis, SuggestedChange, suggested};
use trellis_engine::{EditableFiles as _, Suspect};

use super::attempts::GroupLog;
use super::evaluate::diff;
use super::project_files::ProjectFiles;
use super::report::AlternativeReport;
use crate::proposals::ProposedFile;

/// Maximum number of a diagnosis's suggestions to try.
pub(super) const SUGGESTIONS: usize = 2;

/// A fix that the diagnosis suggests.
#[derive(Clone)]
pub(super) struct IdeaLog {
    description: String,
    confidence: Option<f64>,
    /// The diff of the suggestion; `None` if it names no change, or one that cannot be applied.
    diff: Option<String>,
    /// The suggestion is one of those to try.
    is_candidate: bool,
    /// Number of the attempt that tried it, from 1.
    pub(super) attempt: Option<u32>,
}

/// Returns the suggestions of a diagnosis, in its order.
pub(super) fn ideas(
    said: &ModelDiagnosis,
    suspects: &[Suspect],
    files: &ProjectFiles<'_>,
) -> Vec<IdeaLog> {
    let mut left = SUGGESTIONS;
    let log = |it: &SuggestedChange| {
        let is_candidate = it.is_complete() && left > 0;
        left -= usize::from(is_candidate);
        IdeaLog {
            description: it.description.clone(),
            confidence: it.confidence,
            diff: suggested(it, suspects, files).ok().map(|texts| change(texts, files)),
            is_candidate,
            attempt: None,
        }
    };
    said.ideas.iter().map(log).collect()
}

/// Returns the diff of new texts.
pub(super) fn change(texts: BTreeMap<String, String>, files: &ProjectFiles<'_>) -> String {
    let file = |(path, proposed): (String, String)| ProposedFile {
        base: files.text(&path),
        path,
        proposed,
    };
    diff(&texts.into_iter().map(file).collect::<Vec<_>>())
}

/// Returns all fixes except the chosen one.
pub(super) fn alternatives(log: &GroupLog, taken: Option<u32>) -> Vec<AlternativeReport> {
    let winner = taken.and_then(|number| log.merit(number).map(|merit| (number, merit)));
    let attempts = log.attempts.iter().filter(|it| Some(it.number) != taken);
    let tried = attempts.map(|it| AlternativeReport {
        name: format!("Fix {}", it.number),
        became: match (it.outcome.as_str(), &it.merit) {
            ("passed", Some(merit)) => passed_over(merit, winner),
            ("unusable", _) => format!("could not be tried: {}", it.what),
            ("rejected", _) => format!("rejected in review: {}", it.what),
            (outcome, _) => format!("tried, {outcome}: {}", it.what),
        },
        confidence: it.confidence.map(|it| it.total),
        diff: it.diff.clone(),
    });
    let ideas =
        log.ideas.iter().enumerate().filter(|(_, it)| taken.is_none() || it.attempt != taken);
    let suggestions = ideas.map(|(at, it)| AlternativeReport {
        name: format!("Suggestion {}, {}", at + 1, it.description),
        became: it.became(taken.is_some()),
        confidence: it.confidence,
        // The diff of a tried suggestion is shown with its attempt.
        diff: it.diff.clone().filter(|_| it.attempt.is_none()),
    });
    tried.chain(suggestions).collect()
}

/// Returns the reason that a passing fix was not chosen.
fn passed_over(merit: &FixScore, winner: Option<(u32, &FixScore)>) -> String {
    match winner {
        Some((number, better)) => {
            format!(
                "passed, but not chosen: fix {number} was, because it {}",
                better.ahead_of(merit)
            )
        }
        None => "passed, but was not chosen".to_owned(),
    }
}

impl IdeaLog {
    /// Returns whether the suggestion is one of those to try.
    pub(super) fn is_candidate(&self) -> bool {
        self.is_candidate
    }

    fn became(&self, is_taken: bool) -> String {
        match (self.attempt, self.is_candidate, &self.diff) {
            (Some(number), ..) => format!("tried as fix {number}"),
            (None, true, _) if is_taken => "not tried: enough fixes had passed".to_owned(),
            (None, true, _) => "not tried: the repair ended first".to_owned(),
            (None, false, Some(_)) => {
                format!("not tried: at most {SUGGESTIONS} suggestions are tried")
            }
            (None, false, None) => "not tried: it does not say what to change".to_owned(),
        }
    }
}
