//! Conflict of two tasks that have changed a file in the same place, and its resolution by a model.

use trellis_python::{Fragment, TextEdits, check_no_new_errors};

use crate::reply;

/// A file in conflict, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conflict {
    /// Path relative to the project's folder.
    pub path: String,
    /// True if the file holds tests.
    pub is_test: bool,
    /// Common ancestor; empty if both sides added the file.
    pub base: String,
    /// Text on the branch.
    pub ours: String,
    /// Text of the task being merged.
    pub theirs: String,
    /// Merged by lines, with both sides and the ancestor between git's conflict markers.
    pub marked: String,
}

/// Returns the resolved file from an answer.
///
/// # Errors
///
/// A reason for the model: the file is missing, markers are left, the Python is broken, or tests of
/// one side are lost or others are added.
pub fn parse_resolution(answer: &str, conflict: &Conflict) -> Result<String, String> {
    let path = &conflict.path;
    let reply = reply::divide(answer)?;
    let text = reply.file(path)?;
    let sides = [&conflict.ours, &conflict.theirs];
    let mark = text.lines().find(|it| is_mark(it) && !sides.iter().any(|side| has(side, it)));
    if let Some(mark) = mark {
        return Err(format!("the mark `{mark}` is left in {path}"));
    }
    if path.ends_with(".py") {
        check_no_new_errors(&conflict.ours, &TextEdits::between(&conflict.ours, text))
            .map_err(|why| format!("{path} would be broken: {why}"))?;
    }
    if conflict.is_test {
        keeps_tests(text, conflict)?;
    }
    Ok(text.to_owned())
}

fn is_mark(line: &str) -> bool {
    ["<<<<<<< ", "||||||| ", ">>>>>>> "].iter().any(|it| line.starts_with(it))
}

fn has(text: &str, line: &str) -> bool {
    text.lines().any(|it| it == line)
}

/// Checks the tests in the file, because they verify the merge: the file holds the additions and
/// changes of each side and the statements kept by both, each top-level statement unchanged, and
/// nothing else.
fn keeps_tests(text: &str, conflict: &Conflict) -> Result<(), String> {
    let path = &conflict.path;
    if !path.ends_with(".py") {
        return Err(format!("{path} contains tests, which a model cannot merge"));
    }
    let parsed = |it: &str| {
        let fragment =
            Fragment::parse(it).map_err(|why| format!("{path} is not valid Python: {why}"))?;
        Ok::<_, String>(TopLevelStatements::of(fragment))
    };
    let (base, ours) = (parsed(&conflict.base)?, parsed(&conflict.ours)?);
    let (theirs, merged) = (parsed(&conflict.theirs)?, parsed(text)?);
    let wanted = base.merged(&ours, &theirs);
    if let Some(lost) = wanted.0.iter().find(|it| count(&wanted, it) > count(&merged, it)) {
        return Err(format!("{path} has lost, or has changed, `{}`", shown(lost)));
    }
    if let Some(more) = merged.0.iter().find(|it| count(&merged, it) > count(&wanted, it)) {
        return Err(format!("{path} has `{}`, which neither side has in this form", shown(more)));
    }
    let twice =
        |of: &TopLevelStatements, name: &str| of.1.iter().filter(|it| *it == name).count() > 1;
    match merged.1.iter().find(|it| twice(&merged, it) && !twice(&ours, it) && !twice(&theirs, it))
    {
        Some(name) => Err(format!("both sides have a `{name}` of their own in {path}")),
        None => Ok(()),
    }
}

/// Top-level statements of a module as written, one for each import, and the names that they bind.
struct TopLevelStatements(Vec<String>, Vec<String>);

impl TopLevelStatements {
    fn of(fragment: Fragment) -> TopLevelStatements {
        let names = fragment.items.iter().flat_map(|it| it.names.clone()).collect();
        let imports = fragment.imports.iter().map(|it| format!("{it:?}"));
        let statements = fragment.items.iter().map(|it| it.text.clone());
        TopLevelStatements(
            fragment.docstring.iter().cloned().chain(imports).chain(statements).collect(),
            names,
        )
    }

    /// Returns the three-way merge with `self` as ancestor: the statements kept by both sides, and
    /// the additions of each.
    fn merged(&self, ours: &TopLevelStatements, theirs: &TopLevelStatements) -> TopLevelStatements {
        let kept = self.0.iter().filter(|it| ours.0.contains(it) && theirs.0.contains(it));
        let added = ours.0.iter().chain(theirs.0.iter().filter(|it| !ours.0.contains(it)));
        let added = added.filter(|it| !self.0.contains(it));
        TopLevelStatements(kept.chain(added).cloned().collect(), Vec::new())
    }
}

fn count(of: &TopLevelStatements, piece: &str) -> usize {
    of.0.iter().filter(|it| *it == piece).count()
}

fn shown(piece: &str) -> &str {
    piece.lines().next().unwrap_or_default()
}
