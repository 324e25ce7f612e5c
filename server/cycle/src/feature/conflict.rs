//! A file that two pieces of work have changed in the same place, and what a model made of it.

use code::{Fragment, TextEdits, no_worse};

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

/// Tests are what the merge is proven by: the file holds what each side has added or changed, and what both have kept, one
/// top-level statement as it stands there, and nothing else.
fn keeps_tests(text: &str, conflict: &Conflict) -> Result<(), String> {
    let path = &conflict.path;
    if !path.ends_with(".py") {
        return Err(format!("{path} contains tests, which a model cannot merge"));
    }
    let parsed = |it: &str| {
        let fragment =
            Fragment::parse(it).map_err(|why| format!("{path} is not valid Python: {why}"))?;
        Ok::<_, String>(Pieces::of(fragment))
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
    let twice = |of: &Pieces, name: &str| of.1.iter().filter(|it| *it == name).count() > 1;
    match merged.1.iter().find(|it| twice(&merged, it) && !twice(&ours, it) && !twice(&theirs, it))
    {
        Some(name) => Err(format!("both sides have a `{name}` of their own in {path}")),
        None => Ok(()),
    }
}

/// Top-level statements of a module as they stand there, imports one by one, and the names that they bind.
struct Pieces(Vec<String>, Vec<String>);

impl Pieces {
    fn of(fragment: Fragment) -> Pieces {
        let names = fragment.items.iter().flat_map(|it| it.names.clone()).collect();
        let imports = fragment.imports.iter().map(|it| format!("{it:?}"));
        let statements = fragment.items.iter().map(|it| it.text.clone());
        Pieces(fragment.docstring.iter().cloned().chain(imports).chain(statements).collect(), names)
    }

    /// What three ways of a file come to: what both have kept of `self`, and what each has that `self` has not.
    fn merged(&self, ours: &Pieces, theirs: &Pieces) -> Pieces {
        let kept = self.0.iter().filter(|it| ours.0.contains(it) && theirs.0.contains(it));
        let added = ours.0.iter().chain(theirs.0.iter().filter(|it| !ours.0.contains(it)));
        let added = added.filter(|it| !self.0.contains(it));
        Pieces(kept.chain(added).cloned().collect(), Vec::new())
    }
}

fn count(of: &Pieces, piece: &str) -> usize {
    of.0.iter().filter(|it| *it == piece).count()
}

fn shown(piece: &str) -> &str {
    piece.lines().next().unwrap_or_default()
}
