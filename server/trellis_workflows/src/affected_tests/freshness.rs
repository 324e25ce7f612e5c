//! Comparison of recorded dependencies with the disk.

use std::time::SystemTime;

use super::dependency::{Dependency, UNSURE, Version};
use super::disk_state::DiskState;
use super::execution_map::{ExecutionMap, TestRecord};
use super::imports::Imports;

/// The state of a version, or of several at worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Freshness {
    Same,
    Changed,
    /// The module has a syntax error.
    Broken,
}

/// The states of all versions of a map.
pub(super) struct States<'a> {
    map: &'a ExecutionMap,
    versions: Vec<Freshness>,
    shared: Vec<Freshness>,
}

impl<'a> States<'a> {
    pub(super) fn of(map: &'a ExecutionMap, disk: &mut DiskState, imports: &Imports) -> Self {
        States::by(map, |version| match disk.hash(&version.of, &mut imports.modules()) {
            None => Freshness::Broken,
            Some(now) if now == version.hash && now != UNSURE => Freshness::Same,
            Some(_) => Freshness::Changed,
        })
    }

    /// Returns the states after a run; what changed since its begin counts as changed.
    pub(super) fn after(
        map: &'a ExecutionMap,
        disk: &mut DiskState,
        imports: &Imports,
        began: SystemTime,
    ) -> Self {
        States::by(map, |version| {
            let now = disk.hash(&version.of, &mut imports.modules());
            let is_same = now == Some(version.hash) && version.hash != UNSURE;
            let is_sure = is_same && !disk.changed_since(&version.of, began);
            if is_sure { Freshness::Same } else { Freshness::Changed }
        })
    }

    fn by(map: &'a ExecutionMap, state: impl FnMut(&Version) -> Freshness) -> Self {
        let versions: Vec<Freshness> = map.versions.iter().map(state).collect();
        let shared = map.shared.iter().map(|it| worst(&versions, it)).collect();
        States { map, versions, shared }
    }

    /// Returns the state of what a test shares with others of its file.
    pub(super) fn of_file(&self, record: &TestRecord) -> Freshness {
        self.shared.get(record.shared as usize).copied().unwrap_or(Freshness::Changed)
    }

    pub(super) fn of_test(&self, record: &TestRecord) -> Freshness {
        self.of_file(record).max(worst(&self.versions, &record.own))
    }

    /// Returns the changed dependencies of a test.
    pub(super) fn changed(&self, record: &TestRecord) -> Vec<Dependency> {
        let is_changed = |it: u32| self.versions.get(it as usize) == Some(&Freshness::Changed);
        self.map.dependencies(record, is_changed)
    }

    /// Returns the versions in modules with syntax errors.
    pub(super) fn broken(&self) -> impl Iterator<Item = &'a Version> {
        let all = self.map.versions.iter().zip(&self.versions);
        all.filter(|(_, state)| **state == Freshness::Broken).map(|(it, _)| it)
    }
}

fn worst(states: &[Freshness], all: &[u32]) -> Freshness {
    let states = all.iter().filter_map(|it| states.get(*it as usize));
    states.max().copied().unwrap_or(Freshness::Same)
}
