//! Steps from a failing run to the next fix: diagnosis by rules or votes, localization, request and
//! reply.

use std::collections::BTreeMap;

use super::{Action, Cause, NodeMachine, Phase, TestsWanted, source};
use crate::debug_context::DebugContext;
use crate::diagnosis::{Diagnosis, Finding, ProjectFacts, VoteRule, VoteTally, Votes, diagnose};
use crate::draft::{self, DraftError, NormalizedReply};
use crate::failures::LONGEST;
use crate::import_resolution::is_available;
use crate::observation::{RunOutcome, TestRun};
use crate::policy::FixWith;
use crate::prompt::prompts::{self, FixFacts, VoteFacts};
use crate::prompt::template::{DIAGNOSIS, TESTS};
use crate::prompt_budget::cut_middle;
use crate::routing;
use crate::strategy::{Attempt, LocalizationExhausted};
use crate::vocabulary::{FailedAttempt, Localization, ModelRequest, Outcome, Query, Stage};

impl NodeMachine<'_> {
    /// Diagnoses a failing run: rules on the run decide; if none applies, votes do.
    pub(super) fn diagnose(&mut self, run: &TestRun) {
        match self.by_rule(run) {
            Some(found) => {
                self.note("diagnosed", format!("{}: {}", found.rule, found.why));
                self.act_on(found.diagnosis);
            }
            None => self.judge(run),
        }
    }

    /// Returns the finding of a rule. A rule is ignored after `trust` fixes in a row that end in
    /// the same failure.
    fn by_rule(&self, run: &TestRun) -> Option<Finding> {
        let state = &self.state;
        let same = state.earlier.iter().rev().take_while(|it| it.gave == state.reason).count();
        if same >= self.policy.trust {
            return None;
        }
        self.empty_body().or_else(|| self.found(run))
    }

    /// Finds an implementation whose body does nothing: it is wrong whatever the tests say.
    fn empty_body(&self) -> Option<Finding> {
        let text = source(&self.state.draft.implementation);
        let why = format!("the body of `{}` does nothing", self.item.qualified_name());
        trellis_python::does_nothing(&text, &self.item.name).then_some(Finding {
            diagnosis: Diagnosis::Implementation,
            rule: "empty-body",
            why,
        })
    }

    pub(super) fn is_endless(&self, run: &TestRun) -> bool {
        let found = self.found(run);
        matches!(run.ending, RunOutcome::TimedOut { .. })
            && found.is_some_and(|it| it.diagnosis == Diagnosis::Implementation)
    }

    /// Returns whether a rule finds the cause of a failing run outside the item.
    pub(super) fn is_environment(&self, run: &TestRun) -> bool {
        self.found(run).is_some_and(|it| it.diagnosis == Diagnosis::Environment)
    }

    /// Applies the rules with the facts that the plan states about this item.
    fn found(&self, run: &TestRun) -> Option<Finding> {
        let item = self.item;
        let modules = || item.dependencies.iter().map(|it| it.module.as_str());
        let top = |module: &str| module.split('.').next().unwrap_or_default().to_owned();
        let texts: Vec<&str> = std::iter::once(item.docstring.as_str())
            .chain(item.examples.iter().map(String::as_str))
            .collect();
        diagnose(
            run,
            &ProjectFacts {
                is_test: &|path| path == item.test_path || path.starts_with("tests/"),
                is_local: &|module| {
                    modules().chain([item.module.as_str()]).any(|it| top(it) == module)
                },
                is_declared: &|module| is_available(item, module),
                signatures_hold: item.signature.is_some(),
                documentation: &texts,
            },
        )
    }

    /// Asks for votes, or uses the existing ones. A result that no further vote can change stands;
    /// any other one needs another vote after a failed fix.
    fn judge(&mut self, run: &TestRun) {
        let first = run.cases.iter().find(|it| it.failure.is_some()).map(|it| it.id.clone());
        let first = first.unwrap_or_default();
        if first != self.state.judged {
            (self.state.votes, self.state.judged) = (Votes::default(), first);
        }
        let (votes, rule) = (self.state.votes, self.policy.votes);
        match votes.standing(rule) {
            VoteTally::Decided(diagnosis) if votes.is_settled(rule) => self.act_on(diagnosis),
            VoteTally::Split => self.ask_human(),
            VoteTally::Open(count) => self.ask_votes(count),
            VoteTally::Decided(_) => self.ask_votes(1),
        }
    }

    fn ask_votes(&mut self, count: u32) {
        let draft = &self.state.draft;
        let facts = VoteFacts {
            tests: &source(&draft.tests),
            implementation: &source(&draft.implementation),
            failure: &self.state.failure,
            claim: self.state.claim.as_deref(),
        };
        let prompt = prompts::diagnosis(self.item, self.around, &facts);
        let ask = |vote: u32| ModelRequest {
            stage: Stage::Diagnosis,
            attempt: vote,
            temperature: temperature(vote, self.policy.votes),
            prompt: prompt.clone(),
            prompt_version: DIAGNOSIS.version(),
            tier: routing::VOTE.tier,
            why: routing::VOTE.why,
            tools: false,
        };
        let from = self.state.votes.cast();
        self.actions.push(Action::Vote((from..from + count).map(ask).collect()));
        self.state.phase = Phase::Voting;
    }

    /// Counts the replies of a vote. A failed request counts as an empty vote; if all requests of
    /// the first vote failed, the item is given up.
    pub(super) fn votes(&mut self, replies: Vec<Result<String, String>>) {
        let is_first = self.state.votes.cast() == 0;
        let all_failed = replies.iter().all(Result::is_err) && is_first;
        if let Some(Err(reason)) = replies.first().filter(|_| all_failed) {
            return self.give_up(Cause::NoAnswer, Outcome::Failed { reason: reason.clone() });
        }
        let votes = &mut self.state.votes;
        replies.iter().for_each(|reply| votes.add(reply.as_deref().unwrap_or_default()));
        let (tally, standing) = (votes.tally(), votes.standing(self.policy.votes));
        self.note("voted", tally);
        match standing {
            VoteTally::Decided(diagnosis) => self.act_on(diagnosis),
            VoteTally::Open(count) => self.ask_votes(count),
            VoteTally::Split => self.ask_human(),
        }
    }

    fn act_on(&mut self, diagnosis: Diagnosis) {
        let claim = self.state.claim.take();
        match diagnosis {
            Diagnosis::Implementation if claim.is_some() => {
                let complaint = "the tests were judged right: mend the code".to_owned();
                self.no_fix(complaint, "no fix but the word that a test is wrong".to_owned(), "");
            }
            Diagnosis::Implementation => self.search(),
            Diagnosis::Test => self.regenerate(),
            Diagnosis::Environment | Diagnosis::Flaky => {
                let reason = format!("environment: {}", self.state.reason);
                let flaky = diagnosis == Diagnosis::Flaky;
                let cause = if flaky { Cause::Flaky } else { Cause::Environment };
                self.give_up(cause, Outcome::Skipped { reason });
            }
        }
    }

    /// Handles a fix that claims a wrong test in place of code: a vote has to agree with the claim.
    fn claimed(&mut self, claim: &str) {
        self.note("test-called-wrong", claim);
        let (votes, rule) = (self.state.votes, self.policy.votes);
        if self.state.claims >= CLAIMS || votes.is_settled(rule) {
            let complaint = "the tests were judged right: mend the code".to_owned();
            return self.no_fix(complaint, format!("no fix: {claim}"), "");
        }
        self.state.claims += 1;
        self.state.claim = Some(claim.to_owned());
        self.ask_votes(1);
    }

    fn ask_human(&mut self) {
        let reason = format!("the votes on a failure are split: {}", self.state.reason);
        self.give_up(Cause::SplitVote, Outcome::NeedsHuman { reason });
    }

    fn regenerate(&mut self) {
        if self.state.regenerations >= self.policy.regenerations {
            let reason = format!(
                "the tests were judged wrong {} times: {}",
                self.state.regenerations + 1,
                self.state.reason
            );
            return self.give_up(Cause::WrongTests, Outcome::NeedsHuman { reason });
        }
        self.state.regenerations += 1;
        // Implementations that failed before may pass the new tests.
        self.state.tried.clear();
        (self.state.votes, self.state.claims) = (Votes::default(), 0);
        self.note("tests-judged-wrong", self.state.reason.clone());
        self.state.complaint = TESTS.say("judged wrong", &[("failure", &self.state.failure)]);
        self.ask_tests(TestsWanted::Again);
    }

    /// Handles a localization that found no suspect: a person has to look.
    pub(super) fn exhausted(&mut self, attempts: Vec<Attempt>) {
        self.state.localized = Localization { attempts, ..Localization::default() };
        self.nothing_found();
    }

    /// Asks a person after all attempts to localize the bug.
    pub(super) fn nothing_found(&mut self) {
        let reason = format!("{LocalizationExhausted}: {}", self.state.reason);
        self.give_up(Cause::NothingFound, Outcome::NeedsHuman { reason });
    }

    /// Collects the information that a person needs to continue.
    pub(super) fn debug_context(&self, reason: &str) -> DebugContext {
        let (item, state) = (self.item, &self.state);
        DebugContext {
            node: item.id.clone(),
            name: item.qualified_name(),
            path: item.path.clone(),
            test_path: item.test_path.clone(),
            reason: reason.to_owned(),
            failure: state.failure.clone(),
            suspects: state.localized.suspects.clone(),
            attempts: state.localized.attempts.clone(),
            earlier: state.earlier.iter().map(|it| it.gave.clone()).collect(),
            tests: source(&state.draft.tests),
            implementation: source(&state.draft.implementation),
        }
    }

    pub(super) fn search(&mut self) {
        if self.state.by_hand {
            let reason = format!("the code written by hand does not pass: {}", self.state.reason);
            return self.give_up(Cause::ByHand, Outcome::NeedsHuman { reason });
        }
        if self.state.fixes >= self.policy.fixes {
            let reason = format!("{} (after {} fixes)", self.state.reason, self.state.fixes);
            return self.give_up(Cause::FixLimit, Outcome::Failed { reason });
        }
        self.state.phase = Phase::Localizing;
        self.actions.push(Action::Localize(self.state.query.clone()));
    }

    /// Requests a fix. `complaint`: the reason why the last answer was unusable.
    pub(super) fn ask_fix(&mut self, complaint: Option<&str>) {
        let draft = &self.state.draft;
        let facts = FixFacts {
            tests: &source(&draft.tests),
            implementation: &source(&draft.implementation),
            failure: &self.state.failure,
            earlier: &self.state.earlier,
            localized: &self.state.localized,
            complaint,
        };
        let prompt = match self.policy.fix_with {
            FixWith::OneReply => prompts::fix(self.item, self.around, &facts),
            FixWith::Tools => prompts::fix_with_tools(self.item, self.around, &facts),
        };
        let attempt = self.state.fixes_asked;
        self.state.fixes_asked += 1;
        // The implementation failed as well, or no fix would be needed.
        let route = routing::of_item(self.item, self.state.fixes + 1);
        if self.policy.fix_with == FixWith::Tools {
            // The model receives the files of the current draft, without discarded amendments.
            self.actions.push(Action::Apply(self.state.draft.clone()));
        }
        self.ask(Stage::Fix, attempt, prompt, route);
        self.state.phase = Phase::AwaitFix;
    }

    pub(super) fn fix(&mut self, text: &str) {
        let upstream = &self.state.localized.upstream;
        if let Some(claim) = claim(text) {
            return self.claimed(claim);
        }
        match draft::fix(self.item, &self.state.draft, upstream, text) {
            Err(error @ DraftError::NoCode) => {
                let complaint = "it holds neither code nor an edit".to_owned();
                self.no_fix(complaint, error.to_string(), text);
            }
            Err(DraftError::Unusable(why)) => self.no_fix(why.clone(), why, text),
            found => self.fixed(found, text),
        }
    }

    /// Handles a fix made with tools. `files` holds the new texts, `before` the texts that the
    /// model received.
    pub(super) fn edited(
        &mut self,
        files: &BTreeMap<String, String>,
        before: &BTreeMap<String, String>,
    ) {
        let upstream = &self.state.localized.upstream;
        let found = draft::files(self.item, &self.state.draft, upstream, before, files);
        self.fixed(found, files.get(&self.item.path).map_or("", String::as_str));
    }

    fn fixed(&mut self, found: Result<NormalizedReply, DraftError>, text: &str) {
        self.state.fixes += 1;
        match found {
            Ok(found) => {
                let gave = self.state.reason.clone();
                let (old, new) =
                    (source(&self.state.draft.implementation), found.fragment.to_source());
                let change = trellis_python::unified_diff(&self.item.path, &old, &new);
                let change = std::mem::replace(&mut self.state.change, change);
                self.state.earlier.push(FailedAttempt { gave, change });
                self.try_out(found);
            }
            Err(error) => self.attempt_failed(error.to_string(), text),
        }
    }

    /// Sends an answer without usable code back with `complaint`. Once the limit is reached, the
    /// answer counts as a fix that failed with `reason`.
    pub(super) fn no_fix(&mut self, complaint: String, reason: String, text: &str) {
        if !self.may_send_back(&reason) {
            self.state.fixes += 1;
            return self.attempt_failed(reason, text);
        }
        self.note("malformed", format!("the fix was sent back: {complaint}"));
        self.ask_fix(Some(&complaint));
    }

    /// Records an answer that could not be run as a failed attempt. If an earlier implementation
    /// was run, its failure remains the one to fix.
    pub(super) fn attempt_failed(&mut self, why: String, text: &str) {
        self.note("attempt-unusable", why.clone());
        self.state.unusable += 1;
        if self.state.draft.implementation.is_some() {
            self.state.earlier.push(FailedAttempt::of(format!("(unusable) {why}")));
        } else {
            let shown = cut_middle(text.trim(), LONGEST);
            self.state.failure = format!("{why}\n\nYour answer was:\n{shown}");
            self.state.reason = why;
            self.state.query = Query { failures: Vec::new(), stack: Vec::new() };
        }
        self.search();
    }
}

/// Maximum number of votes on claims that a test is wrong, per draft of the tests.
const CLAIMS: u32 = 1;

/// Returns a fix's claim that a test is wrong, if the reply holds no code.
fn claim(text: &str) -> Option<&str> {
    let at = text.find("TEST IS WRONG:").filter(|_| !text.contains("```"))?;
    Some(text[at..].trim())
}

/// Returns the temperature of a vote: 0 for the first of [`VoteRule::AsNeeded`], which asks for the
/// likeliest answer; all others from 0.3 for the first to 0.7 for the last.
fn temperature(vote: u32, rule: VoteRule) -> f32 {
    if vote == 0 && matches!(rule, VoteRule::AsNeeded { .. }) {
        return 0.0;
    }
    let share = vote as f32 / rule.most().saturating_sub(1).max(1) as f32;
    // Requests send the number with two decimal places.
    ((0.3 + 0.4 * share) * 100.0).round() / 100.0
}
