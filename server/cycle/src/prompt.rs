//! A question to a model: the words of its stage (see [`template`]), and the facts as sections that are
//! rendered within a budget.

pub(crate) mod questions;
pub(crate) mod template;

use std::fmt::Write as _;

use crate::context::{self, Section};
use crate::exchange::{Message, Role, Stage};
use crate::item::Item;
use crate::prompt::template::{
    DIAGNOSIS, FEATURE_MERGE, FEATURE_TESTS, FEATURE_TOGETHER, FIX, FIX_WITH_TOOLS, IMPLEMENTATION,
    INTEGRATION_TESTS, REPAIR, REPAIR_WITH_TOOLS, REPORT, TESTS, Template, WRITE_TESTS,
};

/// What stands around the item when it is begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The item's file as it is; empty when there is none yet.
    pub file: String,
    /// The user's context files: path and text.
    pub context: Vec<(String, String)>,
    /// How code is written here, one rule each.
    pub conventions: Vec<String>,
}

/// A question as data: what is said first, and its sections in the order in which they are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub system: String,
    pub sections: Vec<Section>,
}

/// Which sections go first when room gets short, the greatest first (see [`Section`]).
pub(crate) mod rank {
    /// What to do: without it there is no question.
    pub(crate) const TASK: u32 = 0;
    /// What the answer is measured by: specification, failure, complaint.
    pub(crate) const CORE: u32 = 1;
    /// The code in question.
    pub(crate) const CODE: u32 = 2;
    pub(crate) const TESTS: u32 = 3;
    /// The first suspect; each one further down is worth less.
    pub(crate) const SUSPECT: u32 = 4;
    pub(crate) const EARLIER: u32 = 10;
    pub(crate) const IN_VAIN: u32 = 11;
    pub(crate) const CONVENTIONS: u32 = 12;
    pub(crate) const FILE: u32 = 13;
    pub(crate) const CONTEXT: u32 = 14;
    pub(crate) const DEPENDENTS: u32 = 15;
}

impl Prompt {
    pub(crate) fn new(words: &Template, sections: Vec<Section>) -> Prompt {
        Prompt { system: words.say("system", &[]), sections }
    }

    /// The question in about `tokens` tokens. What does not fit is cut or left out, the least telling first, and
    /// named at the end. The task is always whole, and something is left of what the answer is measured by: so
    /// a budget that is too small for them is exceeded.
    pub fn messages(&self, tokens: usize) -> Vec<Message> {
        let left = tokens.saturating_sub(context::tokens(&self.system));
        vec![
            Message { role: Role::System, text: self.system.clone() },
            Message { role: Role::User, text: context::build(&self.sections, left) },
        ]
    }
}

/// The words of a stage, for a model with tools or without.
pub(crate) fn words(stage: Stage, tools: bool) -> &'static Template {
    match stage {
        Stage::Fix if tools => &FIX_WITH_TOOLS,
        Stage::Repair if tools => &REPAIR_WITH_TOOLS,
        Stage::Tests => &TESTS,
        Stage::Implementation => &IMPLEMENTATION,
        Stage::Fix => &FIX,
        Stage::Diagnosis => &DIAGNOSIS,
        Stage::IntegrationTests => &INTEGRATION_TESTS,
        Stage::WriteTests => &WRITE_TESTS,
        Stage::Report => &REPORT,
        Stage::Repair => &REPAIR,
        Stage::Scaffold => &FEATURE_TESTS,
        Stage::Integration => &FEATURE_TOGETHER,
        Stage::Merge => &FEATURE_MERGE,
    }
}

/// What the plan says about the item.
fn specification(item: &Item) -> String {
    let mut out = contract(item);
    list(&mut out, "Third-party packages available", item.libraries.iter().cloned());
    out
}

/// The same without what only the author of new code has to know.
fn contract(item: &Item) -> String {
    let mut out =
        format!("`{}`, a {} in `{}`", item.qualified_name(), item.kind.as_str(), item.path);
    if let Some(signature) = &item.signature {
        let decorator = if item.is_static() { "@staticmethod\n" } else { "" };
        let _ = write!(out, ":\n```python\n{decorator}{}\n```", signature.header());
    }
    let _ = write!(out, "\n\n{}\n", item.docstring.trim());
    list(&mut out, "Examples", item.examples.iter().map(|it| format!("`{it}`")));
    let dependencies = item.dependencies.iter().map(|it| {
        let import = format!("from {} import {}", it.module, it.import_name);
        format!("`{import}`: `{}` {}", it.signature, it.summary)
    });
    list(&mut out, "It may use (written and tested)", dependencies);
    out
}

/// Who will use the item, the file as it is, and what the user wants to be known.
fn background(item: &Item, around: &Surroundings) -> Vec<Section> {
    let users = item.dependents.iter();
    let users: Vec<String> =
        users.map(|it| format!("`{}`: `{}` {}", it.name, it.signature, it.summary)).collect();
    let users = users.iter().map(|it| it.trim_end());
    let mut out = Vec::from_iter(listed(rank::DEPENDENTS, "Who will use it", users));
    let conventions = around.conventions.iter().map(String::as_str);
    out.extend(listed(rank::CONVENTIONS, "Conventions", conventions));
    if !around.file.is_empty() {
        let title = format!("`{}` so far", item.path);
        out.push(Section::new(rank::FILE, title, python(&around.file)));
    }
    if !around.context.is_empty() {
        let files = around.context.iter().map(|(path, text)| format!("### {path}\n{text}\n"));
        out.push(Section::new(rank::CONTEXT, "Project context", files.collect::<String>()));
    }
    out
}

pub(crate) fn python(code: &str) -> String {
    format!("```python\n{}\n```\n", code.trim_end())
}

pub(crate) fn listed<'a>(
    rank: u32,
    title: &str,
    entries: impl Iterator<Item = &'a str>,
) -> Option<Section> {
    let body: String = entries.map(|entry| format!("- {entry}\n")).collect();
    (!body.is_empty()).then(|| Section::new(rank, title, body))
}

fn list(out: &mut String, title: &str, entries: impl Iterator<Item = String>) {
    let mut entries = entries.peekable();
    if entries.peek().is_some() {
        let _ = write!(out, "\n{title}:\n");
        entries.for_each(|entry| {
            let _ = writeln!(out, "- {entry}");
        });
    }
}
