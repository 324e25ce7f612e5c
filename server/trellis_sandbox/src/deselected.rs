//! Adds to a report what tests say that the project's own options leave out.

use std::collections::{BTreeSet, HashSet};

use crate::report::{Coverage, FileCoverage, Outcome, Report, TestOutcome, TestResult};
use crate::wording::counted;

/// Ids named in a note.
const NAMED: usize = 5;

/// Takes the results and lines of `rest`, a run of what `report` has as deselected. Its outcome is its own affair: a test that
/// nobody runs may well hang or need what is not there.
pub(crate) fn add(report: &mut Report, rest: Report) {
    // Who makes up results there may do so anywhere.
    if matches!(rest.outcome, Outcome::Cancelled | Outcome::Tampered { .. }) {
        (report.outcome, report.reason) = (rest.outcome, rest.reason);
        return;
    }
    let has_result: HashSet<&str> = rest.tests.iter().map(|it| it.id.as_str()).collect();
    report.deselected.retain(|id| !has_result.contains(id.as_str()));
    report.duration += rest.duration;
    if let Some(more) = rest.coverage {
        join(report.coverage.get_or_insert_default(), more);
    }
    let passed =
        |it: &&TestResult| matches!(it.outcome, TestOutcome::Passed | TestOutcome::XPassed);
    let bad: Vec<&str> =
        rest.tests.iter().filter(|it| !passed(it)).map(|it| it.id.as_str()).collect();
    let (count, passed) = (rest.tests.len(), rest.tests.len() - bad.len());
    report.notes.push(format!(
        "tests that the project's options or a hook leave out were run as well, to see what breaks in them: \
         {passed} of {count} passed{}",
        named(", failed or skipped: ", &bad)
    ));
    let silent = &report.deselected;
    if !silent.is_empty() {
        let why = rest.reason.unwrap_or_else(|| format!("{:?}", rest.outcome));
        report.notes.push(format!(
            "{} of them have no result ({why}), so what breaks in them is unknown{}",
            silent.len(),
            named(": ", silent)
        ));
    }
    report.deselected_tests = rest.tests;
}

/// A note on tests that were found and not run; `has_options`: the request has options for the framework.
pub(crate) fn left_out(report: &Report, has_options: bool) -> String {
    let yours = if has_options { "your options, " } else { "" };
    format!(
        "{yours}the project's options or a hook leave out {}{}",
        counted(report.deselected.len(), "test", "tests"),
        named(": ", &report.deselected)
    )
}

fn named<T: AsRef<str>>(before: &str, ids: &[T]) -> String {
    let first: Vec<&str> = ids.iter().take(NAMED).map(AsRef::as_ref).collect();
    match ids.len() {
        0 => String::new(),
        count if count > NAMED => {
            format!("{before}{} and {} more", first.join(", "), count - NAMED)
        }
        _ => format!("{before}{}", first.join(", ")),
    }
}

/// Lines of both runs together.
fn join(all: &mut Coverage, more: Coverage) {
    for (path, file) in more.files {
        match all.files.entry(path) {
            std::collections::btree_map::Entry::Vacant(place) => drop(place.insert(file)),
            std::collections::btree_map::Entry::Occupied(mut place) => {
                join_file(place.get_mut(), file);
            }
        }
    }
}

fn join_file(one: &mut FileCoverage, other: FileCoverage) {
    let executed: BTreeSet<u32> = one.executed.iter().copied().chain(other.executed).collect();
    let statements = one.missing.iter().copied().chain(other.missing);
    let missing: BTreeSet<u32> = statements.filter(|it| !executed.contains(it)).collect();
    one.executed = executed.into_iter().collect();
    one.missing = missing.into_iter().collect();
    one.tests.extend(other.tests);
    // The same file has the same functions.
    for (function, more) in one.functions.iter_mut().zip(other.functions) {
        let tests: BTreeSet<String> = function.tests.drain(..).chain(more.tests).collect();
        function.tests = tests.into_iter().collect();
    }
}
