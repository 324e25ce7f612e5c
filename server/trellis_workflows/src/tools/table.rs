//! The table of tools, and types that all tools share.

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

/// All tools, in the order in which they are presented to a model.
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

/// Input of a tool: a snapshot, so that an abandoned call does no harm.
pub(super) struct ToolContext {
    pub(super) copy: Overlay,
    pub(super) leads: Arc<Hints>,
    /// Maximum bytes of the answer.
    pub(super) room: usize,
    /// Time by which the answer is due; only slow tools check it.
    pub(super) deadline: Instant,
}

/// Answer of a tool, with the changes it wants.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) changes: Vec<Changed>,
    /// The model's summary, once it says that it is done.
    pub(super) done: Option<String>,
    /// True if a search found nothing.
    pub(super) is_empty: bool,
}

impl Answer {
    pub(super) fn of(text: String) -> Answer {
        Answer { text, changes: Vec::new(), done: None, is_empty: false }
    }

    /// Returns the answer of a search without results.
    pub(super) fn nothing(text: String) -> Answer {
        Answer { is_empty: true, ..Answer::of(text) }
    }
}

/// An answer; or an error for the model with reason and remedy, in which case nothing was changed.
pub(super) type Outcome = Result<Answer, String>;

/// A tool: arguments that can be run.
pub(super) trait Run: Arguments {
    fn run(self, scene: &ToolContext) -> Outcome;

    /// Returns whether the tool is useful with these hints.
    fn is_offered(_: &Hints) -> bool {
        true
    }
}

/// An entry of the table.
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

/// Returns the tools that are useful with these hints.
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
