//! Trials that are ordinary runs of the tests on the edited tree.

use std::collections::BTreeMap;
use std::time::Instant;

use trellis_engine::localize::{SmallRepair, Trial};
use trellis_python::unified_diff;
use trellis_sandbox::{Outcome, Report, TestOutcome, TestResult};

use super::super::has_failed;
use super::edits::Edit;
use super::facts::{Results, Seen, said};
use super::{MutationRunner, Tried, left};

impl MutationRunner<'_> {
    /// Tries one edit. `None` if the time is over.
    pub(super) async fn attempt(&self, edit: &Edit, until: Instant) -> Option<Tried> {
        if Instant::now() >= until || self.search.cancel.is_cancelled() {
            return None;
        }
        let Some(text) = edit.mutant.apply(&edit.source) else { return Some(Tried::Void) };
        let choice = self.choice(edit);
        let report = self.tests(edit, &text, &choice.first, until).await?;
        let trial = self.trial(edit, &results(&report));
        let more: Vec<String> = choice.rest.iter().chain(&choice.passing).cloned().collect();
        if trial.repaired.is_empty() || more.is_empty() {
            return Some(Tried::Trial(Box::new(self.with_repair(trial, edit, &text))));
        }
        let second = self.tests(edit, &text, &more, until).await?;
        let both = [results(&report), results(&second)];
        let trial = self.trial(edit, &joined(both));
        Some(Tried::Trial(Box::new(self.with_repair(trial, edit, &text))))
    }

    /// Runs all tests of an edit that seems to repair. `None` if the time was over before they
    /// were.
    pub(super) async fn confirmed(&self, edit: &Edit, until: Instant) -> Option<Trial> {
        let text = edit.mutant.apply(&edit.source)?;
        let choice = self.choice(edit);
        let ids: Vec<String> =
            [&choice.first, &choice.rest, &choice.passing].into_iter().flatten().cloned().collect();
        let report = self.tests(edit, &text, &ids, until).await?;
        Some(self.with_repair(self.trial(edit, &results(&report)), edit, &text))
    }

    fn with_repair(&self, mut trial: Trial, edit: &Edit, text: &str) -> Trial {
        if trial.repairs() {
            trial.repair = Some(SmallRepair {
                diff: unified_diff(&edit.path, &edit.source, text),
                text: text.to_owned(),
            });
        }
        trial
    }

    /// Runs tests with an edit. `None` if it was cancelled, there is no sandbox, or the time was
    /// over before the tests were.
    async fn tests(
        &self,
        edit: &Edit,
        text: &str,
        ids: &[String],
        until: Instant,
    ) -> Option<Report> {
        let changed = vec![(edit.path.clone(), text.to_owned())];
        let mut request = self.search.request(changed, self.choices.longest);
        request.targets = ids.to_vec();
        request.run_timeout = left(until).min(request.run_timeout);
        let report = self.search.runner.run(&request, self.search.cancel).await;
        let is_unusable = matches!(
            report.outcome,
            Outcome::Cancelled | Outcome::SandboxUnavailable { .. } | Outcome::SandboxLost { .. }
        );
        let is_cut = report.outcome == Outcome::TimedOut && Instant::now() >= until;
        (!is_unusable && !is_cut).then_some(report)
    }
}

fn results(report: &Report) -> Results<'_> {
    let seen = report.tests.iter().map(|it| (it.id.as_str(), seen(it))).collect();
    let ended = matches!(report.outcome, Outcome::Passed | Outcome::Failed | Outcome::NoTests);
    Results { seen, ended, before: BTreeMap::new() }
}

fn joined<'r>([mut first, second]: [Results<'r>; 2]) -> Results<'r> {
    first.seen.extend(second.seen);
    first.ended &= second.ended;
    first
}

fn seen(test: &TestResult) -> Seen {
    let passed = matches!(test.outcome, TestOutcome::Passed | TestOutcome::XPassed);
    Seen { passed, failed: has_failed(test), said: said(test) }
}
