//! Which of several fixes that make the tests pass is the best (see Smith et al., "Is the Cure Worse Than the Disease?
//! Overfitting in Automated Program Repair", 2015: patches that pass are often wrong, and more often so the more they do).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use code::hunks;

/// How much a fix changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Lines that go or come, the larger of both for each hunk.
    pub lines: usize,
    /// Of the file in which the most change.
    pub most: usize,
    pub files: usize,
}

/// The size of a change: by path the text before and after.
pub fn size(texts: &BTreeMap<String, (String, String)>) -> Size {
    let lines = |(before, after): &(String, String)| -> usize {
        hunks(before, after).iter().map(|it| it.old_lines.len().max(it.new_lines.len())).sum()
    };
    let all: Vec<usize> = texts.values().map(lines).collect();
    Size { lines: all.iter().sum(), most: all.iter().copied().max().unwrap_or(0), files: all.len() }
}

/// What speaks for and against a fix that passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Merit {
    /// Signs that it was made for its tests alone, as sentences with their place.
    pub shortcuts: Vec<String>,
    /// Failing tests that pass with it.
    pub solved: usize,
    pub size: Size,
    /// The share of its lines that passing tests execute.
    pub coverage: f64,
}

impl Merit {
    /// The better one is greater: fewer signs of overfitting, more tests that pass, fewer lines, more of them executed.
    pub fn compare(&self, other: &Merit) -> Ordering {
        let fewer = |a: usize, b: usize| b.cmp(&a);
        fewer(self.shortcuts.len(), other.shortcuts.len())
            .then(self.solved.cmp(&other.solved))
            .then(fewer(self.size.lines, other.size.lines))
            .then(self.coverage.total_cmp(&other.coverage))
    }

    /// What sets it before another one, as what is said of it.
    pub fn ahead_of(&self, other: &Merit) -> &'static str {
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

    /// Whether it looks as if it were made for its tests alone.
    pub fn is_suspicious(&self) -> bool {
        !self.shortcuts.is_empty()
    }
}
