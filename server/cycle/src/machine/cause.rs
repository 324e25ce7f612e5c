//! Why an item was given up, as a kind: what is to be done about it depends on that.

/// What kept an item from passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// A package, a program, a service or the machine lacks something.
    Environment,
    /// Its tests pass and fail with the same code.
    Flaky,
    /// No answer could be had from the model.
    NoAnswer,
    /// Tests were sent back by the red gate as often as it may.
    NoTests,
    /// Tests were judged wrong as often as they may be written anew.
    WrongTests,
    /// All fixes were used up.
    FixLimit,
    /// A person's definition does not pass.
    ByHand,
    /// The votes on a failure do not agree.
    SplitVote,
    /// Localization found no suspect.
    NothingFound,
    /// A person declined the fix.
    Declined,
    /// Nobody has decided about the fix.
    Unapproved,
    /// A person's version of the fix fails.
    Rewritten,
    /// It passed alone and fails in the whole suite.
    WholeSuite,
    /// The cycle met what it does not expect.
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

    /// `fix-limit` and the like.
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

    /// Reads what [`Cause::as_str`] wrote.
    pub fn parse(text: &str) -> Option<Cause> {
        Cause::ALL.into_iter().find(|it| it.as_str() == text)
    }
}
