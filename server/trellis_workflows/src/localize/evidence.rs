//! Turns test runs and sources into the evidence for the ranking.

use std::collections::BTreeSet;

use trellis_engine::localize::{Evidence, FileEvidence, TestEvidence};
use trellis_python::{FileFacts, FileId, FunctionFact, Index, SymbolKind, Unit, belongs_to_tests};
use trellis_sandbox::test_ids::is_example;
use trellis_sandbox::{Report, TestOutcome, TestResult};

use super::{failing, has_failed};
use crate::convert::{Texts, failure};

/// Combines runs with coverage and the sources of the same tree. Files that are not Python have no
/// facts; skipped tests contribute nothing.
pub fn evidence(index: &Index, reports: &[Report]) -> Evidence {
    let results = reports.iter().flat_map(|it| &it.tests);
    let functions = results.filter(|it| is_function(it));
    let tests_lie_in: BTreeSet<&str> = functions.map(|it| it.path.as_str()).collect();
    let mut files: Vec<FileEvidence> = (index.files())
        .map(|file| {
            let path = index.path(file).to_owned();
            let text = index.text(file);
            let facts = text.and_then(|it| FileFacts::of(&it).ok());
            let facts = facts.unwrap_or_else(|| of_broken(index, file));
            let is_test = belongs_to_tests(&path) || tests_lie_in.contains(path.as_str());
            FileEvidence { path, is_test, facts, ..FileEvidence::default() }
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let mut evidence = Evidence { tests: Vec::new(), files };
    let mut seen = BTreeSet::new();
    for report in reports {
        let texts = |path: &str| index.text(index.file(path)?);
        let tests = tests(report, &texts).into_iter().filter(|it| seen.insert(it.id.clone()));
        let tests: Vec<TestEvidence> = tests.map(|it| with_lines(it, report, &evidence)).collect();
        evidence.tests.extend(tests);
    }
    for file in 0..evidence.files.len() {
        evidence.files[file].imported = imported(file, reports, &evidence);
    }
    evidence
}

/// Returns the first lines of the statements of a file that ran in no test.
fn imported(file: usize, reports: &[Report], evidence: &Evidence) -> BTreeSet<u32> {
    let path = &evidence.files[file].path;
    let measured = || reports.iter().filter_map(|it| it.coverage.as_ref()?.files.get(path));
    let first = |line: &u32| evidence.statement_line((file, *line)).1;
    let mut ran: BTreeSet<u32> = measured().flat_map(|it| &it.executed).map(first).collect();
    for line in measured().flat_map(|it| it.tests.values().flatten()) {
        ran.remove(&first(line));
    }
    ran
}

/// Returns whether a test is a function. Other tests, such as the examples of a docstring or the
/// check of a linter, lie in files of the code.
fn is_function(test: &TestResult) -> bool {
    test.line.is_some() && !is_example(&test.id)
}

/// Returns the facts of a file that does not parse: the functions around the broken places.
fn of_broken(index: &Index, file: FileId) -> FileFacts {
    let (outline, text) = (index.outline(file), index.text(file).unwrap_or_default());
    let lines = index.lines(file, &text);
    let line = |offset: usize| lines.position(offset, Unit::Utf8).0 as u32 + 1;
    let functions = (0..outline.symbols.len()).filter_map(|number| {
        let it = &outline.symbols[number];
        matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Property).then(
            || {
                let names: Vec<&str> =
                    outline.path(number).into_iter().map(|it| it.name.as_str()).collect();
                FunctionFact {
                    name: names.join("."),
                    first: line(it.range.start),
                    header: line(it.name_range.start),
                    last: line(it.range.end.saturating_sub(1)),
                    calls: BTreeSet::new(),
                }
            },
        )
    });
    FileFacts { functions: functions.collect(), ..FileFacts::default() }
}

fn tests(report: &Report, texts: Texts<'_>) -> Vec<TestEvidence> {
    let passed = report.tests.iter().filter(|it| {
        !has_failed(it) && matches!(it.outcome, TestOutcome::Passed | TestOutcome::XPassed)
    });
    let passed = passed.map(|it| TestEvidence { id: it.id.clone(), ..TestEvidence::default() });
    let failed = failing(report).into_iter().map(|it| TestEvidence {
        id: it.id,
        failed: true,
        failure: Some(failure(&it.failure, texts)),
        ..TestEvidence::default()
    });
    passed.chain(failed).collect()
}

/// Adds the lines that a test executed, as first lines of statements. A test without coverage gets
/// the lines of its traceback.
fn with_lines(mut test: TestEvidence, report: &Report, evidence: &Evidence) -> TestEvidence {
    let place = |path: &str| evidence.files.binary_search_by(|it| it.path.as_str().cmp(path)).ok();
    let first = |file: usize, line: u32| {
        let facts = &evidence.files[file].facts;
        facts.statement_at(line).map_or(line, |it| facts.statements[it].first)
    };
    for (path, coverage) in report.coverage.iter().flat_map(|it| &it.files) {
        let (Some(file), Some(lines)) = (place(path), coverage.tests.get(&test.id)) else {
            continue;
        };
        let lines = lines.iter().map(|it| first(file, *it)).collect::<BTreeSet<u32>>();
        test.measured |= !evidence.files[file].is_test && !lines.is_empty();
        test.lines.insert(file, lines);
    }
    if test.lines.is_empty()
        && let Some(failure) = &test.failure
    {
        let last = (failure.path.as_str(), failure.line);
        let frames = failure.frames.iter().map(|it| (it.path.as_str(), it.line)).chain([last]);
        for (path, line) in frames {
            let Some(file) = place(path) else { continue };
            test.lines.entry(file).or_default().insert(first(file, line));
        }
    }
    test
}
