//! Diagnostics of a group of failing tests, for people and for the model (R2).

use std::collections::BTreeMap;

use super::groups::Group;
use super::model_diagnosis::ModelDiagnosis;
use crate::editable_files::EditableFiles;
use crate::localize::{Evidence, RankedFunction};
use crate::observation::Failure;

/// Kinds of failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IssueType {
    /// A failed assertion.
    TestFailure,
    /// Code that cannot be parsed or imported.
    BuildError,
    /// A raised exception or an endless loop.
    RuntimeError,
    /// A value of an unexpected type.
    TypeError,
}

/// Severity of a failure, by the tests that it affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// One test.
    Low,
    /// Several tests of one file.
    Medium,
    /// Tests of several files, or an endless loop.
    High,
    /// Tests that cannot be collected, or more than half of all tests.
    Critical,
}

impl IssueType {
    /// Returns `test_failure`, `build_error`, `runtime_error` or `type_error`.
    pub fn as_str(self) -> &'static str {
        match self {
            IssueType::TestFailure => "test_failure",
            IssueType::BuildError => "build_error",
            IssueType::RuntimeError => "runtime_error",
            IssueType::TypeError => "type_error",
        }
    }

    fn of(failure: &Failure, is_collected: bool) -> IssueType {
        match failure.exception.rsplit('.').next().unwrap_or_default() {
            _ if !is_collected => IssueType::BuildError,
            "SyntaxError"
            | "IndentationError"
            | "TabError"
            | "ImportError"
            | "ModuleNotFoundError" => IssueType::BuildError,
            "TypeError" | "AttributeError" | "NameError" | "UnboundLocalError" => {
                IssueType::TypeError
            }
            "AssertionError" | "Failed" => IssueType::TestFailure,
            _ => IssueType::RuntimeError,
        }
    }
}

impl Severity {
    /// Returns `Critical`, `High`, `Medium` or `Low`.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Critical => "Critical",
            Severity::High => "High",
            Severity::Medium => "Medium",
            Severity::Low => "Low",
        }
    }

    fn of(group: &Group, evidence: &Evidence, is_endless: bool) -> Severity {
        let file = |id: &str| id.split("::").next().unwrap_or_default().to_owned();
        let mut files: Vec<String> = group.tests.iter().map(|it| file(it)).collect();
        files.sort_unstable();
        files.dedup();
        let is_most = group.tests.len() * 2 > evidence.tests.len() && evidence.tests.len() > 2;
        match group.tests.len() {
            _ if group.tests.iter().any(|it| !it.contains("::")) || is_most => Severity::Critical,
            _ if files.len() > 1 || is_endless => Severity::High,
            1 => Severity::Low,
            _ => Severity::Medium,
        }
    }
}

/// A place related to a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Affected {
    /// Path relative to the root.
    pub path: String,
    /// First shown line, from 1.
    pub first: u32,
    /// Last shown line.
    pub last: u32,
    pub snippet: String,
    /// Relation of the place to the failure.
    pub why: String,
}

/// Diagnosis of a group of failing tests.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// Ids of the tests, sorted.
    pub tests: Vec<String>,
    pub issue_type: IssueType,
    pub severity: Severity,
    /// Exception and message of the first test.
    pub error: String,
    /// The model's cause if it names one, else the measured cause.
    pub root_cause: String,
    /// True if the cause is the model's.
    pub is_opinion: bool,
    /// Frames of the traceback, the deepest first, then suspects.
    pub affected: Vec<Affected>,
    /// The examined evidence, as sentences.
    pub looked_at: Vec<String>,
    pub opinion: ModelDiagnosis,
}

/// Number of lines shown around a frame (R2).
const AROUND: u32 = 20;
/// Maximum number of shown frames.
const FRAMES: usize = 6;
/// Maximum number of shown suspects.
const SUSPECTS: usize = 5;
/// Exception name of an interrupted test.
const ENDLESS: &str = "TestTookTooLong";

