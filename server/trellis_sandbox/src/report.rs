//! The report of a run.

use std::{collections::BTreeMap, time::Duration};

/// The way a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit status 0 confirmed by the reporter, every collected test finished, at least one passed
    /// and none failed.
    Passed,
    /// At least one test failed, or pytest exited with status 1 for another reason, which
    /// [`Report::reason`] gives.
    Failed,
    /// Some test module, `conftest.py` or target could not be loaded; see
    /// [`Report::collection_errors`].
    CollectionError,
    /// No tests were found, or all of them were skipped.
    NoTests,
    /// A test, an import or the whole run took too long; see [`Report::stuck`].
    TimedOut,
    /// The run exceeded its memory limit, or the kernel killed it because memory ran out.
    KilledForMemory,
    /// The process ended in a way that no pytest session ends, such as by a signal or by
    /// `os._exit`.
    Crashed {
        /// The signal that ended the process.
        signal: Option<i32>,
        /// The status the process exited with.
        exit_code: Option<i32>,
    },
    /// The code under test has changed pytest or a test's result, so that the results prove
    /// nothing.
    Tampered {
        /// A description of the change.
        what: String,
    },
    /// The sandbox ended or stopped answering during the run, through no visible fault of the
    /// tests.
    SandboxLost {
        /// A description of the observed symptom.
        reason: String,
    },
    /// No test could be run at all.
    SandboxUnavailable {
        /// The missing requirement and the remedy.
        reason: String,
    },
    /// The caller cancelled the run.
    Cancelled,
}

/// Everything known about one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The way the run ended.
    pub outcome: Outcome,
    /// The engine on which the run took place, if the person named engines.
    pub engine: Option<String>,
    /// True if the framework left no usable records, so that this report was gathered from text.
    pub parsing_failed: bool,
    /// One sentence that explains the outcome, where it needs explanation.
    pub reason: Option<String>,
    /// The framework's exit status, if the process exited by itself.
    pub exit_code: Option<i32>,
    /// Finished tests in the order they ran; the last one may be a test that was cut short.
    pub tests: Vec<TestResult>,
    /// Ids that were collected but have no result.
    pub not_run: Vec<String>,
    /// Ids that were found and not run, because the project's own options, a plugin or a hook left
    /// them out.
    pub deselected: Vec<String>,
    /// Files and folders in the project's own options, if these limit the run to them.
    pub limited_to: Vec<String>,
    /// Results of deselected tests that ran because of [`crate::Request::whole`]; neither `tests`
    /// nor the outcome include them.
    pub deselected_tests: Vec<TestResult>,
    /// Modules, files or targets that could not be imported or found.
    pub collection_errors: Vec<Failure>,
    /// The limits that were enforced, and those that could not be.
    pub limits: Vec<LimitStatus>,
    /// The framework's own output; beyond [`crate::Limits::output_bytes`], the middle is cut out
    /// and a note gives the number of bytes.
    pub stdout: String,
    /// Standard error, cut in the same way.
    pub stderr: String,
    /// Wall time from the start of the process to its end.
    pub duration: Duration,
    /// The place where the run was when it was stopped or crashed.
    pub stuck: Option<StoppedAt>,
    /// Executed lines, if they were requested and coverage.py is installed.
    pub coverage: Option<Coverage>,
    /// The execution of each test, if it was requested, coverage.py is installed and the session
    /// ended properly.
    pub execution: Option<Execution>,
    /// Traces by test id, if they were requested.
    pub traces: BTreeMap<String, TestTrace>,
    /// Sentences for people about other events: processes left running, coverage that could not be
    /// measured.
    pub notes: Vec<String>,
}

