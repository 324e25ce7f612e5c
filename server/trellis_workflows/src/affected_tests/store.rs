//! Execution maps on the disk: one file per project in the user's cache.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use trellis_store::disk::hash;
use trellis_store::lock::Lock;

use super::dependency::Version;
use super::execution_map::{ExecutionMap, TestRecord};

/// Version of the file format and of the hashes; files of other versions are ignored.
const VERSION: u32 = 2;
/// Other users need not read the names of functions.
const PRIVATE: u32 = 0o700;

/// The folder of the maps.
#[derive(Clone, Debug)]
pub(super) struct Store(PathBuf);

/// Content of a file.
#[derive(Default, Serialize, Deserialize)]
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
        Store(folder)
    }

    /// Returns the time of a project's file; `None` if there is no file.
    pub(super) fn time(&self, root: &Path) -> Option<SystemTime> {
        fs::metadata(self.file(root)).and_then(|it| it.modified()).ok()
    }

    /// Returns the map of a project; empty if there is none, or none of this version.
    pub(super) fn read(&self, root: &Path) -> ExecutionMap {
        let bytes = trellis_os::files::read(self.file(root)).unwrap_or_default();
        let stored: StoredMap = serde_json::from_slice(&bytes).unwrap_or_default();
        let fits = stored.version == VERSION && stored.root == root;
        if fits { stored.into() } else { ExecutionMap::default() }
    }

    /// Replaces the map of a project by what `change` makes of it; other processes wait meanwhile.
    pub(super) fn change(
        &self,
        root: &Path,
        change: impl FnOnce(ExecutionMap) -> ExecutionMap,
    ) -> io::Result<ExecutionMap> {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(&self.0)?;
        let _lock = Lock::wait_for(&self.0.join("lock"))?;
        let map = change(self.read(root));
        let mut scratch = tempfile::Builder::new().prefix("write-").tempfile_in(&self.0)?;
        scratch.write_all(&serde_json::to_vec(&StoredMap::of(root, &map))?)?;
        scratch.persist(self.file(root)).map_err(|error| error.error)?;
        Ok(map)
    }

    fn file(&self, root: &Path) -> PathBuf {
        self.0.join(format!("{}.json", &hash(root.to_string_lossy().as_bytes())[..32]))
    }
}

impl StoredMap {
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
