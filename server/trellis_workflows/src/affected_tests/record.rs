//! Turns what tests executed into their dependencies.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use trellis_project::test_finder::settings_files;
use trellis_sandbox::test_ids::{file_of, is_example};
use trellis_sandbox::{Execution, TestExecution};

use super::dependency::{Dependency, UNSURE, Version};
use super::disk_state::DiskState;
use super::execution_map::MapWriter;
use super::freshness::is_unsure;
use super::imports::{Imports, conftests};

type Dependencies = BTreeSet<Dependency>;
/// The modules that files reach by imports, by file.
type Reach<'r> = BTreeMap<&'r str, BTreeSet<String>>;

/// A run, while its tests are recorded.
pub(super) struct Recorder<'a> {
    disk: &'a mut DiskState,
    imports: &'a Imports,
    execution: &'a Execution,
    /// Work that tests share.
    common: TestExecution,
    /// Time before the run read any text.
    began: SystemTime,
    /// Paths that tests wrote.
    written: BTreeSet<&'a str>,
    versions: HashMap<Dependency, Version>,
}

impl<'a> Recorder<'a> {
    pub(super) fn new(
        disk: &'a mut DiskState,
        imports: &'a Imports,
        execution: &'a Execution,
        began: SystemTime,
    ) -> Recorder<'a> {
        let common = execution.tests.get("").cloned().unwrap_or_default();
        let written = execution.tests.values().flat_map(|it| &it.written);
        let written = written.map(String::as_str).collect();
        let versions = HashMap::new();
        Recorder { disk, imports, execution, common, began, written, versions }
    }

    /// Adds the tests to a map, and the files of which all tests ran.
    pub(super) fn record(mut self, ids: &[&str], covered: &[String], writer: &mut MapWriter) {
        let files = ids.iter().map(|it| file_of(it)).chain(covered.iter().map(String::as_str));
        let reach: Reach<'_> = files.map(|it| (it, self.imports.reach(it))).collect();
        let own: Vec<Dependencies> = ids.iter().map(|it| self.own(it, &reach)).collect();
        let kept = self.kept(ids, &own);
        let examples = ids.iter().filter(|it| is_example(it)).map(|it| file_of(it)).collect();
        let sets = self.sets(&reach, &kept, &examples, writer);
        for (id, own) in ids.iter().zip(own) {
            let own = self.versions(own);
            writer.add((*id).to_owned(), millis(self.began), sets[file_of(id)], own);
        }
        for file in covered {
            writer.map.files.insert(file.clone(), sets[file.as_str()]);
        }
    }

    /// Adds what the tests of each file share; returns the indexes by file.
    fn sets<'r>(
        &mut self,
        reach: &Reach<'r>,
        kept: &BTreeMap<String, Dependencies>,
        with_examples: &BTreeSet<&str>,
        writer: &mut MapWriter,
    ) -> BTreeMap<&'r str, u32> {
        let everywhere = self.everywhere(reach);
        let mut sets = BTreeMap::new();
        for (file, reach) in reach {
            let modules: BTreeSet<&String> = reach.union(&everywhere).collect();
            let mut all = self.shared(file, &modules);
            // pytest, or a plugin of it, reads documents and docstrings by itself.
            if !file.ends_with(".py") || with_examples.contains(file) {
                all.insert(Dependency::File((*file).to_owned()));
            }
            all.extend(modules.iter().filter_map(|it| kept.get(*it)).flatten().cloned());
            sets.insert(*file, writer.set(self.versions(all)));
        }
        sets
    }

    /// Returns the modules that no import of a test file explains, so that any may need them.
    fn everywhere(&self, reach: &Reach<'_>) -> BTreeSet<String> {
        let named = self.execution.tests.values().flat_map(|it| &it.named_modules);
        let named = self.imports.closure(named);
        let is_explained =
            |it: &&String| named.contains(*it) || reach.values().any(|all| all.contains(*it));
        let unexplained = self.common.lines.keys().filter(|it| !is_explained(it));
        self.imports.closure(unexplained.chain(&self.common.named_modules))
    }

    /// Returns what all tests of a file depend on.
    fn shared(&mut self, file: &str, modules: &BTreeSet<&String>) -> Dependencies {
        let mut all = resources(&self.common);
        all.extend(settings_files().map(|it| Dependency::File(it.to_owned())));
        all.extend(conftests(file).into_iter().map(Dependency::Module));
        // Without its text in the index, the imports of the file are unknown.
        if !self.imports.has(file) {
            all.insert(Dependency::Project);
        }
        modules.iter().for_each(|it| all.extend(self.loaded(it)));
        all
    }

    /// Returns a module with the functions that it executes while it is loaded.
    fn loaded(&mut self, path: &str) -> Dependencies {
        let lines = self.common.lines.get(path).map_or(&[][..], Vec::as_slice);
        let mut all = functions(self.disk, path, lines);
        all.insert(Dependency::Module(path.to_owned()));
        all
    }

    /// Returns what one test depends on besides.
    fn own(&mut self, id: &str, reach: &Reach<'_>) -> Dependencies {
        let Some(test) = self.execution.tests.get(id) else { return Dependencies::new() };
        let mut all = resources(test);
        for (path, lines) in &test.lines {
            all.extend(functions(self.disk, path, lines));
        }
        let known = &reach[file_of(id)];
        let named = self.imports.closure(&test.named_modules);
        let loaded = named.iter().chain(test.lines.keys()).filter(|it| !known.contains(*it));
        loaded.for_each(|it| all.extend(self.loaded(it)));
        all
    }

    /// Returns what results depend on that functions keep for later calls, by the functions' module:
    /// what the tests that called them used, and executed in modules which it may load.
    fn kept(&mut self, ids: &[&str], own: &[Dependencies]) -> BTreeMap<String, Dependencies> {
        let mut found = BTreeMap::<String, Dependencies>::new();
        let mut reach = HashMap::<&str, BTreeSet<String>>::new();
        for (id, own) in ids.iter().zip(own) {
            let Some(test) = self.execution.tests.get(*id) else { continue };
            for (module, lines) in &test.lines {
                if keeps_results(self.disk, module, lines) {
                    let reach =
                        reach.entry(module).or_insert_with(|| self.imports.closure([module]));
                    let used = own.iter().filter(|it| may_use(reach, it)).cloned();
                    found.entry(module.clone()).or_default().extend(used);
                }
            }
        }
        found
    }

    fn versions(&mut self, all: Dependencies) -> Vec<Version> {
        all.into_iter().map(|it| self.version(it)).collect()
    }

    fn version(&mut self, of: Dependency) -> Version {
        if let Some(known) = self.versions.get(&of) {
            return known.clone();
        }
        let is_unsure = is_unsure(&of, self.disk, self.imports, &self.written, self.began);
        let now = self.disk.hash(&of, &mut self.imports.modules());
        let hash = if is_unsure { UNSURE } else { now.unwrap_or(UNSURE) };
        let version = Version { of: of.clone(), hash };
        self.versions.insert(of, version.clone());
        version
    }
}

