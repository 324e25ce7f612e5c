//! Other test frameworks: which one a project uses, how to start it, what its output says.
//!
//! Text in, data out; only [`detect`] and [`as_framework`] look at files. [`Runner`](crate::Runner) runs pytest and
//! unittest with reporters of its own, and the others as [`command`] says.
//!
//! ```text
//! detect(root) ──> Detected ──> command(…) ──> whoever runs it ──> Ended ──> read(…) ──> Parsed
//! ```
//!
//! - jest and vitest write their JSON to a file that we name, which no `console.log` reaches. go has only its standard
//!   output, where each line a test prints is wrapped in a JSON string; what can still be forged there is in `go`.
//! - A run has passed only if the exit status and complete records say so. Records that are missing, cut off or
//!   contradict themselves are set aside, and the text is read instead: [`Parsed::parsing_failed`].
//! - The tests share a process with jest's and go's reporter. Code that is out to cheat can make it say anything, as it
//!   can with pytest; a second run with other tests would not believe it, the records alone cannot tell.

mod ansi;
mod command;
mod detect;
mod go;
mod go_build;
mod go_output;
mod jest;
mod judge;
mod node;
mod tree_path;
mod stack;
mod text;
mod vitest;

use std::{fmt, path::Path};

use crate::report::{Failure, Outcome, TestResult};

use self::judge::judge;
pub use self::{
    command::command,
    detect::{Detected, as_framework, detect},
};

/// A program that runs tests.
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
    /// A reporter of ours says what happens; of the others, only what they leave behind is known.
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

/// What a test command left behind.
#[derive(Clone, Copy, Debug)]
pub struct CommandResult<'a> {
    /// The exit status, or the signal that ended it.
    pub status: Result<i32, i32>,
    /// All it wrote to standard output; go's records are in it, so that nothing may be cut out.
    pub stdout: &'a str,
    /// What it wrote to standard error.
    pub stderr: &'a str,
    /// The text of the file that [`command`] told it to write, if there is one.
    pub report: Option<&'a str>,
    /// Why `stdout` or `report` is known not to be all there was: a fragment of a sentence. Then it is read as text.
    pub incomplete: Option<&'a str>,
    /// The tree's root as the tests saw it, without symbolic links on the way.
    pub root: &'a Path,
    /// [`Detected::go_module`], by which go's packages become folders.
    pub go_module: Option<&'a str>,
}

/// What is known of a run; the fields mean what they mean in [`Report`](crate::Report).
#[derive(Clone, Debug, PartialEq)]
pub struct ParsedReport {
    /// Tests with a result. Ids are `path::group::title` for jest and vitest, with ` #2` after the second of a name,
    /// and `folder::TestName/subtest` for go.
    pub tests: Vec<TestResult>,
    /// Tests that are known and have none.
    pub not_run: Vec<String>,
    /// Files and packages that could not be loaded.
    pub collection_errors: Vec<Failure>,
    /// How the run ended.
    pub outcome: Outcome,
    /// Why, where the outcome alone does not say it.
    pub reason: Option<String>,
    /// True: no records were to be had, and all this is gathered from text. `tests` then names failed ones at most.
    pub parsing_failed: bool,
}

/// What the run was. pytest's and unittest's output is read as text, since nothing better comes from them here.
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

/// Text alone never makes a run pass that should have left records: a test that prints a summary and exits with 0 would.
fn without_records(framework: Framework, ended: &CommandResult<'_>, problem: &Malformed) -> ParsedReport {
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

/// Why records cannot be used.
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

/// The most characters kept of a captured text.
const KEPT: usize = 32_000;

/// `text`, cut at [`KEPT`] characters.
fn cut(text: &str) -> String {
    match text.char_indices().nth(KEPT) {
        Some((end, _)) => format!("{}\n[cut off here]", &text[..end]),
        None => text.to_owned(),
    }
}
