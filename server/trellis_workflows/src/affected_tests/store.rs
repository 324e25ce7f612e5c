//! Execution maps on the disk: one file per project in the user's cache.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use trellis_store::project_cache::{ProjectCache, read};

use super::dependency::Version;
use super::execution_map::{ExecutionMap, TestRecord};

/// Version of the file format and of the hashes; files of other versions are ignored.
const VERSION: u32 = 2;

/// The folder of the maps.
#[derive(Clone, Debug)]
pub(super) struct Store(ProjectCache);

/// Content of a file.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredMap {
    version: u32,
    /// The project's folder.
    root: PathBuf,
    versions: Vec<Version>,
    shared: Vec<Vec<u32>>,
    tests: BTreeMap<String, StoredRecord>,
    files: BTreeMap<String, u32>,
}

/// One test.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredRecord {
    at: u64,
    shared: u32,
    own: Vec<u32>,
}

impl Store {
    pub(super) fn of(folder: PathBuf) -> Store {
        Store(ProjectCache::of(folder))
    }

    /// Returns the time of a project's file; `None` if there is no file.
    pub(super) fn time(&self, root: &Path) -> Option<SystemTime> {
        self.0.time(root)
    }

    /// Returns the map of a project; empty if there is none, or none of this version.
    pub(super) fn read(&self, root: &Path) -> ExecutionMap {
        StoredMap::map(read(&self.0.file(root)), root)
    }

    /// Replaces the map of a project by what `change` makes of it; other processes wait meanwhile.
    pub(super) fn change(
        &self,
        root: &Path,
        change: impl FnOnce(ExecutionMap) -> ExecutionMap,
    ) -> io::Result<ExecutionMap> {
        let stored = |old| StoredMap::of(root, &change(StoredMap::map(old, root)));
        self.0.change(root, stored).map(Into::into)
    }
}

impl StoredMap {
    /// Returns the map of a file, if the file is one of this project and version.
    fn map(stored: Option<StoredMap>, root: &Path) -> ExecutionMap {
        let fits = |it: &StoredMap| it.version == VERSION && it.root == root;
        stored.filter(fits).map_or_else(ExecutionMap::default, Into::into)
    }

    fn of(root: &Path, map: &ExecutionMap) -> StoredMap {
        let record =
            |it: &TestRecord| StoredRecord { at: it.at, shared: it.shared, own: it.own.clone() };
        StoredMap {
            version: VERSION,
            root: root.to_owned(),
            versions: map.versions.clone(),
            shared: map.shared.clone(),
            tests: map.tests.iter().map(|(id, it)| (id.clone(), record(it))).collect(),
            files: map.files.clone(),
        }
    }
}

impl From<StoredMap> for ExecutionMap {
    fn from(stored: StoredMap) -> ExecutionMap {
        let StoredMap { versions, shared, tests, files, .. } = stored;
        let record = |it: StoredRecord| TestRecord { at: it.at, shared: it.shared, own: it.own };
        let tests = tests.into_iter().map(|(id, it)| (id, record(it))).collect();
        ExecutionMap { versions, shared, tests, files }
    }
}
