//! What a change does that looks as if it had been made for its tests alone.
//!
//! Tests are a sample of what code should do, and a repair that is judged by them alone may fit the sample
//! and nothing else: Smith, Barr, Le Goues and Brun, "Is the cure worse than the disease? Overfitting in
//! automated program repair" (ESEC/FSE 2015). Deleted functionality is the commonest kind: Qi, Long, Achour
//! and Rinard (ISSTA 2015). So what is told here is special cases for values of the tests, and checks,
//! errors and bodies that are gone. Hints, not proofs: only changed statements are looked at, and what an
//! honest fix does as often is left alone.

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

/// What a change looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShortcutKind {
    /// A comparison, membership, `case` or key of a table with a value of the tests.
    SpecialCase,
    /// A value of the tests is returned.
    Returned,
    /// Every exception is caught and dropped.
    Swallowed,
    /// The code looks whether it is being tested.
    Environment,
    /// A literal is returned that the function's annotation excludes.
    WrongType,
    /// An exception that the docstring names is raised no more.
    BrokenPromise,
    /// A `raise` or `assert` is gone, and none came instead.
    CheckGone,
    /// A function does nothing any more.
    Emptied,
}

impl ShortcutKind {
    /// In lowercase, as reports name it.
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

/// One thing that looks like it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortcut {
    /// A line of the text after the change, from 1.
    pub line: u32,
    /// What it is.
    pub kind: ShortcutKind,
    /// What stands there, as a fragment of a sentence.
    pub why: String,
}

/// The values that tests speak of, found once for all changes that are to be judged by them.
#[derive(Clone, Debug, Default)]
pub struct Examples(FxHashSet<String>);

impl Examples {
    /// Of texts of tests, and of data beside them that reads like Python, as JSON does. What is no Python
    /// is read as far as possible.
    pub fn of(tests: &[&str]) -> Examples {
        let mut found = FxHashSet::default();
        for tree in tests.iter().filter_map(|it| Tree::of(it).ok()) {
            literals::gather(tree.body(), &mut found);
        }
        Examples(found)
    }

    /// Without the texts that the project's own code speaks of in other files: words that it shares with
    /// its tests are its vocabulary. Numbers stay, as every number stands somewhere.
    pub fn without(mut self, sources: &[&str]) -> Examples {
        let mut known = FxHashSet::default();
        for tree in sources.iter().filter_map(|it| Tree::of(it).ok()) {
            literals::gather(tree.body(), &mut known);
        }
        self.0.retain(|it| !(literals::is_text(it) && known.contains(it)));
        self
    }

    /// What a change of a file does that looks as if it had been made for these tests alone, in the order
    /// of the text. Nothing where either text is no Python.
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

/// What a change of a Python file does that looks as if it had been made for its tests alone: a shorthand
/// for [`Examples::of`] and [`Examples::shortcuts`].
pub fn shortcuts(before: &str, after: &str, tests: &[&str]) -> Vec<Shortcut> {
    Examples::of(tests).shortcuts(before, after)
}

/// What the rules look at.
struct RuleInput<'l, 'a> {
    change: &'l Change<'l, 'a>,
    known: &'l Known<'l>,
    examples: &'l FxHashSet<String>,
    /// The text after the change.
    source: &'l str,
}

/// An offset of the text after the change, what was found there, and why it was told.
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
