//! Steps from the request for tests to the red run.

use super::failure::red_text;
use super::{Cause, NodeMachine, Phase, TestsWanted, source};
use crate::observation::TestRun;
use crate::prompt::prompts;
use crate::prompt::template::TESTS;
use crate::red_gate::{RedGate, judge_red, misses, reaches};
use crate::vocabulary::{Outcome, RunMode, Stage};
use crate::{routing, test_draft};

impl NodeMachine<'_> {
    pub(super) fn ask_tests(&mut self, want: TestsWanted) {
        let old = source(&self.state.draft.tests);
        let complaint =
            (want != TestsWanted::First).then_some((self.state.complaint.as_str(), old.as_str()));
        let prompt = prompts::tests(self.item, self.around, self.policy, complaint);
        let attempt = self.state.tests_asked;
        self.state.tests_asked += 1;
        let route = match self.state.regenerations {
            0 => routing::of_item(self.item, self.state.red_reasks),
            _ => routing::REGENERATED,
        };
        self.ask(Stage::Tests, attempt, prompt, route);
        self.state.phase = Phase::AwaitTests(want);
    }

    pub(super) fn tests(&mut self, want: TestsWanted, text: &str) {
        let found = match test_draft::tests(self.item, text) {
            Err(_) if want == TestsWanted::More => return self.accept_few_tests(),
            Ok(found) if want == TestsWanted::More && found.cases <= self.state.cases => {
                return self.accept_few_tests();
            }
            Ok(found) => found,
            Err(error) => return self.send_tests_back(error.to_string()),
        };
        self.notes("tests-adjusted", found.notes);
        self.state.draft.tests = Some(found.fragment);
        self.state.cases = found.cases;
        if found.cases >= self.policy.least_cases {
            return self.red_gate();
        }
        if self.state.asked_for_more {
            return self.accept_few_tests();
        }
        self.state.asked_for_more = true;
        let (least, cases) = (self.policy.least_cases, found.cases);
        self.state.complaint =
            TESTS.say("too few", &[("least", &least.to_string()), ("cases", &cases.to_string())]);
        self.note("few-tests", self.state.complaint.clone());
        self.ask_tests(TestsWanted::More);
    }

    pub(super) fn accept_few_tests(&mut self) {
        let text = format!("no more tests came; the {} there are were taken", self.state.cases);
        self.note("few-tests", text);
        self.red_gate();
    }

    pub(super) fn send_tests_back(&mut self, why: String) {
        if self.state.red_reasks >= self.policy.red_reasks {
            let times = match self.state.red_reasks {
                0 => String::new(),
                1 => " after asking again once".to_owned(),
                2 => " after asking again twice".to_owned(),
                many => format!(" after asking again {many} times"),
            };
            let reason = format!("no meaningful tests{times}: {why}");
            return self.give_up(Cause::NoTests, Outcome::Failed { reason });
        }
        self.state.red_reasks += 1;
        self.state.unusable += 1;
        self.note("tests-sent-back", why.clone());
        self.state.complaint = TESTS.say("not meaningful", &[("why", &why)]);
        self.ask_tests(TestsWanted::Better);
    }

    fn red_gate(&mut self) {
        if self.state.by_hand {
            self.note(
                "red-gate-skipped",
                "the definition was written by hand and is already in place",
            );
            return self.after_red();
        }
        if self.item.red_gate {
            return self.run(RunMode::Red);
        }
        self.note("red-gate-skipped", "the plan skips the red gate for this node");
        self.after_red();
    }

    pub(super) fn red(&mut self, run: &TestRun) {
        self.state.red_output = red_text(run);
        match judge_red(run, |it| misses(self.item, it)) {
            // The text alone does not show what the tests reach: a method may be reached through
            // the constructor.
            RedGate::Open if !self.names_item() && !reaches(self.item, run) => {
                self.send_tests_back(test_draft::never_used(self.item));
            }
            RedGate::Open => {
                let passing = run.passed();
                if passing > 0 {
                    let text = format!("{passing} tests pass without the implementation");
                    self.note("weak-tests", text);
                }
                self.after_red();
            }
            RedGate::Broken(why) if !self.adds_missing_imports(run) => self.send_tests_back(why),
            RedGate::Broken(_) => self.run(RunMode::Red),
            RedGate::Meaningless => {
                let why = "they pass without the implementation".to_owned();
                self.send_tests_back(why);
            }
        }
    }

    fn names_item(&self) -> bool {
        self.state.draft.tests.as_ref().is_some_and(|it| test_draft::names(self.item, it))
    }

    /// Continues after the red gate. New tests lead to the implementation; regenerated tests run
    /// against the existing one.
    fn after_red(&mut self) {
        self.state.unusable = 0;
        match self.state.draft.implementation {
            Some(_) => self.run(RunMode::Green),
            None => self.ask_implementation(None),
        }
    }
}
