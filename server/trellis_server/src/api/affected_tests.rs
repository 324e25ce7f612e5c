//! `affectedTests`: the tests that changes affect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_workflows::affected_tests::{Affected, BrokenModule, Dependency, Imports};

use crate::session::{FolderKind, Snapshot, WorkspaceFolder};

/// Finds the tests that changes affect: those that executed a changed function, read a changed
/// file, or load a changed module. Runs with `recordExecution` tell what tests execute; test files
/// without such a run are judged by their imports. Nothing is executed.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AffectedTestsParams {
    /// The project; default: the first folder of the workspace.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Changed files, relative to the root. Without any, all tests are found that have not run, with
    /// a record, since the code changed that they need.
    #[serde(default)]
    pub paths: Vec<String>,
}

/// The tests that changes affect.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AffectedTestsResult {
    /// The folder of the project.
    pub root: String,
    /// Ids of tests, and paths of files of which all tests are affected, for `paths` of `runTests`.
    pub tests: Vec<String>,
    /// What changed since the tests ran; of recorded tests only.
    pub changed: Vec<ChangedPart>,
    /// Modules with syntax errors that tests need. Tests that need them are left out.
    pub broken: Vec<BrokenPart>,
    /// Ids of recorded tests that are left out.
    pub held: Vec<String>,
}

/// A changed part of a project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedPart {
    /// The file or folder, relative to the root; empty for the whole project, on which a test
    /// depends that starts processes.
    pub path: String,
    /// The function, with its classes; null for code outside of functions and for other files.
    pub function: Option<String>,
}

/// A module with a syntax error.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrokenPart {
    /// The file, relative to the root.
    pub path: String,
    /// The line of the error, from 1.
    pub line: u32,
    /// The parser's message.
    pub message: String,
}

impl AffectedTestsResult {
    pub fn of(root: &Path, affected: Affected) -> AffectedTestsResult {
        AffectedTestsResult {
            root: root.to_string_lossy().into_owned(),
            tests: affected.tests,
            changed: affected.changed.into_iter().map(ChangedPart::from).collect(),
            broken: affected.broken.into_iter().map(BrokenPart::from).collect(),
            held: affected.held,
        }
    }
}

impl From<Dependency> for ChangedPart {
    fn from(it: Dependency) -> ChangedPart {
        let path = it.path().unwrap_or_default().to_owned();
        let function = match it {
            Dependency::Function(_, name) => Some(name),
            _ => None,
        };
        ChangedPart { path, function }
    }
}

impl From<BrokenModule> for BrokenPart {
    fn from(it: BrokenModule) -> BrokenPart {
        let line = u32::try_from(it.line).unwrap_or(u32::MAX);
        BrokenPart { path: it.path, line, message: it.message }
    }
}

/// Returns the imports between the modules below a folder, given by its real path.
pub fn imports(view: &Snapshot, root: &Path) -> Imports {
    let of_part = |part: &WorkspaceFolder| {
        let FolderKind::Folder(base) = &part.base else { return BTreeMap::new() };
        let base = base.canonicalize().unwrap_or_else(|_| base.clone());
        imports_of(part, &base, root)
    };
    view.parts.iter().flat_map(of_part).collect()
}

fn imports_of(
    part: &WorkspaceFolder,
    base: &Path,
    root: &Path,
) -> BTreeMap<String, BTreeSet<String>> {
    let index = part.index();
    let below = |path: &str| {
        let full = base.join(path);
        Some(full.strip_prefix(root).ok()?.to_str()?.to_owned())
    };
    if !root.starts_with(base) && !base.starts_with(root) {
        return BTreeMap::new();
    }
    let project = root.strip_prefix(base).ok().and_then(Path::to_str).unwrap_or_default();
    let sources = index.files().filter(|it| index.path(*it).ends_with(".py"));
    let entry = |file| {
        let loaded = index.imported_files(file, project).into_iter();
        Some((below(index.path(file))?, loaded.filter_map(|it| below(index.path(it))).collect()))
    };
    sources.filter_map(entry).collect()
}
