//! Drafts a plan from a specification: features, layout, interfaces, review. Each reply of the model
//! is checked without running anything, and sent back with its problems.
//!
//! ```text
//! sentences ──> features ──> layout ──> interface of each file ──> review ──> plan
//!                  ^  │         ^  │          ^  │                    │
//!                  └──┘         └──┘          └──┴── problems ────────┘   at most twice a part
//! ```

mod docstring_sections;
mod features;
mod imports;
mod interface_checks;
mod interfaces;
mod json_reply;
mod layout;
mod machine;
mod parts;
mod plan_file;
mod questions;
mod review;

use std::collections::BTreeSet;

use crate::vocabulary::Stage;
use trellis_plan::{Sentence, SentenceKind};

pub(crate) use json_reply::json_reply;

pub use features::{Feature, Features, Leaf};
pub use interface_checks::Surroundings;
pub use interfaces::{Interface, PlannedDefinition, PlannedKind};
pub use layout::{Layout, PlannedFile, PlannedFlow};
pub use machine::{Action, DraftMachine, Event, PartDecision};
pub use plan_file::{SpecFile, plan_file};
pub use review::{Review, ReviewFinding};

/// Length, in bytes, from which a specification is shown in extracts to parts that need only a few
/// of its sentences.
const LONG: usize = 12_000;
/// Number of sentences shown before and after each that a part needs.
const NEAR: usize = 2;

/// Sentences of a specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentences(Vec<Sentence>);

impl Sentences {
    pub fn new(all: Vec<Sentence>) -> Sentences {
        Sentences(all)
    }

    /// Returns whether there is a sentence of this number.
    pub fn has(&self, number: usize) -> bool {
        self.0.iter().any(|it| it.number == number)
    }

    /// Returns numbers and texts.
    pub fn all(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().map(|it| (it.number, it.text.as_str()))
    }

    /// Returns the sentences as the plan keeps them.
    pub fn kept(&self) -> &[Sentence] {
        &self.0
    }

    /// Returns those that features have to serve: no headings.
    pub(crate) fn to_serve(&self) -> impl Iterator<Item = (usize, &str)> {
        let all = self.0.iter().filter(|it| it.kind != SentenceKind::Heading);
        all.map(|it| (it.number, it.text.as_str()))
    }

    /// Returns the sentences as numbered lines.
    pub fn listed(&self) -> String {
        self.all().map(|(number, text)| format!("{number}. {text}\n")).collect()
    }

    /// Returns the sentences as numbered lines; of a long text only the headings, and what is near
    /// the given sentences.
    pub(crate) fn listed_around(&self, numbers: &BTreeSet<usize>) -> String {
        let all = self.listed();
        if all.len() <= LONG {
            return all;
        }
        let is_near = |number: usize| {
            let near = number.saturating_sub(NEAR)..=number + NEAR;
            numbers.range(near).next().is_some()
        };
        let kept =
            self.0.iter().filter(|it| it.kind == SentenceKind::Heading || is_near(it.number));
        kept.map(|it| format!("{}. {}\n", it.number, it.text)).collect()
    }
}

/// Options of a draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftOptions {
    pub size: DraftSize,
    /// The model may ask the person questions first.
    pub interview: bool,
    /// A person decides on every part.
    pub stepwise: bool,
}

/// Sizes of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftSize {
    Small,
    #[default]
    Medium,
    Large,
}

impl DraftSize {
    /// Returns the word for people and prompts.
    pub fn as_str(self) -> &'static str {
        match self {
            DraftSize::Small => "small",
            DraftSize::Medium => "medium",
            DraftSize::Large => "large",
        }
    }
}

/// A part of a draft that is asked for by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Features,
    Layout,
    /// The interface of the file with this path.
    Interface(String),
    Review,
}

impl Part {
    /// Returns the stage of its requests.
    pub fn stage(&self) -> Stage {
        match self {
            Part::Features => Stage::Features,
            Part::Layout => Stage::Layout,
            Part::Interface(_) => Stage::Interface,
            Part::Review => Stage::Review,
        }
    }

    /// Returns the id under which its requests are journaled and recorded: the path of an
    /// interface's file, `plan` for the whole.
    pub fn id(&self) -> &str {
        match self {
            Part::Interface(path) => path,
            _ => "plan",
        }
    }
}

/// A finished draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    pub features: Features,
    pub layout: Layout,
    /// Interfaces, each after those of the files that it uses.
    pub interfaces: Vec<Interface>,
    /// Problems that the model did not solve.
    pub problems: Vec<Problem>,
}

/// A problem of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub part: Part,
    pub text: String,
}

/// Returns the dotted name, inside the package, of the module at a path such as `io/reader.py`.
pub(crate) fn module_of(path: &str) -> String {
    path.strip_suffix(".py").unwrap_or(path).replace('/', ".")
}

/// Returns numbers as `3, 4`.
pub(crate) fn numbers(all: &[usize]) -> String {
    all.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
