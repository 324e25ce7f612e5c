//! What the state machine and the world say to each other.

use crate::draft::Draft;
use crate::observation::{Failure, Frame, TestRun};

/// What the world said.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Work on the item begins.
    Begin,
    /// The model's text.
    Reply(String),
    /// What came of each question of a vote, in their order: a text, or why there is none.
    Votes(Vec<Result<String, String>>),
    /// No reply can be had.
    NoReply {
        reason: String,
    },
    Ran(TestRun),
    Found(Localized),
    /// Nobody is there to decide.
    NoHuman,
}

impl Observation {
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Observation::Begin => "a beginning",
            Observation::Reply(_) => "a reply",
            Observation::Votes(_) => "a vote",
            Observation::NoReply { .. } => "no reply",
            Observation::Ran(_) => "a test run",
            Observation::Found(_) => "a localization",
            Observation::NoHuman => "the news that nobody is there",
        }
    }
}

/// What a localization brought (L5; its depth is the driver's).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Localized {
    pub suspects: Vec<Suspect>,
}

/// A place that may hold the bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    pub path: String,
    pub line: u32,
    pub symbol: String,
    pub why: String,
}

/// What to localize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub failures: Vec<Failure>,
    /// The stack at the deadline of a run that timed out.
    pub stack: Vec<Frame>,
}

/// The stages of `recording.md` that this cycle asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    Tests,
    Implementation,
    Fix,
    Diagnosis,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Tests => "tests",
            Stage::Implementation => "implementation",
            Stage::Fix => "fix",
            Stage::Diagnosis => "diagnosis",
        }
    }
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    System,
    User,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub role: Role,
    pub text: String,
}

/// One question to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub stage: Stage,
    /// Counted from 0 within the stage of the item; for a diagnosis the vote.
    pub attempt: u32,
    pub temperature: f32,
    pub messages: Vec<Message>,
}

/// Something worth a line in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub what: &'static str,
    pub text: String,
}

/// How an item ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Passed,
    Failed {
        reason: String,
    },
    /// A person has to look; `failed` with the reason `needs_human: …`.
    NeedsHuman {
        reason: String,
    },
    /// An environment issue.
    Skipped {
        reason: String,
    },
}

/// How the tests are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// With a stub in place of the draft's implementation.
    Red,
    Green,
    /// The same as before, once more, with coverage where it can be had.
    Again,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    AskModel(Ask),
    /// Several questions, put at once.
    Vote(Vec<Ask>),
    /// Replaces the item's draft in the buffer.
    Edit(Draft),
    /// Runs the item's tests on the tree plus the draft.
    RunTests(Run),
    Search(Query),
    AskHuman {
        question: String,
    },
    /// Accepts the draft into the workspace.
    Commit,
    /// Takes the draft back.
    Revert,
    Note(Note),
    Finish(Verdict),
}
