//! Report of generated tests.

use std::path::PathBuf;

use trellis_engine::write_tests::Style;

use trellis_store::fault::Exit;

/// WriteTestsReport tests and their results.
#[derive(Clone, Debug)]
pub(crate) struct WriteTestsReport {
    /// The function: its file below the root, `::`, its name with its classes.
    pub(crate) function: String,
    /// The project's root.
    pub(crate) root: PathBuf,
    /// The test file, below the root.
    pub(crate) path: String,
    /// The whole text of the test file with the new tests.
    pub(crate) source: String,
    /// The changes of the test file, as a unified diff.
    pub(crate) diff: String,
    /// The function's tests: `test_a`, `TestCart::test_b`; with the path and `::` in front they are ids.
    pub(crate) test_names: Vec<String>,
    pub(crate) framework: Style,
    /// The model that was prompted.
    pub(crate) model: String,
    /// Warnings for the user, as sentences.
    pub(crate) warnings: Vec<String>,
    /// Outcome of the run: `passed`, `failed`, `collectionError`, `timedOut`, …
    pub(crate) outcome: String,
    /// Reason, if the outcome alone does not say it.
    pub(crate) reason: Option<String>,
    /// The result of each test.
    pub(crate) tests: Vec<TestReport>,
    /// Errors that prevented their collection.
    pub(crate) errors: Vec<FailureReport>,
    /// True if anything was written.
    pub(crate) written: bool,
    /// The settings file whose `testpaths` leave the test file out, so that plain `pytest` does not run it;
    /// `addTestPath` adds its folder.
    pub(crate) left_out_by: Option<String>,
}

/// The result of one test.
#[derive(Clone, Debug)]
pub(crate) struct TestReport {
    /// As pytest names it.
    pub(crate) id: String,
    /// `passed`, `failed`, `error`, `skipped`, …
    pub(crate) outcome: String,
    pub(crate) duration_ms: u64,
    /// The line of its `def` in the test file, from 1.
    pub(crate) line: Option<u32>,
    pub(crate) failure: Option<FailureReport>,
}

/// A failure.
#[derive(Clone, Debug)]
pub(crate) struct FailureReport {
    /// The exception's class.
    pub(crate) exception: String,
    /// Its text: for an assertion, what was expected and found.
    pub(crate) message: String,
    /// The place, relative to the root.
    pub(crate) path: Option<String>,
    /// From 1.
    pub(crate) line: Option<u32>,
    /// As shown by pytest.
    pub(crate) traceback: String,
}

/// Result of an addition to `testpaths`.
#[derive(Clone, Debug)]
pub(crate) struct AddedTestPath {
    /// The settings file, relative to the root.
    pub(crate) file: String,
    /// The folder added to its `testpaths`; null if they already contain the test file.
    pub(crate) folder: Option<String>,
    /// Number of the edit; null if nothing was written.
    pub(crate) edit: Option<u64>,
}

impl WriteTestsReport {
    /// Returns success if all tests pass.
    pub(crate) fn exit(&self) -> Exit {
        if self.outcome == "passed" { Exit::Done } else { Exit::TestsFailed }
    }
}
