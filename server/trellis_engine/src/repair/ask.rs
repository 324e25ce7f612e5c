//! Prompts about tests that fail for one cause.

use super::excerpt::Excerpt;
use crate::policy::FixWith;
use crate::prompt::template::REPORT;
use crate::prompt::{Prompt, listed, rank, words};
use crate::prompt_budget::{Section, cut_middle};
use crate::routing::Tier;
use crate::vocabulary::{ModelRequest, Stage, Suspect};

/// Facts about tests that fail for one cause.
#[derive(Clone, Debug, Default)]
pub struct RepairFacts {
    /// Ids given by the test runner, sorted; the first test is the one examined.
    pub tests: Vec<String>,
    /// The first test with what it needs of its file, then fixtures from other files.
    pub test_sources: Vec<Excerpt>,
    /// The failures: the first one in full, the others with one line each.
    pub failure: String,
    /// Version of the interpreter that ran the tests, such as `3.11.7`, if it is known.
    pub python: Option<String>,
    /// Description of the fault by a person, if there is one.
    pub issue: Option<String>,
    /// Suspected cause from an earlier diagnosis.
    pub cause: Option<String>,
    /// Other causes that the diagnosis names without a change to try.
    pub hypotheses: Vec<String>,
    /// Fixes that pass already; another one is wanted.
    pub others: Vec<String>,
    /// Suspects, the likeliest first.
    pub suspects: Vec<Suspect>,
    /// The code of the suspects, the likeliest first.
    pub sources: Vec<Excerpt>,
    /// Definitions in other files that the suspects use: place and text.
    pub used: Vec<(String, String)>,
    /// Lines that call the suspects, as `path:line: text`, by suspect.
    pub callers: Vec<(String, Vec<String>)>,
    /// Functions that call the suspects.
    pub caller_sources: Vec<Excerpt>,
    /// Earlier fixes, each with its result.
    pub earlier: Vec<FailedFix>,
    /// Small edits with which the tests pass, each with its place: observations, and no fixes.
    pub observations: Vec<String>,
    /// Reason why the last answer was unusable.
    pub complaint: Option<String>,
}

/// A fix that was tried and not kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailedFix {
    /// The reason that it was not kept, with the first failure.
    pub why: String,
    /// The change as a unified diff; empty if there was none to apply.
    pub diff: String,
}

/// Builds the request for a fix; `attempt` counts from 0. From the third attempt on it goes to a
/// strong model.
pub fn ask_repair(repair: &RepairFacts, attempt: u32, with: FixWith) -> ModelRequest {
    let tools = with == FixWith::Tools;
    let words = words(Stage::Repair, tools);
    let mut sections = facts(repair);
    let list = |title, all: &[String]| listed(rank::EARLIER, title, all.iter().map(String::as_str));
    sections.extend(list("Other causes that were named, not tried", &repair.hypotheses));
    sections.extend(tried(&repair.earlier));
    sections.extend(list("Fixes that pass already: find a better one", &repair.others));
    let again = if repair.earlier.is_empty() { String::new() } else { words.say("again", &[]) };
    let task = words.say("task", &[("test", repair.first()), ("again", &again)]);
    sections.extend(repair.complaint.as_ref().map(|why| {
        let why = words.say("sent back", &[("why", why)]);
        Section::new(rank::TASK, "Your last answer was sent back", why)
    }));
    sections.push(Section::new(rank::TASK, "Task", task));
    let is_hard = attempt >= STRONG_FROM;
    ModelRequest {
        stage: Stage::Repair,
        attempt,
        temperature: if attempt == 0 { 0.2 } else { 0.4 },
        prompt: Prompt::new(words, sections),
        prompt_version: words.version(),
        tier: if is_hard { Tier::Strong } else { Tier::Simple },
        why: if is_hard { "strong model: two fixes failed" } else { "simple model: first fix" },
        tools,
    }
}

/// Number of attempts by a simple model.
const STRONG_FROM: u32 = 2;

