//! Requests of each stage to the model.

use super::layout::MOST_FEATURES;
use super::{DraftSize, Features, Interface, Layout, PlannedFile, Sentences};
use crate::prompt::template::{PLAN_FEATURES, PLAN_INTERFACES, PLAN_LAYOUT, PLAN_REVIEW, Template};
use crate::prompt::{Prompt, listed, python, rank};
use crate::prompt_budget::Section;
use crate::routing::strong;
use crate::vocabulary::{ModelRequest, Stage};

/// Greatest number of questions of an interview.
pub(super) const MOST_QUESTIONS: usize = 5;

/// A reply that was sent back: its problems, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SentBack {
    pub(super) problems: Vec<String>,
    pub(super) reply: String,
}

pub(super) fn ask_features(
    sentences: &Sentences,
    size: DraftSize,
    interview: bool,
    answers: &[(String, String)],
) -> Vec<Section> {
    let most = MOST_QUESTIONS.to_string();
    let interview = match interview && answers.is_empty() {
        true => PLAN_FEATURES.say("interview", &[("most", &most)]),
        false => PLAN_FEATURES.say("no interview", &[]),
    };
    let size = PLAN_FEATURES.say(size.as_str(), &[]);
    let task = PLAN_FEATURES.say("task", &[("size", &size), ("interview", &interview)]);
    let mut out = vec![Section::new(rank::CORE, "Specification, by sentence", sentences.listed())];
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
    vec![
        Section::new(rank::CONTEXT, "Specification, by sentence", sentences.listed()),
        Section::new(rank::CORE, "Features", features.outline()),
        Section::new(rank::TASK, "Task", PLAN_LAYOUT.say("task", &values)),
    ]
}

pub(super) fn ask_interface(
    sentences: &Sentences,
    features: &Features,
    layout: &Layout,
    file: &PlannedFile,
    used: &[&Interface],
) -> Vec<Section> {
    let own = features.leaves().into_iter().filter(|it| file.features.contains(&it.number));
    let own: Vec<_> = own.collect();
    let served = sentences
        .all()
        .filter(|(number, _)| own.iter().any(|it| it.feature.sentences.contains(number)));
    let served: String = served.map(|(number, text)| format!("{number}. {text}\n")).collect();
    let own: Vec<String> =
        own.iter().map(|it| format!("{} {}", it.number, it.feature.name)).collect();
    let mut out =
        vec![Section::new(rank::CONTEXT, "Specification, by sentence", sentences.listed())];
    out.extend(listed(rank::CORE, "Features of this file", own.iter().map(String::as_str)));
    out.push(Section::new(rank::CORE, "Their sentences", served));
    let flows = layout.flows.iter().filter(|it| it.from == file.path || it.to == file.path);
    let flows: Vec<String> =
        flows.map(|it| format!("{} to {}: {}", it.from, it.to, it.data)).collect();
    out.extend(listed(rank::CODE, "Data", flows.iter().map(String::as_str)));
    out.extend(used.iter().map(|it| {
        Section::new(rank::TESTS, format!("`{}`, which it may use", it.path), python(&it.text))
    }));
    let others = layout.files.iter().filter(|it| it.path != file.path);
    let others: Vec<String> = others.map(|it| format!("{}: {}", it.path, it.purpose)).collect();
    out.extend(listed(rank::CONVENTIONS, "Other files", others.iter().map(String::as_str)));
    let package = ("package", features.package.as_str());
    let usable = match used.is_empty() {
        true => String::new(),
        false => PLAN_INTERFACES.say("usable", &[package]),
    };
    let values =
        [("path", file.path.as_str()), ("purpose", &file.purpose), ("usable", usable.as_str())];
    out.push(Section::new(rank::TASK, "Task", PLAN_INTERFACES.say("task", &values)));
    out
}

pub(super) fn ask_review(sentences: &Sentences, interfaces: &[&Interface]) -> Vec<Section> {
    let file = |it: &&Interface| {
        let lines = it.definitions.iter().map(|it| {
            let about = it.docstring.lines().next().unwrap_or_default();
            let examples = it.examples.join("; ");
            let serves = super::numbers(&it.serves);
            format!("- `{}`: `{}` {about} [{serves}] {examples}\n", it.name, it.signature)
        });
        format!("### {}\n{}", it.path, lines.collect::<String>())
    };
    vec![
        Section::new(rank::CORE, "Specification, by sentence", sentences.listed()),
        Section::new(
            rank::CODE,
            "Planned interfaces, with sentences and examples",
            interfaces.iter().map(file).collect::<String>(),
        ),
        Section::new(rank::TASK, "Task", PLAN_REVIEW.say("task", &[])),
    ]
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
        let why: String = it.problems.iter().map(|it| format!("- {it}\n")).collect();
        let text = words.say("sent back", &[("why", why.trim_end())]);
        sections.push(Section::new(rank::CORE, "Your last answer was sent back", text));
        if !it.reply.is_empty() {
            sections.push(Section::new(rank::CODE, "It was", it.reply.clone()));
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
