//! Prompts: the texts of a stage (see [`template`]), and facts as sections that are rendered within
//! a budget.

pub(crate) mod prompts;
pub(crate) mod template;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::item::{Dependency, Dependent, Item};
use crate::prompt::template::{
    ACCEPTANCE_TESTS, DESCRIBE, DIAGNOSIS, FEATURE_MERGE, FEATURE_TESTS, FEATURE_TOGETHER, FIX,
    FIX_WITH_TOOLS, IMPLEMENTATION, INTEGRATION_TESTS, PLAN_FEATURES, PLAN_INTERFACES, PLAN_LAYOUT,
    PLAN_REVIEW, REPAIR, REPAIR_WITH_TOOLS, REPORT, TESTS, Template, WRITE_TESTS,
};
use crate::prompt_budget::{self, Section};
use crate::vocabulary::{Message, Role, Stage};

/// Surroundings of the item when its work begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ItemContext {
    /// Current text of the item's file; empty if the file does not exist yet.
    pub file: String,
    /// Current texts of the other files that the item may use, by dotted module.
    pub written: BTreeMap<String, String>,
    /// The user's context files: path and text.
    pub context: Vec<(String, String)>,
    /// Conventions of the project's code, one rule each.
    pub conventions: Vec<String>,
}

/// A prompt as data: the system message, and sections in reading order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    pub system: String,
    pub sections: Vec<Section>,
}

/// Ranks of sections: the greatest are dropped first if the budget is short (see [`Section`]).
pub(crate) mod rank {
    /// The task: never cut.
    pub(crate) const TASK: u32 = 0;
    /// Criteria for the answer: specification, failure, complaint.
    pub(crate) const CORE: u32 = 1;
    /// The code in question.
    pub(crate) const CODE: u32 = 2;
    pub(crate) const TESTS: u32 = 3;
    /// The first suspect; each further one has a rank greater by one.
    pub(crate) const SUSPECT: u32 = 4;
    pub(crate) const EARLIER: u32 = 10;
    /// Definitions that the suspects use, and their callers; more suspects than three come later.
    pub(crate) const USED: u32 = 7;
    pub(crate) const CALLERS: u32 = 8;
    pub(crate) const CONVENTIONS: u32 = 12;
    pub(crate) const FILE: u32 = 13;
    pub(crate) const CONTEXT: u32 = 14;
    pub(crate) const DEPENDENTS: u32 = 15;
}

impl Prompt {
    pub(crate) fn new(words: &Template, sections: Vec<Section>) -> Prompt {
        Prompt { system: words.say("system", &[]), sections }
    }

    /// Renders the prompt in about `tokens` tokens. Sections that do not fit are cut or left out,
    /// the greatest rank first, and named at the end. The task is always whole, and some of each
    /// section of rank `rank::CORE` always stays, so a budget that is too small for them is
    /// exceeded.
    pub fn messages(&self, tokens: usize) -> Vec<Message> {
        let left = tokens.saturating_sub(prompt_budget::tokens(&self.system));
        vec![
            Message { role: Role::System, text: self.system.clone() },
            Message { role: Role::User, text: prompt_budget::build(&self.sections, left) },
        ]
    }
}

/// Returns the template of a stage, for a model with tools or without.
pub(crate) fn words(stage: Stage, tools: bool) -> &'static Template {
    match stage {
        Stage::Fix if tools => &FIX_WITH_TOOLS,
        Stage::Repair if tools => &REPAIR_WITH_TOOLS,
        Stage::Tests => &TESTS,
        Stage::Implementation => &IMPLEMENTATION,
        Stage::Fix => &FIX,
        Stage::Diagnosis => &DIAGNOSIS,
        Stage::IntegrationTests => &INTEGRATION_TESTS,
        Stage::AcceptanceTests => &ACCEPTANCE_TESTS,
        Stage::WriteTests => &WRITE_TESTS,
        Stage::Report => &REPORT,
        Stage::Repair => &REPAIR,
        Stage::Scaffold => &FEATURE_TESTS,
        Stage::Integration => &FEATURE_TOGETHER,
        Stage::Merge => &FEATURE_MERGE,
        Stage::Features => &PLAN_FEATURES,
        Stage::Layout => &PLAN_LAYOUT,
        Stage::Interface => &PLAN_INTERFACES,
        Stage::Review => &PLAN_REVIEW,
        Stage::Describe => &DESCRIBE,
    }
}