/// Builds the request for a diagnosis before any fix by a model.
pub fn ask_report(repair: &RepairFacts) -> ModelRequest {
    let mut sections = facts(repair);
    sections.extend(tried(&repair.earlier));
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

/// Title of the section on trials.
const OBSERVED: &str =
    "Small edits that were tried: the tests pass with them, which does not make them right";

/// Returns the sections on the test, its failure, the suspects and their surroundings.
fn facts(repair: &RepairFacts) -> Vec<Section> {
    let mut sections = Vec::new();
    for (place, it) in repair.test_sources.iter().enumerate() {
        let title = match place {
            0 => format!("The failing test, in `{}` (read-only)", it.path),
            _ => format!("Fixtures in `{}` (read-only)", it.path),
        };
        let rank = if place == 0 { rank::CORE } else { rank::TESTS };
        sections.push(Section::new(rank, title, fenced(&it.render())));
    }
    let failure = format!("```\n{}\n```{}", repair.failure.trim_end(), interpreter(repair));
    sections.push(Section::new(rank::CORE, "Failure", failure));
    let said = |title: &str, text: &Option<String>| {
        text.as_ref().map(|text| Section::new(rank::CORE, title, text.clone()))
    };
    sections.extend(said("What a person says is wrong", &repair.issue));
    let cause = match repair.earlier.is_empty() {
        true => "Likely cause",
        false => "Cause as it was thought before the first fix; it may be wrong",
    };
    sections.extend(said(cause, &repair.cause));
    sections.extend(suspects(repair));
    let seen = repair.observations.iter().map(String::as_str);
    sections.extend(listed(rank::EARLIER, OBSERVED, seen));
    sections.extend(surroundings(repair));
    sections
}

/// Returns a line with the first two numbers of the interpreter's version.
fn interpreter(repair: &RepairFacts) -> String {
    let Some(version) = &repair.python else { return String::new() };
    let series: Vec<&str> = version.splitn(3, '.').take(2).collect();
    format!("\nThe tests ran with Python {}.", series.join("."))
}

/// Returns the list of suspects, and their code.
fn suspects(repair: &RepairFacts) -> Vec<Section> {
    let suspects: Vec<String> = repair.suspects.iter().map(named).collect();
    let mut sections = Vec::new();
    if !suspects.is_empty() {
        let list: String = suspects.iter().map(|it| format!("- {it}\n")).collect();
        let legend = "Below, lines are numbered and `>` marks the suspicious ones; numbers and marks do not belong to the files.";
        sections.push(Section::new(
            rank::CODE,
            "Suspects, the likeliest first",
            format!("{list}{legend}"),
        ));
    }
    for (place, it) in repair.sources.iter().enumerate() {
        let title = match it.is_whole {
            true => format!("`{}`, the whole file", it.path),
            false => format!("Of `{}`", it.path),
        };
        let (rank, body) = (rank::SUSPECT + place as u32, fenced(&it.render()));
        sections.push(match place {
            0 => Section::new(rank, title, body),
            _ => Section::whole(rank, title, body),
        });
    }
    sections
}

/// Returns what the suspects use, and who calls them.
fn surroundings(repair: &RepairFacts) -> Vec<Section> {
    let mut sections = Vec::new();
    if !repair.used.is_empty() {
        let entry = |(place, text): &(String, String)| format!("{place}\n{}", fenced(text));
        let body: String = repair.used.iter().map(entry).collect();
        sections.push(Section::new(rank::USED, "What they use of other files", body));
    }
    if !repair.callers.is_empty() {
        let entry = |(name, lines): &(String, Vec<String>)| {
            let lines: String = lines.iter().map(|it| format!("  {it}\n")).collect();
            format!("- `{name}`:\n{lines}")
        };
        let body: String = repair.callers.iter().map(entry).collect();
        sections.push(Section::new(rank::CALLERS, "Who uses them", body));
    }
    for it in &repair.caller_sources {
        let title = format!("A caller, in `{}`", it.path);
        sections.push(Section::whole(rank::CALLERS, title, fenced(&it.render())));
    }
    sections
}

fn named(it: &Suspect) -> String {
    let symbol = if it.symbol.is_empty() { "the top level" } else { &it.symbol };
    let why = if it.why.is_empty() { String::new() } else { format!(" ({})", it.why) };
    format!("`{symbol}` in `{}`, line {}{why}", it.path, it.line)
}

/// Maximum length of one earlier fix, in bytes.
const LONGEST_FIX: usize = 3000;

/// Returns the section on earlier fixes.
fn tried(earlier: &[FailedFix]) -> Option<Section> {
    let fix = |(number, it): (usize, &FailedFix)| {
        let diff = match it.diff.trim_end() {
            "" => String::new(),
            diff => format!("```diff\n{}\n```\n", cut_middle(diff, LONGEST_FIX)),
        };
        format!("{}. {}\n{diff}", number + 1, cut_middle(it.why.trim(), LONGEST_FIX))
    };
    let body: String = earlier.iter().enumerate().map(fix).collect();
    (!body.is_empty())
        .then(|| Section::new(rank::CODE, "Tried already, and why each did not do", body))
}

fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}python\n{}\n{fence}\n", text.trim_end())
}
