//! What a run tells.

use std::{collections::BTreeMap, time::Duration};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit status 0 confirmed by the reporter, every collected test finished, at least one passed
    /// and none failed.
    Passed,
    /// At least one test failed, or pytest gave status 1 for another reason (then
    /// [`Report::reason`] says so).
    Failed,
    /// Some test module, `conftest.py` or target could not be loaded; see
    /// [`Report::collection_errors`].
    CollectionError,
    /// Nothing was there to run, or all of it was skipped.
    NoTests,
    /// A test, an import or the whole run took too long; see [`Report::stuck`].
    TimedOut,
    /// The run died of its memory limit or at the hands of the kernel's memory killer.
    KilledForMemory,
    /// The process ended in a way no pytest session ends, such as by a signal or by `os._exit`.
    Crashed {
        /// The signal that ended it.
        signal: Option<i32>,
        /// The status it exited with.
        exit_code: Option<i32>,
    },
    /// The code under test has changed pytest or a test's result, so that the results prove nothing.
    Tampered {
        /// What was changed.
        what: String,
    },
    /// The sandbox ended or stopped answering during the run, through no visible fault of the tests.
    SandboxLost {
        /// What was seen.
        reason: String,
    },
    /// Nothing could be run at all.
    SandboxUnavailable {
        /// What is missing and what to do.
        reason: String,
    },
    /// The caller cancelled the run.
    Cancelled,
}

/// Everything known about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// True: the framework left no records that could be used, and all this is gathered from text.
    pub parsing_failed: bool,
    /// One sentence on why, where the outcome alone does not say it.
    pub reason: Option<String>,
    /// The framework's exit status, if the process exited by itself.
    pub exit_code: Option<i32>,
    /// Finished tests in the order they ran; at the end the one that was cut short, if any.
    pub tests: Vec<TestResult>,
    /// Ids that were collected but have no result.
    pub not_run: Vec<String>,
    /// Ids that were found and not run, because options of the project's own, a plugin or a hook left them out.
    pub deselected: Vec<String>,
    /// Results of such tests where [`crate::Request::whole`] had them run all the same; neither `tests` nor the outcome speak of them.
    pub deselected_tests: Vec<TestResult>,
    /// What could not be imported or found.
    pub collection_errors: Vec<Failure>,
    /// What was held to, and what could not be.
    pub limits: Vec<LimitStatus>,
    /// The framework's own output, its middle cut out beyond [`crate::Limits::output_bytes`] with a note
    /// of how much.
    pub stdout: String,
    /// Standard error, cut in the same way.
    pub stderr: String,
    /// Wall time from the start of the process to its end.
    pub duration: Duration,
    /// Where the run stood when it was stopped or crashed.
    pub stuck: Option<StoppedAt>,
    /// Lines executed, when they were asked for and coverage.py is installed.
    pub coverage: Option<Coverage>,
    /// Plain sentences about what else happened: processes left behind, coverage not to be had.
    pub notes: Vec<String>,
}

/// Whether one bound holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitStatus {
    /// What is bounded, such as `memory`.
    pub name: &'static str,
    /// False: test code can exceed it.
    pub enforced: bool,
    /// How it is enforced, or why it is not.
    pub how: String,
}

/// One test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    /// pytest's node id, relative to the tree's root:
    /// `tests/test_cart.py::TestCart::test_total[2-4]`; that of other frameworks in the same manner.
    pub id: String,
    /// How it ended.
    pub outcome: TestOutcome,
    /// Set-up, call and tear-down together.
    pub duration: Duration,
    /// The file that defines the test, relative to the root.
    pub path: String,
    /// The line of its `def`, from 1; none for tests that are not Python functions.
    pub line: Option<u32>,
    /// Why it was skipped or expected to fail.
    pub reason: Option<String>,
    /// Its first failure.
    pub failure: Option<Failure>,
    /// What it printed, cut at 32,000 characters; empty under `-s`.
    pub stdout: String,
    /// What it wrote to standard error, cut likewise.
    pub stderr: String,
}

