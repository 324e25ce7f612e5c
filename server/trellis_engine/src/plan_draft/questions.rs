//! Requests of each stage to the model.

use std::collections::BTreeSet;

use super::layout::MOST_FEATURES;
use super::parts::Parts;
use super::{DraftSize, Features, Interface, Layout, PlannedFile, Sentences};
use crate::prompt::template::{PLAN_FEATURES, PLAN_INTERFACES, PLAN_LAYOUT, PLAN_REVIEW, Template};
use crate::prompt::{Prompt, listed, python, rank};
use crate::prompt_budget::{Section, cut_middle};
use crate::routing::strong;
use crate::vocabulary::{ModelRequest, Stage};

/// Greatest number of questions of an interview.
pub(super) const MOST_QUESTIONS: usize = 5;

/// Greatest number of problems in one question.
const MOST_PROBLEMS: usize = 40;
/// Length, in bytes, up to which a reply is shown to its author whole.
const MOST_REPLY: usize = 60_000;
/// Length, in bytes, of the interfaces that a file may use.
const MOST_USABLE: usize = 16_000;
/// Title of the section that has the specification.
const SPECIFICATION: &str = "Specification, by sentence";

/// A reply that was sent back: its problems, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentBack {
    pub(super) problems: Vec<String>,
    pub(super) reply: String,
}

pub(super) fn ask_features(
    sentences: &Sentences,
    size: DraftSize,
    may_ask: bool,
    answers: &[(String, String)],
) -> Vec<Section> {
    let most = MOST_QUESTIONS.to_string();
    let interview = match may_ask {
        true => PLAN_FEATURES.say("interview", &[("most", &most)]),
        false => PLAN_FEATURES.say("no interview", &[]),
    };
    let size = PLAN_FEATURES.say(size.as_str(), &[]);
    let task = PLAN_FEATURES.say("task", &[("size", &size), ("interview", &interview)]);
    let mut out = vec![Section::new(rank::CORE, SPECIFICATION, sentences.listed())];
    let answered: Vec<String> =
        answers.iter().map(|(asked, answer)| format!("{asked} {answer}")).collect();
    let answered = answered.iter().map(String::as_str);
    out.extend(listed(rank::CORE, "Questions that the person answered", answered));
    out.push(Section::new(rank::TASK, "Task", task));
    out
}

pub(super) fn ask_layout(sentences: &Sentences, features: &Features) -> Vec<Section> {
    let most = MOST_FEATURES.to_string();
    let values = [("package", features.package.as_str()), ("most", &most)];
    let extract = sentences.listed_around(&BTreeSet::new());
    vec![
        Section::new(rank::CONTEXT, SPECIFICATION, extract),
        Section::new(rank::CORE, "Features", features.outline()),
        Section::new(rank::TASK, "Task", PLAN_LAYOUT.say("task", &values)),
    ]
}

pub(super) fn ask_interface(parts: &Parts, features: &Features, path: &str) -> Vec<Section> {
    let Some((layout, file)) = parts.layout.as_ref().and_then(|it| Some((it, it.file(path)?)))
    else {
        return Vec::new();
    };
    let served = features.sentences_of(&file.features);
    let extract = parts.sentences.listed_around(&served);
    let mut out = vec![Section::new(rank::CONTEXT, SPECIFICATION, extract)];
    out.extend(own_features(features, file));
    let texts = parts.sentences.all().filter(|(number, _)| served.contains(number));
    let texts: String = texts.map(|(number, text)| format!("{number}. {text}\n")).collect();
    out.push(Section::new(rank::CORE, "Their sentences", texts));
    out.extend(own_flows(layout, path));
    let usable = parts.usable(path);
    out.extend(usable_files(file, &usable));
    let others = layout.files.iter().filter(|it| it.path != file.path);
    let others: Vec<String> = others.map(|it| format!("{}: {}", it.path, it.purpose)).collect();
    out.extend(listed(rank::CONVENTIONS, "Other files", others.iter().map(String::as_str)));
    let package = ("package", features.package.as_str());
    let usable = match usable.is_empty() {
        true => String::new(),
        false => PLAN_INTERFACES.say("usable", &[package]),
    };
    let values =
        [("path", file.path.as_str()), ("purpose", &file.purpose), ("usable", usable.as_str())];
    out.push(Section::new(rank::TASK, "Task", PLAN_INTERFACES.say("task", &values)));
    out
}