/// The status of one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitStatus {
    /// The limited resource, such as `memory`.
    pub name: &'static str,
    /// False if test code can exceed the limit.
    pub enforced: bool,
    /// The means of enforcement, or the reason there is none.
    pub how: String,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestResult {
    /// pytest's node id, relative to the root of the tree:
    /// `tests/test_cart.py::TestCart::test_total[2-4]`; ids of other frameworks look alike.
    pub id: String,
    /// The way the test ended.
    pub outcome: TestOutcome,
    /// Wall time of setup, call and teardown together.
    pub duration: Duration,
    /// The file that defines the test, relative to the root.
    pub path: String,
    /// The line of its `def`, from 1; `None` for tests that are not Python functions.
    pub line: Option<u32>,
    /// The reason the test was skipped or expected to fail.
    pub reason: Option<String>,
    /// The first failure of the test.
    pub failure: Option<Failure>,
    /// Captured standard output, cut at 32,000 characters; empty under `-s`.
    pub stdout: String,
    /// Captured standard error, cut at 32,000 characters.
    pub stderr: String,
    /// Captured records of `logging`, cut at 32,000 characters; empty without pytest.
    pub log: String,
    /// The parts of the test that it ran with `subTest` or the fixture `subtests`, in order.
    pub subtests: Vec<Subtest>,
}

/// The result of one part of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Subtest {
    /// The description: `[message] (i=1)`.
    pub name: String,
    /// The way the part ended.
    pub outcome: TestOutcome,
    /// Its failure.
    pub failure: Option<Failure>,
}

/// The way one test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOutcome {
    /// The test passed.
    Passed,
    /// The body failed, or a strict expected failure passed.
    Failed,
    /// Setup or teardown failed.
    Error,
    /// The test was skipped.
    Skipped,
    /// The test failed as expected.
    XFailed,
    /// The test was expected to fail and passed.
    XPassed,
    /// The test was still running at its deadline.
    TimedOut,
    /// The process died during the test.
    Crashed,
}

/// One failure, taken from the exception object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failure {
    /// The class of the exception, such as `ZeroDivisionError`; `Timeout` and `Crash` come from
    /// Trellis, `UsageError` and `Failed` from pytest.
    pub exception: String,
    /// The text of the exception.
    pub message: String,
    /// The stack, outermost first, without the test runner's own frames before the first one inside
    /// the tree.
    pub frames: Vec<Frame>,
    /// The file of the failure: that of the deepest frame inside the tree, or of the syntax error.
    pub path: Option<String>,
    /// The line in `path`, from 1.
    pub line: Option<u32>,
    /// For a collection error, the test file or folder as the test runner names it.
    pub collecting: Option<String>,
    /// pytest's rendering, cut at 32,000 characters.
    pub traceback: String,
    /// The missing name, if that is the cause of the failure.
    pub missing: Option<MissingName>,
    /// Both sides of the failing `assert a == b` (or another comparison).
    pub comparison: Option<Comparison>,
}

impl Failure {
    /// Returns the file that could not be loaded, as far as known, of a collection error.
    pub fn file(&self) -> Option<&str> {
        self.collecting.as_deref().or(self.path.as_deref())
    }
}

/// A name that failing code used and that does not exist.
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
        /// The name that the module does not define.
        name: String,
        /// The module's dotted name.
        module: Option<String>,
    },
    /// `AttributeError`.
    Attribute {
        /// The missing attribute.
        name: String,
        /// The class or module that lacks it, as Python's message names it.
        owner: Option<String>,
    },
}

/// The operands of a failed comparison, as `repr` shows them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// The operator: `==`, `in`, `<`, …
    pub operator: String,
    /// The left side: by custom the actual value.
    pub actual: String,
    /// The right side: by custom the expected value.
    pub expected: String,
}

/// One level of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The path of the file: relative to the root and with `/` if `inside`, else as Python names
    /// the file.
    pub path: String,
    /// The line, from 1.
    pub line: u32,
    /// The function's plain name; `<module>` at top level.
    pub function: String,
    /// True if the file belongs to the tree (installed packages below the root do not).
    pub inside: bool,
}

/// The activity of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Python and pytest were starting, or `conftest.py` was being imported.
    Starting,
    /// A test module was being imported or a folder listed; holds its path.
    Collecting(String),
    /// A test was running; holds its id.
    Testing(String),
    /// All tests had finished; fixtures, threads or exit handlers had not.
    Finishing,
}