/// Renders the plan's facts about the item.
fn specification(item: &Item, around: &ItemContext) -> String {
    let mut out = contract(item, around);
    list(&mut out, "Third-party packages available", item.libraries.iter().cloned());
    out
}

/// Renders the specification without the facts that only an author of new code needs.
fn contract(item: &Item, around: &ItemContext) -> String {
    let mut out =
        format!("`{}`, a {} in `{}`", item.qualified_name(), item.kind.as_str(), item.path);
    if let Some(signature) = &item.signature {
        let decorator = if item.is_static() { "@staticmethod\n" } else { "" };
        let _ = write!(out, ":\n```python\n{decorator}{}\n```", signature.header());
    }
    let _ = write!(out, "\n\n{}\n", item.docstring.trim());
    list(&mut out, "Examples", item.examples.iter().map(|it| format!("`{it}`")));
    out += &usable(item, around);
    out
}

/// Renders the dependencies of the item: direct ones with their code's interface, indirect ones by
/// name.
fn usable(item: &Item, around: &ItemContext) -> String {
    let mut out = String::new();
    // Definitions in the item's own file are shown with the file.
    let is_shown =
        |it: &&Dependency| it.module == item.module && defines(&around.file, &it.import_name);
    let others: Vec<&Dependency> = item.dependencies.iter().filter(|it| !is_shown(it)).collect();
    let mut reported: BTreeSet<(&str, &str)> = BTreeSet::new();
    for it in others.iter().filter(|it| it.is_direct) {
        if reported.insert((&it.module, &it.import_name)) {
            out += &dependency_entry(it, around);
        }
    }
    if !out.is_empty() {
        out = format!("\nIt may use (written and tested):\n{out}");
    }
    let mut rest: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for it in others.iter().filter(|it| reported.insert((&it.module, &it.import_name))) {
        rest.entry(&it.module).or_default().push(&it.import_name);
    }
    let rest = rest
        .into_iter()
        .map(|(module, names)| format!("`from {module} import {}`", names.join(", ")));
    let rest = rest.collect::<Vec<_>>().join("; ");
    match rest.is_empty() {
        true => out,
        false => out + &format!("\nThose build on: {rest}\n"),
    }
}

/// Renders a dependency: its interface as written, else as planned.
fn dependency_entry(it: &Dependency, around: &ItemContext) -> String {
    let import = format!("from {} import {}", it.module, it.import_name);
    let written = around
        .written
        .get(&it.module)
        .and_then(|it_text| trellis_python::interface(it_text, &it.import_name));
    match written {
        Some(text) => format!("`{import}`\n{}", python(&text)),
        None => format!("`{import}`: `{}` {}\n", it.signature, it.summary),
    }
}

fn defines(file: &str, name: &str) -> bool {
    !file.is_empty() && trellis_python::interface(file, name).is_some()
}

/// Heading of a class's methods that are items of their own.
const LATER: &str = "Methods that get written later, each in its own step";

/// Returns sections on the item's dependents, the conventions, the current file and the user's
/// context files.
fn background(item: &Item, around: &ItemContext) -> Vec<Section> {
    let reported = |it: &Dependent| {
        format!("`{}`: `{}` {}", it.name, it.signature, it.summary).trim_end().to_owned()
    };
    let is_later =
        |it: &&Dependent| it.name.starts_with(&format!("{}.", item.name)) && item.class.is_none();
    let (own, users): (Vec<&Dependent>, Vec<&Dependent>) =
        item.dependents.iter().partition(is_later);
    let mut own: Vec<String> = own.into_iter().map(reported).collect();
    if item.class.is_none() {
        let is_reported = |name: &&String| {
            own.iter().any(|it| it.starts_with(&format!("`{}.{name}`", item.name)))
        };
        let more: Vec<String> = item
            .planned_methods
            .iter()
            .filter(|it| !is_reported(it))
            .map(|it| format!("`{}.{it}`", item.name))
            .collect();
        own.extend(more);
    }
    let users: Vec<String> = users.into_iter().map(reported).collect();
    let mut out = Vec::from_iter(listed(rank::CORE, LATER, own.iter().map(String::as_str)));
    out.extend(listed(rank::DEPENDENTS, "Who will use it", users.iter().map(String::as_str)));
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
