//! Trials of small edits inside one run: the plan and the results.
//!
//! A run with a plan collects its tests once and then tries each edit in a fork. The results are
//! hints: code under test can write to the pipe of its fork, and forks share the files of the run.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

/// Edits to try, with the tests for each.
#[derive(Clone, Debug, Default)]
pub struct TrialPlan {
    /// The tests; other fields give their indices.
    pub tests: Vec<PlannedTest>,
    /// Groups of tests; edits give their indices.
    pub groups: Vec<Vec<usize>>,
    /// The files to edit.
    pub files: Vec<PlannedFile>,
    /// The edits, in the order in which they are tried.
    pub edits: Vec<PlannedEdit>,
    /// The lines that raised the failures of failing tests.
    pub raised: Vec<RaisingLine>,
}

/// A test of a plan.
#[derive(Clone, Debug)]
pub struct PlannedTest {
    /// The id that a run reports.
    pub id: String,
    /// The time after which the body of the test is interrupted.
    pub limit: Duration,
}

/// A file with edits.
#[derive(Clone, Debug)]
pub struct PlannedFile {
    /// Path relative to the root of the tree.
    pub path: String,
    /// The text in the tree.
    pub source: Arc<str>,
}

/// An edit of a plan.
#[derive(Clone, Debug)]
pub struct PlannedEdit {
    /// The number that the result repeats.
    pub number: usize,
    /// Index of the file.
    pub file: usize,
    /// Byte range of the source that is replaced.
    pub range: std::ops::Range<usize>,
    /// Replacement text.
    pub replacement: String,
    /// Group of failing tests that run in any case.
    pub first: usize,
    /// Group of failing tests that run if one of the first passes.
    pub rest: usize,
    /// Group of passing tests that run after these.
    pub passing: usize,
}

/// The line of a file that raised the failure of a test.
#[derive(Clone, Debug)]
pub struct RaisingLine {
    /// Index of the test.
    pub test: usize,
    /// Path relative to the root of the tree.
    pub path: String,
    /// Line number, from 1.
    pub line: u32,
}

/// Result of a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    /// Number of the edit; `None` for tests that ran without one.
    pub edit: Option<usize>,
    /// The way the trial ended.
    pub end: TrialEnd,
    /// The tests that ran.
    pub tests: Vec<TrialTest>,
    /// True if the lines that raised the failures still run in the tests that now pass; `None` if
    /// the plan gives no such line for them.
    pub still_reached: Option<bool>,
}

/// The way a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialEnd {
    /// The tests ran, or enough of them.
    Ended,
    /// The process died in a test.
    Died,
    /// A test did not end, not even at its deadline.
    Late,
    /// The edit changes nothing.
    Unchanged,
    /// The edited text is not Python.
    Invalid,
    /// A run of its own would be needed.
    Unsupported,
}

/// Result of a test in a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialTest {
    /// Index of the test in the plan.
    pub test: usize,
    /// The way the test ended.
    pub outcome: TrialOutcome,
    /// Name of the exception; empty if there is none.
    pub exception: String,
    /// The start of the message.
    pub message: String,
}

/// The way a test of a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// The test passed.
    Passed,
    /// The test failed or had an error.
    Failed,
    /// The test was skipped or failed as expected.
    Skipped,
}

impl TrialPlan {
    /// Returns the plan as the worker reads it.
    pub(crate) fn order(&self) -> Value {
        let files = self.files.iter().map(|it| json!({ "path": it.path, "source": &*it.source }));
        let raised = (self.raised.iter())
            .map(|it| json!({ "test": it.test, "path": it.path, "line": it.line }));
        json!({
            "tests": self.tests.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(),
            "limits": self.tests.iter().map(|it| it.limit.as_secs_f64()).collect::<Vec<_>>(),
            "groups": self.groups,
            "files": files.collect::<Vec<_>>(),
            "edits": self.edits.iter().map(|it| self.edit(it)).collect::<Vec<_>>(),
            "raised": raised.collect::<Vec<_>>(),
        })
    }

    fn edit(&self, it: &PlannedEdit) -> Value {
        let source = &*self.files[it.file].source;
        let lines = |text: Option<&str>| text.unwrap_or_default().matches('\n').count() as i64;
        json!({
            "number": it.number,
            "file": it.file,
            "start": it.range.start,
            "end": it.range.end,
            "new": it.replacement,
            "line": lines(source.get(..it.range.start)) + 1,
            "lines": lines(Some(&it.replacement)) - lines(source.get(it.range.clone())),
            "first": it.first,
            "rest": it.rest,
            "passing": it.passing,
        })
    }
}
