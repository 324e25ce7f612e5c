//! Computes the confidence in a fix from test runs.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use trellis_engine::approval::{Confidence, Parts};
use trellis_engine::localize::{Evidence, Ranking};
use trellis_python::{FileFacts, hunks};
use trellis_sandbox::Report;

use super::proposal::ProposedFile;
use super::verify::passed;

/// Facts about a fix that passes.
pub struct ConfidenceInputs<'a> {
    pub files: &'a [ProposedFile],
    pub evidence: &'a Evidence,
    pub ranking: &'a Ranking,
    /// The test whose failure the fix is for.
    pub target: &'a str,
    /// The tests that ran with the fix. `report` has their results, with coverage.
    pub tests: &'a [String],
    pub report: &'a Report,
    /// Number of changed lines; `most_lines` is its limit.
    pub lines: usize,
    pub most_lines: usize,
    /// Number of earlier fixes that failed.
    pub failed: usize,
}

/// Number of changed lines that still count as few.
const FEW: usize = 5;
/// Deduction from `history` per earlier failed fix.
const STEP: f64 = 0.2;

/// Computes the three parts (R3) from runs: where traceback and suspects pointed; the tests, the
/// size and the earlier attempts; and the lines that passing tests execute.
pub fn confidence(it: &ConfidenceInputs<'_>) -> Confidence {
    let good = it.tests.iter().filter(|id| passed(it.report, id)).count();
    let parts = Parts {
        clarity: clarity(it),
        agreement: agreement(it.files, it.evidence, it.ranking),
        passing: share(good, it.tests.len()),
        size: 1.0 - share(it.lines.saturating_sub(FEW), it.most_lines.max(FEW + 1) - FEW).min(1.0),
        history: (1.0 - STEP * it.failed as f64).max(0.0),
    };
    Confidence {
        diagnostic: (parts.clarity + parts.agreement) / 2.0,
        fix: parts.passing * (parts.size + parts.history) / 2.0,
        coverage: coverage(it.files, it.report),
        parts: Some(parts),
    }
}

