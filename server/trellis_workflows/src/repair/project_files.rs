//! The files of a project that a model may change.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::localize::FileEvidence;
use trellis_engine::{Complaint, EditableFiles};
use trellis_python::doctests;
use trellis_sandbox::test_ids::{file_of, is_example};

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
    /// Returns a complaint about new texts that change an example in a docstring. Where examples run
    /// as tests, they say what is wanted, as tests do.
    pub(super) fn changed_doctest(&self, texts: &BTreeMap<String, String>) -> Option<Complaint> {
        let is_run = |path: &str| {
            self.found.ran.iter().any(|it| is_example(&it.id) && file_of(&it.id) == path)
        };
        let mut changed = texts.iter().filter(|it| is_run(it.0)).filter_map(|(path, after)| {
            let before = doctests(&self.text(path)?).ok()?;
            let after = doctests(after).ok()?;
            let name = before.into_iter().find(|(name, it)| after.get(name) != Some(it))?.0;
            Some((path, name))
        });
        let (path, name) = changed.next()?;
        let of = if name.is_empty() { path.clone() } else { format!("{name} in {path}") };
        let problem = format!(
            "it changes the doctest of {of}: examples say what is wanted, and are read-only"
        );
        let request = "; leave every `>>>` example and its expected output as they are";
        Some(Complaint::with_request(problem, request))
    }

    pub(super) fn is_test(&self, path: &str) -> bool {
        self.found.evidence.files.iter().any(|it| it.path == path && it.is_test)
    }
}
