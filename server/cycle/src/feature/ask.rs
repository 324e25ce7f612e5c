//! What a model is asked about a piece of work.

use crate::context::Section;
use crate::exchange::{Ask, Stage};
use crate::feature::{Conflict, Context, Part, Shown};
use crate::prompt::template::{
    FEATURE_CODE, FEATURE_FIX, FEATURE_MERGE, FEATURE_TESTS, FEATURE_TOGETHER, FEATURE_TOOLS,
    Template,
};
use crate::prompt::{Prompt, listed, python, rank};
use crate::routing::Tier;

/// What there is to know about it.
#[derive(Clone, Debug, Default)]
pub struct Feature {
    /// How people call it, such as `issue 42`.
    pub title: String,
    /// What is wanted, as it was written.
    pub specification: String,
    pub context: Context,
    /// How its tests are run, such as `pytest`.
    pub framework: String,
    /// Where its tests belong, as a folder or a pattern.
    pub tests: String,
    /// Files of the project that it is likely to touch, as they are now.
    pub files: Vec<Shown>,
    /// Paths of all others.
    pub others: Vec<String>,
    /// What was changed so far of files that were there before, as a unified diff; empty before there is code.
    pub diff: String,
    /// Tests that passed before the work and fail with it, as id and source.
    pub broken: Vec<(String, String)>,
    /// The tests as they were written, as path and text; none before that.
    pub written: Vec<(String, String)>,
    /// Whether the model may work with tools.
    pub tools: bool,
}

/// Asks for tests of what is not there yet; `attempt` counts from 0.
pub fn ask_scaffold(feature: &Feature, attempt: u32, complaint: Option<&str>) -> Ask {
    let it = Told { stage: Stage::Scaffold, attempt, words: &FEATURE_TESTS, tools: feature.tools };
    tests(feature, it, complaint)
}

/// Asks for tests of all that was made, together; `attempt` counts from 0.
pub fn ask_together(feature: &Feature, attempt: u32, complaint: Option<&str>) -> Ask {
    let (stage, tools) = (Stage::Integration, feature.tools);
    tests(feature, Told { stage, attempt, words: &FEATURE_TOGETHER, tools }, complaint)
}

fn tests(feature: &Feature, it: Told, complaint: Option<&str>) -> Ask {
    let task = it.words.say(
        "task",
        &[("title", &feature.title), ("framework", &feature.framework), ("tests", &feature.tests)],
    );
    let mut sections = facts(feature);
    sections.push(it.task("tests", task));
    sections.extend(sent_back(it.words, complaint));
    it.ask(sections, (Tier::Simple, "tests"))
}

/// Asks for code that makes them pass.
pub fn ask_code(feature: &Feature, attempt: u32, complaint: Option<&str>) -> Ask {
    let task = FEATURE_CODE.say("task", &[("title", &feature.title)]);
    let (stage, tools) = (Stage::Implementation, feature.tools);
    let it = Told { stage, attempt, words: &FEATURE_CODE, tools };
    let mut sections = facts(feature);
    sections.extend(feature.written.iter().map(|it| file(rank::CODE, it, " (read-only)")));
    sections.push(it.task("code", task));
    sections.extend(sent_back(it.words, complaint));
    it.ask(sections, (Tier::Simple, "first code"))
}

/// Asks for what the last code lacks; the last entry of `history` says what was seen of it.
pub fn ask_fix(
    feature: &Feature,
    attempt: u32,
    history: &[String],
    complaint: Option<&str>,
) -> Ask {
    let task = FEATURE_FIX.say("task", &[("title", &feature.title)]);
    let mut sections = facts(feature);
    if let Some((last, earlier)) = history.split_last() {
        sections.push(Section::new(rank::CORE, "What was seen", format!("```\n{last}\n```")));
        let earlier = earlier.iter().map(|it| it.lines().next().unwrap_or_default());
        sections.extend(listed(rank::EARLIER, "Earlier attempts", earlier));
    }
    if !feature.diff.is_empty() {
        let diff = format!("```diff\n{}\n```", feature.diff.trim_end());
        sections.push(Section::new(rank::CODE, "Your change so far of files that existed", diff));
    }
    let old = feature.broken.iter().map(|(id, source)| {
        Section::new(rank::CODE, format!("`{id}` passed before (read-only)"), python(source))
    });
    sections.extend(old);
    sections.extend(feature.written.iter().map(|it| file(rank::TESTS, it, " (read-only)")));
    let it = Told { stage: Stage::Fix, attempt, words: &FEATURE_FIX, tools: feature.tools };
    sections.push(it.task("code", task));
    sections.extend(sent_back(it.words, complaint));
    let tier = match attempt {
        0 => (Tier::Simple, "simple model: first fix"),
        _ => (Tier::Strong, "strong model: a fix failed"),
    };
    it.ask(sections, tier)
}

