//! Presents a passing fix to a person if the approval rules ask for it (R4).

use trellis_engine::Decision;
use trellis_engine::approval::{CRITICAL, Confidence, Mode, review_reason};

use crate::generate::coverage;
use crate::generate::worker::{Worker, WorkerError};
use crate::proposals::{DecidedDraft, FailingTest, PendingProposals, Proposal, ProposedFile};
use trellis_store::journal::Event;

/// Approval rules for fixes, and the proposals that wait for a decision.
pub(crate) struct Approvals {
    pub mode: Mode,
    pub waiting: PendingProposals,
    /// A person is present and can be waited for.
    pub is_attended: bool,
}

impl Worker {
    /// Returns the decision about the current draft.
    pub(super) async fn approval(&mut self) -> Result<Decision, WorkerError> {
        let run_context = self.run_context.clone();
        let Some(approvals) = &run_context.approvals else { return Ok(Decision::NoReviewer) };
        let files = self.proposed()?;
        let confidence = self.confidence().await?;
        let paths: Vec<&str> = files.iter().map(|it| it.path.as_str()).collect();
        let reason = review_reason(approvals.mode, self.fixes, &confidence, &paths, &CRITICAL);
        let Some(reason) = reason else {
            let by =
                format!("mode {}, confidence {:.2}", approvals.mode.as_str(), confidence.total());
            return Ok(Decision::Accept { by });
        };
        let draft = Proposal::new(self.failing(), reason.clone(), confidence, Vec::new(), files);
        let (id, cancel) = (self.id(), &run_context.cancel);
        let answer = if approvals.is_attended {
            self.wait_for_approval();
            let answer =
                approvals.waiting.ask(&id, draft, cancel).await.map_err(WorkerError::Fault)?;
            let answer = answer.ok_or(WorkerError::Cancelled)?;
            self.resume_after_approval().await?;
            Some(answer)
        } else {
            approvals.waiting.present(&id, draft).await.map_err(WorkerError::Fault)?
        };
        let said = answer.as_ref().map_or_else(no_one, described);
        let question = format!("may the fix stay? {reason}");
        self.log(Event::Approval { node: self.id(), question, answer: said })?;
        Ok(answer.map_or(Decision::NoReviewer, |it| it.decision))
    }

    /// Returns the draft's files beside their text on the disk.
    fn proposed(&self) -> Result<Vec<ProposedFile>, WorkerError> {
        let work = &self.run_context.work;
        let mut built = self.assemble(&self.draft)?;
        let amended = self.draft.amended.keys().filter_map(|id| work.plan.find(id));
        let mut paths: Vec<String> =
            amended.chain([self.node]).map(|ix| work.items[&ix].path.clone()).collect();
        paths.sort();
        paths.dedup();
        let file = |path: String| {
            let proposed = built.files.remove(&path)?;
            // The run itself would refuse to write a file that cannot be read.
            let base = trellis_os::files::read_text(self.run_context.root.join(&path)).ok();
            Some(ProposedFile { path, base, proposed })
        };
        Ok(paths.into_iter().filter_map(file).collect())
    }

    /// Measures the confidence: the score of localization, the share of passing tests, and the
    /// lines they execute.
    async fn confidence(&mut self) -> Result<Confidence, WorkerError> {
        let run_context = self.run_context.clone();
        let item = &run_context.work.items[&self.node];
        let highest = self.suspects.iter().map(|it| it.score).fold(0.0, f64::max);
        let own = self.suspects.iter().filter(|it| it.symbol == item.qualified_name());
        let own = own.map(|it| it.score).fold(0.0, f64::max);
        let diagnostic = if highest > 0.0 { own / highest } else { 0.0 };
        let all = self.passed + self.failed;
        let fix = if all > 0 { self.passed as f64 / all as f64 } else { 0.0 };
        let built = self.assemble(&self.draft)?;
        let targets = built.tests.get(&item.id).cloned().unwrap_or_default();
        let targets = if targets.is_empty() { vec![item.test_path.clone()] } else { targets };
        let (report, _) = self.run_tests(built, targets, true).await;
        let measured = report.coverage.as_ref().and_then(|it| coverage::percent(item, it));
        let coverage = measured.map_or(0.0, |percent| f64::from(percent) / 100.0);
        Ok(Confidence { diagnostic, fix, coverage, parts: None })
    }

    /// Returns the failure that the fix is for.
    fn failing(&self) -> FailingTest {
        let failed = self.last.as_ref().and_then(|(report, _)| {
            report.tests.iter().find_map(|it| Some((it.id.clone(), it.failure.clone()?)))
        });
        let (id, failure) = failed.map_or((self.id(), None), |(id, it)| (id, Some(it)));
        FailingTest {
            id,
            message: failure.as_ref().map(|it| it.message.clone()).unwrap_or_default(),
            path: failure.as_ref().and_then(|it| it.path.clone()),
            line: failure.as_ref().and_then(|it| it.line),
        }
    }
}

fn no_one() -> String {
    "no one is connected to review it".to_owned()
}

/// Describes a decision for the journal.
fn described(it: &DecidedDraft) -> String {
    let id = &it.id;
    match &it.decision {
        Decision::Accept { .. } => format!("approved ({id})"),
        Decision::AcceptEdited(_) => format!("rewritten ({id})"),
        Decision::Reject { why } => format!("declined ({id}): {why}"),
        Decision::Defer { .. } | Decision::Skip | Decision::Stop | Decision::NoReviewer => no_one(),
    }
}
