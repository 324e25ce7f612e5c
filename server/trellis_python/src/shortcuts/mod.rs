//! Detects changes that look as if they were made only to pass the tests.
//!
//! Tests are a sample of what code should do, and a repair judged by them alone may fit only the
//! sample: Smith, Barr, Le Goues and Brun, "Is the cure worse than the disease? Overfitting in
//! automated program repair" (ESEC/FSE 2015). Deleted functionality is the most common kind: Qi,
//! Long, Achour and Rinard (ISSTA 2015). Reported are therefore special cases for values of the
//! tests, and removed checks, errors and bodies. These are hints, not proofs: only changed
//! statements are examined, and patterns that are as common in honest fixes are not reported.

mod annotations;
mod checks;
mod compared_values;
mod environment;
mod literals;
mod special_cases;
mod statement_diff;

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::lines::{Lines, Unit};
use crate::syntax;
use crate::tree::Tree;
use literals::Known;
use statement_diff::{Change, Pieces};

/// Kind of a suspicious change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShortcutKind {
    /// A comparison, membership test, `case` or table key with a value of the tests.
    SpecialCase,
    /// A returned value of the tests.
    Returned,
    /// A handler that catches and drops every exception.
    Swallowed,
    /// A check whether the code runs under test.
    Environment,
    /// A returned literal that the function's annotation excludes.
    WrongType,
    /// An exception that the docstring names is no longer raised.
    BrokenPromise,
    /// A `raise` or `assert` was removed without a replacement.
    CheckGone,
    /// A function no longer does anything.
    Emptied,
}

impl ShortcutKind {
    /// Returns the lowercase name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            ShortcutKind::SpecialCase => "special case",
            ShortcutKind::Returned => "returned value",
            ShortcutKind::Swallowed => "swallowed exception",
            ShortcutKind::Environment => "look at the tests",
            ShortcutKind::WrongType => "wrong type",
            ShortcutKind::BrokenPromise => "broken promise",
            ShortcutKind::CheckGone => "missing check",
            ShortcutKind::Emptied => "emptied function",
        }
    }
}

/// One suspicious change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// Line of the text after the change, from 1.
    pub line: u32,
    /// Kind of the change.
    pub kind: ShortcutKind,
    /// The suspicious code, as a fragment of a sentence.
    pub why: String,
}

/// The values that occur in tests, computed once for all changes judged by them.
#[derive(Clone, Debug, Default)]
pub struct Examples(FxHashSet<String>);

impl Examples {
    /// Collects the values of test texts, and of data files that parse like Python, such as JSON.
    /// Text with syntax errors is read as far as possible.
    pub fn of(tests: &[&str]) -> Examples {
        let mut found = FxHashSet::default();
        for tree in tests.iter().filter_map(|it| Tree::of(it).ok()) {
            literals::gather(tree.body(), &mut found);
        }
        Examples(found)
    }

    /// Removes the strings that the project's own code uses in other files: words shared by code
    /// and tests are the project's vocabulary. Numbers stay, because every number occurs somewhere.
    pub fn without(mut self, sources: &[&str]) -> Examples {
        let mut known = FxHashSet::default();
        for tree in sources.iter().filter_map(|it| Tree::of(it).ok()) {
            literals::gather(tree.body(), &mut known);
        }
        self.0.retain(|it| !(literals::is_text(it) && known.contains(it)));
        self
    }

    /// Returns the suspicious parts of a change of a file, in source order. Empty if either text is
    /// not valid Python.
    pub fn shortcuts(&self, before: &str, after: &str) -> Vec<Shortcut> {
        if before == after {
            return Vec::new();
        }
        let (Ok(old), Ok(new)) = (syntax::parse(before), syntax::parse(after)) else {
            return Vec::new();
        };
        let old_pieces = Pieces::of(before, &old);
        let new_pieces = Pieces::of(after, &new);
        let change = Change::of(&old_pieces, &new_pieces);
        let known = Known::of(before, old.suite());
        let look = RuleInput { change: &change, known: &known, examples: &self.0, source: after };

        let mut found = Vec::new();
        special_cases::find(&look, &mut found);
        environment::find(&look, &mut found);
        annotations::find(&look, &mut found);
        checks::find(&look, &mut found);
        report(after, found)
    }
}

/// Returns the suspicious parts of a change of a Python file: a shorthand for [`Examples::of`] and
/// [`Examples::shortcuts`].
pub fn shortcuts(before: &str, after: &str, tests: &[&str]) -> Vec<Shortcut> {
    Examples::of(tests).shortcuts(before, after)
}

/// Input of the rules.
struct RuleInput<'l, 'a> {
    change: &'l Change<'l, 'a>,
    known: &'l Known<'l>,
    examples: &'l FxHashSet<String>,
    /// The text after the change.
    source: &'l str,
}

/// Offset in the text after the change, kind of the finding, and reason.
type Found = (usize, ShortcutKind, String);

fn report(source: &str, found: Vec<Found>) -> Vec<Shortcut> {
    let lines = Lines::of(source);
    let mut seen = BTreeSet::new();
    let mut report: Vec<Shortcut> = found
        .into_iter()
        .map(|(at, kind, why)| {
            let line = lines.position(at, Unit::Utf8).0 as u32 + 1;
            Shortcut { line, kind, why }
        })
        .collect();
    report.sort_by_key(|it| (it.line, it.kind));
    report.retain(|it| seen.insert((it.line, it.kind)));
    report
}
