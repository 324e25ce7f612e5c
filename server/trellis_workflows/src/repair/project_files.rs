//! The files of a project that a model may change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::EditableFiles;
use trellis_engine::localize::FileEvidence;

use crate::localize::Localization;
use trellis_project::edits;

/// A project's files; tests among them are read-only.
pub(super) struct ProjectFiles<'a> {
    pub(super) root: &'a Path,
    pub(super) found: &'a Localization,
    /// Accepted texts that are not on the disk.
    pub(super) kept: &'a BTreeMap<String, Arc<str>>,
}

impl EditableFiles for ProjectFiles<'_> {
    fn text(&self, path: &str) -> Option<String> {
        // Paths come from a model, so only files that localization read count as files.
        let is_known = self.found.evidence.files.iter().any(|it| it.path == path);
        let kept = || self.kept.get(path).map(ToString::to_string);
        is_known.then(|| kept().or_else(|| edits::read(&self.root.join(path)).ok())).flatten()
    }

    fn read_only(&self, path: &str) -> Option<&'static str> {
        let is_test = |it: &&FileEvidence| it.path == path && it.is_test;
        if self.found.unread.iter().any(|it| it == path) {
            return Some("it is not UTF-8 text that can be edited");
        }
        let file = self.found.evidence.files.iter().find(is_test);
        file.map(|_| "tests say what is wanted, and are read-only")
    }
}

impl ProjectFiles<'_> {
    pub(super) fn is_test(&self, path: &str) -> bool {
        self.found.evidence.files.iter().any(|it| it.path == path && it.is_test)
    }
}