/// Returns 1 if the failure is raised in a changed function, or the first suspect is one; 0.5 in
/// the same file.
fn clarity(it: &ConfidenceInputs<'_>) -> f64 {
    let failure = it.evidence.tests.iter().find(|test| test.id == it.target);
    let is_code =
        |path: &str| it.evidence.files.iter().any(|file| file.path == path && !file.is_test);
    let frames = failure.and_then(|test| test.failure.as_ref()).map(|it| it.frames.as_slice());
    let deepest = frames.unwrap_or_default().iter().rev().find(|frame| is_code(&frame.path));
    let first = it.ranking.suspects.iter().find(|it_| !it.evidence.files[it_.file].is_test);
    let place = deepest.map(|frame| (frame.path.as_str(), frame.line));
    let place = place.or(first.map(|it_| (it.evidence.files[it_.file].path.as_str(), it_.line)));
    let Some((path, line)) = place else { return 0.0 };
    let Some(file) = it.files.iter().find(|file| file.path == path) else { return 0.0 };
    let name = FileFacts::of(file.before())
        .ok()
        .and_then(|facts| facts.function_at(line).map(|at| facts.functions[at].name.clone()));
    if functions(file).contains(&name.unwrap_or_default()) { 1.0 } else { 0.5 }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Returns the best score of a changed function relative to the highest score.
fn agreement(files: &[ProposedFile], evidence: &Evidence, ranking: &Ranking) -> f64 {
    let highest = ranking.suspects.iter().map(|it| it.score).fold(0.0, f64::max);
    let changed: BTreeMap<&str, BTreeSet<String>> =
        files.iter().map(|it| (it.path.as_str(), functions(it))).collect();
    let of_changed = ranking.suspects.iter().filter(|it| {
        let path = evidence.files[it.file].path.as_str();
        changed.get(path).is_some_and(|names| names.contains(&it.symbol))
    });
    let best = of_changed.map(|it| it.score).fold(0.0, f64::max);
    if highest > 0.0 { (best / highest).clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the names of functions with changed lines; the empty name stands for the top level.
fn functions(file: &ProposedFile) -> BTreeSet<String> {
    let Ok(facts) = FileFacts::of(file.before()) else { return BTreeSet::new() };
    let name = |line: u32| {
        let at = facts.function_at(line);
        at.map_or_else(String::new, |at| facts.functions[at].name.clone())
    };
    old_lines(file).into_iter().map(name).collect()
}

/// Returns whether anything outside functions is changed.
pub fn changes_top_level(file: &ProposedFile) -> bool {
    functions(file).contains("")
}

/// Returns the removed lines, from 1. For an insertion, it is the line above, since text inserted
/// at a function's end belongs to the function.
fn old_lines(file: &ProposedFile) -> BTreeSet<u32> {
    let lines = |it: trellis_python::Hunk| match it.old_lines.is_empty() {
        true => it.old_lines.start.max(1)..it.old_lines.start.max(1) + 1,
        false => it.old_lines.start + 1..it.old_lines.end + 1,
    };
    let all = hunks(file.before(), &file.proposed).into_iter().flat_map(lines);
    all.map(|it| it as u32).collect()
}

/// Returns the share of changed statements that passing tests execute. If lines were only removed,
/// the statements around the gap count.
fn coverage(files: &[ProposedFile], report: &Report) -> f64 {
    let (mut executed, mut all) = (0, 0);
    for file in files {
        let Some(lines) = StatementCoverage::of(file, report) else { continue };
        let statements = lines.statements(new_lines(file));
        executed += statements.iter().filter(|it| lines.is_executed(**it)).count();
        all += statements.len();
    }
    share(executed, all)
}

/// Returns the ids of hunks with statements of which passing tests execute none, counted over all
/// files from 1; `None` if coverage was not measured. Hunks without a statement, such as comments,
/// docstrings and imports, cannot be covered.
pub fn uncovered_hunks(files: &[ProposedFile], report: &Report) -> Option<Vec<usize>> {
    report.coverage.as_ref()?;
    let are_uncovered = files.iter().flat_map(|file| {
        let lines = StatementCoverage::of(file, report);
        let hunks = hunks(file.before(), &file.proposed);
        hunks.into_iter().map(move |hunk| lines.as_ref().is_some_and(|it| it.misses(&hunk)))
    });
    Some((1..).zip(are_uncovered).filter(|it| it.1).map(|it| it.0).collect())
}

/// Statements of a proposed file that passing tests execute, by their first lines from 1.
struct StatementCoverage {
    facts: FileFacts,
    executed: BTreeSet<u32>,
}

impl StatementCoverage {
    /// Returns the coverage of a file; `None` if it cannot be parsed.
    fn of(file: &ProposedFile, report: &Report) -> Option<StatementCoverage> {
        let facts = FileFacts::of(&file.proposed).ok()?;
        let measured = report.coverage.as_ref().and_then(|it| it.files.get(&file.path));
        let by_passing: BTreeSet<u32> = measured
            .iter()
            .flat_map(|it| &it.tests)
            .filter(|(id, _)| passed(report, id))
            .flat_map(|(_, lines)| lines.iter().copied())
            .filter_map(|line| facts.statement_at(line))
            .map(|at| facts.statements[at].first)
            .collect();
        // Importing executes definitions and other statements of the top level.
        let by_import = measured.iter().flat_map(|it| it.executed.iter().copied());
        let by_import = by_import.filter(|line| facts.function_at(*line).is_none());
        let executed = by_passing.into_iter().chain(by_import).collect();
        Some(StatementCoverage { facts, executed })
    }

    /// Returns the first lines of the statements at these lines.
    fn statements(&self, lines: impl IntoIterator<Item = u32>) -> BTreeSet<u32> {
        let at = lines.into_iter().filter_map(|line| self.facts.statement_at(line));
        at.map(|at| self.facts.statements[at].first).collect()
    }

    /// Returns whether a hunk has statements, and none is executed.
    fn misses(&self, hunk: &trellis_python::Hunk) -> bool {
        let statements = self.statements(lines_of(hunk));
        !statements.is_empty() && !statements.iter().any(|it| self.is_executed(*it))
    }

    fn is_executed(&self, statement: u32) -> bool {
        self.executed.contains(&statement)
    }
}

/// Returns the added lines, from 1; if lines were only removed, those around the gap.
fn new_lines(file: &ProposedFile) -> BTreeSet<u32> {
    hunks(file.before(), &file.proposed).iter().flat_map(lines_of).collect()
}

/// Returns the added lines of a hunk, from 1; if it only removes lines, those around the gap.
fn lines_of(hunk: &trellis_python::Hunk) -> std::ops::Range<u32> {
    let lines = match hunk.new_lines.is_empty() {
        true => hunk.new_lines.start.max(1)..hunk.new_lines.start + 2,
        false => hunk.new_lines.start + 1..hunk.new_lines.end + 1,
    };
    lines.start as u32..lines.end as u32
}

/// A confidence as reports give it, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfidenceReport {
    pub total: f64,
    pub diagnostic: f64,
    pub fix: f64,
    pub coverage: f64,
    pub parts: Option<PartsReport>,
}

/// The parts of a confidence, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartsReport {
    pub clarity: f64,
    pub agreement: f64,
    pub passing: f64,
    pub size: f64,
    pub history: f64,
}

impl ConfidenceReport {
    pub fn of(it: &Confidence) -> ConfidenceReport {
        let (total, Confidence { diagnostic, fix, coverage, parts }) = (it.total(), *it);
        let parts = parts.map(|Parts { clarity, agreement, passing, size, history }| PartsReport {
            clarity,
            agreement,
            passing,
            size,
            history,
        });
        ConfidenceReport { total, diagnostic, fix, coverage, parts }
    }

    /// Returns the confidence as text, with its parts.
    pub fn breakdown(&self) -> String {
        let (diagnostic, fix) = match &self.parts {
            Some(it) => (
                format!(" (clarity {:.2}, agreement {:.2})", it.clarity, it.agreement),
                format!(
                    " (passing {:.2}, size {:.2}, history {:.2})",
                    it.passing, it.size, it.history
                ),
            ),
            None => (String::new(), String::new()),
        };
        format!(
            "{:.2} = 0.3 x diagnostic {:.2}{diagnostic} + 0.3 x fix {:.2}{fix} + 0.4 x coverage {:.2}",
            self.total, self.diagnostic, self.fix, self.coverage
        )
    }
}
