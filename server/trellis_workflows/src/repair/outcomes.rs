//! Outcomes of attempts: what a repair says of them, journals and keeps for its report.

use trellis_engine::Complaint;
use trellis_engine::repair::{AttemptResult, FailedFix};
use trellis_store::journal::{Event::Note, Journal};
use trellis_store::origin::Workflow;

use super::active_group::ActiveGroup;
use super::attempts::AttemptLog;
use super::driver::RepairRun;
use super::evaluate::Evaluation;
use super::trial_search::BY_TRIAL;
use crate::fault::Fault;
use crate::llm_session::no_journal;
use crate::proposals::FoundBy;

impl RepairRun<'_> {
    /// Records the outcome of an evaluation.
    pub(super) fn evaluated(
        &mut self,
        work: &mut ActiveGroup,
        attempt: u32,
        evaluation: Evaluation,
        explanation: Option<String>,
    ) -> Result<AttemptResult, Fault> {
        match evaluation {
            Evaluation::Fails { why, diff } => {
                work.repair.earlier.push(FailedFix { why: why.clone(), diff: diff.clone() });
                self.log(work, attempt, "failed", &why)?;
                if let Some(log) = self.artifacts.attempt() {
                    log.diff = Some(diff);
                }
                Ok(AttemptResult::Failed)
            }
            Evaluation::Passes(mut candidate) => {
                candidate.proposal.explanation = explanation;
                if work.by_trial == Some(attempt) {
                    candidate.proposal.found_by = Some(FoundBy::SmallEdits);
                    let reason = &mut candidate.proposal.reason;
                    *reason = format!("{BY_TRIAL}; {reason}");
                }
                let merit = candidate.merit.clone();
                self.log(work, attempt, "passed", &candidate.proposal.reason)?;
                if let Some(it) = self.artifacts.attempt() {
                    let is_by_trial = it.is_by_trial;
                    *it = AttemptLog { is_by_trial, ..AttemptLog::of(&candidate) }
                        .numbered(attempt + 1);
                }
                work.candidates.push(*candidate);
                Ok(AttemptResult::Passed(merit))
            }
        }
    }

    /// Records a reply that cannot be used.
    pub(super) fn unusable(
        &mut self,
        work: &ActiveGroup,
        attempt: u32,
        complaint: Complaint,
    ) -> Result<AttemptResult, Fault> {
        let Complaint { problem, for_model, .. } = complaint;
        self.reporter.note(format_args!("  reply {} cannot be used: {problem}", attempt + 1));
        self.artifacts.tried(attempt, "unusable", &problem);
        self.journal_attempt(work, attempt, "unusable", &for_model)?;
        Ok(AttemptResult::Unusable(for_model))
    }

    /// Reports the outcome of a tested fix to observers, the journal and the report.
    pub(super) fn log(
        &mut self,
        work: &ActiveGroup,
        attempt: u32,
        outcome: &'static str,
        what: &str,
    ) -> Result<(), Fault> {
        self.reporter.note(format_args!("  fix {} {outcome}: {what}", attempt + 1));
        self.artifacts.tried(attempt, outcome, what);
        self.journal_attempt(work, attempt, outcome, what)
    }

    fn journal_attempt(
        &mut self,
        work: &ActiveGroup,
        attempt: u32,
        outcome: &'static str,
        what: &str,
    ) -> Result<(), Fault> {
        let is_by_trial = work.by_trial == Some(attempt);
        if let Some(log) = self.artifacts.attempt() {
            log.is_by_trial = is_by_trial;
        }
        let origin = match is_by_trial && !what.contains(BY_TRIAL) {
            true => format!(" ({BY_TRIAL})"),
            false => String::new(),
        };
        let text = format!("fix {} {outcome}: {what}{origin}", attempt + 1);
        match &self.session {
            Some(session) => session.note(work.id(), text),
            None => self.note_without_model(work.id(), text),
        }
    }

    /// Journals a note before any model was needed.
    pub(super) fn note_without_model(&self, group: &str, text: String) -> Result<(), Fault> {
        let origin = self.control.origin(Workflow::Repair);
        let what = Workflow::Repair.as_str().to_owned();
        let event = Note { node: group.to_owned(), what, text };
        let journal = Journal::join(&self.order.home, origin);
        journal.and_then(|it| it.log(event)).map_err(no_journal)
    }
}
