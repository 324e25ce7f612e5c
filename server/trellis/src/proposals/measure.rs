//! How sure one can be of a fix, from what runs showed.

use std::collections::{BTreeMap, BTreeSet};

use code::{Facts, hunks};
use cycle::approval::Confidence;
use cycle::localize::{Evidence, Ranking};
use run::Report;

use super::proposal::ProposedFile;
use super::trial::passed;

/// The three parts: where the evidence pointed, the tests with the fix, the lines they execute. `report` is a run of `tests`
/// with coverage and the fix.
pub(super) fn confidence(
    files: &[ProposedFile],
    evidence: &Evidence,
    ranking: &Ranking,
    tests: &[String],
    report: &Report,
) -> Confidence {
    let good = tests.iter().filter(|id| passed(report, id)).count();
    Confidence {
        diagnostic: diagnostic(files, evidence, ranking),
        fix: share(good, tests.len()),
        coverage: coverage(files, report),
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The best score of a function that is changed, against the best there is.
fn diagnostic(files: &[ProposedFile], evidence: &Evidence, ranking: &Ranking) -> f64 {
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

/// Names of the functions whose lines are changed; empty for the top level.
fn functions(file: &ProposedFile) -> BTreeSet<String> {
    let Ok(facts) = Facts::of(file.before()) else { return BTreeSet::new() };
    let name = |line: u32| {
        let at = facts.function_at(line);
        at.map_or_else(String::new, |at| facts.functions[at].name.clone())
    };
    old_lines(file).into_iter().map(name).collect()
}

/// Whether anything outside of functions is changed.
pub(super) fn changes_top_level(file: &ProposedFile) -> bool {
    functions(file).contains("")
}

/// Lines that go, from 1; of an insertion, the line above it, since what is inserted at a function's end is the function's.
fn old_lines(file: &ProposedFile) -> BTreeSet<u32> {
    let lines = |it: code::Hunk| match it.old_lines.is_empty() {
        true => it.old_lines.start.max(1)..it.old_lines.start.max(1) + 1,
        false => it.old_lines.start + 1..it.old_lines.end + 1,
    };
    let all = hunks(file.before(), &file.proposed).into_iter().flat_map(lines);
    all.map(|it| it as u32).collect()
}

/// The share of the changed statements that passing tests execute. Where lines only go, the statements that close ranks.
fn coverage(files: &[ProposedFile], report: &Report) -> f64 {
    let (mut executed, mut all) = (0, 0);
    for file in files {
        let Ok(facts) = Facts::of(&file.proposed) else { continue };
        let statements: BTreeSet<u32> = new_lines(file)
            .into_iter()
            .filter_map(|line| facts.statement_at(line))
            .map(|at| facts.statements[at].first)
            .collect();
        let measured = report.coverage.as_ref().and_then(|it| it.files.get(&file.path));
        let by_passing: BTreeSet<u32> = measured
            .iter()
            .flat_map(|it| &it.tests)
            .filter(|(id, _)| passed(report, id))
            .flat_map(|(_, lines)| lines.iter().copied())
            .filter_map(|line| facts.statement_at(line))
            .map(|at| facts.statements[at].first)
            .collect();
        // Definitions and other statements of the top level are executed by the import.
        let by_import = |line: &u32| {
            measured.is_some_and(|it| it.executed.contains(line))
                && facts.function_at(*line).is_none()
        };
        executed += statements.iter().filter(|it| by_passing.contains(it) || by_import(it)).count();
        all += statements.len();
    }
    share(executed, all)
}

/// Lines that come, from 1; where lines only go, those around the gap.
fn new_lines(file: &ProposedFile) -> BTreeSet<u32> {
    let lines = |it: code::Hunk| match it.new_lines.is_empty() {
        true => it.new_lines.start.max(1)..it.new_lines.start + 2,
        false => it.new_lines.start + 1..it.new_lines.end + 1,
    };
    let all = hunks(file.before(), &file.proposed).into_iter().flat_map(lines);
    all.map(|it| it as u32).collect()
}