/// How one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    /// It passed.
    Passed,
    /// Its body failed, or a strict expected failure passed.
    Failed,
    /// Its set-up or tear-down failed.
    Error,
    /// It was skipped.
    Skipped,
    /// It failed as expected.
    XFailed,
    /// It was expected to fail and passed.
    XPassed,
    /// It was still running at its deadline.
    TimedOut,
    /// The process died during it.
    Crashed,
}

/// One failure, taken from the exception object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The exception's class, such as `ZeroDivisionError`; `Timeout` and `Crash` are ours,
    /// `UsageError` and `Failed` pytest's.
    pub exception: String,
    /// Its text.
    pub message: String,
    /// The stack, outermost first, without the test runner's own frames before the first one inside
    /// the tree.
    pub frames: Vec<Frame>,
    /// The failing place: the deepest frame inside the tree, or where a syntax error lies.
    pub path: Option<String>,
    /// Line in `path`, from 1.
    pub line: Option<u32>,
    /// Of what could not be collected: the file or folder of tests, as the test runner names it.
    pub collecting: Option<String>,
    /// pytest's rendering, cut at 32,000 characters.
    pub traceback: String,
    /// What was not found, if that is what went wrong.
    pub missing: Option<MissingName>,
    /// Both sides of the failing `assert a == b` (or another comparison).
    pub comparison: Option<Comparison>,
}

/// A name that failing code asked for in vain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingName {
    /// `NameError`.
    Name {
        /// The undefined name.
        name: String,
    },
    /// `ModuleNotFoundError`.
    Module {
        /// Dotted name of the module.
        module: String,
    },
    /// `cannot import name … from …`.
    Imported {
        /// What the module does not define.
        name: String,
        /// The module's dotted name.
        module: Option<String>,
    },
    /// `AttributeError`.
    Attribute {
        /// The attribute.
        name: String,
        /// The class or module that lacks it, as Python's message names it.
        owner: Option<String>,
    },
}

/// The operands of a failed comparison, as `repr` shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// `==`, `in`, `<`, …
    pub operator: String,
    /// The left side: by custom the actual value.
    pub actual: String,
    /// The right side: by custom the expected value.
    pub expected: String,
}

/// One level of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Relative to the tree's root, with `/`, when `inside`; else as Python names the file.
    pub path: String,
    /// From 1.
    pub line: u32,
    /// The function's plain name; `<module>` at top level.
    pub function: String,
    /// True when the file belongs to the tree (installed packages below the root do not).
    pub inside: bool,
}

/// What a run was doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Python and pytest were starting, or `conftest.py` was being imported.
    Starting,
    /// Importing a test module or listing a folder: its path.
    Collecting(String),
    /// Running a test: its id.
    Testing(String),
    /// All tests were done; fixtures, threads or exit handlers were not.
    Finishing,
}

/// Where a run stood when it was stopped or crashed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoppedAt {
    /// What it was doing.
    pub during: Activity,
    /// The main thread's stack, outermost first, trimmed like that of a failure. Empty where the
    /// process gave none.
    pub frames: Vec<Frame>,
}

impl StoppedAt {
    /// The test that was running.
    pub fn test(&self) -> Option<&str> {
        match &self.during {
            Activity::Testing(id) => Some(id),
            _ => None,
        }
    }
}

/// Line coverage of the Python files inside the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// By path relative to the root.
    pub files: BTreeMap<String, FileCoverage>,
}

/// Line coverage of one file; lines count from 1, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileCoverage {
    /// Statements executed, by import or by a test.
    pub executed: Vec<u32>,
    /// Statements never executed.
    pub missing: Vec<u32>,
    /// Statements executed while a test ran, by test id.
    pub tests: BTreeMap<String, Vec<u32>>,
    /// Its functions and methods in the order of their lines.
    pub functions: Vec<FunctionCoverage>,
}

/// One function of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionCoverage {
    /// Its name with those of the classes and functions around it: `Cart.total`.
    pub name: String,
    /// Its first line, a decorator's if it has any.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Ids of the tests that executed a statement of its body, or of a function inside it; sorted. Of a function
    /// within another one that stands on a single line, those too that only defined it.
    pub tests: Vec<String>,
}
