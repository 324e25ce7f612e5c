//! Imports between the modules of a project, as their texts show them.

use std::collections::{BTreeMap, BTreeSet};

/// The modules that each module may load, by path relative to the project.
#[derive(Clone, Debug, Default)]
pub struct Imports(BTreeMap<String, BTreeSet<String>>);

impl FromIterator<(String, BTreeSet<String>)> for Imports {
    fn from_iter<I: IntoIterator<Item = (String, BTreeSet<String>)>>(all: I) -> Imports {
        Imports(all.into_iter().collect())
    }
}

impl Imports {
    /// Returns the paths of all modules.
    pub(super) fn modules(&self) -> impl Iterator<Item = &String> {
        self.0.keys()
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }

    /// Returns the modules that a test file may load, itself included: by imports, and by the
    /// `conftest.py` of each folder around it.
    pub(super) fn reach(&self, test_file: &str) -> BTreeSet<String> {
        let conftests = conftests(test_file).into_iter().filter(|it| self.has(it));
        // The file may be a document with examples.
        let own = Some(test_file.to_owned()).filter(|it| it.ends_with(".py"));
        self.collect(conftests.chain(own).collect())
    }

    /// Returns the modules that these modules may load, themselves included.
    pub(super) fn closure<'a>(&self, of: impl IntoIterator<Item = &'a String>) -> BTreeSet<String> {
        self.collect(of.into_iter().cloned().collect())
    }

    fn collect(&self, mut waiting: Vec<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        while let Some(path) = waiting.pop() {
            if found.insert(path.clone()) {
                waiting.extend(self.0.get(&path).into_iter().flatten().cloned());
            }
        }
        found
    }
}

/// Returns the paths at which pytest looks for a `conftest.py` of a test file.
pub(super) fn conftests(test_file: &str) -> Vec<String> {
    let folders = test_file.match_indices('/').map(|(at, _)| &test_file[..at]);
    let below = folders.map(|it| format!("{it}/conftest.py"));
    std::iter::once("conftest.py".to_owned()).chain(below).collect()
}
