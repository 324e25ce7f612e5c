//! Tests of jest, vitest and `go test`, in files with the names that these search by default.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::{DirEntry, WalkBuilder};
use rayon::prelude::*;
use trellis_outline::{Language, OutlinedTest, tests};
use trellis_python::{CollectedTest, TestLines};
use trellis_store::journal::Journal;

use super::{Found, TestFile};

/// Folders that hold no tests of a project.
const NEVER_SEARCHED: [&str; 5] = ["node_modules", "vendor", "testdata", "dist", "coverage"];

/// Maximum size of a searched file, in bytes; larger ones are made by programs.
const LARGEST: u64 = 1 << 20;

/// Framework of another language than Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherFramework {
    /// jest or vitest, whose files have the same names.
    JavaScript,
    Go,
}

/// Scope of a search for tests of another language.
pub struct OutlineSearch<'a> {
    /// Folder of the project.
    pub root: &'a Path,
    pub framework: OtherFramework,
    /// Files with tests, relative to the root, whatever their names are.
    pub also: &'a [String],
    /// Files and folders, relative to the root, to search; empty for the whole project.
    pub within: &'a [String],
    /// Returns the text of a file that an editor holds, by its path.
    pub open_text: &'a (dyn Fn(&Path) -> Option<Arc<str>> + Sync),
}

impl OutlineSearch<'_> {
    /// Finds tests. A file of which only a run knows the tests is listed without any. Go's tests
    /// are listed by folder, since their ids name packages.
    pub fn run(&self) -> Found {
        let files = self.files();
        let found: Vec<TestFile> = files.par_iter().filter_map(|it| self.file(it)).collect();
        let mut by_path: BTreeMap<String, Vec<CollectedTest>> = BTreeMap::new();
        for TestFile { path, tests } in found {
            by_path.entry(path).or_default().extend(tests);
        }
        let files = by_path.into_iter().map(|(path, tests)| TestFile { path, tests }).collect();
        Found { files, invalid: Vec::new() }
    }

    /// Returns the files that may have tests, by path.
    fn files(&self) -> Vec<PathBuf> {
        let mut walk = WalkBuilder::new(self.root);
        walk.standard_filters(false).hidden(true).filter_entry(is_searched);
        let found = walk.build().filter_map(Result::ok).map(DirEntry::into_path);
        let also = self.also.iter().map(|it| self.root.join(it));
        let mut files: Vec<PathBuf> = found
            .filter(|it| self.framework.is_test_file(it))
            .chain(also.filter(|it| Language::of(it).is_some()))
            .filter(|it| it.is_file() && self.is_within(it))
            .collect();
        files.sort_unstable();
        files.dedup();
        files
    }

    /// Returns whether a file is searched; for Go with all files of its package.
    fn is_within(&self, file: &Path) -> bool {
        let holds = |it: &String| {
            let named = self.root.join(it);
            let is_package = self.framework == OtherFramework::Go && named.extension().is_some();
            file.starts_with(&named) || (is_package && named.parent() == file.parent())
        };
        self.within.is_empty() || self.within.iter().any(holds)
    }

    /// Returns the tests of a file; `None` if it has none.
    fn file(&self, file: &Path) -> Option<TestFile> {
        let path = file.strip_prefix(self.root).ok()?.to_str()?.to_owned();
        let found = tests(&self.text(file)?, Language::of(file)?);
        let is_listed = found.has_unnamed || !found.tests.is_empty();
        let tests = found.tests.into_iter().map(|it| collected(&path, it)).collect();
        is_listed.then(|| TestFile { path: id_path(&path).to_owned(), tests })
    }

    fn text(&self, file: &Path) -> Option<Arc<str>> {
        if let Some(open) = (self.open_text)(file) {
            return Some(open);
        }
        let is_small = file.metadata().is_ok_and(|it| it.len() <= LARGEST);
        is_small.then(|| trellis_os::files::read_text(file).ok())?.map(Arc::from)
    }
}

/// Returns the targets of a run of jest or vitest with `::` behind each group, which the sandbox
/// cannot tell from a test.
pub fn with_marked_groups(root: &Path, targets: &[String]) -> Vec<String> {
    let is_group = |id: &str| {
        let (path, name) = id.split_once("::")?;
        let file = root.join(path);
        let found = tests(&trellis_os::files::read_text(&file).ok()?, Language::of(&file)?);
        found.tests.iter().any(|it| it.is_group && it.name == name).then_some(())
    };
    let marked = |id: &String| match is_group(id) {
        Some(()) => format!("{id}::"),
        None => id.clone(),
    };
    targets.iter().map(marked).collect()
}

impl OtherFramework {
    /// Returns whether the framework's defaults make a file one of tests.
    pub fn is_test_file(self, file: &Path) -> bool {
        let (Some(language), Some(stem)) =
            (Language::of(file), file.file_stem().and_then(OsStr::to_str))
        else {
            return false;
        };
        match self {
            OtherFramework::Go => language == Language::Go && stem.ends_with("_test"),
            OtherFramework::JavaScript => {
                let in_tests = || file.parent().is_some_and(|it| it.ends_with("__tests__"));
                let is_named = matches!(stem, "test" | "spec")
                    || [".test", ".spec"].iter().any(|it| stem.ends_with(it));
                language != Language::Go && (is_named || in_tests())
            }
        }
    }
}

/// Returns the path in the ids of a file's tests: its own, and in Go that of its package.
pub fn id_path(file: &str) -> &str {
    match Language::of(Path::new(file)) {
        Some(Language::Go) => file.rsplit_once('/').map_or(".", |(folder, _)| folder),
        _ => file,
    }
}

fn is_searched(entry: &DirEntry) -> bool {
    let is_folder = entry.file_type().is_some_and(|it| it.is_dir());
    let name = entry.file_name().to_str().unwrap_or_default();
    // A project below has a view of its own.
    let is_project = || entry.depth() > 0 && Journal::path(entry.path()).is_file();
    !is_folder || !(NEVER_SEARCHED.contains(&name) || is_project())
}

fn collected(path: &str, test: OutlinedTest) -> CollectedTest {
    let OutlinedTest { name, is_group, lines, .. } = test;
    CollectedTest {
        name,
        is_class: is_group,
        has_cases: false,
        path: path.to_owned(),
        lines: TestLines { first: *lines.start(), last: *lines.end() },
    }
}
