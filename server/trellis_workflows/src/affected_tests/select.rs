//! Finds the tests whose dependencies differ from what they met.

use std::collections::{BTreeMap, BTreeSet};

use trellis_python::is_test_file;

use super::dependency::{Dependency, Version};
use super::disk_state::DiskState;
use super::execution_map::{ExecutionMap, TestRecord, file_of};
use super::freshness::{Freshness, States};
use super::imports::{Imports, conftests};

/// Ends of the names of documents, which tests are not expected to read.
const DOCUMENTS: [&str; 2] = [".md", ".rst"];

/// The tests that changes affect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Affected {
    /// Test ids, and paths of test files of which all tests run; sorted.
    pub tests: Vec<String>,
    /// Recorded tests whose last result still holds.
    pub unaffected: Vec<String>,
    /// Changed parts that selected recorded tests.
    pub changed: BTreeSet<Dependency>,
    /// Modules with syntax errors that tests need.
    pub broken: Vec<BrokenModule>,
    /// Recorded tests left out because of `broken`.
    pub held: Vec<String>,
}

/// A module with a syntax error.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BrokenModule {
    pub path: String,
    /// Line from 1.
    pub line: usize,
    pub message: String,
}

/// A search for affected tests.
pub(super) struct Selector<'a> {
    pub(super) disk: &'a mut DiskState,
    pub(super) imports: &'a Imports,
    pub(super) map: &'a ExecutionMap,
    /// Files with tests that may have no record, relative to the root.
    pub(super) test_files: BTreeSet<String>,
    /// Changed files, relative to the root; none for any.
    pub(super) paths: &'a [String],
    /// Returns the time of the last result of a test, in milliseconds of Unix time.
    pub(super) result_time: &'a dyn Fn(&str) -> Option<u64>,
}

