//! The work on one group of failing tests.

use std::collections::BTreeMap;

use trellis_engine::repair::{Group, GroupWork, RepairFacts, SuggestedChange};
use trellis_engine::{EditableFiles as _, Failure, Suspect};
use trellis_python::Index;

use super::driver::lost;
use super::evaluate::Candidate;
use super::project_files::ProjectFiles;
use super::question::QuestionContext;
use super::trial_search::TrialFix;
use crate::fault::Fault;

/// A group with its facts and its attempts so far.
pub(super) struct ActiveGroup {
    pub(super) group: Group,
    pub(super) repair: RepairFacts,
    pub(super) candidates: Vec<Candidate>,
    /// Fixes that the diagnosis suggests, to be tried unchanged.
    pub(super) suggestions: Vec<SuggestedChange>,
    /// Number of attempts so far, suggestions included.
    attempts: u32,
    /// Texts of each tried change, with the number of its attempt, from 0.
    tried: Vec<(u32, BTreeMap<String, String>)>,
    /// Number of the baseline that the group comes from.
    pub(super) baseline: u32,
    /// Texts of the suspects' files as requests show them, by path.
    shown: BTreeMap<String, String>,
    /// The failure of the first test when it was run alone.
    pub(super) lead: Option<Failure>,
    /// The fix that trials of small edits found, until it is tried.
    pub(super) by_edits: Option<TrialFix>,
    /// Reason against that fix, if it must not stay without a person's decision.
    pub(super) doubt: Option<String>,
    /// Number of the attempt that tried it, from 0.
    pub(super) by_trial: Option<u32>,
    /// True if a model was asked for its opinion.
    pub(super) has_opinion: bool,
}

impl GroupWork for ActiveGroup {
    fn group(&self) -> &Group {
        &self.group
    }
}

impl ActiveGroup {
    pub(super) fn new(group: Group, lead: Option<Failure>, baseline: u32) -> ActiveGroup {
        ActiveGroup {
            group,
            repair: RepairFacts::default(),
            candidates: Vec::new(),
            suggestions: Vec::new(),
            attempts: 0,
            tried: Vec::new(),
            baseline,
            shown: BTreeMap::new(),
            lead,
            by_edits: None,
            doubt: None,
            by_trial: None,
            has_opinion: false,
        }
    }

    /// Replaces the facts about the code by those for the next request; what was tried and said
    /// stays.
    pub(super) fn collect_facts(&mut self, files: &ProjectFiles<'_>, index: &Index) {
        let (group, lead) = (&self.group, self.lead.as_ref());
        let round = self.repair.earlier.len();
        let said = self.repair.cause.iter().chain(&self.repair.hypotheses);
        let said = said.chain(&self.repair.complaint).map(String::as_str).collect();
        let facts = QuestionContext { group, files, index, lead, named_by: said, round }.facts();
        let before = std::mem::take(&mut self.repair);
        let RepairFacts { issue, cause, hypotheses, others, earlier, complaint, .. } = before;
        self.repair = RepairFacts { issue, cause, hypotheses, others, earlier, complaint, ..facts };
        let text = |it: &Suspect| Some((it.path.clone(), files.text(&it.path)?));
        self.shown = self.repair.suspects.iter().filter_map(text).collect();
    }

    /// Returns a file among `texts` that has changed since the requests show it.
    pub(super) fn changed_since_shown<'t>(
        &self,
        texts: &'t BTreeMap<String, String>,
        files: &ProjectFiles<'_>,
    ) -> Option<&'t String> {
        texts.keys().find(|path| self.shown.get(*path) != files.text(path).as_ref())
    }

    /// Returns the id of the group's first test, under which its requests are journaled.
    pub(super) fn id(&self) -> &str {
        self.group.first_test()
    }

    pub(super) fn candidate(&self, at: usize) -> Result<&Candidate, Fault> {
        self.candidates.get(at).ok_or_else(lost)
    }

    /// Returns what speaks against a candidate that small edits found, if anything does.
    pub(super) fn doubt_of(&self, candidate: &Candidate) -> Option<&String> {
        self.doubt.as_ref().filter(|_| self.by_trial == Some(candidate.attempt))
    }

    /// Starts an attempt and returns its number, from 0.
    pub(super) fn begin_attempt(&mut self) -> u32 {
        self.attempts += 1;
        self.attempts - 1
    }

    /// Records the change of an attempt. Returns the number of the attempt, from 0, that made the
    /// same change before.
    pub(super) fn record(&mut self, attempt: u32, texts: &BTreeMap<String, String>) -> Option<u32> {
        let before = self.tried.iter().find(|it| it.1 == *texts).map(|it| it.0);
        if before.is_none() {
            self.tried.push((attempt, texts.clone()));
        }
        before
    }
}