/// The place where a run was when it was stopped or crashed.
#[derive(Clone, Debug, PartialEq)]
pub struct StoppedAt {
    /// The activity at that moment.
    pub during: Activity,
    /// The main thread's stack, outermost first, trimmed like that of a failure. Empty if the
    /// process gave none.
    pub frames: Vec<Frame>,
}

impl StoppedAt {
    /// Returns the id of the test that was running.
    pub fn test(&self) -> Option<&str> {
        match &self.during {
            Activity::Testing(id) => Some(id),
            _ => None,
        }
    }
}

/// The way of one test through the Python files inside the tree, up to its failure. Paths are
/// relative to the root, lines count from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestTrace {
    /// Functions in the order of their first calls.
    pub calls: Vec<TracedCall>,
    /// Exceptions where they were raised, or where they came from a library, caught ones too.
    pub raised: Vec<RaisedException>,
    /// Pairs of lines that ran one after the other in a function, by path. The first line is
    /// negative at the start of a function: that of its `def`.
    pub branches: BTreeMap<String, Vec<(i64, u32)>>,
    /// Values that conditions and returned expressions read, and those returned, by path.
    pub values: BTreeMap<String, Vec<TracedValue>>,
    /// Lines where a handler looked at an exception, with their paths.
    pub handlers: Vec<(String, u32)>,
    /// Lines with the moment when they ran first, by path. Moments count up from 0.
    pub first: BTreeMap<String, Vec<(u32, u32)>>,
    /// The moment when the exception that made the test fail was raised, if code of the tree raised
    /// it.
    pub decided: Option<u32>,
}

/// A function that a test called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedCall {
    /// The file.
    pub path: String,
    /// First line of the function, that of its first decorator.
    pub first: u32,
    /// Index in [`TestTrace::calls`] of the nearest caller inside the tree.
    pub caller: Option<usize>,
    /// The calling line in that caller.
    pub line: Option<u32>,
}

/// An exception that a test raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaisedException {
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// The class of the exception.
    pub exception: String,
    /// The start of its message, if that is a text.
    pub message: String,
    /// The moment when it was raised first.
    pub moment: u32,
}

/// A value that a line read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedValue {
    /// The line.
    pub line: u32,
    /// The local name, or `return` for the value that the line returned.
    pub name: String,
    /// The kind of the value, such as `None`, `empty str` or `negative`.
    pub kind: String,
}

/// The code and files that the tests of a run used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Execution {
    /// By test id; with an empty id, what tests share: imports, and fixtures of a class, a module
    /// or the session.
    pub tests: BTreeMap<String, TestExecution>,
}

/// The code and files that one test used. Paths are relative to the root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestExecution {
    /// Executed lines by path, from 1, ascending.
    pub lines: BTreeMap<String, Vec<u32>>,
    /// Files that the test opened for reading, without the modules that it imported.
    pub files: Vec<String>,
    /// Folders that the test listed; the root is an empty path.
    pub folders: Vec<String>,
    /// Files that the test wrote, moved or removed.
    pub written: Vec<String>,
    /// Modules that the test loaded by name, at run time.
    pub named_modules: Vec<String>,
    /// True if the test started processes, which are not observed.
    pub processes: bool,
}

impl Execution {
    /// Adds executed lines of a file, by test.
    pub(crate) fn add_lines(&mut self, path: &str, tests: BTreeMap<String, Vec<u32>>) {
        for (test, lines) in tests {
            let of_test = self.tests.entry(test).or_default();
            of_test.lines.entry(path.to_owned()).or_default().extend(lines);
        }
    }
}

/// Line coverage of the Python files inside the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Coverage by path relative to the root.
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
    /// Functions and methods of the file, in the order of their lines.
    pub functions: Vec<FunctionCoverage>,
}

/// Coverage of one function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionCoverage {
    /// The name, qualified by the classes and functions around it: `Cart.total`.
    pub name: String,
    /// The first line, that of the first decorator if there is one.
    pub first: u32,
    /// The last line.
    pub last: u32,
    /// Sorted ids of the tests that executed a statement in the body, or in a function inside it.
    /// For a nested function on a single line, tests that only defined it are included.
    pub tests: Vec<String>,
}
