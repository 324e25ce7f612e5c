//! Small projects with the places of one symbol marked: `«name»` is certain, `‹name›` only possible.
//! The symbol is asked for at the first certain place.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use trellis_python::{FileId, Index, TextSource, Words, is_document};

/// Texts of documents, which an index reads by itself.
#[derive(Default)]
struct Documents(Mutex<HashMap<String, Arc<str>>>);

impl TextSource for Documents {
    fn read(&self, path: &str) -> Option<Arc<str>> {
        self.0.lock().unwrap().get(path).cloned()
    }
}

/// A file and a line of it, from 1, with the number of the place in the line.
type Spot = (String, usize, usize);

/// A project with the places that its marks name.
pub(crate) struct Marked {
    pub(crate) index: Index,
    pub(crate) at: (FileId, usize),
    certain: BTreeSet<Spot>,
    possible: BTreeSet<Spot>,
}

impl Marked {
    pub(crate) fn new(files: &[(&str, &str)]) -> Marked {
        let documents = Arc::new(Documents::default());
        let mut index = Index::new(documents.clone());
        let (mut certain, mut possible, mut first) = (BTreeSet::new(), BTreeSet::new(), None);
        for (path, marked) in files {
            let mut text = String::new();
            for c in marked.chars() {
                let spot = || {
                    let line = text.matches('\n').count() + 1;
                    ((*path).to_owned(), line, text.len() - text.rfind('\n').map_or(0, |it| it + 1))
                };
                match c {
                    '«' => {
                        first = first.or(Some(((*path).to_owned(), text.len())));
                        certain.insert(spot());
                    }
                    '‹' => {
                        possible.insert(spot());
                    }
                    '»' | '›' => {}
                    c => text.push(c),
                }
            }
            if is_document(path) {
                documents.0.lock().unwrap().insert((*path).to_owned(), text.as_str().into());
                index.put_document(path);
            } else if path.ends_with(".py") {
                index.put(path, Words::of(&text), Some(text.as_str().into()));
            }
        }
        let (path, offset) = first.expect("a place is marked");
        let at = (index.file(&path).unwrap(), offset);
        Marked { index, at, certain, possible }
    }

    fn spot(&self, file: FileId, at: usize) -> Spot {
        let text = self.index.text(file).unwrap();
        let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
        (self.index.path(file).to_owned(), text[..at].matches('\n').count() + 1, at - start)
    }

    /// Asserts that references and a rename find the marked places and nothing else.
    pub(crate) fn check(&self) {
        let found = self.index.references(self.at.0, self.at.1).expect("there is a name");
        let of = |certain: bool| -> BTreeSet<Spot> {
            let all = found.found.iter().filter(|it| it.uncertainty.is_none() == certain);
            all.map(|it| self.spot(it.place.file, it.place.range.start)).collect()
        };
        let shown = self.shown();
        assert_eq!(of(true), self.certain, "certain references\n{shown}");
        assert_eq!(of(false), self.possible, "possible references\n{shown}");
        assert_eq!(found.complete, found.reasons.is_empty());
        let of_editors = self.index.certain_references(self.at.0, self.at.1).unwrap();
        let of_editors = of_editors.iter().map(|it| self.spot(it.place.file, it.place.range.start));
        assert_eq!(of_editors.collect::<BTreeSet<_>>(), self.certain, "in editors\n{shown}");
        assert!(self.possible.is_empty() || !found.complete, "complete\n{shown}");
        self.check_rename();
    }

    /// Asserts that a rename changes the certain places and leaves the possible ones.
    pub(crate) fn check_rename(&self) {
        let shown = self.shown();
        let rename = self.index.rename(self.at.0, self.at.1, "renamed_to").expect(&shown);
        let places = rename.edits.iter().flat_map(|(file, ranges)| {
            ranges.iter().map(|it| self.spot(*file, it.start)).collect::<Vec<_>>()
        });
        assert_eq!(places.collect::<BTreeSet<_>>(), self.certain, "edits\n{shown}");
        let unchanged = rename.possible.iter().map(|(it, _)| self.spot(it.file, it.range.start));
        assert_eq!(unchanged.collect::<BTreeSet<_>>(), self.possible, "unchanged\n{shown}");
    }

    /// Returns the refusal of a rename.
    pub(crate) fn refusal(&self, to: &str) -> String {
        let answer = self.index.rename(self.at.0, self.at.1, to);
        answer.map(|_| self.shown()).expect_err("the rename is refused").to_string()
    }

    fn shown(&self) -> String {
        let texts = self
            .index
            .files()
            .map(|it| format!("--- {}\n{}", self.index.path(it), self.index.text(it).unwrap()));
        texts.collect()
    }
}

/// Asserts the marks of a project of one file.
pub(crate) fn check(text: &str) {
    Marked::new(&[("m.py", text)]).check();
}