impl Selector<'_> {
    pub(super) fn select(mut self) -> Affected {
        let map = self.map;
        let states = States::of(map, self.disk, self.imports);
        let mut found = Affected::default();
        let (mut files, mut tests) = (BTreeSet::new(), BTreeSet::new());
        let mut filled = BTreeSet::new();
        for (id, record) in &map.tests {
            let file = file_of(id);
            if !self.disk.exists(file) {
                continue;
            }
            let state = states.of_test(record);
            if state == Freshness::Broken {
                found.held.push(id.clone());
                continue;
            }
            // A later run, which recorded nothing, may have tested other code.
            let is_outdated = (self.result_time)(id).is_some_and(|it| it > record.at);
            if state == Freshness::Same && !is_outdated {
                found.unaffected.push(id.clone());
                continue;
            }
            let changed = states.changed(record);
            let all = match is_outdated {
                true => map.dependencies(record, |_| true),
                false => changed.clone(),
            };
            if !self.concern(&all) {
                continue;
            }
            // Other code of the file may mean other ids.
            if states.of_file(record) == Freshness::Changed {
                files.insert(file.to_owned());
            } else {
                tests.insert(id.clone());
            }
            filled.extend(self.filled(record, &changed));
            found.changed.extend(changed);
        }
        tests.extend(self.beside(&filled));
        files.extend(self.unrecorded());
        found.broken = self.broken(&states, &files);
        files.retain(|file| !self.needs(file, &found.broken));
        found.tests = self.joined(files, tests);
        found
    }

    /// Returns whether dependencies belong to the changed files.
    fn concern(&self, all: &[Dependency]) -> bool {
        let is_in = |folder: &str, path: &String| {
            path.rsplit_once('/').map_or(folder.is_empty(), |it| it.0 == folder)
        };
        let is_one = |it: &Dependency| match it {
            Dependency::Project => true,
            Dependency::Folder(folder) => self.paths.iter().any(|path| is_in(folder, path)),
            other => self.paths.iter().any(|path| other.path() == Some(path)),
        };
        self.paths.is_empty() || all.iter().any(is_one)
    }

    /// Returns the modules with caches that a test may have filled with the help of changed parts:
    /// those that may load the parts' files.
    fn filled<'r>(&self, record: &'r TestRecord, changed: &[Dependency]) -> Vec<&'r String> {
        let is_filled = |module: &&String| {
            let reach = self.imports.reach(module);
            changed.iter().any(|it| it.path().is_none_or(|path| reach.contains(path)))
        };
        record.caches.iter().filter(is_filled).collect()
    }

    /// Returns the tests that may have taken results of an affected test from a cache: those that
    /// load one of these modules.
    fn beside(&self, modules: &BTreeSet<&String>) -> Vec<String> {
        if modules.is_empty() {
            return Vec::new();
        }
        let of_modules =
            |it: &Version| matches!(&it.of, Dependency::Module(path) if modules.contains(path));
        let is_one: Vec<bool> = self.map.versions.iter().map(of_modules).collect();
        let loads = |record: &TestRecord| {
            let shared = self.map.shared.get(record.shared as usize).into_iter().flatten();
            shared.chain(&record.own).any(|it| is_one.get(*it as usize) == Some(&true))
        };
        let tests = self.map.tests.iter().filter(|(_, it)| loads(it));
        tests.map(|(id, _)| id.clone()).filter(|it| self.disk.exists(file_of(it))).collect()
    }

    /// Returns the affected test files without any record, as far as imports show.
    fn unrecorded(&self) -> Vec<String> {
        let recorded: BTreeSet<&str> = self.map.tests.keys().map(|it| file_of(it)).collect();
        let all = self.test_files.iter().filter(|it| !recorded.contains(it.as_str()));
        all.filter(|it| self.may_depend(it)).cloned().collect()
    }

    fn may_depend(&self, file: &str) -> bool {
        if self.paths.is_empty() || !self.imports.has(file) {
            return true;
        }
        let (reach, conftests) = (self.imports.reach(file), conftests(file));
        let is_other = |it: &&String| {
            !it.ends_with(".py") && !DOCUMENTS.iter().any(|document| it.ends_with(document))
        };
        let mut paths = self.paths.iter();
        let is_gone = |it: &String| !self.disk.exists(it);
        paths.any(|it| reach.contains(it) || conftests.contains(it) || is_other(&it) || is_gone(it))
    }

    /// Returns the modules with syntax errors among recorded dependencies and those of files to
    /// run.
    fn broken(&mut self, states: &States<'_>, files: &BTreeSet<String>) -> Vec<BrokenModule> {
        let recorded = states.broken().filter_map(|it| it.of.path().map(str::to_owned));
        let reached = files.iter().flat_map(|it| self.imports.reach(it));
        let mut paths: BTreeSet<String> = recorded.chain(reached).collect();
        paths.extend(self.paths.iter().filter(|it| it.ends_with(".py")).cloned());
        let error = |path: String| {
            let error = self.disk.module(&path)?.as_ref().err()?;
            Some(BrokenModule { line: error.line, message: error.message.clone(), path })
        };
        paths.into_iter().filter_map(error).collect()
    }

    /// Returns whether a test file cannot be loaded as long as these modules are broken.
    fn needs(&self, file: &str, broken: &[BrokenModule]) -> bool {
        let reach = if broken.is_empty() { BTreeSet::new() } else { self.imports.reach(file) };
        broken.iter().any(|it| reach.contains(&it.path))
    }

    /// Returns the selection in short: a file of which all recorded tests run stands for them.
    fn joined(&self, mut files: BTreeSet<String>, tests: BTreeSet<String>) -> Vec<String> {
        let (mut all, mut chosen) = (BTreeMap::<&str, usize>::new(), BTreeMap::new());
        self.map.tests.keys().for_each(|it| *all.entry(file_of(it)).or_default() += 1);
        tests.iter().for_each(|it| *chosen.entry(file_of(it)).or_default() += 1);
        let is_whole = |file: &str, count: usize| count > 1 && all.get(file) == Some(&count);
        let whole = chosen.into_iter().filter(|(file, count)| is_whole(file, *count));
        files.extend(whole.map(|(file, _)| file.to_owned()));
        let single: Vec<String> =
            tests.into_iter().filter(|it| !files.contains(file_of(it))).collect();
        files.into_iter().chain(single).collect()
    }
}

/// Returns whether a file's name is that of a file with tests.
pub(super) fn may_hold_tests(path: &str) -> bool {
    is_test_file(path) && !path.ends_with("conftest.py")
}
