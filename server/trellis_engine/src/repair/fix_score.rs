//! Comparison of fixes that make the tests pass (see Smith et al., "Is the Cure Worse Than the
//! Disease? Overfitting in Automated Program Repair", 2015: patches that pass are often wrong, and
//! more often so the larger they are).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use trellis_python::hunks;

/// Size of a fix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Number of changed lines: for each hunk the larger of removed and added lines.
    pub lines: usize,
    /// Number of changed lines in the file with the most.
    pub most: usize,
    pub files: usize,
}

/// Returns the size of a change, given the texts before and after by path.
pub fn size(texts: &BTreeMap<String, (String, String)>) -> Size {
    let lines = |(before, after): &(String, String)| -> usize {
        hunks(before, after).iter().map(|it| it.old_lines.len().max(it.new_lines.len())).sum()
    };
    let all: Vec<usize> = texts.values().map(lines).collect();
    Size { lines: all.iter().sum(), most: all.iter().copied().max().unwrap_or(0), files: all.len() }
}

/// Criteria for comparing passing fixes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FixScore {
    /// Signs that the fix is tailored to its tests, as sentences with their place.
    pub shortcuts: Vec<String>,
    /// Number of failing tests that pass with the fix.
    pub solved: usize,
    pub size: Size,
    /// Share of the fix's lines that passing tests execute.
    pub coverage: f64,
}

impl FixScore {
    /// Compares two fixes; the better one is greater: fewer signs of overfitting, more passing
    /// tests, fewer lines, more of them executed.
    pub fn compare(&self, other: &FixScore) -> Ordering {
        let fewer = |a: usize, b: usize| b.cmp(&a);
        fewer(self.shortcuts.len(), other.shortcuts.len())
            .then(self.solved.cmp(&other.solved))
            .then(fewer(self.size.lines, other.size.lines))
            .then(self.coverage.total_cmp(&other.coverage))
    }

    /// Returns the criterion by which this fix is better than `other`, as a phrase about the fix.
    pub fn ahead_of(&self, other: &FixScore) -> &'static str {
        if self.shortcuts.len() < other.shortcuts.len() {
            "looks less tailored to its tests"
        } else if self.solved > other.solved {
            "makes more tests pass"
        } else if self.size.lines < other.size.lines {
            "changes fewer lines"
        } else if self.coverage > other.coverage {
            "is executed more by passing tests"
        } else {
            "was found first"
        }
    }

    /// Returns whether the fix looks tailored to its tests.
    pub fn is_suspicious(&self) -> bool {
        !self.shortcuts.is_empty()
    }
}
