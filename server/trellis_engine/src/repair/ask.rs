//! Prompts about tests that fail for one cause.

use crate::policy::FixWith;
use crate::prompt::template::REPORT;
use crate::prompt::{Prompt, listed, rank, words};
use crate::prompt_budget::Section;
use crate::routing::Tier;
use crate::vocabulary::{ModelRequest, Stage, Suspect};

/// Facts about tests that fail for one cause.
#[derive(Clone, Debug, Default)]
pub struct RepairFacts {
    /// Ids given by the test runner, sorted; the first test is the one examined.
    pub tests: Vec<String>,
    /// Path and text of the first test's file.
    pub test_file: (String, String),
    /// The failures: the first one in full, the others with one line each.
    pub failure: String,
    /// Short files with suspects, as path and text; shown whole.
    pub files: Vec<(String, String)>,
    /// Description of the fault by a person, if there is one.
    pub issue: Option<String>,
    /// Suspected cause from an earlier diagnosis.
    pub cause: Option<String>,
    /// Fixes that pass already; another one is wanted.
    pub others: Vec<String>,
    /// Suspects, the likeliest first, with their source unless it is in one of the files.
    pub suspects: Vec<Suspect>,
    /// Earlier fixes in a few words, each with its result.
    pub earlier: Vec<String>,
    /// Reason why the last answer was unusable.
    pub complaint: Option<String>,
}

/// Builds the request for a fix; `attempt` counts from 0. From the third attempt on it goes to a
/// strong model.
pub fn ask_repair(repair: &RepairFacts, attempt: u32, with: FixWith) -> ModelRequest {
    let tools = with == FixWith::Tools;
    let words = words(Stage::Repair, tools);
    let mut sections = facts(repair);
    let list = |title, all: &[String]| listed(rank::EARLIER, title, all.iter().map(String::as_str));
    sections.extend(list("Earlier fixes that did not do", &repair.earlier));
    sections.extend(list("Fixes that pass already: find a better one", &repair.others));
    let task = words.say("task", &[("test", repair.first())]);
    sections.push(Section::new(rank::TASK, "Task", task));
    sections.extend(
        repair.complaint.as_ref().map(|why| {
            Section::new(rank::TASK, "Sent back", words.say("sent back", &[("why", why)]))
        }),
    );
    let is_hard = attempt >= STRONG_FROM;
    ModelRequest {
        stage: Stage::Repair,
        attempt,
        temperature: 0.2,
        prompt: Prompt::new(words, sections),
        prompt_version: words.version(),
        tier: if is_hard { Tier::Strong } else { Tier::Simple },
        why: if is_hard { "strong model: two fixes failed" } else { "simple model: first fix" },
        tools,
    }
}

/// Number of attempts by a simple model.
const STRONG_FROM: u32 = 2;

/// Builds the request for a diagnosis before any fix.
pub fn ask_report(repair: &RepairFacts) -> ModelRequest {
    let mut sections = facts(repair);
    sections.push(Section::new(
        rank::TASK,
        "Task",
        REPORT.say("task", &[("test", repair.first())]),
    ));
    ModelRequest {
        stage: Stage::Report,
        attempt: 0,
        temperature: 0.2,
        prompt: Prompt::new(&REPORT, sections),
        prompt_version: REPORT.version(),
        tier: Tier::Simple,
        why: "a diagnosis",
        tools: false,
    }
}

impl RepairFacts {
    fn first(&self) -> &str {
        self.tests.first().map_or("", String::as_str)
    }
}

fn named(it: &Suspect) -> String {
    let symbol = if it.symbol.is_empty() { "the top level" } else { &it.symbol };
    format!("`{symbol}` in `{}`: {}", it.path, it.why)
}

/// Returns the sections on the failure, the cause, the suspects and the tests.
fn facts(repair: &RepairFacts) -> Vec<Section> {
    let fenced = |text: &str| format!("```python\n{}\n```\n", text.trim_end());
    let (path, text) = &repair.test_file;
    let failure = format!("```\n{}\n```", repair.failure.trim_end());
    let mut sections = vec![Section::new(rank::CORE, "Failure", failure)];
    let said = |title: &str, text: &Option<String>| {
        text.as_ref().map(|text| Section::new(rank::CORE, title, text.clone()))
    };
    sections.extend(said("What a person says is wrong", &repair.issue));
    sections.extend(said("Likely cause", &repair.cause));
    let suspects: Vec<String> = repair.suspects.iter().map(named).collect();
    let suspects = suspects.iter().map(String::as_str);
    sections.extend(listed(rank::CODE, "Suspects, the likeliest first", suspects));
    for (place, (path, text)) in repair.files.iter().enumerate() {
        let rank = rank::SUSPECT + place as u32;
        sections.push(Section::new(rank, format!("`{path}`"), fenced(text)));
    }
    let parts = repair.suspects.iter().enumerate().filter(|it| !it.1.source.is_empty());
    for (place, it) in parts {
        let title = format!("`{}`, from line {}", it.path, it.line);
        sections.push(Section::new(rank::SUSPECT + place as u32, title, fenced(&it.source)));
    }
    sections.push(Section::new(rank::TESTS, format!("`{path}` (read-only)"), fenced(text)));
    sections
}
