//! What a model is shown of a project, and what it may change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use cycle::Suspect;
use cycle::localize::{FileEvidence, Ranked};
use cycle::repair::{Group, Repair, Sources};

use crate::edits;
use crate::localize::Found;

/// Suspects that a model is shown.
const SUSPECTS: usize = 5;
/// Of a long function, lines on each side of the suspicious one.
const AROUND: usize = 20;
/// A function is shown whole up to so many lines.
const WHOLE: usize = 120;

/// A project's files, of which tests are read-only.
pub(super) struct Files<'a> {
    pub(super) root: &'a Path,
    pub(super) found: &'a Found,
    /// Texts that were accepted and are not on the disk.
    pub(super) kept: &'a BTreeMap<String, Arc<str>>,
}

impl Sources for Files<'_> {
    fn text(&self, path: &str) -> Option<String> {
        // A model's path leads nowhere else: only what was looked at is a file.
        let is_known = self.found.evidence.files.iter().any(|it| it.path == path);
        let kept = || self.kept.get(path).map(ToString::to_string);
        is_known.then(|| kept().or_else(|| edits::read(&self.root.join(path)).ok())).flatten()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        let is_test = |it: &&FileEvidence| it.path == path && it.is_test;
        if self.found.unread.iter().any(|it| it == path) {
            return Some("it is no text in UTF-8 that can be edited");
        }
        let file = self.found.evidence.files.iter().find(is_test);
        file.map(|_| "tests say what is wanted, and are read-only")
    }
}

/// The question about a group, before anything was tried.
pub(super) fn question(group: &Group, files: &Files<'_>) -> Repair {
    let evidence = &files.found.evidence;
    let path = group.lead().split("::").next().unwrap_or_default().to_owned();
    let of_test = evidence.tests.iter().find(|it| it.id == group.lead());
    let failure = of_test.and_then(|it| it.failure.as_ref());
    let failure = failure.map(|it| match it.traceback.is_empty() {
        true => format!("{}: {}", it.exception, it.message),
        false => it.traceback.clone(),
    });
    let is_code = |it: &&Ranked| !evidence.files[it.file].is_test;
    let suspects = group.ranking.suspects.iter().filter(is_code).take(SUSPECTS);
    Repair {
        tests: group.tests.clone(),
        test_file: (path.clone(), files.text(&path).unwrap_or_default()),
        failure: failure.unwrap_or_default(),
        suspects: suspects.map(|it| suspect(it, files)).collect(),
        ..Repair::default()
    }
}

/// A suspect with its text.
fn suspect(it: &Ranked, files: &Files<'_>) -> Suspect {
    let file = &files.found.evidence.files[it.file];
    let text = files.text(&file.path).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let function = file.facts.functions.iter().find(|function| function.name == it.symbol);
    let whole = function.map(|it| (it.first as usize - 1, it.last as usize));
    let whole = whole.filter(|(first, end)| end - first <= WHOLE);
    let line = it.line as usize;
    let (first, end) = whole.unwrap_or((line.saturating_sub(AROUND + 1), line + AROUND));
    let end = end.min(lines.len());
    let first = first.min(end);
    Suspect {
        path: file.path.clone(),
        line: first as u32 + 1,
        symbol: it.symbol.clone(),
        score: it.score,
        why: it.why.clone(),
        source: lines[first..end].join("\n"),
        ..Suspect::default()
    }
}