fn own_features(features: &Features, file: &PlannedFile) -> Option<Section> {
    let own = features.leaves().into_iter().filter(|it| file.features.contains(&it.number));
    let own: Vec<String> = own.map(|it| format!("{} {}", it.number, it.feature.name)).collect();
    listed(rank::CORE, "Features of this file", own.iter().map(String::as_str))
}

fn own_flows(layout: &Layout, path: &str) -> Option<Section> {
    let flows = layout.flows.iter().filter(|it| it.from == path || it.to == path);
    let flows: Vec<String> =
        flows.map(|it| format!("{} to {}: {}", it.from, it.to, it.data)).collect();
    listed(rank::CODE, "Data", flows.iter().map(String::as_str))
}

/// Returns the interfaces that a file may use, up to a length: whole texts of those that it names,
/// and one line for each definition of those behind them. Of one that it names, the lines always
/// stay.
fn usable_files(file: &PlannedFile, usable: &[&Interface]) -> Vec<Section> {
    let mut room = MOST_USABLE;
    let mut out = Vec::new();
    for it in usable {
        let is_named = file.uses.contains(&it.path);
        let body = match is_named && it.text.len() <= room {
            true => python(&it.text),
            false => it.definitions.iter().map(|it| format!("- `{}`\n", it.signature)).collect(),
        };
        if !is_named && body.len() > room {
            continue;
        }
        room = room.saturating_sub(body.len());
        let rank = if is_named { rank::TESTS } else { rank::CONVENTIONS };
        out.push(Section::new(rank, format!("`{}`, which it may use", it.path), body));
    }
    out
}

/// Returns the question on a group of files.
pub(super) fn ask_review(parts: &Parts, group: &[String]) -> Vec<Section> {
    let is_own = |it: &&Interface| group.contains(&it.path);
    let (own, others): (Vec<&Interface>, Vec<&Interface>) =
        parts.interfaces.values().partition(is_own);
    let served = parts.sentences_of(group);
    let names = |it: &&Interface| {
        let names: Vec<&str> = it.definitions.iter().map(|it| it.name.as_str()).collect();
        format!("{}: {}", it.path, names.join(", "))
    };
    let names: Vec<String> = others.iter().map(names).collect();
    let mut out = vec![
        Section::new(rank::CORE, SPECIFICATION, parts.sentences.listed_around(&served)),
        Section::new(
            rank::CODE,
            "Planned interfaces, with sentences and examples",
            own.into_iter().map(reviewed_file).collect::<String>(),
        ),
    ];
    let title = "Names in the other files, which are reviewed by themselves";
    out.extend(listed(rank::CONTEXT, title, names.iter().map(String::as_str)));
    out.push(Section::new(rank::TASK, "Task", PLAN_REVIEW.say("task", &[])));
    out
}

fn reviewed_file(file: &Interface) -> String {
    let lines = file.definitions.iter().map(|it| {
        let about = it.docstring.lines().next().unwrap_or_default();
        let examples = it.examples.join("; ");
        let serves = super::numbers(&it.serves);
        format!("- `{}`: `{}` {about} [{serves}] {examples}\n", it.name, it.signature)
    });
    format!("### {}\n{}", file.path, lines.collect::<String>())
}

/// Completes a request: what was wrong with the last reply, and the model's tier.
pub(super) fn request(
    stage: Stage,
    attempt: u32,
    mut sections: Vec<Section>,
    sent_back: Option<&SentBack>,
) -> ModelRequest {
    let words = template(stage);
    if let Some(it) = sent_back {
        let mut why: String =
            it.problems.iter().take(MOST_PROBLEMS).map(|it| format!("- {it}\n")).collect();
        if let Some(more) = it.problems.len().checked_sub(MOST_PROBLEMS).filter(|it| *it > 0) {
            why += &format!("- and {more} more\n");
        }
        let text = words.say("sent back", &[("why", why.trim_end())]);
        sections.push(Section::new(rank::CORE, "Your last answer was sent back", text));
        if !it.reply.is_empty() {
            let reply = cut_middle(&it.reply, MOST_REPLY);
            sections.push(Section::new(rank::CODE, "It was", reply));
        }
    }
    let route = strong("strong model: everything later depends on the plan");
    ModelRequest {
        stage,
        attempt,
        temperature: 0.0,
        prompt: Prompt::new(words, sections),
        prompt_version: words.version(),
        tier: route.tier,
        why: route.why,
        tools: false,
    }
}

fn template(stage: Stage) -> &'static Template {
    crate::prompt::words(stage, false)
}
