//! The project's files with the issue's changes, and the rules for which of them a reply may
//! change.

use std::collections::BTreeSet;
use std::path::Path;

use trellis_engine::EditableFiles;
use trellis_engine::issue::Changes;

use crate::convert;
use crate::tools::{Limits, ToolSet};
use trellis_store::disk;

/// The phase of the work, which decides whether tests or code may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EditPhase {
    Tests,
    Code,
}

/// Files of a checkout, with the changes on top.
pub(super) struct Files<'a> {
    pub(super) root: &'a Path,
    pub(super) changes: &'a Changes,
    pub(super) turn: EditPhase,
    /// Files that the request showed whole.
    pub(super) shown: &'a BTreeSet<String>,
}

/// Folders and files that no reply may change.
const OURS: [&str; 3] = [".git", ".trellis", ".hg"];

impl EditableFiles for Files<'_> {
    fn text(&self, path: &str) -> Option<String> {
        if let Some(text) = self.changes.get(path) {
            return Some(text.clone());
        }
        outside(self.root, path)
            .is_none()
            .then(|| trellis_project::edits::read(&self.root.join(path)).ok())?
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        write_guard(self.root, self.turn, path).or_else(|| self.unreadable(path))
    }

    fn is_shown(&self, path: &str) -> bool {
        self.shown.contains(path)
    }
}

/// Returns the reason that a path must not be written in this phase.
fn write_guard(root: &Path, turn: EditPhase, path: &str) -> Option<&'static str> {
    if let Some(why) = outside(root, path) {
        return Some(why);
    }
    match (turn, is_test(path)) {
        (EditPhase::Tests, false) => Some("it is not a test: write only tests first"),
        (EditPhase::Code, true) => Some("tests say what is wanted, and are read-only"),
        _ => None,
    }
}

/// Tools that are disabled while only tests may be written: those that change existing code, and
/// `callers`. No file is deleted in either phase.
const NOT_FOR_TESTS: [&str; 7] = [
    "delete_file",
    "replace_symbol_body",
    "insert_before_symbol",
    "insert_after_symbol",
    "rename_symbol",
    "safe_delete_symbol",
    "callers",
];
const NOT_FOR_CODE: [&str; 1] = ["delete_file"];

impl Files<'_> {
    /// Creates tools on a copy of the files that git tracks, with the changes on top.
    pub(super) fn toolbox(&self, tracked: &[String]) -> ToolSet {
        let (turn, root) = (self.turn, self.root.to_owned());
        let paths = tracked.iter().chain(self.changes.keys());
        let text = |path: &String| Some((path.clone(), self.text(path)?.into()));
        let copy: convert::Files = paths.filter_map(text).collect();
        let known: BTreeSet<String> = copy.keys().cloned().collect();
        let read_only = move |path: &str| {
            let is_other = !known.contains(path) && root.join(path).exists();
            let other = is_other.then_some("it is not UTF-8 text in git");
            write_guard(&root, turn, path).or(other)
        };
        let without: &[&str] = match turn {
            EditPhase::Tests => &NOT_FOR_TESTS,
            EditPhase::Code => &NOT_FOR_CODE,
        };
        let tools = ToolSet::new(&copy, read_only, Limits::default());
        tools.without(without).with_shown(self.shown.clone())
    }

    fn unreadable(&self, path: &str) -> Option<&'static str> {
        let is_there = !self.changes.contains_key(path) && self.root.join(path).exists();
        (is_there && self.text(path).is_none()).then_some("it is not UTF-8 text that can be edited")
    }
}

/// Returns the reason that a path does not name a file of the project.
fn outside(root: &Path, path: &str) -> Option<&'static str> {
    let parts: Vec<&str> = path.split('/').collect();
    let is_plain = |part: &&str| {
        !part.is_empty() && !matches!(*part, "." | "..") && !part.contains(['\\', '\0', '\n'])
    };
    if path.starts_with('/') || !parts.iter().all(is_plain) {
        return Some("the path is not in the project's folder");
    }
    // Some file systems ignore case.
    if parts.iter().any(|it| OURS.contains(&it.to_ascii_lowercase().as_str())) {
        return Some("it belongs to version control or to Trellis");
    }
    disk::symlink_on_the_way(root, path).map(|_| "a symbolic link is part of its path")
}

/// Returns whether a path names a test, by the conventions of Python, JavaScript and Go.
pub fn is_test(path: &str) -> bool {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |it| it.0);
    let in_tests = folders.split('/').any(|it| matches!(it, "test" | "tests" | "__tests__"));
    in_tests
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || stem.ends_with(".test")
        || stem.ends_with(".spec")
        || file == "conftest.py"
}

/// Returns the changed test files that a runner can run; helpers and data are left out.
pub(super) fn targets(changes: &Changes) -> Vec<String> {
    let runs = |path: &&String| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let stem = file.rsplit_once('.').map_or(file, |it| it.0);
        stem.starts_with("test_")
            || [".test", ".spec", "_test"].iter().any(|it| stem.ends_with(it))
            || (path.contains("__tests__/")
                && [".js", ".jsx", ".ts", ".tsx"].iter().any(|it| file.ends_with(it)))
    };
    changes.keys().filter(|it| is_test(it)).filter(runs).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_stays_inside_and_in_its_turn() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("shop.py"), "x = 1\n").expect("a file");
        std::fs::write(root.path().join("latin.py"), b"# \xe9\n").expect("a file");
        std::os::unix::fs::symlink("/tmp", root.path().join("out")).expect("a link");
        let table = [
            ("shop.py", false, true),
            ("pkg/new.py", false, true),
            ("tests/test_shop.py", true, false),
            ("tests/data/a.json", true, false),
            ("pkg/cart.test.ts", true, false),
            ("cart_test.go", true, false),
            ("conftest.py", true, false),
            ("latin.py", false, false),
            ("out/x.py", false, false),
            ("/etc/passwd", false, false),
            ("../x.py", false, false),
            ("a//b.py", false, false),
            ("./a.py", false, false),
            ("a\\..\\b.py", false, false),
            (".git/config", false, false),
            ("sub/.GIT/hooks/x", false, false),
            (".trellis/tests/test_a.py", false, false),
        ];
        let (changes, shown) = (Changes::new(), BTreeSet::new());
        for (path, in_tests, in_code) in table {
            let may = |turn| {
                let (root, changes, shown) = (root.path(), &changes, &shown);
                Files { root, changes, turn, shown }.read_only(path).is_none()
            };
            assert_eq!(
                (may(EditPhase::Tests), may(EditPhase::Code)),
                (in_tests, in_code),
                "{path}"
            );
        }
        let turn = EditPhase::Code;
        let files = Files { root: root.path(), changes: &changes, turn, shown: &shown };
        assert_eq!(files.text("shop.py").as_deref(), Some("x = 1\n"));
        assert_eq!(files.text("out/x.py"), None);
    }
}
