//! What a failure means (V3, V4): a repeat tells the flaky ones, rules tell what needs no opinion, and a
//! judge decides the rest, or a majority of votes while it is not sure.

mod examples;
mod repeats;
mod rules;
mod votes;

pub use repeats::{Repeats, Steadiness, is_doubtful};
pub use rules::{Circumstances, diagnose};
pub use votes::{Standing, VoteRule, Votes};

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Diagnosis {
    Implementation,
    Test,
    Environment,
    /// The same code both fails and passes.
    Flaky,
}

impl Diagnosis {
    /// `implementation`, `test`, `environment` or `flaky`.
    pub fn as_str(self) -> &'static str {
        match self {
            Diagnosis::Implementation => "implementation",
            Diagnosis::Test => "test",
            Diagnosis::Environment => "environment",
            Diagnosis::Flaky => "flaky",
        }
    }
}

/// A diagnosis that needed no vote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub diagnosis: Diagnosis,
    /// The rule's name, such as `undefined-name`.
    pub rule: &'static str,
    /// One sentence for people.
    pub why: String,
}
