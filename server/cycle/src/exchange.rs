//! What the state machine and the world say to each other.

use std::collections::BTreeMap;

use code::Fragment;

use crate::debug_context::DebugContext;
use crate::draft::Draft;
use crate::item::Item;
use crate::observation::{Failure, Frame, TestRun};
use crate::prompt::Prompt;
use crate::routing::Tier;
use crate::strategy::Attempt;

/// What the world said.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// Work on the item begins.
    Begin,
    /// The model's text.
    Reply(String),
    /// There was an answer and no text to judge: the model declined, a filter took it, it was empty. Handled
    /// like a text without code.
    Unusable {
        /// A fragment, for the model: "the model declined to answer".
        why: String,
    },
    /// The model worked with tools, and is done.
    Edited {
        /// The full new texts of the files it changed, by path.
        files: BTreeMap<String, String>,
        /// The same files as it was given them; one that is missing here is new.
        before: BTreeMap<String, String>,
    },
    /// What came of each question of a vote, in their order: a text, or why there is none.
    Votes(Vec<Result<String, String>>),
    /// No reply can be had.
    NoReply {
        reason: String,
    },
    Ran(TestRun),
    Found(Localized),
    /// All attempts were used up, and there is no suspect (L6).
    Exhausted(Vec<Attempt>),
    /// Nothing else is under way, and nothing will be until the item ends.
    Alone,
    /// Nobody is there to decide.
    NoHuman,
    /// A person, or a rule that a person set, lets the fix stay.
    Approved {
        /// Who or what.
        by: String,
    },
    /// A person wants it otherwise.
    Rewritten {
        /// The full texts of files as they want them, by path.
        files: BTreeMap<String, String>,
        /// The same files with the fix.
        before: BTreeMap<String, String>,
    },
    /// A person does not want the fix.
    Declined {
        why: String,
    },
}

impl Observation {
    pub(crate) fn what(&self) -> &'static str {
        match self {
            Observation::Begin => "a beginning",
            Observation::Reply(_) => "a reply",
            Observation::Edited { .. } => "edited files",
            Observation::Unusable { .. } => "an unusable reply",
            Observation::Votes(_) => "a vote",
            Observation::NoReply { .. } => "no reply",
            Observation::Ran(_) => "a test run",
            Observation::Found(_) | Observation::Exhausted(_) => "a localization",
            Observation::Alone => "its turn",
            Observation::NoHuman => "the report that no one reviews",
            Observation::Approved { .. }
            | Observation::Rewritten { .. }
            | Observation::Declined { .. } => "a decision",
        }
    }
}

/// What a localization brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Localized {
    /// The likeliest first.
    pub suspects: Vec<Suspect>,
    /// Items among the suspects that have passed before; a fix may change them.
    pub upstream: Vec<Upstream>,
    /// Every attempt so far.
    pub attempts: Vec<Attempt>,
}

/// An attempt that did not do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Earlier {
    /// What came of it, in a line.
    pub(crate) gave: String,
    /// What it changed, as a unified diff; empty for a first implementation.
    pub(crate) change: String,
}

impl Earlier {
    /// One without a change to show.
    pub(crate) fn of(gave: String) -> Earlier {
        Earlier { gave, change: String::new() }
    }
}

/// A place that may hold the bug.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suspect {
    pub path: String,
    pub line: u32,
    /// `Class.method`, or the plain name.
    pub symbol: String,
    /// From 0 to 1; 0 where nothing was measured.
    pub score: f64,
    pub why: String,
    /// Its text; empty where it is not to be shown.
    pub source: String,
    /// Its docstring in the plan, where it is another item.
    pub specification: String,
    /// Signatures of what it calls.
    pub calls: Vec<String>,
    /// Names of who calls it.
    pub callers: Vec<String>,
}

/// An item that passed before and stands under the one being worked on.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    pub item: Item,
    pub implementation: Fragment,
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
    IntegrationTests,
    WriteTests,
    /// What is wrong with a repository that nobody planned.
    Report,
    /// A fix of it.
    Repair,
    /// Tests of a piece of work that is told in words.
    Scaffold,
    /// Tests of all pieces together.
    Integration,
    /// A file that two of them have changed in the same place.
    Merge,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Tests => "tests",
            Stage::Implementation => "implementation",
            Stage::Fix => "fix",
            Stage::Diagnosis => "diagnosis",
            Stage::IntegrationTests => "integration_tests",
            Stage::WriteTests => "write_tests",
            Stage::Report => "report",
            Stage::Repair => "repair",
            Stage::Scaffold => "scaffold",
            Stage::Integration => "integration",
            Stage::Merge => "merge",
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
    /// What is asked; rendered for a number of tokens.
    pub prompt: Prompt,
    /// Of the file its words are in.
    pub prompt_version: u32,
    /// Which model is to answer.
    pub tier: Tier,
    /// Why that one.
    pub why: &'static str,
    /// Whether it is given tools to look around and to edit; then [`Observation::Edited`] answers.
    pub tools: bool,
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
    /// Waits until nothing else is under way: what comes next touches what others build on.
    AwaitTurn,
    /// Runs the tests of the items the draft amends and of all that build on them (V1).
    RunRegression,
    /// Leaves a page for the person who is called.
    Explain(Box<DebugContext>),
    AskHuman {
        question: String,
    },
    /// Asks whether a fix that passes may stay (R4); the decision may take days.
    AskApproval,
    /// Accepts the draft into the workspace.
    Commit,
    /// Takes the draft back.
    Revert,
    Note(Note),
    Finish(Verdict),
}