/// Asks for a file that two works have changed in the same place; `attempt` counts from 0 within the work that is merged.
/// `merged` are the messages of the commits that the branch has got meanwhile.
pub fn ask_merge(
    (title, specification): (&str, &str),
    conflict: &Conflict,
    merged: &[String],
    attempt: u32,
    complaint: Option<&str>,
) -> Ask {
    let it = Told { stage: Stage::Merge, attempt, words: &FEATURE_MERGE, tools: false };
    let mut task = it.words.say("task", &[("path", &conflict.path), ("title", title)]);
    if conflict.is_test {
        task += &format!("\n{}", it.words.say("tests", &[]));
    }
    let mut sections = vec![
        Section::new(rank::CORE, format!("What {title} wants"), specification.to_owned()),
        Section::new(rank::CODE, format!("`{}`", conflict.path), fenced("", &conflict.marked)),
        Section::new(rank::TASK, "Task", task),
    ];
    sections.extend(listed(rank::CONTEXT, "Merged meanwhile", merged.iter().map(String::as_str)));
    sections.extend(sent_back(it.words, complaint));
    it.ask(sections, (Tier::Strong, "two works have changed the same lines"))
}

/// A question without its facts.
#[derive(Clone, Copy)]
struct Told {
    stage: Stage,
    attempt: u32,
    words: &'static Template,
    tools: bool,
}

impl Told {
    /// What to do, and how to answer.
    fn task(self, kind: &str, what: String) -> Section {
        let how = match self.tools {
            true => FEATURE_TOOLS.say(kind, &[]),
            false => self.words.say("answer", &[]),
        };
        Section::new(rank::TASK, "Task", format!("{what} {how}"))
    }

    fn ask(self, sections: Vec<Section>, (tier, why): (Tier, &'static str)) -> Ask {
        Ask {
            stage: self.stage,
            attempt: self.attempt,
            temperature: 0.2,
            prompt: Prompt::new(self.words, sections),
            prompt_version: self.words.version(),
            tier,
            why,
            tools: self.tools,
        }
    }
}

/// What is wanted, what is there, and how things are done.
fn facts(feature: &Feature) -> Vec<Section> {
    let mut sections =
        vec![Section::new(rank::CORE, "Specification", feature.specification.clone())];
    sections.extend(together(rank::CORE, "Project context", &feature.context.code));
    sections.extend(together(rank::CORE, "Coding standards", &feature.context.standards));
    let files = feature.files.iter().zip(0..);
    sections.extend(files.map(|(it, place)| shown(rank::SUSPECT + place.min(MOST_RANKS), it)));
    let others = feature.others.iter().map(String::as_str);
    sections.extend(listed(rank::FILE, "Other files of the project", others));
    sections
}

fn together(rank: u32, title: &str, files: &[(String, String)]) -> Option<Section> {
    let body: String = files
        .iter()
        .map(|(path, text)| format!("### {path}\n{}\n\n", fenced(path, text)))
        .collect();
    (!body.is_empty()).then(|| Section::new(rank, title, body))
}

/// Files further down are worth as much as this one.
const MOST_RANKS: u32 = 5;

fn shown(rank: u32, it: &Shown) -> Section {
    let note = match it.part {
        Part::Whole => "",
        Part::Signatures => " (signatures; what the specification names is whole)",
        Part::Sample => " (its beginning: how tests are written here)",
    };
    Section::new(rank, format!("`{}`{note}", it.path), fenced(&it.path, &it.text))
}

fn file(rank: u32, (path, text): &(String, String), note: &str) -> Section {
    Section::new(rank, format!("`{path}`{note}"), fenced(path, text))
}

/// Prose stands as it is.
fn fenced(path: &str, text: &str) -> String {
    let language = match path.rsplit_once('.').map(|(_, it)| it) {
        Some("md") => return text.trim_end().to_owned(),
        Some("py") => "python",
        Some(other) => other,
        None => "",
    };
    format!("```{language}\n{}\n```", text.trim_end())
}

fn sent_back(words: &Template, complaint: Option<&str>) -> Option<Section> {
    let said = words.say("sent back", &[("why", complaint?)]);
    Some(Section::new(rank::TASK, "Sent back", said))
}
