//! Test frameworks: detects the one a project uses, builds its command and parses its output.
//!
//! This module turns text into data; only [`detect`] and [`as_framework`] read files.
//! [`Runner`](crate::Runner) runs pytest and unittest with reporters of its own, and the others
//! with the result of [`command`].
//!
//! ```text
//! detect(root) ──> Detected ──> command(…) ──> run ──> CommandResult ──> read(…) ──> ParsedReport
//! ```
//!
//! - jest and vitest write their JSON to a file that we name, which no `console.log` reaches. go
//!   has only its standard output, where each line a test prints is wrapped in a JSON string; `go`
//!   lists what can still be forged there.
//! - A run has passed only if the exit status and complete records agree. Records that are missing,
//!   cut off or contradictory are discarded, and the text is parsed instead:
//!   [`ParsedReport::parsing_failed`].
//! - The tests share a process with jest's and go's reporter. Code that is out to cheat can make it
//!   report anything, as with pytest. The records alone cannot reveal that; only a second run with
//!   other tests can.

mod ansi;
mod command;
mod detect;
mod go;
mod go_build;
mod go_output;
mod jest;
mod judge;
mod node;
mod stack;
mod text;
mod tree_path;
mod vitest;

use std::{fmt, path::Path};

use crate::report::{Failure, Outcome, TestResult};

use self::judge::judge;
pub use self::{
    command::command,
    detect::{Detected, as_framework, detect},
};

/// A test framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// Python's pytest, which runs unittest's tests as well.
    Pytest,
    /// Python's own unittest.
    Unittest,
    /// JavaScript's jest.
    Jest,
    /// JavaScript's vitest.
    Vitest,
    /// `go test`.
    Go,
}

impl Framework {
    /// Returns whether a reporter of Trellis sends records during the run; other frameworks only
    /// leave a report.
    pub(crate) fn reports(self) -> bool {
        matches!(self, Framework::Pytest | Framework::Unittest)
    }
}

impl fmt::Display for Framework {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Framework::Pytest => "pytest",
            Framework::Unittest => "unittest",
            Framework::Jest => "jest",
            Framework::Vitest => "vitest",
            Framework::Go => "go test",
        })
    }
}

/// The result of a test command.
#[derive(Clone, Copy, Debug)]
pub struct CommandResult<'a> {
    /// The exit status; the error is the signal that ended the process.
    pub status: Result<i32, i32>,
    /// All of standard output, uncut, since it holds go's records.
    pub stdout: &'a str,
    /// Standard error.
    pub stderr: &'a str,
    /// The text of the report file that [`command`] names, if it was written.
    pub report: Option<&'a str>,
    /// The reason `stdout` or `report` is known to be incomplete: a fragment of a sentence. The
    /// output is then parsed as text.
    pub incomplete: Option<&'a str>,
    /// The root of the tree as the tests saw it, with symbolic links resolved.
    pub root: &'a Path,
    /// [`Detected::go_module`], which maps go's packages to folders.
    pub go_module: Option<&'a str>,
}

/// The parsed result of a run; the fields have the same meaning as in [`Report`](crate::Report).
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedReport {
    /// Tests with a result. Ids are `path::group::title` for jest and vitest, with ` #2` after the
    /// second of a name, and `folder::TestName/subtest` for go.
    pub tests: Vec<TestResult>,
    /// Known tests without a result.
    pub not_run: Vec<String>,
    /// Failures of files and packages that could not be loaded.
    pub collection_errors: Vec<Failure>,
    /// The way the run ended.
    pub outcome: Outcome,
    /// The explanation of the outcome, where it needs one.
    pub reason: Option<String>,
    /// True if there were no usable records, so that the result is gathered from text. `tests` then
    /// names failed tests at most.
    pub parsing_failed: bool,
}

/// Parses the result of a run. For pytest and unittest, the output is parsed as text, since their
/// commands leave no records here.
pub fn read(framework: Framework, ended: &CommandResult<'_>) -> ParsedReport {
    if let Some(what) = ended.incomplete {
        return without_records(framework, ended, &Malformed::Incomplete(what.to_owned()));
    }
    let records = match framework {
        Framework::Pytest | Framework::Unittest => return text::read(ended),
        Framework::Jest => jest::records(ended),
        Framework::Vitest => vitest::records(ended),
        Framework::Go => go::records(ended),
    };
    match records {
        Ok(records) => judge(framework, ended.status, records),
        Err(problem) => without_records(framework, ended, &problem),
    }
}

/// Parses a run without records. Text alone never makes it pass: a test that prints a summary and
/// exits with 0 would.
fn without_records(
    framework: Framework,
    ended: &CommandResult<'_>,
    problem: &Malformed,
) -> ParsedReport {
    let mut parsed = text::read(ended);
    if matches!(parsed.outcome, Outcome::Passed | Outcome::NoTests) {
        parsed.outcome = Outcome::Crashed { signal: None, exit_code: ended.status.ok() };
    }
    parsed.reason = Some(match parsed.reason {
        Some(reason) => format!("{framework}: {problem}; {reason}"),
        None => format!("{framework}: {problem}"),
    });
    parsed
}

/// The reason records cannot be used.
#[derive(Debug, thiserror::Error)]
enum Malformed {
    #[error(
        "the framework wrote no report, which happens when a test ends the process; see the \
         output"
    )]
    Absent,
    #[error("{0}")]
    Incomplete(String),
    #[error(
        "the report is incomplete, or not in a format this version of Trellis reads ({0}); see \
         the output"
    )]
    NotJson(#[from] serde_json::Error),
    #[error("the report contradicts itself ({0}); see the output")]
    Contradiction(String),
    #[error(
        "standard output has a line that go did not write ({0:?}); stop other programs from \
         writing there"
    )]
    Foreign(String),
}

/// Maximum characters of a captured text.
const KEPT: usize = 32_000;

/// Returns `text`, cut at [`KEPT`] characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}\n[cut off here]", &text[..end]),
        None => text.to_owned(),
    }
}
