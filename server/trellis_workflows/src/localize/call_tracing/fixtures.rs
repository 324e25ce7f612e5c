//! pytest fixtures: functions that tests call by the names of their parameters.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::localize::FileEvidence;
use trellis_python::{Functions, Index};

use super::Function;

/// The fixtures of a project, and the functions that request them.
pub(super) struct Fixtures {
    /// Names in the header of each function in test files.
    asked: BTreeMap<Function, BTreeSet<String>>,
    by_name: BTreeMap<String, Vec<Function>>,
    /// Automatic fixtures, with the folder or file that they apply to.
    always: Vec<(String, Function)>,
    paths: Vec<String>,
}

impl Fixtures {
    pub(super) fn of(index: &Index, files: &[FileEvidence]) -> Fixtures {
        let paths = files.iter().map(|it| it.path.clone()).collect();
        let mut found = Fixtures {
            asked: BTreeMap::new(),
            by_name: BTreeMap::new(),
            always: Vec::new(),
            paths,
        };
        for (number, it) in files.iter().enumerate().filter(|(_, it)| it.is_test) {
            let text = index.file(&it.path).and_then(|id| index.text(id));
            found.add(number, it, text.as_deref().unwrap_or_default());
        }
        found
    }

    fn add(&mut self, file: usize, of: &FileEvidence, text: &str) {
        for function in Functions::of(text).functions {
            let header = of.facts.functions.iter().position(|it| it.header == function.line);
            let Some(number) = header else { continue };
            let place = (file, number);
            let names = function.signature.split(|c: char| !(c == '_' || c.is_alphanumeric()));
            self.asked.insert(place, names.skip(2).map(str::to_owned).collect());
            let mut marks = function.decorators.iter().filter(|it| it.contains("fixture"));
            let Some(mark) = marks.next() else { continue };
            self.by_name.entry(function.name.clone()).or_default().push(place);
            if mark.contains("autouse") {
                self.always.push((scope(&of.path).to_owned(), place));
            }
        }
    }

    /// Returns the fixtures that a function requests, as far as they are visible in its file.
    pub(super) fn named_by(&self, function: Function) -> Vec<Function> {
        let path = &self.paths[function.0];
        let names = self.asked.get(&function).into_iter().flatten();
        let all = names.filter_map(|it| self.by_name.get(it)).flatten();
        all.filter(|it| path.starts_with(scope(&self.paths[it.0]))).copied().collect()
    }

    /// Returns the fixtures that run before every test of a file.
    pub(super) fn always(&self, path: &str) -> Vec<Function> {
        let own = self.always.iter().filter(|(scope, _)| path.starts_with(scope.as_str()));
        own.map(|(_, it)| *it).collect()
    }
}

/// Returns the scope of a file's fixtures: the folder of a `conftest.py`, else the file itself.
fn scope(path: &str) -> &str {
    match path.strip_suffix("conftest.py") {
        Some(folder) if folder.is_empty() || folder.ends_with('/') => folder,
        _ => path,
    }
}
