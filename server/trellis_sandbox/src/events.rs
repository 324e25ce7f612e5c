//! The records of the reporter: one line each, with the run's token, the record's number (from 0)
//! and a JSON object tagged by `event`.
//!
//! The reporter and this parser are built together, so the shapes carry no version. A line without
//! the token means that something else wrote to the pipe; a line with the token that cannot be
//! parsed is a bug in Trellis. A record that was interrupted is sent again with the same number.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::report::{Comparison, MissingName};

/// One record. Paths are as Python names them; frames are `[path, line, function]`, outermost
/// first.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum Event {
    /// A phase that may take long begins, and the previous one has ended. `seconds` is the time
    /// after which the test ends itself at the latest; 0 if it does not.
    Phase {
        doing: Doing,
        id: String,
        #[serde(default)]
        seconds: f64,
    },
    /// Ids of tests about to run, in batches.
    Collected { ids: Vec<String> },
    /// Ids that were found and then deselected or dropped, in batches.
    Deselected { ids: Vec<String> },
    /// The project's `addopts` name these files and folders, so that no others were searched.
    Limited { paths: Vec<String> },
    /// A module or `conftest.py` could not be loaded.
    CollectionError { path: String, failure: WireFailure },
    /// A test has ended.
    Test(Box<WireTest>),
    /// pytest itself failed.
    InternalError { failure: WireFailure },
    /// The session was stopped by `pytest.exit` or an interrupt.
    Interrupted { message: String },
    /// coverage.py does not work.
    CoverageMissing { message: String },
    /// One file could not be analyzed.
    CoverageFailed { path: String, message: String },
    /// Executed and missing lines of one file.
    Coverage { path: String, executed: Vec<u32>, missing: Vec<u32>, functions: Vec<WireFunction> },
    /// Lines of one file by test, in batches, before the file's own `Coverage` record.
    CoverageOfTests { path: String, tests: BTreeMap<String, Vec<u32>> },
    /// Lines of one file by test, in batches; with an empty id, lines that tests share.
    ExecutedByTests { path: String, tests: BTreeMap<String, Vec<u32>> },
    /// Files and folders that a test has read or written, and modules that it loaded by name, all
    /// relative to the root, and whether it started processes.
    UsedByTest {
        test: String,
        files: Vec<String>,
        folders: Vec<String>,
        written: Vec<String>,
        named_modules: Vec<String>,
        processes: bool,
    },
    /// All records of executed lines and used files have been sent.
    ExecutionRecorded,
    /// The trace of one test, sent before its `Test` record.
    Trace(Box<WireTrace>),
    /// A program that is not Python could not be started at all.
    NotStarted { program: String, message: String },
    /// Code under test has changed something that decides its results.
    Tampered { what: String },
    /// A trial of an edit has ended; without an edit, tests ran to compare with.
    Trial {
        edit: Option<usize>,
        how: WireTrialEnd,
        tests: Vec<WireTrialTest>,
        #[serde(default)]
        still_reached: Option<bool>,
    },
    /// The session ended with this exit status.
    Finish { status: i32 },
}

/// The trace of one test; paths as Python names them.
#[derive(Debug, Deserialize)]
pub(crate) struct WireTrace {
    pub(crate) id: String,
    /// Path, first line, index of the caller, line of the call.
    pub(crate) calls: Vec<(String, u32, Option<usize>, Option<u32>)>,
    /// Path, line, class of the exception, its message, moment.
    pub(crate) raised: Vec<(String, u32, String, String, u32)>,
    /// Path and line.
    pub(crate) handlers: Vec<(String, u32)>,
    /// Pairs of lines by path: the line before, or the negative first line of the code, and the
    /// line.
    pub(crate) branches: BTreeMap<String, Vec<(i64, u32)>>,
    /// Line, name and kind of value, by path.
    pub(crate) values: BTreeMap<String, Vec<(u32, String, String)>>,
    /// Line and moment, by path.
    pub(crate) first: BTreeMap<String, Vec<(u32, u32)>>,
    pub(crate) decided: Option<u32>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Doing {
    Start,
    Collect,
    Test,
    Finish,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireTest {
    pub(crate) id: String,
    pub(crate) outcome: WireOutcome,
    pub(crate) seconds: f64,
    pub(crate) path: String,
    pub(crate) line: Option<u32>,
    pub(crate) reason: Option<String>,
    pub(crate) failure: Option<WireFailure>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// unittest captures no log.
    #[serde(default)]
    pub(crate) log: String,
    #[serde(default)]
    pub(crate) subtests: Vec<WireSubtest>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireSubtest {
    pub(crate) name: String,
    pub(crate) outcome: WireOutcome,
    pub(crate) failure: Option<WireFailure>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireOutcome {
    Passed,
    Failed,
    Error,
    Skipped,
    Xfailed,
    Xpassed,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireTrialEnd {
    Unedited,
    Ended,
    Died,
    Late,
    Unchanged,
    Invalid,
    Unsupported,
}

/// Index of the test, outcome, exception, message.
pub(crate) type WireTrialTest = (usize, WireTrialOutcome, String, String);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WireTrialOutcome {
    Passed,
    Failed,
    Skipped,
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireFailure {
    pub(crate) exception: String,
    pub(crate) message: String,
    pub(crate) frames: Vec<RawFrame>,
    /// Path and line of a syntax error.
    pub(crate) at: Option<(String, u32)>,
    pub(crate) traceback: String,
    pub(crate) missing: Option<WireMissing>,
    pub(crate) comparison: Option<WireComparison>,
}

/// Qualified name, first and last line, first line of the body.
pub(crate) type WireFunction = (String, u32, u32, u32);

/// Path, line and function.
pub(crate) type RawFrame = (String, u32, String);

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum WireMissing {
    Name { name: String },
    Module { name: String },
    Imported { name: String, owner: Option<String> },
    Attribute { name: String, owner: Option<String> },
}

impl From<WireMissing> for MissingName {
    fn from(missing: WireMissing) -> MissingName {
        match missing {
            WireMissing::Name { name } => MissingName::Name { name },
            WireMissing::Module { name } => MissingName::Module { module: name },
            WireMissing::Imported { name, owner } => MissingName::Imported { name, module: owner },
            WireMissing::Attribute { name, owner } => MissingName::Attribute { name, owner },
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct WireComparison {
    operator: String,
    left: String,
    right: String,
}

impl From<WireComparison> for Comparison {
    fn from(sides: WireComparison) -> Comparison {
        Comparison { operator: sides.operator, actual: sides.left, expected: sides.right }
    }
}
