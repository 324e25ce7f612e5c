//! The one table of tools, and what all of them share.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use super::arguments::{Arguments, Field, schema, short};
use super::files::{DeleteFile, EditFile, ListFiles, ReadFile, WriteFile};
use super::grep::Grep;
use super::hints::{Hints, SearchPlan, Suspects};
use super::overlay::{Changed, Overlay};
use super::rename::{RenameSymbol, SafeDeleteSymbol};
use super::symbol_edits::{InsertAfterSymbol, InsertBeforeSymbol, ReplaceSymbolBody};
use super::symbols::{Callers, FindReferences, FindSymbol};

/// Every tool, in the order in which a model is told of them.
const TABLE: [Entry; 17] = [
    Entry::of::<Suspects>(),
    Entry::of::<SearchPlan>(),
    Entry::of::<ListFiles>(),
    Entry::of::<ReadFile>(),
    Entry::of::<Grep>(),
    Entry::of::<FindSymbol>(),
    Entry::of::<FindReferences>(),
    Entry::of::<Callers>(),
    Entry::of::<EditFile>(),
    Entry::of::<WriteFile>(),
    Entry::of::<DeleteFile>(),
    Entry::of::<ReplaceSymbolBody>(),
    Entry::of::<InsertBeforeSymbol>(),
    Entry::of::<InsertAfterSymbol>(),
    Entry::of::<RenameSymbol>(),
    Entry::of::<SafeDeleteSymbol>(),
    Entry::of::<Done>(),
];

/// What a tool sees: a snapshot, so that one that is given up on harms nobody.
pub(super) struct ToolContext {
    pub(super) copy: Overlay,
    pub(super) leads: Arc<Hints>,
    /// Bytes for the answer.
    pub(super) room: usize,
    /// When the answer has to be there; only what may take long looks.
    pub(super) deadline: Instant,
}

/// What a tool has to say, and what it wants changed.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) changes: Vec<Changed>,
    /// The model's own words on what it did, once it says it is done.
    pub(super) done: Option<String>,
    /// What was looked for is not there.
    pub(super) is_empty: bool,
}

impl Answer {
    pub(super) fn of(text: String) -> Answer {
        Answer { text, changes: Vec::new(), done: None, is_empty: false }
    }

    /// A search in vain.
    pub(super) fn nothing(text: String) -> Answer {
        Answer { is_empty: true, ..Answer::of(text) }
    }
}

/// An answer, or what went wrong, why, and what to do, for the model; nothing was changed then.
pub(super) type Outcome = Result<Answer, String>;

/// A tool: arguments that can be run.
pub(super) trait Run: Arguments {
    fn run(self, scene: &ToolContext) -> Outcome;

    /// Whether there is anything to be had from it.
    fn is_offered(_: &Hints) -> bool {
        true
    }
}

/// A line of the table.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: &'static str,
    about: &'static str,
    fields: &'static [Field],
    is_offered: fn(&Hints) -> bool,
    run: fn(&Map<String, Value>, &ToolContext) -> Outcome,
}

impl Entry {
    const fn of<T: Run>() -> Entry {
        Entry {
            name: T::NAME,
            about: T::ABOUT,
            fields: T::FIELDS,
            is_offered: T::is_offered,
            run: run::<T>,
        }
    }

    pub(super) fn tool(&self) -> trellis_llm::Tool {
        trellis_llm::Tool {
            name: self.name.to_owned(),
            description: self.about.to_owned(),
            parameters: schema(self.fields),
        }
    }

    pub(super) fn run(&self, given: &Map<String, Value>, scene: &ToolContext) -> Outcome {
        (self.run)(given, scene)
    }
}

fn run<T: Run>(given: &Map<String, Value>, scene: &ToolContext) -> Outcome {
    let arguments = T::read(given).map_err(|wrong| {
        let (name, wrong, short) = (T::NAME, wrong.join("; "), short(T::FIELDS));
        format!("{name} was not run: {wrong}; it takes {short}")
    })?;
    arguments.run(scene)
}

/// The tools that are of use with these leads.
pub(super) fn offered(leads: &Hints) -> impl Iterator<Item = Entry> {
    TABLE.into_iter().filter(|it| (it.is_offered)(leads))
}

super::arguments::tool! {
    "done",
    "Ends the work. Call it once everything is done, or when nothing more can be done.",
    Done {
        summary: Option<String> = "what was changed and why, in a sentence or two; or why nothing was",
    }
}

impl Run for Done {
    fn run(self, _: &ToolContext) -> Outcome {
        let text = "the work is done".to_owned();
        Ok(Answer { done: Some(self.summary.unwrap_or_default()), ..Answer::of(text) })
    }
}
