//! Diagnosis of failures (V3, V4): reruns find flaky tests, rules decide the clear cases, and votes
//! decide the rest: one if the model is sure, else a majority.

mod examples;
mod rerun_history;
mod rules;
mod votes;

pub use rerun_history::{Flakiness, RerunHistory, uses_nondeterminism};
pub use rules::{ProjectFacts, diagnose};
pub use votes::{VoteRule, VoteTally, Votes};

/// Causes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Diagnosis {
    Implementation,
    Test,
    Environment,
    /// The same code both fails and passes.
    Flaky,
}

impl Diagnosis {
    /// Returns `implementation`, `test`, `environment` or `flaky`.
    pub fn as_str(self) -> &'static str {
        match self {
            Diagnosis::Implementation => "implementation",
            Diagnosis::Test => "test",
            Diagnosis::Environment => "environment",
            Diagnosis::Flaky => "flaky",
        }
    }
}

/// A diagnosis by a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub diagnosis: Diagnosis,
    /// The rule's name, such as `undefined-name`.
    pub rule: &'static str,
    /// One sentence for people.
    pub why: String,
}