/// Returns whether code of modules may use a dependency.
fn may_use(modules: &BTreeSet<String>, of: &Dependency) -> bool {
    match of {
        Dependency::Function(path, _) | Dependency::Module(path) => modules.contains(path),
        _ => true,
    }
}

/// Returns the functions with these lines.
fn functions(disk: &mut DiskState, path: &str, lines: &[u32]) -> Dependencies {
    let Some(Ok(blocks)) = disk.module(path) else { return Dependencies::new() };
    let found = lines.iter().filter_map(|it| blocks.function_at(*it));
    let names: BTreeSet<&str> = found.map(|it| it.name.as_str()).collect();
    let function = |name: &str| Dependency::Function(path.to_owned(), name.to_owned());
    names.into_iter().map(function).collect()
}

/// Returns whether one of the functions with these lines keeps results.
fn keeps_results(disk: &mut DiskState, path: &str, lines: &[u32]) -> bool {
    let Some(Ok(blocks)) = disk.module(path) else { return false };
    lines.iter().filter_map(|it| blocks.function_at(*it)).any(|it| it.is_cached)
}

/// Returns what a test used besides code.
fn resources(test: &TestExecution) -> Dependencies {
    let files = test.files.iter().cloned().map(Dependency::File);
    let folders = test.folders.iter().cloned().map(Dependency::Folder);
    let project = test.processes.then_some(Dependency::Project);
    files.chain(folders).chain(project).collect()
}

/// Converts a time to milliseconds of Unix time.
pub(super) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
