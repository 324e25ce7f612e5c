//! Prompts about an issue.

use crate::issue::{Conflict, Context, ShownFile, ShownPart};
use crate::prompt::template::{
    FEATURE_CODE, FEATURE_FIX, FEATURE_MERGE, FEATURE_TESTS, FEATURE_TOGETHER, FEATURE_TOOLS,
    Template,
};
use crate::prompt::{Prompt, listed, python, rank};
use crate::prompt_budget::Section;
use crate::routing::{Route, simple, strong};
use crate::vocabulary::{ModelRequest, Stage};

/// Facts about an issue for prompts.
#[derive(Clone, Debug, Default)]
pub struct IssueFacts {
    /// Title for people, such as `issue 42`.
    pub title: String,
    /// Text of the issue.
    pub specification: String,
    pub context: Context,
    /// Test framework, such as `pytest`.
    pub framework: String,
    /// Place of the tests, as a folder or a pattern.
    pub tests: String,
    /// Current texts of the files that the issue is likely to touch.
    pub files: Vec<ShownFile>,
    /// Paths of all other files.
    pub others: Vec<String>,
    /// Changes so far of files that existed before, as a unified diff; empty before there is code.
    pub diff: String,
    /// Tests that passed before the work and fail with it, as id and source.
    pub broken: Vec<(String, String)>,
    /// The new tests, as path and text; empty before they are written.
    pub written: Vec<(String, String)>,
    /// True if the model may use tools.
    pub tools: bool,
}

/// Builds the request for tests of missing behavior; `attempt` counts from 0.
pub fn ask_scaffold(feature: &IssueFacts, attempt: u32, complaint: Option<&str>) -> ModelRequest {
    let it =
        PromptText { stage: Stage::Scaffold, attempt, words: &FEATURE_TESTS, tools: feature.tools };
    tests(feature, it, complaint)
}

/// Builds the request for tests of all tasks together; `attempt` counts from 0.
pub fn ask_together(feature: &IssueFacts, attempt: u32, complaint: Option<&str>) -> ModelRequest {
    let (stage, tools) = (Stage::Integration, feature.tools);
    tests(feature, PromptText { stage, attempt, words: &FEATURE_TOGETHER, tools }, complaint)
}

fn tests(feature: &IssueFacts, it: PromptText, complaint: Option<&str>) -> ModelRequest {
    let task = it.words.say(
        "task",
        &[("title", &feature.title), ("framework", &feature.framework), ("tests", &feature.tests)],
    );
    let mut sections = facts(feature);
    sections.push(it.task("tests", task));
    sections.extend(sent_back(it.words, complaint));
    it.ask(sections, simple("tests"))
}

/// Builds the request for code that makes the tests pass.
pub fn ask_code(feature: &IssueFacts, attempt: u32, complaint: Option<&str>) -> ModelRequest {
    let task = FEATURE_CODE.say("task", &[("title", &feature.title)]);
    let (stage, tools) = (Stage::Implementation, feature.tools);
    let it = PromptText { stage, attempt, words: &FEATURE_CODE, tools };
    let mut sections = facts(feature);
    sections.extend(feature.written.iter().map(|it| file(rank::CODE, it, " (read-only)")));
    sections.push(it.task("code", task));
    sections.extend(sent_back(it.words, complaint));
    it.ask(sections, simple("first code"))
}

/// Builds the request for a fix of the last code; the last entry of `history` describes its
/// failure.
pub fn ask_fix(
    feature: &IssueFacts,
    attempt: u32,
    history: &[String],
    complaint: Option<&str>,
) -> ModelRequest {
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
    let it = PromptText { stage: Stage::Fix, attempt, words: &FEATURE_FIX, tools: feature.tools };
    sections.push(it.task("code", task));
    sections.extend(sent_back(it.words, complaint));
    let route = match attempt {
        0 => simple("simple model: first fix"),
        _ => strong("strong model: a fix failed"),
    };
    it.ask(sections, route)
}

/// Facts about the task being merged for prompts.
#[derive(Clone, Copy, Debug)]
pub struct MergeFacts<'a> {
    pub title: &'a str,
    pub specification: &'a str,
    /// Messages of the commits added to the branch in the meantime.
    pub merged: &'a [String],
}

/// Builds the request for a file that two tasks have changed in the same place; `attempt` counts
/// from 0 within the task being merged.
pub fn ask_merge(
    facts: MergeFacts<'_>,
    conflict: &Conflict,
    attempt: u32,
    complaint: Option<&str>,
) -> ModelRequest {
    let MergeFacts { title, specification, merged } = facts;
    let it = PromptText { stage: Stage::Merge, attempt, words: &FEATURE_MERGE, tools: false };
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
    it.ask(sections, strong("two works have changed the same lines"))
}

/// A prompt without its facts.
#[derive(Clone, Copy)]
struct PromptText {
    stage: Stage,
    attempt: u32,
    words: &'static Template,
    tools: bool,
}

impl PromptText {
    /// Returns the section with the task and the format of the answer.
    fn task(self, kind: &str, what: String) -> Section {
        let how = match self.tools {
            true => FEATURE_TOOLS.say(kind, &[]),
            false => self.words.say("answer", &[]),
        };
        Section::new(rank::TASK, "Task", format!("{what} {how}"))
    }

    fn ask(self, sections: Vec<Section>, route: Route) -> ModelRequest {
        ModelRequest {
            stage: self.stage,
            attempt: self.attempt,
            temperature: 0.2,
            prompt: Prompt::new(self.words, sections),
            prompt_version: self.words.version(),
            tier: route.tier,
            why: route.why,
            tools: self.tools,
        }
    }
}

/// Returns the sections on the specification, the context and the files.
fn facts(feature: &IssueFacts) -> Vec<Section> {
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

/// Number of files with increasing rank; all further ones have the same rank.
const MOST_RANKS: u32 = 5;

fn shown(rank: u32, it: &ShownFile) -> Section {
    let note = match it.part {
        ShownPart::Whole => "",
        ShownPart::Signatures => " (signatures; what the specification names is whole)",
        ShownPart::Sample => " (its beginning: how tests are written here)",
    };
    Section::new(rank, format!("`{}`{note}", it.path), fenced(&it.path, &it.text))
}

fn file(rank: u32, (path, text): &(String, String), note: &str) -> Section {
    Section::new(rank, format!("`{path}`{note}"), fenced(path, text))
}

/// Puts a text in a fence with its language; Markdown stays as it is.
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
