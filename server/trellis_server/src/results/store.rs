//! Results on the disk: one file per project in the user's cache, shared by all windows and the
//! command line.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trellis_store::project_cache::{self, ProjectCache};

use super::failed::{Failed, FailureLocation};
use super::tests::{LastResult, ResultChanges, State};

/// Version of the file format; files of other versions are ignored.
const VERSION: u32 = 1;

/// The folder of the result files.
#[derive(Clone, Debug)]
pub(super) struct Store(ProjectCache);

/// Content of a result file.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CachedResults {
    version: u32,
    /// The project's folder.
    root: PathBuf,
    tests: BTreeMap<String, Entry>,
}

/// One test.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    state: State,
    text_of: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    message: Option<String>,
    /// Locations of the failure, in the test and in the code under test: paths with lines.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    places: Vec<(String, u32)>,
}

/// A project with its results.
pub(super) type Project = (PathBuf, BTreeMap<String, LastResult>);

impl Store {
    pub(super) fn of(folder: PathBuf) -> Store {
        Store(ProjectCache::of(folder))
    }

    pub(super) fn folder(&self) -> &Path {
        self.0.folder()
    }

    /// Creates the folder.
    pub(super) fn create(&self) -> io::Result<&Path> {
        self.0.create()
    }

    /// Returns all projects that still exist.
    pub(super) fn all(&self) -> Vec<Project> {
        self.0.files().filter_map(|file| self.read(&file)).collect()
    }

    /// Returns the project of a file; `None` if the file is unreadable, which counts as no results,
    /// or if the project no longer exists. Failure locations have no ids yet.
    pub(super) fn read(&self, file: &Path) -> Option<Project> {
        let kept: CachedResults = project_cache::read(file)?;
        if kept.version != VERSION {
            return None;
        }
        if !kept.root.is_dir() {
            let _ = fs::remove_file(file);
            return None;
        }
        let known = |(id, entry): (String, Entry)| {
            let known = entry.known(&kept.root, &id);
            (id, known)
        };
        let tests = kept.tests.into_iter().map(known).collect();
        Some((kept.root, tests))
    }

    /// Merges changes into the project's file.
    pub(super) fn keep(&self, root: &Path, news: &ResultChanges) -> io::Result<()> {
        let merged = |old: Option<CachedResults>| {
            let known = old.filter(|it| it.version == VERSION);
            let mut kept = known.unwrap_or_default();
            (kept.version, kept.root) = (VERSION, root.to_owned());
            for (id, known) in news {
                match known {
                    Some(it) => drop(kept.tests.insert(id.clone(), Entry::of(it))),
                    None => drop(kept.tests.remove(id)),
                }
            }
            kept
        };
        self.0.change(root, merged).map(drop)
    }
}

impl Entry {
    fn of(known: &LastResult) -> Entry {
        let failed = known.failed.as_ref();
        let places = failed.into_iter().flat_map(|it| std::iter::once(&it.at).chain(&it.also));
        Entry {
            state: known.state,
            text_of: known.text_of,
            message: failed.map(|it| it.message.clone()),
            places: places.map(|it| (it.path.clone(), it.line)).collect(),
        }
    }

    fn known(self, root: &Path, id: &str) -> LastResult {
        let mut places =
            self.places.into_iter().map(|(path, line)| FailureLocation { id: 0, path, line });
        let failed = self.message.and_then(|message| {
            let (root, test) = (root.to_owned(), id.to_owned());
            Some(Failed { root, test, message, at: places.next()?, also: places.next() })
        });
        LastResult { state: self.state, text_of: self.text_of, failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_another_format_are_no_results() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, store) = (folder.path().to_owned(), Store::of(folder.path().join("cache")));
        store.create().expect("a folder");
        let file = store.0.file(&root);
        let tests = serde_json::json!({ "t": { "state": "passed", "textOf": 1 } });
        for (version, kept) in [(VERSION, 1), (VERSION - 1, 0), (VERSION + 1, 0)] {
            let text = serde_json::json!({ "version": version, "root": root, "tests": tests });
            fs::write(&file, text.to_string()).expect("written");
            store.keep(&root, &ResultChanges::default()).expect("kept");
            let read = store.read(&file).map(|it| it.1.len());
            assert_eq!(read, Some(kept), "version {version}");
        }
    }
}
