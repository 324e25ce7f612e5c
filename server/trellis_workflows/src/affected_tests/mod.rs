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

use trellis_project::test_finder::{ModuleCache, Rules, Search};
use trellis_sandbox::test_ids::file_of;
use trellis_sandbox::{Report, SessionScope};
use trellis_store::disk::cache_folder;

pub use dependency::Dependency;
use disk_state::DiskState;
use execution_map::{ExecutionMap, MapWriter};
use freshness::{Freshness, States};
pub use imports::Imports;
use record::{Recorder, millis};
use select::Selector;
pub use select::{Affected, BrokenModule};
use store::Store;

use crate::write_tests::registry;

/// The code that tests of several projects execute. Clones share one state.
#[derive(Clone, Debug)]
pub struct AffectedTests {
    store: Option<Store>,
    projects: Arc<Mutex<HashMap<PathBuf, Project>>>,
    /// Modules with tests.
    modules: ModuleCache,
}

/// A run of tests.
#[derive(Clone, Copy, Debug)]
pub struct Run<'a> {
    pub root: &'a Path,
    /// The requested files, folders or ids, relative to the root; empty for all.
    pub targets: &'a [String],
    /// The run had options that may have left tests out.
    pub has_options: bool,
    pub report: &'a Report,
    /// A time before the run read any text.
    pub began: SystemTime,
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
        let (projects, modules) = Default::default();
        AffectedTests { store: folder.map(Store::of), projects, modules }
    }

    /// Records what the tests of a run executed.
    pub fn record(&self, run: &Run<'_>, imports: &Imports) {
        let Some(execution) = &run.report.execution else { return };
        let Some(scope) = SessionScope::of(run.targets, run.report) else { return };
        let ids: BTreeSet<&str> = run.report.tests.iter().map(|it| it.id.as_str()).collect();
        let covered = self.covered(run, &scope);
        self.change(run.root, |disk, old| {
            let keeps_test = |id: &str| !ids.contains(id) && !scope.is_gone(id);
            let keeps_file = |file: &str| !covered.iter().any(|it| it == file);
            let mut writer = MapWriter::continuing(old, keeps_test, keeps_file);
            let ids: Vec<&str> = ids.iter().copied().collect();
            Recorder::new(disk, imports, execution, run.began).record(&ids, &covered, &mut writer);
            writer.map
        });
    }

    /// Returns the files of which a run dealt with all tests.
    fn covered(&self, run: &Run<'_>, scope: &SessionScope<'_>) -> Vec<String> {
        let mut all = test_files(run.root, &self.modules);
        all.extend(run.report.tests.iter().map(|it| file_of(&it.id).to_owned()));
        all.retain(|it| scope.covers(it, run.has_options));
        let is_unmet = |it: &&String| !scope.has_tests(it) && !scope.names(it);
        let unmet: Vec<String> = all.iter().filter(is_unmet).cloned().collect();
        // In doubt, such a file runs once more.
        let with_tests = with_tests(run.root, &unmet, &self.modules);
        all.into_iter().filter(|it| !with_tests.contains(it)).collect()
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
        let test_files = test_files(root, &self.modules);
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

/// Returns the files whose tests belong to a run of all tests.
fn test_files(root: &Path, modules: &ModuleCache) -> BTreeSet<String> {
    search(root, &registry::test_files(root), &[]).files(modules)
}

/// Returns those of the files that have tests, as far as their texts show.
fn with_tests(root: &Path, files: &[String], modules: &ModuleCache) -> BTreeSet<String> {
    if files.is_empty() {
        return BTreeSet::new();
    }
    let found = search(root, files, files).run(modules).files;
    found.into_iter().map(|it| it.path).collect()
}

fn search<'a>(root: &'a Path, also: &'a [String], within: &'a [String]) -> Search<'a> {
    Search { root, rules: Rules::Pytest, also, within, open_text: &|_| None }
}
