//! Finds the tests whose dependencies differ from what they met.

use std::collections::{BTreeMap, BTreeSet};

use trellis_sandbox::test_ids::file_of;

use super::dependency::Dependency;
use super::disk_state::DiskState;
use super::execution_map::{ExecutionMap, TestRecord};
use super::freshness::{Freshness, States, is_in};
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

/// The comparison of a record with the disk.
enum Verdict {
    Unaffected,
    /// Affected, but not by the changed files; or the test is gone.
    LeftOut,
    /// A module with a syntax error is needed.
    Held,
    Affected {
        /// Other code of the file may mean other ids.
        is_whole_file: bool,
        changed: Vec<Dependency>,
    },
}

/// Modules that recorded files load now and did not when they ran, by file.
type Arrived<'a> = BTreeMap<&'a str, Vec<Dependency>>;

impl<'a> Selector<'a> {
    pub(super) fn select(mut self) -> Affected {
        let states = States::of(self.map, self.disk, self.imports);
        let arrived = self.arrived();
        let mut found = Affected::default();
        let mut tests = BTreeSet::new();
        let mut files = self.changed_files(&states, &arrived);
        for (id, record) in &self.map.tests {
            match self.judge(id, record, &states, &arrived) {
                Verdict::Unaffected => found.unaffected.push(id.clone()),
                Verdict::LeftOut => {}
                Verdict::Held => found.held.push(id.clone()),
                Verdict::Affected { is_whole_file, changed } => {
                    match is_whole_file {
                        true => files.insert(file_of(id).to_owned()),
                        false => tests.insert(id.clone()),
                    };
                    found.changed.extend(changed);
                }
            }
        }
        files.extend(self.unrecorded());
        found.broken = self.broken(&states, &files);
        files.retain(|file| !self.needs(file, &found.broken));
        found.tests = self.joined(files, tests);
        found
    }

    fn judge(
        &self,
        id: &str,
        record: &TestRecord,
        states: &States<'_>,
        arrived: &Arrived<'_>,
    ) -> Verdict {
        if !self.disk.exists(file_of(id)) {
            return Verdict::LeftOut;
        }
        let new = arrived.get(file_of(id)).map_or(&[][..], Vec::as_slice);
        // A later run, which recorded nothing, may have tested other code.
        let is_outdated = (self.result_time)(id).is_some_and(|it| it > record.at);
        match states.of_test(record) {
            Freshness::Broken => return Verdict::Held,
            Freshness::Same if !is_outdated && new.is_empty() => return Verdict::Unaffected,
            _ => {}
        }
        let mut changed = states.changed(record);
        changed.extend(new.iter().cloned());
        let is_concerned = match is_outdated {
            true => self.concern(&self.map.dependencies(record, |_| true)),
            false => self.concern(&changed),
        };
        let is_whole_file = !new.is_empty() || states.of_file(record) == Freshness::Changed;
        match is_concerned {
            true => Verdict::Affected { is_whole_file, changed },
            false => Verdict::LeftOut,
        }
    }

    fn arrived(&self) -> Arrived<'a> {
        let tests = self.map.tests.iter().map(|(id, it)| (file_of(id), it.shared));
        let files = self.map.files.iter().map(|(file, set)| (file.as_str(), *set));
        let pairs: BTreeSet<(&str, u32)> = tests.chain(files).collect();
        let mut found = Arrived::new();
        for (file, set) in pairs {
            let known: BTreeSet<Dependency> = self.of_set(set).into_iter().collect();
            let reach = self.imports.reach(file).into_iter().map(Dependency::Module);
            found.entry(file).or_default().extend(reach.filter(|it| !known.contains(it)));
        }
        found
    }

    fn of_set(&self, set: u32) -> Vec<Dependency> {
        let record = TestRecord { shared: set, ..TestRecord::default() };
        self.map.dependencies(&record, |_| true)
    }

    /// Returns the recorded files whose shared dependencies changed, even if no test of them is
    /// recorded.
    fn changed_files(&self, states: &States<'_>, arrived: &Arrived<'_>) -> BTreeSet<String> {
        let is_changed = |(file, set): &(&String, &u32)| {
            let record = TestRecord { shared: **set, ..TestRecord::default() };
            let mut changed = states.changed(&record);
            changed.extend(arrived.get(file.as_str()).into_iter().flatten().cloned());
            let may_run = states.of_set(**set) != Freshness::Broken && self.disk.exists(file);
            may_run && !changed.is_empty() && self.concern(&changed)
        };
        self.map.files.iter().filter(is_changed).map(|it| it.0.clone()).collect()
    }

    /// Returns whether dependencies belong to the changed files.
    fn concern(&self, all: &[Dependency]) -> bool {
        let is_one = |it: &Dependency| match it {
            Dependency::Project => true,
            Dependency::Folder(folder) => self.paths.iter().any(|path| is_in(folder, path)),
            other => self.paths.iter().any(|path| other.path() == Some(path)),
        };
        self.paths.is_empty() || all.iter().any(is_one)
    }

    /// Returns the affected test files that never ran as a whole, as far as imports show.
    fn unrecorded(&self) -> Vec<String> {
        let all = self.test_files.iter().filter(|it| !self.map.files.contains_key(*it));
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
        let paths: BTreeSet<String> = recorded.chain(reached).collect();
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
