//! What is known before anything is ranked.

use std::collections::{BTreeMap, BTreeSet};

use code::Facts;

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
    pub(super) fn failing(&self) -> impl Iterator<Item = &TestEvidence> {
        self.tests.iter().filter(|it| it.failed)
    }

    pub(super) fn file(&self, path: &str) -> Option<usize> {
        self.files.iter().position(|it| it.path == path)
    }
}