/// Combines the evidence from runs on a group with a model's opinion.
pub fn diagnostic(
    group: &Group,
    evidence: &Evidence,
    sources: &dyn EditableFiles,
    opinion: ModelDiagnosis,
) -> Diagnostic {
    let test = evidence.tests.iter().find(|it| it.id == group.first_test());
    let failure = test.and_then(|it| it.failure.clone()).unwrap_or_default();
    let suspects: Vec<&RankedFunction> =
        group.ranking.suspects.iter().filter(|it| !evidence.files[it.file].is_test).collect();
    let measured = suspects.first().map_or_else(
        || "the tests execute nothing suspicious".to_owned(),
        |it| format!("most suspect is {}: {}", place(it, evidence), it.why),
    );
    let is_opinion = !opinion.root_cause.is_empty();
    Diagnostic {
        tests: group.tests.clone(),
        issue_type: IssueType::of(&failure, group.first_test().contains("::")),
        severity: Severity::of(group, evidence, failure.exception == ENDLESS),
        error: format!("{}: {}", failure.exception, failure.message),
        root_cause: if is_opinion { opinion.root_cause.clone() } else { measured.clone() },
        is_opinion,
        affected: affected(&failure, &suspects, evidence, sources),
        looked_at: looked_at(evidence, &failure, measured),
        opinion,
    }
}

fn place(it: &RankedFunction, evidence: &Evidence) -> String {
    let symbol = if it.symbol.is_empty() { "the top level" } else { &it.symbol };
    format!("{symbol} in {}:{}", evidence.files[it.file].path, it.line)
}

fn looked_at(evidence: &Evidence, failure: &Failure, measured: String) -> Vec<String> {
    let failed = evidence.tests.iter().filter(|it| it.failed).count();
    let covered = evidence.tests.iter().filter(|it| !it.lines.is_empty()).count();
    vec![
        format!("tests: {failed} of {} fail", evidence.tests.len()),
        format!("tests with measured lines: {covered}"),
        format!("frames of the traceback: {}", failure.frames.len()),
        measured,
    ]
}

fn affected(
    failure: &Failure,
    suspects: &[&RankedFunction],
    evidence: &Evidence,
    sources: &dyn EditableFiles,
) -> Vec<Affected> {
    let frames = failure.frames.iter().rev().take(FRAMES);
    let frames =
        frames.map(|it| (it.path.clone(), it.line, format!("{} is running here", it.function)));
    let suspects = suspects
        .iter()
        .take(SUSPECTS)
        .map(|it| (evidence.files[it.file].path.clone(), it.line, format!("suspect: {}", it.why)));
    let mut seen: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    let mut out = Vec::new();
    for (path, line, why) in frames.chain(suspects) {
        // A place that is shown already is not shown again.
        let known = seen.entry(path.clone()).or_default();
        if known.iter().any(|(first, last)| (*first..=*last).contains(&line)) {
            continue;
        }
        let Some(it) = snippet(path, line, why, sources) else { continue };
        known.push((it.first, it.last));
        out.push(it);
    }
    out
}

fn snippet(path: String, line: u32, why: String, sources: &dyn EditableFiles) -> Option<Affected> {
    let text = sources.text(&path)?;
    let lines: Vec<&str> = text.lines().collect();
    let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
    let first = line.saturating_sub(AROUND).max(1);
    let last = line.saturating_add(AROUND).min(count);
    let shown = lines.get(first as usize - 1..last as usize)?;
    Some(Affected { path, first, last, snippet: shown.join("\n"), why })
}

impl Diagnostic {
    /// Renders the diagnostic for people.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n\n", self.tests.join(", "));
        out += &format!(
            "- Kind: {}\n- Severity: {}\n",
            self.issue_type.as_str(),
            self.severity.as_str()
        );
        out += &format!("- Error: {}\n", self.error.trim());
        let by = if self.is_opinion { "by the model's diagnosis" } else { "measured" };
        out += &format!("- Cause ({by}): {}\n", self.root_cause);
        out += "\n## Examined\n\n";
        self.looked_at.iter().for_each(|it| out += &format!("- {it}\n"));
        if !self.opinion.ideas.is_empty() {
            out += "\n## Suggested by the model\n\n";
        }
        for it in &self.opinion.ideas {
            let sure = it.confidence.map(|it| format!(" (its confidence: {:.0} %)", it * 100.0));
            out += &format!("- {}{}\n", it.description, sure.unwrap_or_default());
        }
        out += "\n## Places\n";
        for it in &self.affected {
            out += &format!("\n{}:{}-{}, {}\n\n", it.path, it.first, it.last, it.why);
            out += &fenced(&it.snippet);
        }
        out
    }
}

/// Puts a text in a fence longer than any in the text.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}python\n{text}\n{fence}\n")
}
