//! References that are certain because the receiver's type follows from a rule. Each test is a
//! small project in which `«»` marks every place of one symbol.

mod arguments;
mod enums;
mod items;
mod managers;
mod origins;
mod values;
mod wrappers;

use std::collections::BTreeSet;
use std::sync::Arc;

use trellis_python::{FileId, Index, TextSource, Words};

struct NoTexts;

impl TextSource for NoTexts {
    fn read(&self, _path: &str) -> Option<Arc<str>> {
        None
    }
}

/// A file and an offset in it.
type Place = (FileId, usize);

/// A project without its marks, and the marked places.
struct Project {
    index: Index,
    marked: BTreeSet<Place>,
}

/// Returns a project of one or several files. A line `## path` begins a file; the first one is
/// `main.py` without it.
fn project(text: &str) -> Project {
    let mut index = Index::new(Arc::new(NoTexts));
    let mut marked = BTreeSet::new();
    for part in format!("## main.py\n{text}").split("## ").skip(1) {
        let (path, body) = part.split_once('\n').unwrap();
        let plain = body.replace(['«', '»'], "");
        if plain.is_empty() {
            continue;
        }
        index.put(path, Words::of(&plain), Some(plain.into()));
        let file = index.file(path).unwrap();
        let before = |at: usize| body[..at].chars().filter(|it| "«»".contains(*it)).count();
        marked.extend(body.match_indices('«').map(|(at, _)| (file, at - 2 * before(at))));
    }
    Project { index, marked }
}

/// Returns a readable form of places: path and line.
fn lines(index: &Index, places: impl IntoIterator<Item = Place>) -> Vec<String> {
    let line = |(file, at): Place| {
        let text = index.text(file).unwrap();
        let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
        format!("{}: {}", index.path(file), text[start..].lines().next().unwrap_or_default())
    };
    places.into_iter().map(line).collect()
}

/// Returns what differs between the marked places and the answers at one of them.
fn fault_at(project: &Project, (file, at): Place) -> Option<String> {
    let Project { index, marked } = project;
    let answer = index.references(file, at)?;
    let of = |certain: bool| -> BTreeSet<Place> {
        let chosen = answer.found.iter().filter(|it| it.uncertainty.is_none() == certain);
        chosen.map(|it| (it.place.file, it.place.range.start)).collect()
    };
    let (found, doubtful) = (of(true), of(false));
    if found == *marked && doubtful.is_empty() {
        return None;
    }
    let missing = lines(index, marked.difference(&found).copied());
    let surplus = lines(index, found.difference(marked).copied());
    let doubtful = lines(index, doubtful);
    Some(format!("missing {missing:?}, surplus {surplus:?}, doubtful {doubtful:?}"))
}

/// Checks that the references of the marked symbol are the marks, and that a rename edits them.
#[track_caller]
fn check(text: &str) {
    let project = project(text);
    assert!(!project.marked.is_empty(), "no mark in {text}");
    for place in &project.marked {
        let fault = fault_at(&project, *place);
        assert!(fault.is_none(), "{}\n{text}", fault.unwrap_or_default());
    }
    let first = *project.marked.first().unwrap();
    assert_eq!(renamed_at(&project, first), project.marked, "{text}");
}

/// Returns the places that a rename at one place edits.
fn renamed_at(project: &Project, (file, at): Place) -> BTreeSet<Place> {
    let rename = project.index.rename(file, at, "another_name").unwrap();
    let edits = rename.edits.iter().flat_map(|(file, all)| all.iter().map(|it| (*file, it.start)));
    edits.collect()
}

/// Checks that a rename at any of the marks edits them all, though they are several symbols.
#[track_caller]
fn check_rename(text: &str) {
    let project = project(text);
    for place in &project.marked {
        assert_eq!(renamed_at(&project, *place), project.marked, "{text}");
    }
}

/// Two unrelated classes with an attribute of the same name; the attribute of `A` is marked.
const CLASSES: &str = "class A:
    def __init__(self):
        self.«x» = 1
        self.child = self

class B:
    def __init__(self):
        self.x = 2

";

/// Checks each text on its own, after [`CLASSES`].
#[track_caller]
fn check_each(texts: &[&str]) {
    texts.iter().for_each(|it| check(&format!("{CLASSES}{it}")));
}

/// Returns the number of merely possible references of the name at the first place of a text.
fn doubtful(text: &str, at: &str) -> usize {
    let Project { index, .. } = project(text);
    let file = index.file("main.py").unwrap();
    let answer = index.references(file, text.find(at).unwrap()).unwrap();
    answer.found.iter().filter(|it| it.uncertainty.is_some()).count()
}
