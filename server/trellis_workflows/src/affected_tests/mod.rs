//! The tests that changes affect, found from what each test executed when it ran last.
//!
//! A run records for each test the functions that it executed and the files that it read, and for
//! each test file the modules that it may load, all with hashes of their contents. A test whose
//! dependencies differ from the disk is affected. Doubts count as changes: a file that changed
//! during the run, a process that is not observed, a function that keeps results for other tests.
//! Test files without a record are judged by their imports.

mod dependency;
mod disk_state;
mod execution_map;
mod freshness;
mod imports;
mod record;
mod select;
mod store;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use trellis_project::nested::{Kind, Nested};
use trellis_sandbox::{Outcome, Report};
use trellis_store::disk::cache_folder;

pub use dependency::Dependency;
use disk_state::DiskState;
use execution_map::{ExecutionMap, MapWriter, file_of};
use freshness::{Freshness, States};
pub use imports::Imports;
use record::{Recorder, millis};
pub use select::{Affected, BrokenModule};
use select::{Selector, may_hold_tests};
use store::Store;

use crate::write_tests::{is_in_testpaths, registry};

/// The code that tests of several projects execute. Clones share one state.
#[derive(Clone, Debug)]
pub struct AffectedTests {
    store: Option<Store>,
    projects: Arc<Mutex<HashMap<PathBuf, Project>>>,
}

/// A project in memory.
#[derive(Debug)]
struct Project {
    disk: DiskState,
    map: ExecutionMap,
    /// Time of the file with the map.
    stored: Option<SystemTime>,
}

impl Default for AffectedTests {
    /// Returns maps that are saved in the user's cache, if there is one.
    fn default() -> AffectedTests {
        AffectedTests::in_folder(cache_folder().ok().map(|it| it.join("executions")))
    }
}

impl AffectedTests {
    /// Returns maps that are saved in a folder; `None` for none.
    pub fn in_folder(folder: Option<PathBuf>) -> AffectedTests {
        AffectedTests { store: folder.map(Store::of), projects: Arc::default() }
    }

    /// Records what the tests of a run executed. `targets`: the requested files, folders or ids,
    /// relative to the root; empty for all. `began`: a time before the run read any text.
    pub fn record(
        &self,
        root: &Path,
        targets: &[String],
        report: &Report,
        imports: &Imports,
        began: SystemTime,
    ) {
        let Some(execution) = &report.execution else { return };
        let ids: Vec<&str> = report.tests.iter().map(|it| it.id.as_str()).collect();
        let is_whole = matches!(report.outcome, Outcome::Passed | Outcome::Failed);
        let files: BTreeSet<&str> = ids.iter().map(|it| file_of(it)).collect();
        let is_gone = |id: &str| is_whole && files.contains(file_of(id)) && is_named(targets, id);
        let known: BTreeSet<&str> = ids.iter().copied().collect();
        let is_known = |id: &str| known.contains(id);
        self.change(root, |disk, old| {
            let mut writer = MapWriter::continuing(old, |id| !is_known(id) && !is_gone(id));
            Recorder { disk, imports, execution, began }.record(&ids, &mut writer);
            writer.map
        });
    }

    /// Renews the records of tests that ran once more, unobserved, on the code of their records.
    pub fn renew(&self, root: &Path, report: &Report, imports: &Imports, began: SystemTime) {
        self.change(root, |disk, mut map| {
            let states = States::after(&map, disk, imports, began);
            let is_same = |id: &&String| {
                let record = map.tests.get(*id);
                record.is_some_and(|it| states.of_test(it) == Freshness::Same)
            };
            let ids = report.tests.iter().map(|it| &it.id);
            let same: Vec<&String> = ids.filter(is_same).collect();
            for id in same {
                map.tests.entry(id.clone()).and_modify(|it| it.at = millis(began));
            }
            map
        });
    }

    /// Returns whether the tests of a project have records.
    pub fn has_records(&self, root: &Path) -> bool {
        self.with(root, |project| !project.map.tests.is_empty())
    }

    /// Finds the tests that changes of files affect. `paths`: the files, relative to the root; with
    /// none, all tests are found whose last record is not of the present code. `result_time`
    /// returns the time of a test's last result.
    pub fn select(
        &self,
        root: &Path,
        paths: &[String],
        imports: &Imports,
        result_time: &dyn Fn(&str) -> Option<u64>,
    ) -> Affected {
        let test_files = test_files(root, imports);
        self.with(root, |Project { disk, map, .. }| {
            Selector { disk, imports, map, test_files, paths, result_time }.select()
        })
    }

    /// Replaces the map of a project.
    fn change(
        &self,
        root: &Path,
        change: impl FnOnce(&mut DiskState, ExecutionMap) -> ExecutionMap,
    ) {
        self.with(root, |Project { disk, map, stored }| match &self.store {
            None => *map = change(disk, std::mem::take(map)),
            Some(store) => match store.change(root, |old| change(disk, old)) {
                Ok(new) => (*map, *stored) = (new, store.time(root)),
                Err(why) => {
                    let shown = root.display();
                    tracing::warn!("what the tests of {shown} executed was not kept: {why}");
                }
            },
        });
    }

    fn with<T>(&self, root: &Path, work: impl FnOnce(&mut Project) -> T) -> T {
        let mut all = self.projects.lock().unwrap_or_else(PoisonError::into_inner);
        let project = all.entry(root.to_owned()).or_insert_with(|| Project {
            disk: DiskState::new(root),
            map: ExecutionMap::default(),
            stored: None,
        });
        if let Some(store) = &self.store {
            let time = store.time(root);
            if time != project.stored {
                (project.map, project.stored) = (store.read(root), time);
            }
        }
        work(project)
    }
}

/// Returns whether a run of targets runs all of a test id.
fn is_named(targets: &[String], id: &str) -> bool {
    let covers = |target: &String| {
        let rest = id.strip_prefix(target.trim_end_matches('/'));
        rest.is_some_and(|it| it.is_empty() || it.starts_with(['/', ':', '[']))
    };
    targets.is_empty() || targets.iter().any(covers)
}

/// Returns the files whose tests belong to a run of all tests, by their names and the settings.
fn test_files(root: &Path, imports: &Imports) -> BTreeSet<String> {
    let mut nested = Nested::below(root);
    let mut is_own = |path: &str| !matches!(nested.around(path), Some((_, Kind::Generated)));
    let in_settings = is_in_testpaths(root);
    let named = imports.modules().filter(|it| may_hold_tests(it) && in_settings(it));
    let mut found: BTreeSet<String> = named.filter(|it| is_own(it)).cloned().collect();
    found.extend(registry::test_files(root));
    found.retain(|it| root.join(it).is_file());
    found
}
