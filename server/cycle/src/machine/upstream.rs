//! Fixes of what passed before: alone, proven by everyone who builds on it, else taken back (V1).

use code::Fragment;

use super::{Cause, Phase, Turn};
use crate::diagnosis::{Repeats, Steadiness};
use crate::exchange::{Action, Earlier, Verdict};
use crate::observation::TestRun;

impl Turn<'_> {
    /// Whether another item's text is what a fix wants it to be.
    pub(super) fn stands(&self, id: &str, text: &Fragment) -> bool {
        let upstream = &self.state.localized.upstream;
        upstream.iter().any(|it| it.item.id == id && it.implementation == *text)
    }

    pub(super) fn await_turn(&mut self) {
        let ids: Vec<&str> = self.state.draft.amended.keys().map(String::as_str).collect();
        self.note("upstream-fix", format!("the fix changes {}", ids.join(", ")));
        self.actions.push(Action::AwaitTurn);
        self.state.phase = Phase::AwaitTurn;
    }

    pub(super) fn run_regression(&mut self) {
        self.actions.push(Action::RunRegression);
        self.state.phase = Phase::RegressionRun;
    }

    /// Everything that worked has to work still; what fails once and passes unchanged is flaky here as well.
    pub(super) fn regression(&mut self, run: TestRun) {
        let (passed, summary) = (run.passed(), run.summary());
        if run.is_clean() && self.state.repeats.is_empty() {
            self.note("regression-passed", format!("{passed} tests of what builds on the change"));
            return self.commit();
        }
        self.state.repeats.push(run);
        match self.state.repeats.judge(self.policy.reruns, false) {
            Steadiness::Unknown => self.run_regression(),
            Steadiness::Flaky(tests) => {
                self.note(
                    "flaky",
                    format!("{} passed unchanged after: {summary}", tests.join(", ")),
                );
                self.commit();
            }
            Steadiness::Steady => self.regressed(&summary),
        }
    }

    fn regressed(&mut self, summary: &str) {
        self.note("regression", summary);
        if self.state.rewritten {
            let reason = format!("the fix as edited in review breaks what worked: {summary}");
            return self.give_up(Cause::Rewritten, Verdict::NeedsHuman { reason });
        }
        let ids: Vec<&str> = self.state.draft.amended.keys().map(String::as_str).collect();
        let what = format!(
            "the change of {} broke what worked and was reverted: {summary}",
            ids.join(", ")
        );
        self.state.earlier.push(Earlier::of(what));
        self.state.draft = std::mem::take(&mut self.state.before);
        self.state.repeats = Repeats::default();
        self.search();
    }

    /// Other items' texts change only in a fix that proves itself.
    pub(super) fn take_back_amendments(&mut self) {
        if !self.state.draft.amended.is_empty() {
            self.state.draft.amended.clear();
            self.note("upstream-fix-taken-back", self.state.reason.clone());
        }
    }
}
