//! What is known before anything is ranked.

use std::collections::{BTreeMap, BTreeSet};

use code::{Facts, StatementKind};

use crate::observation::Failure;

/// Everything known about a failing suite.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Tests that passed or failed; none that was skipped.
    pub tests: Vec<TestEvidence>,
    /// The Python files of the project.
    pub files: Vec<FileEvidence>,
}

/// One test.
#[derive(Clone, Debug, Default)]
pub struct TestEvidence {
    /// As the test runner names it.
    pub id: String,
    /// It failed, or could not be collected.
    pub failed: bool,
    /// How.
    pub failure: Option<Failure>,
    /// First lines of the statements it executed, by the place of the file in [`Evidence::files`].
    pub lines: BTreeMap<usize, BTreeSet<u32>>,
    /// A run has told which lines of the code it executed, and there are some.
    pub measured: bool,
    /// Where its calls and imports lead, as they are written; for tests of which no run has told it.
    pub reached: Vec<Reached>,
}

/// A function that a test leads to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reached {
    /// The place of the file in [`Evidence::files`].
    pub file: usize,
    /// Its place in the facts of the file; `None`: the top level.
    pub function: Option<usize>,
    /// Calls between: 0 for one that the test calls itself.
    pub distance: usize,
}

/// One file.
#[derive(Clone, Debug, Default)]
pub struct FileEvidence {
    /// Relative to the project's root, with `/`.
    pub path: String,
    /// Test code: tests, fixtures, helpers beside them.
    pub is_test: bool,
    /// What it defines and does.
    pub facts: Facts,
    /// How recently lines changed: 1 is uncommitted, 0 long ago. Empty where nothing is known of it.
    pub changed: BTreeMap<u32, f64>,
}

impl Evidence {
    /// First lines of what stands in a function, or at the top level: those that run when it does.
    pub(super) fn lines_of(&self, it: &Reached) -> BTreeSet<u32> {
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

    pub(super) fn failing(&self) -> impl Iterator<Item = &TestEvidence> {
        self.tests.iter().filter(|it| it.failed)
    }

    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|it| it.path == path)
    }
}
