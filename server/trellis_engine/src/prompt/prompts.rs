//! Prompts about one item, by stage.

use std::fmt::Write as _;

use crate::item::{Item, ItemKind};
use crate::policy::Policy;
use crate::prompt::template::{DIAGNOSIS, FIX, FIX_WITH_TOOLS, IMPLEMENTATION, TESTS, Template};
use crate::prompt::{
    ItemContext, Prompt, background, contract, list, listed, python, rank, specification,
};
use crate::prompt_budget::{Section, cut_middle};
use crate::strategy::Attempt;
use crate::vocabulary::{FailedAttempt, Localization, Suspect, Upstream};

/// Builds the prompt for pytest tests. `complaint`: the reason for sending the last tests back, and
/// their text (empty if there were none).
pub(crate) fn tests(
    item: &Item,
    around: &ItemContext,
    policy: &Policy,
    complaint: Option<(&str, &str)>,
) -> Prompt {
    let and_examples = TESTS.say("and examples", &[]);
    let (name, least) = (item.qualified_name(), policy.least_cases.to_string());
    let (later, unsigned) = (TESTS.say("and not later", &[]), TESTS.say("without signature", &[]));
    let values = [
        ("name", name.as_str()),
        ("and_examples", if item.examples.is_empty() { "" } else { &and_examples }),
        ("and_not_later", if has_later(item) { &later } else { "" }),
        ("without_signature", if item.signature.is_none() { &unsigned } else { "" }),
        ("least", &least),
        ("module", &item.module),
        ("import_name", item.import_name()),
    ];
    let mut sections = opening(item, around);
    sections.push(Section::new(rank::TASK, "Task", TESTS.say("task", &values)));
    if let Some((why, old)) = complaint {
        sections.push(Section::new(rank::CORE, "Your last tests were sent back", why));
        let old = (!old.is_empty()).then(|| Section::new(rank::CODE, "They were", python(old)));
        sections.extend(old);
    }
    Prompt::new(&TESTS, sections)
}

/// Builds the prompt for the implementation. `red`: the output of the red run.
pub(crate) fn implementation(
    item: &Item,
    around: &ItemContext,
    tests: &str,
    red: &str,
    complaint: Option<&str>,
) -> Prompt {
    let mut sections = opening(item, around);
    sections.push(Section::new(rank::CORE, "Tests it must pass", python(tests)));
    if !red.is_empty() {
        let output = format!("```\n{red}\n```");
        sections.push(Section::new(rank::TESTS, "Without an implementation they fail", output));
    }
    let name = ("name", item.name.as_str());
    let what = match &item.class {
        Some(class) => IMPLEMENTATION.say("method", &[name, ("class", class)]),
        None => IMPLEMENTATION.say("definition", &[name, ("kind", item.kind.as_str())]),
    };
    let say = |holds: bool, part: &str| match holds {
        true => IMPLEMENTATION.say(part, &[]),
        false => String::new(),
    };
    let task = IMPLEMENTATION.say(
        "task",
        &[
            ("what", &what),
            ("path", &item.path),
            ("as_planned", &say(item.signature.is_some(), "as planned")),
            ("keep", &say(!around.file.is_empty(), "keep")),
            ("prepare", &say(has_later(item), "prepare")),
        ],
    );
    sections.push(Section::new(rank::TASK, "Task", task));
    sections.extend(complaint.map(|why| sent_back(&IMPLEMENTATION, why)));
    Prompt::new(&IMPLEMENTATION, sections)
}

/// Returns whether the item is a class with methods that are items of their own.
fn has_later(item: &Item) -> bool {
    item.kind == ItemKind::Class && !item.planned_methods.is_empty()
}

fn sent_back(words: &Template, why: &str) -> Section {
    let text = words.say("sent back", &[("why", why)]);
    Section::new(rank::CORE, "Your last answer was sent back", text)
}

/// Returns specification and background, the first sections of prompts for tests and code.
fn opening(item: &Item, around: &ItemContext) -> Vec<Section> {
    let mut out = vec![Section::new(rank::CORE, "Specification", specification(item, around))];
    out.extend(background(item, around));
    out
}

/// Facts for a fix.
pub(crate) struct FixFacts<'a> {
    pub(crate) tests: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) failure: &'a str,
    pub(crate) earlier: &'a [FailedAttempt],
    pub(crate) localized: &'a Localization,
    /// The reason why the last answer was unusable.
    pub(crate) complaint: Option<&'a str>,
}

/// Builds the prompt for a fix: the failure, the suspects by suspicion, the earlier attempts.
pub(crate) fn fix(item: &Item, around: &ItemContext, facts: &FixFacts<'_>) -> Prompt {
    let mut sections = vec![Section::new(rank::CORE, "Failure", fenced(facts.failure))];
    if !facts.implementation.is_empty() {
        sections.push(Section::new(rank::CODE, "Implementation", python(facts.implementation)));
    }
    sections.push(Section::new(rank::CORE, "Specification", specification(item, around)));
    sections.push(Section::new(rank::TESTS, "Tests (read-only)", python(facts.tests)));
    sections.extend(searched(facts, true));
    sections.extend(background(item, around));
    sections.push(Section::new(rank::TASK, "Task", fix_task(item, &facts.localized.upstream)));
    sections.extend(facts.complaint.map(|why| sent_back(&FIX, why)));
    Prompt::new(&FIX, sections)
}

