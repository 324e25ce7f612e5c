//! Log of what was tried for each cause.

use trellis_engine::repair::{Diagnostic, FixScore, Group};

use super::alternatives::IdeaLog;
use super::evaluate::Candidate;
use super::report::AttemptReport;
use crate::proposals::ConfidenceReport;

/// A group and its attempts.
pub(super) struct GroupLog {
    pub(super) group: Group,
    pub(super) diagnosis: Diagnostic,
    /// Suggestions of the diagnosis.
    pub(super) ideas: Vec<IdeaLog>,
    pub(super) attempts: Vec<AttemptLog>,
    /// Number of the attempt that awaits a decision, from 1.
    pub(super) chosen: Option<u32>,
    pub(super) kept: Option<String>,
}

/// A fix that was tried.
#[derive(Clone, Default)]
pub(super) struct AttemptLog {
    /// Number of the attempt, from 1.
    pub(super) number: u32,
    pub(super) outcome: String,
    pub(super) what: String,
    pub(super) diff: Option<String>,
    pub(super) confidence: Option<ConfidenceReport>,
    /// Score of an attempt that passed.
    pub(super) merit: Option<FixScore>,
    pub(super) shortcuts: Vec<String>,
    /// A trial of small edits found it, and no model was asked.
    pub(super) is_by_trial: bool,
}

impl GroupLog {
    /// Returns the score of an attempt that passed.
    pub(super) fn merit(&self, number: u32) -> Option<&FixScore> {
        self.attempts.iter().find(|it| it.number == number)?.merit.as_ref()
    }
}

impl AttemptLog {
    pub(super) fn numbered(self, number: u32) -> AttemptLog {
        AttemptLog { number, ..self }
    }

    pub(super) fn of(candidate: &Candidate) -> AttemptLog {
        AttemptLog {
            number: 0,
            outcome: "passed".to_owned(),
            what: candidate.proposal.reason.clone(),
            diff: Some(candidate.proposal.diff()),
            confidence: Some(ConfidenceReport::of(&candidate.proposal.confidence)),
            merit: Some(candidate.merit.clone()),
            shortcuts: candidate.merit.shortcuts.clone(),
            is_by_trial: false,
        }
    }
}

/// Converts an attempt into its form in the report.
pub(super) fn attempt(log: &AttemptLog) -> AttemptReport {
    AttemptReport {
        number: log.number,
        outcome: log.outcome.clone(),
        what: log.what.clone(),
        diff: log.diff.clone(),
        confidence: log.confidence,
        shortcuts: log.shortcuts.clone(),
        found_by: log.is_by_trial.then(|| "trial".to_owned()),
    }
}
