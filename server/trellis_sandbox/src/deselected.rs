//! Adds to a report the results of tests that the project's own options leave out.

use std::collections::{BTreeSet, HashSet};

use crate::report::{Coverage, Failure, FileCoverage, Outcome, Report, TestOutcome, TestResult};
use trellis_os::wording::counted;

/// Maximum number of ids named in a note.
const NAMED: usize = 5;

/// Adds the results and lines of `rest`, a run of the tests that `report` lists as deselected. The
/// outcome of `rest` does not count: a test that is never run may well hang or need a missing
/// resource.
pub(crate) fn add(report: &mut Report, rest: Report) {
    // Code that makes up results in this run can do so in any run.
    if matches!(rest.outcome, Outcome::Cancelled | Outcome::Tampered { .. }) {
        (report.outcome, report.reason) = (rest.outcome, rest.reason);
        return;
    }
    report.notes.extend(unloaded(&rest));
    add_ids(report, rest.not_run);
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
    if count > 0 {
        report.notes.push(format!(
            "tests that the project's options or a hook leave out were run as well, to see what breaks in them: \
             {passed} of {count} passed{}",
            named(", failed or skipped: ", &bad)
        ));
    }
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

/// Adds the ids of tests that `listed`, a run that found all tests, has and `report` has not.
pub(crate) fn list(report: &mut Report, listed: Report) {
    report.notes.extend(unloaded(&listed));
    add_ids(report, listed.deselected);
}

/// Adds ids of tests that the report does not know to those that were found and not run.
fn add_ids(report: &mut Report, ids: Vec<String>) {
    let ran = report.tests.iter().map(|it| &it.id);
    let known: HashSet<&String> = ran.chain(&report.not_run).chain(&report.deselected).collect();
    let new: Vec<String> = ids.into_iter().filter(|it| !known.contains(it)).collect();
    report.deselected.extend(new);
}

/// Returns a note on files with tests that are left out and unknown, since they cannot be loaded.
fn unloaded(rest: &Report) -> Option<String> {
    let files: BTreeSet<&str> = rest.collection_errors.iter().filter_map(Failure::file).collect();
    let files: Vec<&str> = files.into_iter().collect();
    let what = counted(
        files.len(),
        "file that the project's options leave out cannot be loaded, so its",
        "files that the project's options leave out cannot be loaded, so their",
    );
    (!files.is_empty()).then(|| format!("{what} tests have no result{}", named(": ", &files)))
}

/// Returns a note on tests that were found and not run. `has_options`: the request has options for
/// the framework.
pub(crate) fn left_out(report: &Report, has_options: bool) -> Option<String> {
    let yours = if has_options { "your options, " } else { "" };
    let count = counted(report.deselected.len(), "test", "tests");
    let ids = named(": ", &report.deselected);
    let note = format!("{yours}the project's options or a hook leave out {count}{ids}");
    (!report.deselected.is_empty()).then_some(note)
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

/// Adds the lines of `more` to `all`.
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
    // Both runs saw the same file, so its functions are the same.
    for (function, more) in one.functions.iter_mut().zip(other.functions) {
        let tests: BTreeSet<String> = function.tests.drain(..).chain(more.tests).collect();
        function.tests = tests.into_iter().collect();
    }
}
