//! What a model is told and asked. The words are in [`template`], the facts are put in here.

pub(crate) mod template;

use std::fmt::Write as _;

use crate::context::{self, Section};
use crate::exchange::{Localized, Message, Role, Stage, Suspect, Upstream};
use crate::item::Item;
use crate::policy::Policy;
use crate::prompt::template::{DIAGNOSIS, FIX, IMPLEMENTATION, INTEGRATION_TESTS, TESTS, Template};

/// What stands around the item when it is begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The item's file as it is; empty when there is none yet.
    pub file: String,
    /// The user's context files: path and text.
    pub context: Vec<(String, String)>,
}

/// The words of a stage.
pub(crate) fn words(stage: Stage) -> &'static Template {
    match stage {
        Stage::Tests => &TESTS,
        Stage::Implementation => &IMPLEMENTATION,
        Stage::Fix => &FIX,
        Stage::Diagnosis => &DIAGNOSIS,
        Stage::IntegrationTests => &INTEGRATION_TESTS,
    }
}

pub(crate) fn messages(words: &Template, user: String) -> Vec<Message> {
    vec![
        Message { role: Role::System, text: words.say("system", &[]) },
        Message { role: Role::User, text: user },
    ]
}

/// Asks for pytest tests. `complaint`: why the last ones were sent back, with their text.
pub(crate) fn tests(
    item: &Item,
    around: &Surroundings,
    policy: &Policy,
    complaint: Option<(&str, &str)>,
) -> Vec<Message> {
    let mut out = opening(item, around);
    let and_examples = TESTS.say("and examples", &[]);
    let (name, least) = (item.qualified_name(), policy.least_cases.to_string());
    let values = [
        ("name", name.as_str()),
        ("and_examples", if item.examples.is_empty() { "" } else { &and_examples }),
        ("least", &least),
        ("module", &item.module),
        ("import_name", item.import_name()),
    ];
    let _ = write!(out, "\n## Task\n{}\n", TESTS.say("task", &values));
    if let Some((why, old)) = complaint {
        let _ = write!(out, "\n## Your last tests were sent back\n{why}\n\n```python\n{old}```\n");
    }
    messages(&TESTS, out)
}

/// Asks for the implementation, the red run's output at hand.
pub(crate) fn implementation(
    item: &Item,
    around: &Surroundings,
    tests: &str,
    red: &str,
    complaint: Option<&str>,
) -> Vec<Message> {
    let mut out = opening(item, around);
    let _ = write!(out, "\n## Tests it must pass\n```python\n{tests}```\n");
    if !red.is_empty() {
        let _ = write!(out, "\nWithout an implementation they fail:\n```\n{red}\n```\n");
    }
    let name = ("name", item.name.as_str());
    let what = match &item.class {
        Some(class) => IMPLEMENTATION.say("method", &[name, ("class", class)]),
        None => IMPLEMENTATION.say("definition", &[name, ("kind", item.kind.as_str())]),
    };
    let task = IMPLEMENTATION.say("task", &[("what", &what), ("path", &item.path)]);
    let _ = write!(out, "\n## Task\n{task}\n");
    if let Some(why) = complaint {
        let why = IMPLEMENTATION.say("sent back", &[("why", why)]);
        let _ = write!(out, "\n## Your last answer was sent back\n{why}\n");
    }
    messages(&IMPLEMENTATION, out)
}

/// Everything a fix needs to know.
pub(crate) struct FixFacts<'a> {
    pub(crate) tests: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) failure: &'a str,
    pub(crate) earlier: &'a [String],
    pub(crate) localized: &'a Localized,
}

/// Asks for a fix: what failed, the suspects by suspicion, what was tried.
pub(crate) fn fix(
    item: &Item,
    around: &Surroundings,
    facts: &FixFacts<'_>,
    tokens: usize,
) -> Vec<Message> {
    let suspects = &facts.localized.suspects;
    let mut sections = vec![
        Section::new(0, "Failure", format!("```\n{}\n```", facts.failure)),
        Section::new(1, "Implementation", python(facts.implementation)),
        Section::new(1, "Specification", specification(item)),
        Section::new(2, "Tests (read-only)", python(facts.tests)),
    ];
    for (place, suspect) in suspects.iter().enumerate() {
        let title = format!("Suspect {}: `{}`", place + 1, suspect.symbol);
        sections.push(Section::new(3 + place as u32, title, described(suspect)));
    }
    let earlier = facts.earlier.iter().map(String::as_str);
    sections.extend(listed(9, "Earlier attempts failed with", earlier));
    let in_vain = facts.localized.in_vain.iter().map(String::as_str);
    sections.extend(listed(11, "Searches that found nothing", in_vain));
    sections.extend(background(item, around, 10));
    sections.push(Section::new(0, "Task", fix_task(item, &facts.localized.upstream)));
    messages(&FIX, context::build(&sections, tokens))
}