/// Returns sections on the suspects, with or without their source, and on the earlier attempts.
fn searched(facts: &FixFacts<'_>, with_text: bool) -> Vec<Section> {
    let mut out = Vec::new();
    // The source of the item itself has a section of its own.
    let is_other = |it: &&Suspect| !with_text || !it.source.is_empty();
    for (place, suspect) in facts.localized.suspects.iter().filter(is_other).enumerate() {
        let title = format!("Suspect {}: `{}`", place + 1, suspect.symbol);
        out.push(Section::new(rank::SUSPECT + place as u32, title, described(suspect, with_text)));
    }
    let earlier: Vec<String> = facts.earlier.iter().map(attempt).collect();
    out.extend(listed(
        rank::EARLIER,
        "Earlier attempts, and what they gave",
        earlier.iter().map(String::as_str),
    ));
    out
}

/// Maximum number of searches without a result that are listed.
const IN_VAIN: usize = 10;

/// Lists searches without a result, the latest first, so that the model does not repeat them (L6).
fn fruitless_searches(attempts: &[Attempt]) -> Option<Section> {
    let in_vain = attempts.iter().rev().filter(|it| it.found.is_empty() && it.error.is_none());
    let mut lines: Vec<String> = Vec::new();
    for line in in_vain.map(|it| format!("{}: {}", it.tool.as_str(), it.query)) {
        if lines.len() < IN_VAIN && !lines.contains(&line) {
            lines.push(line);
        }
    }
    listed(rank::EARLIER, "Looked for in vain", lines.iter().map(String::as_str))
}

/// Maximum length of an earlier attempt's diff, in bytes.
const CHANGE: usize = 1500;

/// Renders an attempt as one line with its diff.
fn attempt(it: &FailedAttempt) -> String {
    // The file's name is given elsewhere in the prompt.
    let hunks = it.change.lines().filter(|it| !it.starts_with("--- ") && !it.starts_with("+++ "));
    let change = hunks.collect::<Vec<_>>().join("\n");
    match change.is_empty() {
        true => it.gave.clone(),
        false => format!("{}, after\n```diff\n{}\n```", it.gave, cut_middle(&change, CHANGE)),
    }
}

/// Builds the prompt for a fix with tools: the failure and the places to look. The model can read
/// the files itself.
pub(crate) fn fix_with_tools(item: &Item, around: &ItemContext, facts: &FixFacts<'_>) -> Prompt {
    let mut sections = vec![
        Section::new(rank::CORE, "Failure", fenced(facts.failure)),
        Section::new(rank::CORE, "Specification", specification(item, around)),
    ];
    sections.extend(searched(facts, false));
    sections.extend(fruitless_searches(&facts.localized.attempts));
    sections.extend(background(item, around).into_iter().filter(|it| it.rank != rank::FILE));
    let name = item.qualified_name();
    let values = [("name", name.as_str()), ("path", &item.path), ("test_path", &item.test_path)];
    let task = FIX_WITH_TOOLS.say("task", &values);
    let task = task + &or_upstream(&FIX_WITH_TOOLS, &facts.localized.upstream);
    sections.push(Section::new(rank::TASK, "Task", task));
    sections.extend(facts.complaint.map(|why| sent_back(&FIX_WITH_TOOLS, why)));
    Prompt::new(&FIX_WITH_TOOLS, sections)
}

fn fix_task(item: &Item, upstream: &[Upstream]) -> String {
    let task = FIX.say("task", &[("name", &item.qualified_name()), ("path", &item.path)]);
    task + &or_upstream(&FIX, upstream)
}

/// Names the upstream items that may be changed as well.
fn or_upstream(words: &Template, upstream: &[Upstream]) -> String {
    if upstream.is_empty() {
        return String::new();
    }
    let names =
        upstream.iter().map(|it| format!("`{}` in `{}`", it.item.qualified_name(), it.item.path));
    let names = names.collect::<Vec<_>>().join(", ");
    format!("\n{}", words.say("upstream", &[("names", &names)]))
}

/// Renders a suspect with its callees and callers.
fn described(suspect: &Suspect, with_text: bool) -> String {
    let mut out = format!("{}:{}: {}\n", suspect.path, suspect.line, suspect.why);
    if !suspect.specification.is_empty() {
        let _ = writeln!(out, "Meant to be: {}", suspect.specification.trim());
    }
    if with_text && !suspect.source.is_empty() {
        out += &python(&suspect.source);
    }
    list(&mut out, "It calls", suspect.calls.iter().map(|it| format!("`{it}`")));
    list(&mut out, "It is called by", suspect.callers.iter().map(|it| format!("`{it}`")));
    out
}

/// Facts for a vote.
pub(crate) struct VoteFacts<'a> {
    pub(crate) tests: &'a str,
    pub(crate) implementation: &'a str,
    pub(crate) failure: &'a str,
    /// A fix's claim about the tests.
    pub(crate) claim: Option<&'a str>,
}

/// Builds the prompt for one vote.
pub(crate) fn diagnosis(item: &Item, around: &ItemContext, facts: &VoteFacts<'_>) -> Prompt {
    let specification = format!("Specification of `{}`", item.qualified_name());
    let mut sections = vec![
        Section::new(rank::CORE, "Failure", fenced(facts.failure)),
        Section::new(rank::CORE, specification, contract(item, around)),
        Section::new(rank::CODE, "Implementation", python(facts.implementation)),
        Section::new(rank::CODE, "Tests", python(facts.tests)),
    ];
    let claim = facts.claim.map(|it| DIAGNOSIS.say("claim", &[("claim", it)]));
    sections.extend(claim.map(|it| Section::new(rank::CORE, "An objection", it)));
    sections.push(Section::new(rank::TASK, "Question", DIAGNOSIS.say("question", &[])));
    Prompt::new(&DIAGNOSIS, sections)
}

fn fenced(text: &str) -> String {
    format!("```\n{text}\n```")
}
