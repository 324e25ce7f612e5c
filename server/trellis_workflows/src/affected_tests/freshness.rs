//! Comparison of recorded dependencies with the disk.

use std::collections::BTreeSet;
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
        let project = project_hash(map, disk, imports);
        let mut now = |of: &Dependency| match of {
            Dependency::Project => project,
            other => disk.hash(other, &mut std::iter::empty()),
        };
        States::by(map, |version| match now(&version.of) {
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
        let none = BTreeSet::new();
        States::by(map, |version| {
            let now = disk.hash(&version.of, &mut imports.modules());
            let is_same = now == Some(version.hash) && version.hash != UNSURE;
            let is_sure = is_same && !is_unsure(&version.of, disk, imports, &none, began);
            if is_sure { Freshness::Same } else { Freshness::Changed }
        })
    }

    fn by(map: &'a ExecutionMap, state: impl FnMut(&Version) -> Freshness) -> Self {
        let versions: Vec<Freshness> = map.versions.iter().map(state).collect();
        let shared = map.shared.iter().map(|it| worst(&versions, it)).collect();
        States { map, versions, shared }
    }

    /// Returns the state of a set.
    pub(super) fn of_set(&self, set: u32) -> Freshness {
        self.shared.get(set as usize).copied().unwrap_or(Freshness::Changed)
    }

    /// Returns the state of what a test shares with others of its file.
    pub(super) fn of_file(&self, record: &TestRecord) -> Freshness {
        self.of_set(record.shared)
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

fn project_hash(map: &ExecutionMap, disk: &mut DiskState, imports: &Imports) -> Option<u64> {
    let is_needed = map.versions.iter().any(|it| it.of == Dependency::Project);
    is_needed.then(|| disk.hash(&Dependency::Project, &mut imports.modules())).flatten()
}

/// Returns whether a dependency changed after a run began, other than by the tests themselves, so
/// that the content that they met is unknown.
pub(super) fn is_unsure(
    of: &Dependency,
    disk: &DiskState,
    imports: &Imports,
    written: &BTreeSet<&str>,
    began: SystemTime,
) -> bool {
    let is_other = |path: &str| !written.contains(path) && disk.changed_since(path, began);
    match of {
        Dependency::Project => imports.modules().any(|it| is_other(it)),
        Dependency::Folder(folder) => {
            !written.iter().any(|it| is_in(folder, it)) && disk.changed_since(folder, began)
        }
        Dependency::Module(path) | Dependency::Function(path, _) | Dependency::File(path) => {
            is_other(path)
        }
    }
}

/// Returns whether a folder, the root if empty, directly contains a path.
pub(super) fn is_in(folder: &str, path: &str) -> bool {
    path.rsplit_once('/').map_or(folder.is_empty(), |it| it.0 == folder)
}
