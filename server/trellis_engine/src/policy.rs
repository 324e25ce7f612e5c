//! Limits and gates of a workflow (T8, T9).

use crate::diagnosis::VoteRule;

/// Ways in which a model returns a fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FixWith {
    /// In one reply, based on the prompt alone.
    #[default]
    OneReply,
    /// With tools: the model reads and edits a copy of the files until it is done.
    Tools,
}

/// The limits of one workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Maximum number of fixes before a node fails.
    pub fixes: u32,
    /// Maximum number of times the red gate sends tests back.
    pub red_reasks: u32,
    /// Maximum number of times tests judged wrong are written anew.
    pub regenerations: u32,
    /// Maximum number of repeated requests after answers without code.
    pub malformed_reasks: u32,
    /// Maximum number of unchanged repeats of a failing run; tests that pass then are flaky (V4).
    pub reruns: u32,
    /// Votes on the cause of a failure.
    pub votes: VoteRule,
    /// Number of fixes in a row with the same failure after which votes replace a rule's diagnosis.
    pub trust: usize,
    /// Approximate limit of a prompt, in tokens.
    pub context_tokens: usize,
    /// Minimum number of test cases; if there are fewer, more are requested once.
    pub least_cases: usize,
    /// Maximum number of runs per draft spent on adding missing imports.
    pub import_fixes: u32,
    pub fix_with: FixWith,
    /// True if passing fixes need approval by a person, or by a rule set by a person (R4).
    pub approve_fixes: bool,
}

impl Policy {
    /// Returns the limits of the `generate` workflow.
    pub fn generate() -> Policy {
        Policy {
            fixes: 8,
            red_reasks: 2,
            regenerations: 2,
            malformed_reasks: 2,
            reruns: 5,
            votes: VoteRule::AsNeeded { most: 5 },
            trust: 2,
            context_tokens: 12_000,
            least_cases: 3,
            import_fixes: 8,
            fix_with: FixWith::OneReply,
            approve_fixes: false,
        }
    }

    /// Returns the limits of the `write-tests` workflow: no gates and no fixes, because a failing
    /// test may have found a bug.
    pub fn write_tests() -> Policy {
        Policy { fixes: 0, red_reasks: 0, regenerations: 0, import_fixes: 0, ..Policy::generate() }
    }
}
