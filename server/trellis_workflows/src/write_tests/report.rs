//! Report of generated tests.

use std::path::PathBuf;

use trellis_engine::write_tests::Style;

use super::TestDraft;
use crate::fault::Exit;

/// WriteTestsReport tests and their results.
#[derive(Clone, Debug)]
pub struct WriteTestsReport {
    /// The function: its file below the root, `::`, its name with its classes.
    pub function: String,
    /// The project's root.
    pub root: PathBuf,
    /// The test file, below the root.
    pub path: String,
    /// The whole text of the test file with the new tests.
    pub source: String,
    /// The changes of the test file, as a unified diff.
    pub diff: String,
    /// The function's tests: `test_a`, `TestCart::test_b`; with the path and `::` in front they are ids.
    pub test_names: Vec<String>,
    pub framework: Style,
    /// The model that was prompted.
    pub model: String,
    /// Warnings for the user, as sentences.
    pub warnings: Vec<String>,
    /// Outcome of the run: `passed`, `failed`, `collectionError`, `timedOut`, …
    pub outcome: String,
    /// Reason, if the outcome alone does not say it.
    pub reason: Option<String>,
    /// The result of each test.
    pub tests: Vec<TestReport>,
    /// Errors that prevented their collection.
    pub errors: Vec<FailureReport>,
    /// True if anything was written.
    pub written: bool,
    /// Parts that [`super::keep`] needs to write the tests; `None` if they are written or unusable.
    pub draft: Option<TestDraft>,
    /// The settings file whose `testpaths` leave the test file out, so that plain `pytest` does not run it;
    /// `addTestPath` adds its folder.
    pub left_out_by: Option<String>,
}

/// The result of one test.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// As pytest names it.
    pub id: String,
    /// `passed`, `failed`, `error`, `skipped`, …
    pub outcome: String,
    pub duration_ms: u64,
    /// The line of its `def` in the test file, from 1.
    pub line: Option<u32>,
    pub failure: Option<FailureReport>,
}

/// A failure.
#[derive(Clone, Debug)]
pub struct FailureReport {
    /// The exception's class.
    pub exception: String,
    /// Its text: for an assertion, what was expected and found.
    pub message: String,
    /// The place, relative to the root.
    pub path: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// As shown by pytest.
    pub traceback: String,
}

/// Result of an addition to `testpaths`.
#[derive(Clone, Debug)]
pub struct AddedTestPath {
    /// The settings file, relative to the root.
    pub file: String,
    /// The folder added to its `testpaths`; null if they already contain the test file.
    pub folder: Option<String>,
    /// Number of the edit; null if nothing was written.
    pub edit: Option<u64>,
}

impl WriteTestsReport {
    /// Returns success if all tests pass.
    pub fn exit(&self) -> Exit {
        if self.outcome == "passed" { Exit::Done } else { Exit::TestsFailed }
    }
}
