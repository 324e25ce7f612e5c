//! What was checked of the finished repository, and what came of it (appendix C).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::assembly::report::SubgraphLine;

/// What a check came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checked {
    Passed,
    Failed,
    #[default]
    NotRun,
}

/// One check of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationLine {
    /// What was looked at, such as `pip install -e .`.
    pub check: String,
    pub outcome: Checked,
    /// Counts, or why.
    pub detail: String,
}

impl ValidationLine {
    /// A check that was made.
    pub fn of(check: &str, outcome: Result<String, String>) -> ValidationLine {
        let (outcome, detail) = match outcome {
            Ok(detail) => (Checked::Passed, detail),
            Err(detail) => (Checked::Failed, detail),
        };
        ValidationLine { check: check.to_owned(), outcome, detail }
    }

    /// A check that was not made.
    pub fn not_run(check: &str, why: &str) -> ValidationLine {
        let (outcome, detail) = (Checked::NotRun, why.to_owned());
        ValidationLine { check: check.to_owned(), outcome, detail }
    }
}

/// The section of the report.
pub(crate) fn validation(out: &mut String, lines: &[ValidationLine], total: &SubgraphLine) {
    out.push_str("## Repository Validation\n\n");
    for it in lines {
        let (sign, word) = match it.outcome {
            Checked::Passed => ("\u{2705}", "passed"),
            Checked::Failed => ("\u{26a0}\u{fe0f}", "failed"),
            Checked::NotRun => ("\u{2796}", "not run"),
        };
        let _ = writeln!(out, "- {sign} {}: {word} ({})", it.check, it.detail);
    }
    for (count, word) in [(total.failed, "failed"), (total.skipped, "skipped")] {
        if count > 0 {
            let _ = writeln!(out, "- \u{26a0}\u{fe0f} Nodes {word}: {count} (see above)");
        }
    }
    out.push('\n');
}

/// Errors that a line names.
const NAMED: usize = 3;

/// Whether every Python file is one.
pub fn syntax(files: &BTreeMap<String, String>) -> ValidationLine {
    let python = || files.iter().filter(|(path, _)| path.ends_with(".py"));
    let wrong = python()
        .filter_map(|(path, text)| Some(format!("{path}: {}", code::check(text).err()?)))
        .collect();
    counted("Syntax of all Python files", "files", python().count(), wrong)
}

/// Whether every folder of modules is a package.
pub fn structure(files: &BTreeMap<String, String>) -> ValidationLine {
    let sources = files.keys().filter(|it| it.ends_with(".py") && !it.starts_with("tests/"));
    let folders: BTreeSet<&str> = sources.flat_map(|path| packages(path)).collect();
    let is_bare = |folder: &&&str| !files.contains_key(&format!("{folder}/__init__.py"));
    let wrong = folders.iter().filter(is_bare).map(|it| format!("{it} has no __init__.py"));
    counted("Package structure", "packages", folders.len(), wrong.collect())
}

/// The folders around a module, `src` aside.
fn packages(path: &str) -> impl Iterator<Item = &str> {
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]);
    folders.filter(|folder| *folder != "src")
}

fn counted(check: &str, what: &str, count: usize, wrong: Vec<String>) -> ValidationLine {
    if count == 0 {
        return ValidationLine::not_run(check, &format!("there are no {what}"));
    }
    let more = match wrong.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let named = wrong.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    let outcome = match wrong.is_empty() {
        true => Ok(format!("{count} {what}")),
        false => Err(named + &more),
    };
    ValidationLine::of(check, outcome)
}
