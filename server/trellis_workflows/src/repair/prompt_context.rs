//! The parts of a project that a model is shown, and those that it may change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::failures::render;
use trellis_engine::localize::{FileEvidence, RankedFunction};
use trellis_engine::repair::{Group, RepairFacts};
use trellis_engine::{EditableFiles, Failure, Suspect};

use crate::localize::Localization;
use trellis_project::edits;

/// Maximum number of suspects that a model is shown.
const SUSPECTS: usize = 5;
/// Lines shown on each side of the suspicious line of a long function.
const AROUND: usize = 20;
/// Maximum number of lines of a function that is shown whole.
const WHOLE: usize = 120;
/// Maximum number of lines of a file that is shown whole.
const WHOLE_FILE: usize = 150;

/// A project's files; tests among them are read-only.
pub(super) struct ProjectFiles<'a> {
    pub(super) root: &'a Path,
    pub(super) found: &'a Localization,
    /// Accepted texts that are not on the disk.
    pub(super) kept: &'a BTreeMap<String, Arc<str>>,
}

impl EditableFiles for ProjectFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        // Paths come from a model, so only files that localization read count as files.
        let is_known = self.found.evidence.files.iter().any(|it| it.path == path);
        let kept = || self.kept.get(path).map(ToString::to_string);
        is_known.then(|| kept().or_else(|| edits::read(&self.root.join(path)).ok())).flatten()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        let is_test = |it: &&FileEvidence| it.path == path && it.is_test;
        if self.found.unread.iter().any(|it| it == path) {
            return Some("it is not UTF-8 text that can be edited");
        }
        let file = self.found.evidence.files.iter().find(is_test);
        file.map(|_| "tests say what is wanted, and are read-only")
    }
}

/// Collects the facts about a group before any attempt. `lead` is the failure of its first test
/// when that was run alone.
pub(super) fn build(group: &Group, files: &ProjectFiles<'_>, lead: Option<Failure>) -> RepairFacts {
    let evidence = &files.found.evidence;
    let path = group.first_test().split("::").next().unwrap_or_default().to_owned();
    let of_test = |id: &String| evidence.tests.iter().find(|it| it.id == *id)?.failure.as_ref();
    let others = group.tests.iter().filter(|it| lead.is_none() || *it != group.first_test());
    let mut failures: Vec<(Option<&str>, &Failure)> =
        others.filter_map(|it| Some((Some(it.as_str()), of_test(it)?))).collect();
    if let Some(lead) = &lead {
        failures.insert(0, (Some(group.first_test()), lead));
    }
    let is_code = |it: &&RankedFunction| !evidence.files[it.file].is_test;
    let ranked: Vec<&RankedFunction> =
        group.ranking.suspects.iter().filter(is_code).take(SUSPECTS).collect();
    let whole = whole(&ranked, files);
    RepairFacts {
        tests: group.tests.clone(),
        test_file: (path.clone(), files.text(&path).unwrap_or_default()),
        failure: render(&failures, evidence.tests.len()),
        suspects: ranked.iter().map(|it| suspect(it, files, &whole)).collect(),
        files: whole,
        ..RepairFacts::default()
    }
}

/// Returns the short files of suspects, each once.
fn whole(suspects: &[&RankedFunction], files: &ProjectFiles<'_>) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = Vec::new();
    for it in suspects {
        let path = &files.found.evidence.files[it.file].path;
        let text = files.text(path).filter(|it| it.lines().count() <= WHOLE_FILE);
        if let Some(text) = text.filter(|_| !out.iter().any(|known| known.0 == *path)) {
            out.push((path.clone(), text));
        }
    }
    out
}

/// Returns a suspect, with its text unless its file is shown whole.
fn suspect(it: &RankedFunction, files: &ProjectFiles<'_>, shown: &[(String, String)]) -> Suspect {
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
    let is_shown = shown.iter().any(|it| it.0 == file.path);
    let source = if is_shown { String::new() } else { lines[first..end].join("\n") };
    let stands =
        lines.get(line.saturating_sub(1)).map(|it| format!("line {line} `{}`; ", it.trim()));
    Suspect {
        path: file.path.clone(),
        line: first as u32 + 1,
        symbol: it.symbol.clone(),
        score: it.score,
        why: format!("{}{}", stands.unwrap_or_default(), it.why),
        source,
        ..Suspect::default()
    }
}
