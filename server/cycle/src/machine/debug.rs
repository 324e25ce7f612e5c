//! What is wrong, and the fix: votes, a search, an answer, until it is enough.

use super::{FAILURE_BYTES, Phase, STEADY, Turn, Want, cut_middle, source};
use crate::diagnosis::{Diagnosis, Votes};
use crate::draft::{self, DraftError};
use crate::exchange::{Action, Query, Stage, Verdict};
use crate::prompt::{self, FixFacts};

impl Turn<'_> {
    pub(super) fn ask_vote(&mut self, votes: Votes) {
        let draft = &self.state.draft;
        let (tests, implementation) = (source(&draft.tests), source(&draft.implementation));
        let messages = prompt::diagnosis(self.item, &tests, &implementation, &self.state.failure);
        let vote = votes.cast();
        self.state.votes = votes;
        self.ask(Stage::Diagnosis, vote, 0.3 + 0.1 * vote as f32, messages);
        self.state.phase = Phase::Voting;
    }

    pub(super) fn vote(&mut self, text: &str) {
        let mut votes = self.state.votes;
        votes.add(text);
        match votes.winner(self.policy.votes) {
            Some(Diagnosis::Implementation) => self.search(),
            Some(Diagnosis::Test) => self.regenerate(),
            Some(Diagnosis::Environment) => {
                let reason = format!("environment: {}", self.state.reason);
                self.give_up(Verdict::Skipped { reason });
            }
            None if votes.is_split(self.policy.votes) => self.ask_human(),
            None => self.ask_vote(votes),
        }
    }

    fn ask_human(&mut self) {
        let question = format!("the votes on a failure are split: {}", self.state.reason);
        self.state.reason = question.clone();
        self.state.phase = Phase::AwaitHuman;
        self.actions.push(Action::AskHuman { question });
    }

    fn regenerate(&mut self) {
        if self.state.regenerations >= self.policy.regenerations {
            let reason = format!(
                "the tests were judged wrong {} times: {}",
                self.state.regenerations + 1,
                self.state.reason
            );
            return self.give_up(Verdict::NeedsHuman { reason });
        }
        self.state.regenerations += 1;
        self.note("tests-judged-wrong", self.state.reason.clone());
        self.state.complaint = format!("They are wrong:\n{}", self.state.failure);
        self.ask_tests(Want::Again);
    }

    pub(super) fn search(&mut self) {
        if self.state.by_hand {
            let reason = format!("what a person wrote does not pass: {}", self.state.reason);
            return self.give_up(Verdict::NeedsHuman { reason });
        }
        if self.state.fixes >= self.policy.fixes {
            let reason = format!("{} (after {} fixes)", self.state.reason, self.state.fixes);
            return self.give_up(Verdict::Failed { reason });
        }
        self.state.phase = Phase::Searching;
        self.actions.push(Action::Search(self.state.query.clone()));
    }

    pub(super) fn ask_fix(&mut self) {
        let draft = &self.state.draft;
        let facts = FixFacts {
            tests: &source(&draft.tests),
            implementation: &source(&draft.implementation),
            failure: &self.state.failure,
            earlier: &self.state.earlier,
            suspects: &self.state.suspects,
        };
        let messages = prompt::fix(self.item, self.around, &facts);
        let attempt = self.state.fixes_asked;
        self.state.fixes_asked += 1;
        self.ask(Stage::Fix, attempt, STEADY, messages);
        self.state.phase = Phase::AwaitFix;
    }

    pub(super) fn fix(&mut self, text: &str) {
        let found = draft::fix(self.item, &self.state.draft, text);
        if found == Err(DraftError::NoCode) && self.state.malformed < self.policy.malformed_reasks {
            self.state.malformed += 1;
            self.note("malformed", "the fix holds neither code nor an edit");
            return self.ask_fix();
        }
        self.state.fixes += 1;
        match found {
            Ok(found) => {
                let reason = self.state.reason.clone();
                self.state.earlier.push(reason);
                self.try_out(found);
            }
            Err(error) => self.attempt_failed(error.to_string(), text),
        }
    }

    /// An answer that could not even be run failed like one that ran red. Where an earlier one did run,
    /// its failure is still the one to mend.
    pub(super) fn attempt_failed(&mut self, why: String, text: &str) {
        self.note("attempt-unusable", why.clone());
        if self.state.draft.implementation.is_some() {
            self.state.earlier.push(format!("(unusable) {why}"));
        } else {
            let shown = cut_middle(text.trim(), FAILURE_BYTES);
            self.state.failure = format!("{why}\n\nYour answer was:\n{shown}");
            self.state.reason = why;
            self.state.query = Query { failures: Vec::new(), stack: Vec::new() };
        }
        self.search();
    }
}
