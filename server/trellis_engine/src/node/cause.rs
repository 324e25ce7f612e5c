//! Reasons for giving an item up, as an enum: the next steps depend on the kind.

/// Obstacle that kept an item from passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A package, a program, a service or a resource of the machine is missing.
    Environment,
    /// The item's tests pass and fail with the same code.
    Flaky,
    /// The model gave no reply.
    NoAnswer,
    /// The red gate sent tests back as often as the policy allows.
    NoTests,
    /// Tests were judged wrong as often as the policy allows new ones.
    WrongTests,
    /// All fixes were used up.
    FixLimit,
    /// A definition written by a person does not pass.
    ByHand,
    /// The votes on a failure do not agree.
    SplitVote,
    /// Localization found no suspect.
    NothingFound,
    /// A person declined the fix.
    Declined,
    /// The fix awaits a person's decision.
    Unapproved,
    /// A person's version of the fix fails.
    Rewritten,
    /// The item passed alone and fails in the whole suite.
    WholeSuite,
    /// The state machine received an unexpected observation.
    Internal,
}

impl Cause {
    pub const ALL: [Cause; 14] = [
        Cause::Environment,
        Cause::Flaky,
        Cause::NoAnswer,
        Cause::NoTests,
        Cause::WrongTests,
        Cause::FixLimit,
        Cause::ByHand,
        Cause::SplitVote,
        Cause::NothingFound,
        Cause::Declined,
        Cause::Unapproved,
        Cause::Rewritten,
        Cause::WholeSuite,
        Cause::Internal,
    ];

    /// Returns the name in kebab case, such as `fix-limit`.
    pub fn as_str(self) -> &'static str {
        match self {
            Cause::Environment => "environment",
            Cause::Flaky => "flaky",
            Cause::NoAnswer => "no-answer",
            Cause::NoTests => "no-tests",
            Cause::WrongTests => "wrong-tests",
            Cause::FixLimit => "fix-limit",
            Cause::ByHand => "by-hand",
            Cause::SplitVote => "split-vote",
            Cause::NothingFound => "nothing-found",
            Cause::Declined => "declined",
            Cause::Unapproved => "unapproved",
            Cause::Rewritten => "rewritten",
            Cause::WholeSuite => "whole-suite",
            Cause::Internal => "internal",
        }
    }

    /// Parses a name written by [`Cause::as_str`].
    pub fn parse(text: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|it| it.as_str() == text)
    }
}
