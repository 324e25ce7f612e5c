//! The second stage: files of the package, and the data between them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use trellis_python::distributions::normalized;
use trellis_python::standard_library::is_stdlib;

use super::features::Features;

/// Files of a package, with what flows between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    pub files: Vec<PlannedFile>,
    #[serde(default)]
    pub flows: Vec<PlannedFlow>,
    /// Third-party distributions.
    #[serde(default)]
    pub libraries: Vec<String>,
}

/// A file of the package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFile {
    /// Path relative to the package's folder, with `/`: `tables/reader.py`.
    pub path: String,
    #[serde(default)]
    pub purpose: String,
    /// Numbers of the features that it has.
    pub features: Vec<String>,
    /// Paths of the files that it imports.
    #[serde(default)]
    pub uses: Vec<String>,
}

/// Data that goes from one file to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFlow {
    pub from: String,
    pub to: String,
    pub data: String,
}

/// Greatest number of files.
const MOST_FILES: usize = 300;
/// Greatest number of features in a file.
pub(super) const MOST_FEATURES: usize = 8;

impl Layout {
    pub fn file(&self, path: &str) -> Option<&PlannedFile> {
        self.files.iter().find(|it| it.path == path)
    }

    /// Returns the files so that each comes after those that it uses; `None` if they form a circle.
    pub fn in_order(&self) -> Option<Vec<&PlannedFile>> {
        let mut done: BTreeSet<&str> = BTreeSet::new();
        let mut out = Vec::new();
        while out.len() < self.files.len() {
            let ready = |it: &&PlannedFile| {
                !done.contains(it.path.as_str())
                    && it.uses.iter().all(|used| done.contains(used.as_str()))
            };
            let next = self.files.iter().find(ready)?;
            done.insert(&next.path);
            out.push(next);
        }
        Some(out)
    }

    /// Returns the paths of files in circles, or behind one.
    fn circular(&self) -> Vec<&str> {
        let mut left: Vec<&PlannedFile> = self.files.iter().collect();
        loop {
            let among: BTreeSet<&str> = left.iter().map(|it| it.path.as_str()).collect();
            let before = left.len();
            left.retain(|it| it.uses.iter().any(|used| among.contains(used.as_str())));
            if left.len() == before {
                return left.into_iter().map(|it| it.path.as_str()).collect();
            }
        }
    }

    /// Returns whether a plan can be made of the files, whatever else is wrong with them.
    pub(super) fn is_usable(&self) -> bool {
        (1..=MOST_FILES).contains(&self.files.len())
            && self.files.iter().all(|it| path_problem(&it.path).is_none())
            && self.libraries.iter().all(|it| library_problem(it).is_none())
            && self.in_order().is_some()
    }

    /// Returns everything that is wrong, as sentences for the model.
    pub fn problems(&self, features: &Features) -> Vec<String> {
        if self.files.is_empty() {
            return vec!["there are no files".to_owned()];
        }
        if self.files.len() > MOST_FILES {
            let count = self.files.len();
            return vec![format!("there are {count} files; {MOST_FILES} are the most")];
        }
        let mut out: Vec<String> =
            self.libraries.iter().filter_map(|it| library_problem(it)).collect();
        if self.libraries.iter().any(|it| normalized(it) == normalized(&features.package)) {
            out.push(format!("the library {:?} has the name of the package", features.package));
        }
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for file in &self.files {
            out.extend(path_problem(&file.path));
            if !seen.insert(file.path.to_lowercase()) {
                out.push(format!("{} is listed twice", file.path));
            }
            if file.features.is_empty() {
                out.push(format!("{} has no features", file.path));
            } else if file.features.len() > MOST_FEATURES {
                let count = file.features.len();
                out.push(format!("{} has {count} features; split it", file.path));
            }
            let unknown = file.uses.iter().filter(|it| self.file(it).is_none());
            out.extend(
                unknown.map(|it| {
                    format!("{} uses {it}, which is not a file of the layout", file.path)
                }),
            );
        }
        out.extend(self.folder_problems());
        out.extend(self.feature_problems(features));
        let ends = self.flows.iter().flat_map(|it| [&it.from, &it.to]);
        let unknown = ends.filter(|it| self.file(it).is_none()).collect::<BTreeSet<_>>();
        out.extend(
            unknown
                .iter()
                .map(|it| format!("a flow names {it}, which is not a file of the layout")),
        );
        let circular = self.circular();
        if !circular.is_empty() {
            out.push(format!("these files use each other in a circle: {}", circular.join(", ")));
        }
        out
    }

    /// Returns modules with the name of a folder beside them: only one of both could be imported.
    fn folder_problems(&self) -> Vec<String> {
        let folders = self.files.iter().filter_map(|it| it.path.rsplit_once('/'));
        let folders: BTreeSet<&str> = folders.map(|it| it.0).collect();
        let modules = self.files.iter().filter_map(|it| it.path.strip_suffix(".py"));
        let both = modules.filter(|it| folders.contains(it));
        both.map(|it| format!("{it}.py and the folder {it}/ cannot both be imported")).collect()
    }

    fn feature_problems(&self, features: &Features) -> Vec<String> {
        let mut placed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in &self.files {
            file.features.iter().for_each(|it| placed.entry(it).or_default().push(&file.path));
        }
        let leaves = features.leaves();
        let mut out = Vec::new();
        for leaf in &leaves {
            match placed.remove(leaf.number.as_str()).as_deref() {
                None => out
                    .push(format!("feature {} ({}) is in no file", leaf.number, leaf.feature.name)),
                Some([_]) => {}
                Some(files) => out.push(format!(
                    "feature {} is in several files: {}",
                    leaf.number,
                    files.join(", ")
                )),
            }
        }
        let unknown = placed.into_iter();
        out.extend(unknown.map(|(number, files)| {
            format!("{} has {number}, which is not a feature without parts", files.join(", "))
        }));
        out
    }
}

/// Returns why a file cannot have this path.
fn path_problem(path: &str) -> Option<String> {
    if let Some(why) = trellis_plan::unsafe_path(path) {
        return Some(format!(
            "{path:?} {why}; give a path inside the package, such as `report.py`"
        ));
    }
    let Some(module) = path.strip_suffix(".py") else {
        return Some(format!("{path:?} does not end with .py"));
    };
    let is_name = |it: &str| trellis_plan::is_identifier(it) && it.to_lowercase() == it;
    if !module.split('/').all(is_name) {
        return Some(format!("{path:?} has parts that are not Python names in lower case"));
    }
    let name = module.rsplit('/').next().unwrap_or(module);
    if name == "__init__" {
        return Some(format!("{path:?}: leave out `__init__.py`, it is written later"));
    }
    let standard = module.split('/').find(|it| !it.starts_with('_') && is_stdlib(it));
    if let Some(part) = standard {
        return Some(format!("{path:?}: `{part}` is a module of Python's standard library"));
    }
    let is_test = name.starts_with("test_") || name.ends_with("_test") || name == "conftest";
    is_test.then(|| format!("{path:?} would be taken for a test; tests are written later"))
}

/// Returns why this cannot be the name of a distribution.
fn library_problem(name: &str) -> Option<String> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    if name.is_empty() || !name.chars().all(is_part) || !name.starts_with(char::is_alphanumeric) {
        return Some(format!("the library {name:?} is not the name of a distribution"));
    }
    let standard = is_stdlib(name);
    standard.then(|| format!("{name:?} belongs to Python; leave it out of `libraries`"))
}
