//! Types that all state machines and their drivers exchange: requests, replies, decisions and
//! outcomes.

use std::collections::BTreeMap;

use trellis_python::Fragment;

use crate::item::Item;
use crate::observation::{Failure, Frame};
use crate::prompt::Prompt;
use crate::routing::Tier;
use crate::strategy::Attempt;

/// Reply of a model to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    Text(String),
    /// The model has finished a request with tools.
    Edited(EditedFiles),
    /// A reply without usable text: the model declined, a filter removed the text, or it was empty.
    /// Handled like a text without code.
    Unusable {
        /// A fragment for the model: "the model declined to answer".
        why: String,
    },
    /// The request failed for good.
    Failed {
        reason: String,
    },
}

/// Files after an edit, and before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditedFiles {
    /// Full new texts of the changed files, by path.
    pub files: BTreeMap<String, String>,
    /// The same files before the edit; a file missing here is new.
    pub before: BTreeMap<String, String>,
}

/// Decision on a change that passed its tests: by a person, or by a rule in place of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Accept {
        /// The person or the rule.
        by: String,
    },
    /// The change is accepted as the person edited it; the edit has to pass the tests.
    AcceptEdited(EditedFiles),
    Reject {
        /// The person's reason; empty if there is none.
        why: String,
    },
    /// The change waits as a proposal of this id, or as this branch or commit.
    Defer { proposal: String },
    /// The change is dropped, and the work on its cause ends.
    Skip,
    /// All work ends.
    Stop,
    /// No person is available to decide.
    NoReviewer,
}

/// Result of a localization.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Localization {
    /// Suspects, the likeliest first.
    pub suspects: Vec<Suspect>,
    /// Items among the suspects that have passed before; a fix may change them.
    pub upstream: Vec<Upstream>,
    /// All attempts so far.
    pub attempts: Vec<Attempt>,
}

/// A failed earlier attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FailedAttempt {
    /// Its outcome in one line.
    pub(crate) gave: String,
    /// Its change as a unified diff; empty for a first implementation.
    pub(crate) change: String,
}

impl FailedAttempt {
    /// Creates an attempt without a change to show.
    pub(crate) fn of(gave: String) -> FailedAttempt {
        FailedAttempt { gave, change: String::new() }
    }
}

/// A place in the code that may hold the bug.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suspect {
    pub path: String,
    pub line: u32,
    /// `Class.method`, or the plain name.
    pub symbol: String,
    /// A score from 0 to 1; 0 if nothing was measured.
    pub score: f64,
    pub why: String,
    /// The suspect's source; empty if it is not to be shown.
    pub source: String,
    /// The suspect's docstring in the plan, if it is another item.
    pub specification: String,
    /// Signatures of the suspect's callees.
    pub calls: Vec<String>,
    /// Names of the suspect's callers.
    pub callers: Vec<String>,
}

/// An item that passed before and that the current item depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    pub item: Item,
    pub implementation: Fragment,
}

/// Input of a localization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    pub failures: Vec<Failure>,
    /// Stack at the deadline of a run that timed out.
    pub stack: Vec<Frame>,
}

/// Stages of `recording.md` for which this cycle sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    Tests,
    Implementation,
    Fix,
    Diagnosis,
    IntegrationTests,
    /// Tests of a feature of the specification, before any code.
    AcceptanceTests,
    WriteTests,
    /// Diagnosis of a failure in a repository without a plan.
    Report,
    /// Fix of such a failure.
    Repair,
    /// Tests of a task described in prose.
    Scaffold,
    /// Tests of all tasks together.
    Integration,
    /// A file that two tasks have changed in the same place.
    Merge,
    /// Features of a described project.
    Features,
    /// Files of a described project.
    Layout,
    /// Interface of one file of a described project.
    Interface,
    /// Second look at the plan of a described project.
    Review,
    /// Docstrings that existing code does not have.
    Describe,
}

impl Stage {
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Tests => "tests",
            Stage::Implementation => "implementation",
            Stage::Fix => "fix",
            Stage::Diagnosis => "diagnosis",
            Stage::IntegrationTests => "integration_tests",
            Stage::AcceptanceTests => "acceptance_tests",
            Stage::WriteTests => "write_tests",
            Stage::Report => "report",
            Stage::Repair => "repair",
            Stage::Scaffold => "scaffold",
            Stage::Integration => "integration",
            Stage::Merge => "merge",
            Stage::Features => "features",
            Stage::Layout => "layout",
            Stage::Interface => "interface",
            Stage::Review => "review",
            Stage::Describe => "describe",
        }
    }
}

/// Author of a message.
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

/// One request to the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub stage: Stage,
    /// Number of the request, counted from 0 within the stage of the item; for a diagnosis the
    /// number of the vote.
    pub attempt: u32,
    pub temperature: f32,
    /// The prompt; rendered for a limit of tokens.
    pub prompt: Prompt,
    /// Version of the prompt's template file.
    pub prompt_version: u32,
    /// Tier of the model that answers.
    pub tier: Tier,
    /// Reason for the tier.
    pub why: &'static str,
    /// True if the model gets tools to read and edit files; then [`Reply::Edited`] answers.
    pub tools: bool,
}

/// An entry for the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub what: &'static str,
    pub text: String,
}

/// Final outcome of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed {
        reason: String,
    },
    /// A person has to look; recorded as `failed` with the reason `needs_human: …`.
    NeedsHuman {
        reason: String,
    },
    /// The environment prevents a result.
    Skipped {
        reason: String,
    },
    /// A person reviewed the change and left it on its branch.
    Deferred,
}

/// Mode of a test run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// With a stub in place of the draft's implementation.
    Red,
    Green,
    /// The previous run again, with coverage if available.
    Again,
}
