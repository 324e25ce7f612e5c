//! Turns what tests executed into their dependencies.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use trellis_sandbox::{Execution, TestExecution};

use super::dependency::{Dependency, UNSURE, Version};
use super::disk_state::DiskState;
use super::execution_map::{MapWriter, TestRecord, file_of};
use super::imports::{Imports, conftests};
use super::select::may_hold_tests;

/// Files with settings of pytest and of the project.
const SETTINGS: [&str; 5] = ["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"];

/// A run, while its tests are recorded.
pub(super) struct Recorder<'a> {
    pub(super) disk: &'a mut DiskState,
    pub(super) imports: &'a Imports,
    pub(super) execution: &'a Execution,
    /// Time before the run read any text.
    pub(super) began: SystemTime,
}

impl Recorder<'_> {
    /// Adds the tests to a map.
    pub(super) fn record(mut self, ids: &[&str], writer: &mut MapWriter) {
        let execution = self.execution;
        let common = execution.tests.get("").cloned().unwrap_or_default();
        let files: BTreeSet<&str> = ids.iter().map(|it| file_of(it)).collect();
        let reach: BTreeMap<&str, BTreeSet<String>> =
            files.iter().map(|it| (*it, self.imports.reach(it))).collect();
        let unforeseen = unforeseen(execution, &reach);
        let sets: BTreeMap<&str, u32> = reach
            .iter()
            .map(|(file, reach)| {
                let all = self.shared(file, reach.union(&unforeseen), &common);
                (*file, writer.set(self.versions(all)))
            })
            .collect();
        let none = TestExecution::default();
        for id in ids {
            let (own, caches) = self.own(execution.tests.get(*id).unwrap_or(&none));
            let own = self.versions(own);
            let (shared, own_indexes) = (sets[file_of(id)], Vec::new());
            let record = TestRecord { at: millis(self.began), shared, own: own_indexes, caches };
            writer.add((*id).to_owned(), own, record);
        }
    }

    /// Returns what all tests of a file depend on.
    fn shared<'p>(
        &mut self,
        file: &str,
        reach: impl Iterator<Item = &'p String>,
        common: &TestExecution,
    ) -> BTreeSet<Dependency> {
        let mut all = resources(common);
        all.extend(SETTINGS.map(|it| Dependency::File(it.to_owned())));
        all.extend(conftests(file).into_iter().map(Dependency::Module));
        // pytest reads the examples in documents and docstrings by itself.
        if !may_hold_tests(file) {
            all.insert(Dependency::File(file.to_owned()));
        }
        // Without its text in the index, the imports of the file are unknown.
        if !self.imports.has(file) {
            all.insert(Dependency::Project);
        }
        for path in reach {
            all.insert(Dependency::Module(path.clone()));
            let lines = common.lines.get(path).map_or(&[][..], Vec::as_slice);
            all.extend(self.functions(path, lines).0);
        }
        all
    }

    /// Returns what one test depends on besides, and the modules whose caches it may have filled.
    fn own(&mut self, test: &TestExecution) -> (BTreeSet<Dependency>, Vec<String>) {
        let (mut all, mut caches) = (resources(test), Vec::new());
        for (path, lines) in &test.lines {
            all.insert(Dependency::Module(path.clone()));
            let (functions, is_cached) = self.functions(path, lines);
            all.extend(functions);
            caches.extend(is_cached.then(|| path.clone()));
        }
        (all, caches)
    }

    /// Returns the functions with these lines, and whether one of them keeps results.
    fn functions(&mut self, path: &str, lines: &[u32]) -> (Vec<Dependency>, bool) {
        let Some(Ok(blocks)) = self.disk.module(path) else { return (Vec::new(), false) };
        let found = || lines.iter().filter_map(|it| blocks.function_at(*it));
        let names: BTreeSet<&str> = found().map(|it| it.name.as_str()).collect();
        let function = |name: &str| Dependency::Function(path.to_owned(), name.to_owned());
        (names.into_iter().map(function).collect(), found().any(|it| it.is_cached))
    }

    fn versions(&mut self, all: BTreeSet<Dependency>) -> Vec<Version> {
        let written: BTreeSet<&String> =
            self.execution.tests.values().flat_map(|it| &it.written).collect();
        let is_own = |it: &Dependency| {
            matches!(it, Dependency::File(path) if written.contains(path))
                || matches!(it, Dependency::Folder(_))
        };
        let version = |of: Dependency| {
            let is_unsure = !is_own(&of) && self.disk.changed_since(&of, self.began);
            let now = self.disk.hash(&of, &mut self.imports.modules());
            let hash = if is_unsure { UNSURE } else { now.unwrap_or(UNSURE) };
            Version { of, hash }
        };
        all.into_iter().map(version).collect()
    }
}

/// Returns the modules that code loaded in a way that no import shows.
fn unforeseen(execution: &Execution, reach: &BTreeMap<&str, BTreeSet<String>>) -> BTreeSet<String> {
    let is_foreseen = |test: &str, path: &String| match reach.get(file_of(test)) {
        Some(reach) => reach.contains(path),
        None => reach.values().any(|it| it.contains(path)),
    };
    let all = execution.tests.iter();
    let all = all.flat_map(|(test, it)| it.lines.keys().map(move |path| (test, path)));
    all.filter(|(test, path)| !is_foreseen(test, path)).map(|(_, path)| path.clone()).collect()
}

/// Returns what a test used besides code.
fn resources(test: &TestExecution) -> BTreeSet<Dependency> {
    let files = test.files.iter().cloned().map(Dependency::File);
    let folders = test.folders.iter().cloned().map(Dependency::Folder);
    let project = test.processes.then_some(Dependency::Project);
    files.chain(folders).chain(project).collect()
}

/// Converts a time to milliseconds of Unix time.
pub(super) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}
