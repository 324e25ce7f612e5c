//! Reports of what was done and observed, written before the merge.

use std::path::Path;

use trellis_engine::TestRun;
use trellis_engine::issue::RemovedDefinitions;
use trellis_sandbox::Totals;

use super::IssueRequest;
use super::lint::LintReport;
use super::spec::Spec;
use crate::budget::Spent;
use crate::fault::{Fault, cannot};
use trellis_git::worktree::Worktree;
use trellis_store::disk;

/// Facts collected during the work.
#[derive(Default)]
pub struct Log {
    pub(super) red: Option<TestRun>,
    pub(super) new: Option<TestRun>,
    pub(super) all: Option<TestRun>,
    /// Number of tests that passed without the work.
    pub before: usize,
    /// Number of tests and files that failed without the work.
    pub(super) failed_before: usize,
    pub(super) linted: LintReport,
    /// New definitions that the context already has.
    pub(super) twins: Vec<String>,
    /// Definitions that the change removes.
    pub(super) losses: RemovedDefinitions,
    pub doubts: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Files that the work changes.
    pub paths: Vec<String>,
    pub diff: String,
    /// Folder of the reports, relative to the project.
    pub reports: Option<String>,
    /// The merge commit on the target branch.
    pub commit: Option<String>,
    /// The merge failed because of conflicts.
    pub(super) conflicts: bool,
    /// The change waits for a review, since no reviewer was present.
    pub waits: bool,
    pub tested: Totals,
    pub spent: Option<Spent>,
}

impl Log {
    /// Returns the ids of the tests that passed in the last run of all tests.
    pub(super) fn passed(&self) -> Vec<String> {
        let cases = self.all.iter().flat_map(|it| &it.cases);
        cases.filter(|it| it.passed).map(|it| it.id.clone()).collect()
    }

    /// Returns additional notes, those of the linters first.
    pub fn notes(&self) -> Vec<String> {
        self.linted.notes.iter().chain(&self.notes).cloned().collect()
    }

    /// Returns passed and failed counts of the last run of the new tests, and of the last run of
    /// all tests.
    pub fn counts(&self) -> [Option<(usize, usize)>; 2] {
        let of = |run: &Option<TestRun>| run.as_ref().map(|it| (it.passed(), it.failed()));
        [of(&self.new), of(&self.all)]
    }
}

/// Writes both reports.
pub(super) fn write(
    order: &IssueRequest,
    words: &Spec,
    work: &Worktree,
    log: &mut Log,
    history: &[String],
) -> Result<(), Fault> {
    let folder = format!(".trellis/implement/{}", order.name);
    let files = [
        ("implementation-report.md", implementation(order, words, work, log, history)),
        ("test-report.md", tests(order, log)),
    ];
    for (name, text) in files {
        let path = format!("{folder}/{name}");
        disk::write(&order.home, &path, &text)
            .map_err(|error| cannot(&format!("write {path}"), &error))?;
    }
    log.reports = Some(folder);
    Ok(())
}

/// Returns the text of the implementation report; empty if there is none.
pub(super) fn written(home: &Path, folder: Option<&str>) -> String {
    let path = folder.map(|it| home.join(it).join("implementation-report.md"));
    // The report is for people; without it, only the reason is shown.
    path.and_then(|it| trellis_os::files::read_text(it).ok()).unwrap_or_default()
}

fn implementation(
    order: &IssueRequest,
    words: &Spec,
    work: &Worktree,
    log: &Log,
    history: &[String],
) -> String {
    let mut out = format!("# Implementation of {}\n\n", order.title);
    out += &format!("- Specification: {}\n", words.lld);
    let context = words.context.code.iter().chain(&words.context.standards);
    let context: Vec<&str> = context.map(|it| it.0.as_str()).collect();
    if !context.is_empty() {
        out += &format!("- Context: {}\n", context.join(", "));
    }
    out += &format!(
        "- Branch: {}, from {}, for {}\n",
        work.branch(),
        work.record.base,
        work.record.into
    );
    out += &listed("Files", &log.paths, "none");
    let doubts: Vec<String> = log.twins.iter().chain(log.losses.all()).cloned().collect();
    out += &listed("Doubts", &doubts, "none");
    let (word, by) = log.linted.passed();
    let looked = if by.is_empty() { word } else { &by };
    out += &format!("\n## Linters\n\n- {looked}\n");
    log.linted.doubts.iter().chain(&log.linted.notes).for_each(|it| out += &format!("- {it}\n"));
    let first = |it: &String| it.lines().next().unwrap_or_default().to_owned();
    let history: Vec<String> = history.iter().map(first).collect();
    out += &listed("Failed attempts", &history, "nothing");
    out
}

fn tests(order: &IssueRequest, log: &Log) -> String {
    let mut out = format!("# Tests of {}\n", order.title);
    let red = match &log.red {
        Some(run) => format!("failed, as required: {}", run.summary()),
        None => "not run this time, because the run resumed with existing tests".to_owned(),
    };
    out += &format!("\n## Before the code\n\n- {red}\n");
    let ids = |run: &Option<TestRun>| -> Vec<String> {
        run.iter().flat_map(|it| &it.cases).filter(|it| it.passed).map(|it| it.id.clone()).collect()
    };
    out += &listed("New tests that pass", &ids(&log.new), "none");
    let after = log.counts()[1].unwrap_or_default();
    out += &format!("\n## All tests\n\n{}", compared((log.before, log.failed_before), after));
    log.notes.iter().for_each(|it| out += &format!("- {it}\n"));
    out
}

/// Compares test counts (passed and failed) without and with the work. Tests that passed before
/// still pass, or there would be no report.
fn compared(before: (usize, usize), after: (usize, usize)) -> String {
    let counts = |(passed, failed): (usize, usize)| format!("{passed} pass, {failed} fail");
    let which = match after.1 {
        0 => "",
        _ => "; none of the failing tests passed before",
    };
    format!("- Before: {}\n- After: {}{which}\n", counts(before), counts(after))
}

fn listed(title: &str, items: &[String], none: &str) -> String {
    let mut out = format!("\n## {title}\n\n");
    if items.is_empty() {
        out += &format!("- {none}\n");
    }
    items.iter().for_each(|it| out += &format!("- {it}\n"));
    out
}

/// Returns the commit message.
pub fn message(order: &IssueRequest, words: &Spec) -> String {
    let trailer = order.trailer.as_ref().map(|it| format!("\n{it}\n")).unwrap_or_default();
    let title = title(order, words);
    format!("{title}\n\nTests first, then the code, as {} wants it.\n{trailer}", words.lld)
}

/// Returns the request's title with the specification's first heading or first line.
pub(super) fn title(order: &IssueRequest, words: &Spec) -> String {
    let mut lines = words.specification.lines().map(|it| it.trim().trim_start_matches('#').trim());
    let title = lines.find(|it| !it.is_empty()).unwrap_or_default();
    let title: String = title.chars().take(60).collect();
    let (first, rest) = order.title.split_at(order.title.chars().next().map_or(0, char::len_utf8));
    format!("{}{rest}: {title}", first.to_uppercase())
}
