//! Input of the ranking.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::{FileFacts, StatementKind};

use super::trace::TestTrace;
use crate::observation::Failure;

/// Evidence about a failing suite.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Tests that passed or failed, without skipped ones.
    pub tests: Vec<TestEvidence>,
    /// The Python files of the project.
    pub files: Vec<FileEvidence>,
}

/// Evidence from one test.
#[derive(Clone, Debug, Default)]
pub struct TestEvidence {
    /// Id given by the test runner.
    pub id: String,
    /// True if the test failed or could not be collected.
    pub failed: bool,
    /// Details of the failure.
    pub failure: Option<Failure>,
    /// First lines of the executed statements, by the index of the file in [`Evidence::files`].
    pub lines: BTreeMap<usize, BTreeSet<u32>>,
    /// True if a run measured which lines of code the test executed, and there are some.
    pub measured: bool,
    /// Functions reached by calls and imports in the source; for tests without a measured run.
    pub reached: Vec<ReachedFunction>,
    /// The way through the code, for the few tests that are traced.
    pub trace: Option<TestTrace>,
}

/// A function that a test reaches.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ReachedFunction {
    /// Index of the file in [`Evidence::files`].
    pub file: usize,
    /// Index of the function in the facts of the file; `None` for the top level.
    pub function: Option<usize>,
    /// Number of calls in between: 0 for a function that the test calls itself.
    pub distance: usize,
}

/// Facts about one file.
#[derive(Clone, Debug, Default)]
pub struct FileEvidence {
    /// Path relative to the project's root, with `/`.
    pub path: String,
    /// True for test code: tests, fixtures and their helpers.
    pub is_test: bool,
    /// Definitions and statements of the file.
    pub facts: FileFacts,
    /// First lines of the statements that ran, but in no test: when the file was imported. Empty if
    /// nothing was measured.
    pub imported: BTreeSet<u32>,
    /// Recency of changes by line, from 1 (uncommitted) to 0 (long ago). Empty if unknown.
    pub changed: BTreeMap<u32, f64>,
}

impl Evidence {
    /// Returns the first lines of the statements in a function or at the top level: those that run
    /// when it does.
    pub(super) fn lines_of(&self, it: &ReachedFunction) -> BTreeSet<u32> {
        let facts = &self.files[it.file].facts;
        let inside = facts.statements.iter().filter(|statement| {
            statement.function == it.function && statement.kind != StatementKind::Definition
        });
        let mut lines: BTreeSet<u32> = inside.map(|statement| statement.first).collect();
        if let (true, Some(function)) = (lines.is_empty(), it.function) {
            lines.extend(facts.functions.get(function).map(|it| it.header));
        }
        lines
    }

    /// Returns the first line of the statement that a line belongs to.
    pub fn statement_line(&self, (file, line): (usize, u32)) -> (usize, u32) {
        let facts = &self.files[file].facts;
        (file, facts.statement_at(line).map_or(line, |it| facts.statements[it].first))
    }

    pub(super) fn failing(&self) -> impl Iterator<Item = &TestEvidence> {
        self.tests.iter().filter(|it| it.failed)
    }

    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|it| it.path == path)
    }
}
