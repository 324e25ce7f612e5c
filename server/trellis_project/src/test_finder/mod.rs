//! Finds the tests of a project as pytest or unittest collects them, without executing anything.

mod ini;
mod modules;
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
use settings::Settings;

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
    /// Path relative to the root, with `/`.
    pub path: String,
    /// By line; tests that are inherited or imported come last.
    pub tests: Vec<CollectedTest>,
}

impl Search<'_> {
    /// Returns the files with tests, by path. A file that is not valid Python has none.
    pub fn run(&self, cache: &ModuleCache) -> Vec<TestFile> {
        let settings = Settings::of(self.root, self.rules);
        let modules = ProjectModules::new(self, &settings, cache);
        let found: BTreeSet<PathBuf> = walk::files(self, &settings, &modules);
        let files: Vec<TestFile> =
            found.par_iter().filter_map(|it| self.file(it, &settings, &modules)).collect();
        files
    }

    fn file(
        &self,
        file: &Path,
        settings: &Settings,
        modules: &ProjectModules<'_>,
    ) -> Option<TestFile> {
        let path = file.strip_prefix(self.root).ok()?.to_str()?.to_owned();
        let module = modules.read(file)?;
        let mut tests = collected_tests(&path, &module, modules, settings);
        let key = |it: &CollectedTest| {
            let is_elsewhere = it.path != path;
            (is_elsewhere, if is_elsewhere { 0 } else { it.lines.first }, it.name.clone())
        };
        tests.sort_by_cached_key(key);
        (!tests.is_empty()).then_some(TestFile { path, tests })
    }
}
