//! Checks of the finished repository and their results (appendix C).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::assembly::report::SubgraphLine;

/// Result of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckResult {
    Passed,
    Failed,
    #[default]
    NotRun,
}

/// One check of the repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValidationLine {
    /// Subject of the check, such as `pip install -e .`.
    pub check: String,
    pub outcome: CheckResult,
    /// Counts, or the reason for the result.
    pub detail: String,
}

impl ValidationLine {
    /// Creates a check that was made.
    pub fn of(check: &str, outcome: Result<String, String>) -> ValidationLine {
        let (outcome, detail) = match outcome {
            Ok(detail) => (CheckResult::Passed, detail),
            Err(detail) => (CheckResult::Failed, detail),
        };
        ValidationLine { check: check.to_owned(), outcome, detail }
    }

    /// Creates a check that was not made.
    pub fn not_run(check: &str, why: &str) -> ValidationLine {
        let (outcome, detail) = (CheckResult::NotRun, why.to_owned());
        ValidationLine { check: check.to_owned(), outcome, detail }
    }
}

/// Renders the section of the report.
pub(crate) fn validation(out: &mut String, lines: &[ValidationLine], total: &SubgraphLine) {
    out.push_str("## Repository Validation\n\n");
    for it in lines {
        let (sign, word) = match it.outcome {
            CheckResult::Passed => ("\u{2705}", "passed"),
            CheckResult::Failed => ("\u{26a0}\u{fe0f}", "failed"),
            CheckResult::NotRun => ("\u{2796}", "not run"),
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

/// Maximum number of errors listed in a line.
const NAMED: usize = 3;

/// Checks the syntax of every Python file.
pub fn syntax(files: &BTreeMap<String, String>) -> ValidationLine {
    let python = || files.iter().filter(|(path, _)| path.ends_with(".py"));
    let wrong = python()
        .filter_map(|(path, text)| Some(format!("{path}: {}", trellis_python::check(text).err()?)))
        .collect();
    counted("Syntax of all Python files", "files", python().count(), wrong)
}

/// Checks that every folder with modules is a package.
pub fn structure(files: &BTreeMap<String, String>) -> ValidationLine {
    let sources = files.keys().filter(|it| it.ends_with(".py") && !it.starts_with("tests/"));
    let folders: BTreeSet<&str> = sources.flat_map(|path| packages(path)).collect();
    let is_bare = |folder: &&&str| !files.contains_key(&format!("{folder}/__init__.py"));
    let wrong = folders.iter().filter(is_bare).map(|it| format!("{it} has no __init__.py"));
    counted("Package structure", "packages", folders.len(), wrong.collect())
}

/// Returns the folders around a module, except `src`.
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
