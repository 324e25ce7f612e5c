//! A file that two pieces of work have changed in the same place, and what a model made of it.

use std::collections::{BTreeMap, BTreeSet};

use code::{TextEdits, no_worse};

use crate::reply;

/// Such a file, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// From the project's folder.
    pub path: String,
    /// Whether it holds tests.
    pub is_test: bool,
    /// Before both; empty where both have added it.
    pub base: String,
    /// As the branch has it.
    pub ours: String,
    /// As the work has it that is merged.
    pub theirs: String,
    /// Merged as far as lines go, with both sides and what was before between git's marks.
    pub marked: String,
}

/// The file as an answer has it.
///
/// # Errors
///
/// Why it cannot be used, in words for the model: there is no such file in it, marks are left, Python is broken, or tests of
/// one side are lost or others are added.
pub fn settled(answer: &str, conflict: &Conflict) -> Result<String, String> {
    let path = &conflict.path;
    let text = reply::file(answer, path).ok_or_else(|| format!("it does not hold {path}"))?;
    let sides = [&conflict.ours, &conflict.theirs];
    let mark = text.lines().find(|it| is_mark(it) && !sides.iter().any(|side| has(side, it)));
    if let Some(mark) = mark {
        return Err(format!("the mark `{mark}` is left in {path}"));
    }
    if path.ends_with(".py") {
        no_worse(&conflict.ours, &TextEdits::between(&conflict.ours, &text))
            .map_err(|why| format!("{path} would be broken: {why}"))?;
    }
    if conflict.is_test {
        keeps_tests(&text, conflict)?;
    }
    Ok(text)
}

fn is_mark(line: &str) -> bool {
    ["<<<<<<< ", "||||||| ", ">>>>>>> "].iter().any(|it| line.starts_with(it))
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|it| it == line)
}

/// Tests are what the merge is proven by: each line that a side has added is there so often as that side has it, none comes
/// from elsewhere.
fn keeps_tests(text: &str, conflict: &Conflict) -> Result<(), String> {
    let (base, merged) = (counts(&conflict.base), counts(text));
    let (ours, theirs) = (counts(&conflict.ours), counts(&conflict.theirs));
    let path = &conflict.path;
    for side in [&ours, &theirs] {
        let lost = side.iter().find(|(line, count)| {
            let was = base.get(*line).copied().unwrap_or(0);
            **count > was && merged.get(*line).copied().unwrap_or(0) < **count
        });
        if let Some((line, _)) = lost {
            return Err(format!("{path} has lost the line `{line}` that one side has added"));
        }
    }
    let known: BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    match merged.keys().find(|it| !known.contains(*it)) {
        Some(line) => Err(format!("{path} has the line `{line}`, which is of neither side")),
        None => Ok(()),
    }
}

fn counts(text: &str) -> BTreeMap<&str, usize> {
    let mut out = BTreeMap::new();
    for line in text.lines().map(str::trim).filter(|it| !it.is_empty()) {
        *out.entry(line).or_default() += 1;
    }
    out
}