fn fix_task(item: &Item, upstream: &[Upstream]) -> String {
    let mut task = FIX.say("task", &[("name", &item.qualified_name()), ("path", &item.path)]);
    if !upstream.is_empty() {
        let names = upstream
            .iter()
            .map(|it| format!("`{}` in `{}`", it.item.qualified_name(), it.item.path));
        let names = names.collect::<Vec<_>>().join(", ");
        let _ = write!(task, "\n{}", FIX.say("upstream", &[("names", &names)]));
    }
    task
}

/// A suspect with what surrounds it.
fn described(suspect: &Suspect) -> String {
    let mut out = format!("{}:{}: {}\n", suspect.path, suspect.line, suspect.why);
    if !suspect.specification.is_empty() {
        let _ = writeln!(out, "Meant to be: {}", suspect.specification.trim());
    }
    if !suspect.source.is_empty() {
        out += &python(&suspect.source);
    }
    list(&mut out, "It calls", suspect.calls.iter().map(|it| format!("`{it}`")));
    list(&mut out, "It is called by", suspect.callers.iter().map(|it| format!("`{it}`")));
    out
}

fn python(code: &str) -> String {
    format!("```python\n{}\n```\n", code.trim_end())
}

fn listed<'a>(rank: u32, title: &str, entries: impl Iterator<Item = &'a str>) -> Option<Section> {
    let body: String = entries.map(|entry| format!("- {entry}\n")).collect();
    (!body.is_empty()).then(|| Section::new(rank, title, body))
}

/// Asks for one vote.
pub(crate) fn diagnosis(
    item: &Item,
    tests: &str,
    implementation: &str,
    failure: &str,
    tokens: usize,
) -> Vec<Message> {
    let sections = [
        Section::new(0, "Failure", format!("```\n{failure}\n```")),
        Section::new(
            1,
            format!("Specification of `{}`", item.qualified_name()),
            specification(item),
        ),
        Section::new(2, "Implementation", python(implementation)),
        Section::new(2, "Tests", python(tests)),
        Section::new(0, "Question", DIAGNOSIS.say("question", &[])),
    ];
    messages(&DIAGNOSIS, context::build(&sections, tokens))
}

/// What the plan says about the item.
fn specification(item: &Item) -> String {
    let mut out =
        format!("`{}`, a {} in `{}`", item.qualified_name(), item.kind.as_str(), item.path);
    if let Some(signature) = &item.signature {
        let _ = write!(out, ":\n```python\n{}\n```", signature.header());
    }
    let _ = write!(out, "\n\n{}\n", item.docstring.trim());
    list(&mut out, "Examples", item.examples.iter().map(|it| format!("`{it}`")));
    let dependencies = item.dependencies.iter();
    list(
        &mut out,
        "It may use (written and tested)",
        dependencies.map(|it| {
            format!(
                "`from {} import {}`: `{}` {}",
                it.module, it.import_name, it.signature, it.summary
            )
        }),
    );
    list(&mut out, "Third-party packages available", item.libraries.iter().cloned());
    out
}

/// The file as it is, and what the user wants to be known.
fn background(item: &Item, around: &Surroundings, rank: u32) -> Vec<Section> {
    let mut out = Vec::new();
    if !around.file.is_empty() {
        out.push(Section::new(rank, format!("`{}` so far", item.path), python(&around.file)));
    }
    if !around.context.is_empty() {
        let files = around.context.iter().map(|(path, text)| format!("### {path}\n{text}\n"));
        out.push(Section::new(rank, "Project context", files.collect::<String>()));
    }
    out
}

/// Specification and background, as questions for tests and code begin.
fn opening(item: &Item, around: &Surroundings) -> String {
    let mut out = format!("## Specification\n{}", specification(item));
    for section in background(item, around, 0) {
        let _ = write!(out, "\n## {}\n{}", section.title, section.body);
    }
    out
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
