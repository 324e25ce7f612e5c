//! What a door allows: limits and gates (T8, T9).

use crate::diagnosis::VoteRule;

/// How a model gives a fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FixWith {
    /// In one reply, from what the question shows.
    #[default]
    OneReply,
    /// It looks around and edits a copy of the files itself, until it is done.
    Tools,
}

/// The limits of one door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Fixes a node may get before it fails.
    pub fixes: u32,
    /// How often the red gate sends tests back.
    pub red_reasks: u32,
    /// How often tests judged wrong are written anew.
    pub regenerations: u32,
    /// How often an answer without any code is asked for again.
    pub malformed_reasks: u32,
    /// How often a failing run is repeated unchanged at most: what passes then is flaky (V4).
    pub reruns: u32,
    /// Opinions on what a failure means.
    pub votes: VoteRule,
    /// Fixes in a row that may end in the very same failure before a rule's diagnosis is put to the vote.
    pub trust: usize,
    /// Tokens of a question, about.
    pub context_tokens: usize,
    /// Fewer test cases than this are asked for once more.
    pub least_cases: usize,
    /// Runs that may be spent on adding missing imports, a draft.
    pub mends: u32,
    pub fix_with: FixWith,
    /// Fixes that pass are put before a person, or a rule of theirs, before they are accepted (R4).
    pub approve_fixes: bool,
}

impl Policy {
    /// The `generate` door.
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
            mends: 8,
            fix_with: FixWith::OneReply,
            approve_fixes: false,
        }
    }

    /// The `write-tests` door: no gates and no fixes; a test that fails may have found a bug.
    pub fn write_tests() -> Policy {
        Policy { fixes: 0, red_reasks: 0, regenerations: 0, mends: 0, ..Policy::generate() }
    }
}
