//! Collects the facts of a question about a group of failing tests: the test, its failure, the
//! suspects' code, what that uses, and who uses it.

mod chosen;
mod relations;
mod suspects;
mod test_source;

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::localize::LineSuspect;
use trellis_engine::repair::{Excerpt, Group, RepairFacts, failure_text};
use trellis_engine::{Failure, Suspect};
use trellis_python::Index;

use super::project_files::ProjectFiles;
use chosen::Chosen;
use relations::Relations;

/// Maximum number of edits that a question tells of.
const OBSERVED: usize = 3;

/// Sources of the facts about a group of failing tests.
pub(super) struct QuestionContext<'a> {
    pub(super) group: &'a Group,
    pub(super) files: &'a ProjectFiles<'a>,
    /// Index of the same files.
    pub(super) index: &'a Index,
    /// The failure of the first test when that was run alone.
    pub(super) lead: Option<&'a Failure>,
    /// Texts of a diagnosis, whose functions come first.
    pub(super) named_by: Vec<&'a str>,
    /// Number of fixes that failed before. Each makes the question show more suspects and callers.
    pub(super) round: usize,
}

impl QuestionContext<'_> {
    /// Collects the facts that do not depend on earlier fixes.
    pub(super) fn facts(&self) -> RepairFacts {
        let suspects = self.chosen();
        let sources = suspects::excerpts(&suspects, self);
        let test_sources = test_source::excerpts(self);
        let shown = Shown::of(sources.iter().chain(&test_sources));
        let relations = Relations { context: self, suspects: &suspects, shown: &shown };
        let used = relations.used();
        let (callers, caller_sources) = relations.callers();
        RepairFacts {
            tests: self.group.tests.clone(),
            test_sources,
            failure: self.failure(),
            suspects: suspects.iter().map(|it| self.suspect(it)).collect(),
            sources,
            used,
            callers,
            caller_sources,
            observations: self.observations(),
            ..RepairFacts::default()
        }
    }

    /// Returns the likeliest edits of code with which the tests pass, as sentences.
    fn observations(&self) -> Vec<String> {
        let files = &self.files.found.evidence.files;
        let lines = self.group.ranking.lines.iter().filter(|it| !files[it.file].is_test);
        let said = |it: &LineSuspect| {
            Some(format!("`{}`, line {}: {}", files[it.file].path, it.line, it.hint.as_ref()?))
        };
        lines.filter_map(said).take(OBSERVED).collect()
    }

    fn suspect(&self, it: &Chosen) -> Suspect {
        let function = &it.function;
        Suspect {
            path: self.files.found.evidence.files[function.file].path.clone(),
            line: function.line,
            symbol: function.symbol.clone(),
            score: function.score,
            // Other evidence is about equal for all of them, and says no more than their order.
            why: it.why.to_owned(),
            ..Suspect::default()
        }
    }

    /// Returns the failure of the first test: as it was alone, else as it was among all.
    fn lead(&self) -> Option<&Failure> {
        self.lead.or_else(|| self.failure_of(self.group.first_test()))
    }

    fn failure_of(&self, id: &str) -> Option<&Failure> {
        let tests = &self.files.found.evidence.tests;
        tests.iter().find(|it| it.id == id)?.failure.as_ref()
    }

    fn failure(&self) -> String {
        let first = self.group.first_test();
        let others = self.group.tests.iter().filter(|it| *it != first);
        let others: Vec<(&str, &Failure)> =
            others.filter_map(|id| Some((id.as_str(), self.failure_of(id)?))).collect();
        let lead = self.lead().cloned().unwrap_or_default();
        failure_text(first, &lead, &others)
    }
}

/// Lines that a question shows already, by path.
struct Shown(BTreeMap<String, BTreeSet<u32>>);

impl Shown {
    fn of<'e>(excerpts: impl Iterator<Item = &'e Excerpt>) -> Shown {
        let mut shown: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
        for it in excerpts {
            shown.entry(it.path.clone()).or_default().extend(it.lines.keys());
        }
        Shown(shown)
    }

    fn has(&self, path: &str, line: u32) -> bool {
        self.0.get(path).is_some_and(|it| it.contains(&line))
    }
}
