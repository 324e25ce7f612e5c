//! Dependencies of the tests of a project, by test.

use std::collections::{BTreeMap, HashMap};

use super::dependency::{Dependency, Version};

/// A set of versions that tests have in common, such as the modules that a test file loads.
pub(super) type VersionSet = Vec<u32>;

/// The versions of dependencies that the tests met when they ran last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ExecutionMap {
    /// Each version once; tests refer to them by index.
    pub(super) versions: Vec<Version>,
    /// Each set once.
    pub(super) shared: Vec<VersionSet>,
    pub(super) tests: BTreeMap<String, TestRecord>,
    /// Index of the set of each file of which all tests ran, even if it has none.
    pub(super) files: BTreeMap<String, u32>,
}

/// The dependencies of one test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TestRecord {
    /// Start of the run, in milliseconds of Unix time.
    pub(super) at: u64,
    /// Index of the set that the test shares with others of its file.
    pub(super) shared: u32,
    /// Indexes of versions that only this test has met, ascending.
    pub(super) own: Vec<u32>,
}

impl ExecutionMap {
    /// Returns the dependencies of a test whose index fits.
    pub(super) fn dependencies(
        &self,
        record: &TestRecord,
        fits: impl Fn(u32) -> bool,
    ) -> Vec<Dependency> {
        let shared = self.shared.get(record.shared as usize).into_iter().flatten();
        let all = shared.chain(&record.own).copied().filter(|it| fits(*it));
        all.filter_map(|it| Some(self.versions.get(it as usize)?.of.clone())).collect()
    }
}

/// Adds records to a map.
pub(super) struct MapWriter {
    pub(super) map: ExecutionMap,
    known: HashMap<Version, u32>,
    sets: HashMap<VersionSet, u32>,
}

impl MapWriter {
    /// Continues a map with the tests and files to keep, and without unused versions.
    pub(super) fn continuing(
        old: ExecutionMap,
        keeps_test: impl Fn(&str) -> bool,
        keeps_file: impl Fn(&str) -> bool,
    ) -> MapWriter {
        let (map, known, sets) = Default::default();
        let mut writer = MapWriter { map, known, sets };
        let ExecutionMap { versions, shared, tests, files } = old;
        let at = |it: &u32| versions.get(*it as usize).cloned();
        let of = |all: &[u32]| -> Vec<Version> { all.iter().filter_map(at).collect() };
        let of_set = |set: u32| shared.get(set as usize).map_or_else(Vec::new, |it| of(it));
        for (id, record) in tests.into_iter().filter(|(id, _)| keeps_test(id)) {
            let set = writer.set(of_set(record.shared));
            writer.add(id, record.at, set, of(&record.own));
        }
        for (file, set) in files.into_iter().filter(|(file, _)| keeps_file(file)) {
            let set = writer.set(of_set(set));
            writer.map.files.insert(file, set);
        }
        writer
    }

    /// Returns the index of a set.
    pub(super) fn set(&mut self, versions: Vec<Version>) -> u32 {
        let set = self.indexes(versions);
        if let Some(at) = self.sets.get(&set) {
            return *at;
        }
        let at = self.map.shared.len() as u32;
        self.map.shared.push(set.clone());
        self.sets.insert(set, at);
        at
    }

    /// Adds a test with the versions that only this test has met.
    pub(super) fn add(&mut self, id: String, at: u64, shared: u32, own: Vec<Version>) {
        let own = self.indexes(own);
        self.map.tests.insert(id, TestRecord { at, shared, own });
    }

    fn indexes(&mut self, versions: Vec<Version>) -> Vec<u32> {
        let mut all: Vec<u32> = versions.into_iter().map(|it| self.index(it)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn index(&mut self, version: Version) -> u32 {
        let next = self.map.versions.len() as u32;
        *self.known.entry(version).or_insert_with_key(|it| {
            self.map.versions.push(it.clone());
            next
        })
    }
}
