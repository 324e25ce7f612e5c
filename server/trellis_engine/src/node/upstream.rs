//! Fixes of items that passed before: made while no other item is in work, verified by the tests of
//! all dependents, else reverted (V1).

use trellis_python::Fragment;

use super::{Action, Cause, NodeMachine, Phase};
use crate::diagnosis::{Flakiness, RerunHistory};
use crate::observation::TestRun;
use crate::vocabulary::{FailedAttempt, Outcome};

impl NodeMachine<'_> {
    /// Returns whether the current text of item `id` equals `text`.
    pub(super) fn is_current(&self, id: &str, text: &Fragment) -> bool {
        let upstream = &self.state.localized.upstream;
        upstream.iter().any(|it| it.item.id == id && it.implementation == *text)
    }

    pub(super) fn await_turn(&mut self) {
        let ids: Vec<&str> = self.state.draft.amended.keys().map(String::as_str).collect();
        self.note("upstream-fix", format!("the fix changes {}", ids.join(", ")));
        self.actions.push(Action::AwaitExclusive);
        self.state.phase = Phase::AwaitTurn;
    }

    pub(super) fn run_regression(&mut self) {
        self.actions.push(Action::RunRegressionTests);
        self.state.phase = Phase::RegressionRun;
    }

    /// Evaluates a regression run: all tests have to pass. A test that fails once and then passes
    /// unchanged counts as flaky.
    pub(super) fn regression(&mut self, run: TestRun) {
        let (passed, summary) = (run.passed(), run.summary());
        if run.is_clean() && self.state.repeats.is_empty() {
            self.note("regression-passed", format!("{passed} tests of what builds on the change"));
            return self.commit();
        }
        self.state.repeats.push(run);
        match self.state.repeats.judge(self.policy.reruns, false) {
            Flakiness::Unknown => self.run_regression(),
            Flakiness::Flaky(tests) => {
                self.note(
                    "flaky",
                    format!("{} passed unchanged after: {summary}", tests.join(", ")),
                );
                self.commit();
            }
            Flakiness::Steady => self.regressed(&summary),
        }
    }

    fn regressed(&mut self, summary: &str) {
        self.note("regression", summary);
        if self.state.rewritten {
            let reason = format!("the fix as edited in review breaks what worked: {summary}");
            return self.give_up(Cause::Rewritten, Outcome::NeedsHuman { reason });
        }
        let ids: Vec<&str> = self.state.draft.amended.keys().map(String::as_str).collect();
        let what = format!(
            "the change of {} broke what worked and was reverted: {summary}",
            ids.join(", ")
        );
        self.state.earlier.push(FailedAttempt::of(what));
        self.state.draft = std::mem::take(&mut self.state.before);
        self.state.repeats = RerunHistory::default();
        self.search();
    }

    /// Discards changes of other items after a failing run: only a passing fix may change them.
    pub(super) fn take_back_amendments(&mut self) {
        if !self.state.draft.amended.is_empty() {
            self.state.draft.amended.clear();
            self.note("upstream-fix-taken-back", self.state.reason.clone());
        }
    }
}
