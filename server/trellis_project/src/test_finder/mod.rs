//! Finds the tests of a project as pytest or unittest collects them, or as jest, vitest or `go test`
//! names them, without executing anything.

mod ini;
mod modules;
mod outlined;
mod patterns;
mod settings;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use trellis_python::{CollectedTest, collected_tests};

pub use modules::ModuleCache;
use modules::ProjectModules;
pub use outlined::{OtherFramework, OutlineSearch, id_path, with_marked_groups};
use settings::Settings;
pub use settings::settings_files;

/// The framework whose rules apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    Pytest,
    Unittest,
}

/// Scope of a search.
pub struct Search<'a> {
    /// Folder of the project.
    pub root: &'a Path,
    pub rules: Rules,
    /// Files, relative to the root, that are searched besides those of the settings.
    pub also: &'a [String],
    /// Files and folders, relative to the root, to search; empty for the whole project.
    pub within: &'a [String],
    /// Returns the text of a file that an editor holds, by its path.
    pub open_text: &'a (dyn Fn(&Path) -> Option<Arc<str>> + Sync),
}

/// A file with tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestFile {
    /// Path relative to the root, with `/`; that of the folder for tests of Go.
    pub path: String,
    /// By line; tests that are inherited or imported come last.
    pub tests: Vec<CollectedTest>,
}

/// Result of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Files with tests, by path.
    pub files: Vec<TestFile>,
    /// Searched files that are not valid Python, by path.
    pub invalid: Vec<String>,
}

impl Search<'_> {
    /// Finds tests.
    pub fn run(&self, cache: &ModuleCache) -> Found {
        let settings = Settings::of(self.root, self.rules);
        let modules = ProjectModules::new(self, &settings, cache);
        let found: BTreeSet<PathBuf> = walk::files(self, &settings, &modules);
        let searched: Vec<Result<TestFile, String>> =
            found.par_iter().filter_map(|it| self.file(it, &settings, &modules)).collect();
        let mut found = Found::default();
        for file in searched {
            match file {
                Ok(it) if it.tests.is_empty() => {}
                Ok(it) => found.files.push(it),
                Err(path) => found.invalid.push(path),
            }
        }
        found
    }

    /// Returns the files that may have tests, relative to the root.
    pub fn files(&self, cache: &ModuleCache) -> BTreeSet<String> {
        let settings = Settings::of(self.root, self.rules);
        let modules = ProjectModules::new(self, &settings, cache);
        let relative = |it: &PathBuf| Some(it.strip_prefix(self.root).ok()?.to_str()?.to_owned());
        walk::files(self, &settings, &modules).iter().filter_map(relative).collect()
    }

    /// Returns the tests of a file, or the path of one that is not valid Python.
    fn file(
        &self,
        file: &Path,
        settings: &Settings,
        modules: &ProjectModules<'_>,
    ) -> Option<Result<TestFile, String>> {
        let path = file.strip_prefix(self.root).ok()?.to_str()?.to_owned();
        let Some(module) = modules.read(file) else { return Some(Err(path)) };
        let mut tests = collected_tests(&path, &module, modules, settings);
        let key = |it: &CollectedTest| {
            let is_elsewhere = it.path != path;
            (is_elsewhere, if is_elsewhere { 0 } else { it.lines.first }, it.name.clone())
        };
        tests.sort_by_cached_key(key);
        Some(Ok(TestFile { path, tests }))
    }
}
