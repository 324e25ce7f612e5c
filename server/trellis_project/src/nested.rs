//! Projects inside a project, which have tests, a style and modules of their own.

use std::collections::BTreeMap;
use std::path::Path;

use crate::project::holds_tests;
use trellis_store::journal::Journal;

/// Files and folders that mark a nested project.
const MARKS: [&str; 4] = ["pyproject.toml", "setup.py", "setup.cfg", ".git"];

/// The nested projects of one folder, looked up on demand.
pub struct Nested<'a> {
    root: &'a Path,
    known: BTreeMap<String, Option<Kind>>,
}

/// Reason why a folder is a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Trellis generated the project, or worked on it.
    Generated,
    /// The folder has settings or a repository of its own.
    Marked,
}

impl<'a> Nested<'a> {
    /// Creates an empty lookup; nothing is read yet.
    pub fn below(root: &'a Path) -> Nested<'a> {
        Nested { root, known: BTreeMap::new() }
    }

    /// Returns the outermost nested project that holds a file, with its folder.
    pub fn around(&mut self, path: &str) -> Option<(String, Kind)> {
        let ends = path.match_indices('/').map(|(at, _)| at);
        let root = self.root;
        ends.map(|at| &path[..at]).find_map(|folder| {
            let kind = self.known.entry(folder.to_owned()).or_insert_with(|| kind(root, folder));
            kind.map(|it| (folder.to_owned(), it))
        })
    }
}

fn kind(root: &Path, folder: &str) -> Option<Kind> {
    let folder = root.join(folder);
    if Journal::path(&folder).is_file() {
        return Some(Kind::Generated);
    }
    let is_marked = MARKS.iter().any(|it| folder.join(it).exists());
    (is_marked && !holds_tests(&folder)).then_some(Kind::Marked)
}
