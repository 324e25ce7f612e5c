//! The crates of a workspace and their dependencies, from `cargo metadata` for all systems.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

/// One version of a crate.
pub(super) struct Crate {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    /// License as its author wrote it, usually SPDX.
    pub(super) licence: Option<String>,
    /// Source; `None` for crates of the workspace.
    pub(super) source: Option<String>,
    /// Names of dependencies without a version requirement from a registry.
    pub(super) wildcards: Vec<String>,
}

/// All crates and their dependencies.
pub(super) struct Crates {
    all: Vec<Crate>,
    /// Dependencies by id.
    needs: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Deserialize)]
struct Edge {
    pkg: String,
}

impl Crates {
    /// Reads the workspace of a folder with cargo. Crates in the lock file that no feature uses are
    /// left out.
    pub(super) fn of(root: &Path) -> Result<Crates, String> {
        let metadata = cargo(root, &["metadata", "--locked", "--format-version", "1"])?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|e| e.to_string())?;
        let tree = ["tree", "--locked", "--workspace", "--target", "all"];
        let tree = cargo(root, &[&tree[..], &["--prefix", "none", "--format", "{p}"]].concat())?;
        let mut crates = Crates::read(&metadata)?;
        let used: BTreeSet<&str> = tree.lines().filter_map(name_and_version).collect();
        crates.all.retain(|it| used.contains(format!("{} v{}", it.name, it.version).as_str()));
        Ok(crates)
    }

    pub(super) fn read(metadata: &Value) -> Result<Crates, String> {
        let told = Metadata::deserialize(metadata).map_err(|e| format!("cargo metadata: {e}"))?;
        let needs = |it: Node| (it.id, it.deps.into_iter().map(|it| it.pkg).collect());
        Ok(Crates {
            all: told.packages.into_iter().map(Crate::from).collect(),
            needs: told.resolve.nodes.into_iter().map(needs).collect(),
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Crate> {
        self.all.iter()
    }

    /// Returns the ids of the workspace's crates and their dependencies, except those reached only
    /// through crates with these names.
    pub(super) fn without(&self, names: &BTreeSet<String>) -> BTreeSet<&str> {
        let cut: BTreeSet<&str> = self
            .all
            .iter()
            .filter(|it| names.contains(&it.name))
            .map(|it| it.id.as_str())
            .collect();
        let own = self.all.iter().filter(|it| it.source.is_none());
        let mut left: Vec<&str> = own.map(|it| it.id.as_str()).collect();
        let mut found = BTreeSet::new();
        while let Some(id) = left.pop() {
            if !cut.contains(id) && found.insert(id) {
                left.extend(self.needs.get(id).into_iter().flatten().map(String::as_str));
            }
        }
        found
    }
}

fn cargo(root: &Path, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new(env!("CARGO"));
    let output = command.current_dir(root).args(words).output();
    let output = output.map_err(|error| format!("cargo {}: {error}", words[0]))?;
    if !output.status.success() {
        return Err(format!("cargo {}: {}", words[0], String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("cargo {}: {error}", words[0]))
}

/// Returns the name and version in a line such as `syn v2.0.119 (*)` or `code v0.1.0 (/path)`.
fn name_and_version(line: &str) -> Option<&str> {
    let end = line.match_indices(' ').nth(1).map_or(line.len(), |(at, _)| at);
    line.get(..end).filter(|it| it.contains(" v"))
}

impl From<Package> for Crate {
    fn from(it: Package) -> Crate {
        let any = |it: &Dependency| it.req == "*" && it.path.is_none();
        let wildcards = it.dependencies.iter().filter(|it| any(it));
        let wildcards = wildcards.map(|it| it.name.clone()).collect();
        let Package { id, name, version, license: licence, source, .. } = it;
        Crate { id, name, version, licence, source, wildcards }
    }
}
