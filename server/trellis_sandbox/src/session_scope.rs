//! The tests and files that a run has dealt with.

use std::collections::BTreeSet;

use crate::report::{Failure, Outcome, Report};
use crate::test_ids::{file_of, is_target};

/// The tests that a finished run was about.
pub struct SessionScope<'a> {
    targets: &'a [String],
    /// Tests that were found, run or not.
    found: BTreeSet<&'a str>,
    /// Their files.
    files: BTreeSet<&'a str>,
    /// Files with tests that were found and not run.
    unfinished: BTreeSet<&'a str>,
    /// Files with tests that options left out.
    filtered: BTreeSet<&'a str>,
    /// Files that could not be loaded, so that their tests are unknown.
    broken: BTreeSet<&'a str>,
    outcome: &'a Outcome,
}

impl<'a> SessionScope<'a> {
    /// Returns the scope of a run; `None` if the run did not finish. `targets`: the requested files,
    /// folders or ids, relative to the root; empty for all.
    pub fn of(targets: &'a [String], report: &'a Report) -> Option<SessionScope<'a>> {
        let is_finished = matches!(
            report.outcome,
            Outcome::Passed | Outcome::Failed | Outcome::CollectionError | Outcome::NoTests
        );
        if !is_finished {
            return None;
        }
        let ids = |all: &'a [String]| all.iter().map(String::as_str);
        let ran = report.tests.iter().map(|it| it.id.as_str());
        let found = ran.chain(ids(&report.not_run)).chain(ids(&report.deselected));
        let found: BTreeSet<&str> = found.collect();
        Some(SessionScope {
            targets,
            files: found.iter().map(|it| file_of(it)).collect(),
            found,
            unfinished: ids(&report.not_run).map(file_of).collect(),
            filtered: ids(&report.deselected).map(file_of).collect(),
            broken: report.collection_errors.iter().filter_map(Failure::file).collect(),
            outcome: &report.outcome,
        })
    }

    /// Returns whether the run shows that a known test is gone.
    pub fn is_gone(&self, id: &str) -> bool {
        is_target(self.targets, id) && !self.found.contains(id) && self.was_searched(file_of(id))
    }

    /// Returns whether all tests of a file ran, except for those that the project's settings leave
    /// out. `has_options`: the run had options that may leave out others.
    pub fn covers(&self, file: &str, has_options: bool) -> bool {
        let is_known = match self.has_tests(file) {
            true => !has_options || !self.filtered.contains(file),
            false => !has_options && *self.outcome != Outcome::CollectionError,
        };
        let is_whole = !self.broken.contains(file) && !self.unfinished.contains(file);
        is_target(self.targets, file) && is_known && is_whole
    }

    /// Returns whether tests of a file were found.
    pub fn has_tests(&self, file: &str) -> bool {
        self.files.contains(file)
    }

    fn was_searched(&self, file: &str) -> bool {
        let is_known = match self.outcome {
            Outcome::CollectionError => self.has_tests(file),
            // Options may have left out other files.
            Outcome::NoTests => self.has_tests(file) || self.names(file),
            _ => true,
        };
        is_known && !self.broken.contains(file)
    }

    /// Returns whether a file itself was requested.
    pub fn names(&self, file: &str) -> bool {
        self.targets.iter().any(|it| it == file)
    }
}
