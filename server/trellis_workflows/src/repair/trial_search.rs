//! Looks for a fix among small edits of suspicious lines, so that no model need be asked.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::{Evidence, Ranking, rank};
use trellis_engine::repair::{AttemptResult, Event, Group};
use trellis_sandbox::{TestResult, Tree};

use super::active_group::ActiveGroup;
use super::driver::{RepairRun, lost};
use super::fix::FileChange;
use super::{WriteTarget, cancelled};
use crate::fault::{Fault, FaultKind};
use crate::localize::LocalizeRequest;

/// An edit with which the tests pass.
pub(super) struct TrialFix {
    /// The new texts by path.
    pub(super) texts: BTreeMap<String, String>,
    /// Index of the edited file, and the edited line.
    pub(super) at: (usize, u32),
    /// Result of the trial, in words.
    pub(super) shown: String,
    /// True if the edit may stay without a model's or a person's decision.
    pub(super) is_proven: bool,
}

/// Origin of a fix, as people read it.
pub(super) const BY_TRIAL: &str = "found by trying small edits; no model was asked";

impl RepairRun<'_> {
    /// Tries small edits against the tests of a group, whose suspects are then ranked by the
    /// results. Returns an edit with which the tests pass; one that is proven, if there is one.
    pub(super) async fn try_small_edits(
        &mut self,
        group: &mut Group,
    ) -> Result<Option<TrialFix>, Fault> {
        let (Some(baseline), Some(budget)) = (self.baseline.as_ref(), self.order.trials) else {
            return Ok(None);
        };
        if group.tests.iter().any(|it| !it.contains("::")) {
            return Ok(None);
        }
        let search = LocalizeRequest {
            runner: &self.verifier.opened.runner,
            tree: Tree::Copy {
                folder: self.order.root.clone(),
                changed: self.verifier.kept.clone(),
            },
            index: &baseline.index,
            source_folders: self.verifier.source_folders.clone(),
            targets: Vec::new(),
            also: self.order.also.clone(),
            named: group.tests.clone(),
            test_timeout: self.order.test_timeout,
            run_timeout: self.order.run_timeout,
            raised_by: self.order.raised_by,
            trials: None,
            history: None,
            cancel: &self.control.cancel,
        };
        let evidence = group.evidence(&baseline.found.evidence);
        let known: BTreeSet<&str> = evidence.tests.iter().map(|it| it.id.as_str()).collect();
        let results = baseline.found.ran.iter().filter(|it| known.contains(it.id.as_str()));
        let results: Vec<&TestResult> = results.collect();
        let (trials, _) = search.try_edits(&evidence, &group.ranking, &results, budget).await;
        if self.control.cancel.is_cancelled() {
            return Err(cancelled());
        }
        group.ranking = rank(&evidence, &trials);
        let files = self.files()?;
        let index = &baseline.index;
        // What you have written since then must not be undone.
        let is_unchanged = |path: &String| {
            let tried = index.file(path).and_then(|it| index.text(it));
            tried.is_some_and(|it| files.text(path).is_some_and(|now| *now == *it))
        };
        let found = found(&group.ranking, &evidence);
        let Some(found) = found.filter(|it| it.texts.keys().all(is_unchanged)) else {
            return Ok(None);
        };
        self.weighed_by_others(group, found).await.map(Some)
    }

    /// Tries the fix that small edits found.
    pub(super) async fn try_proven(
        &mut self,
        mut work: ActiveGroup,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let number = work.begin_attempt();
        let TrialFix { texts, shown, is_proven, .. } = work.by_edits.take().ok_or_else(lost)?;
        work.by_trial = Some(number);
        self.reporter.note(format_args!("  fix {}: {BY_TRIAL}", number + 1));
        if !is_proven {
            self.reporter.note(format_args!("  {shown}"));
            work.doubt = Some(shown);
        }
        let change = FileChange { texts, ..FileChange::default() };
        let result: AttemptResult = self.evaluate_change(&mut work, number, change).await?;
        Ok(Event::Tried { work, result })
    }

    /// Returns whether an edit is to be tried as a fix: a proven one, or any one if there is no model
    /// to ask. Opens the session with the model unless the edit is proven, so that without either
    /// the repair ends before anything is written.
    pub(super) fn is_for_trial(&mut self, found: Option<&TrialFix>) -> Result<bool, Fault> {
        let is_proven = found.is_some_and(|it| it.is_proven);
        if is_proven {
            return Ok(true);
        }
        match self.open_session() {
            Err(fault) if found.is_some() && self.can_wait() && is_no_model(&fault) => Ok(true),
            opened => opened.map(|()| false),
        }
    }

    /// Returns whether a fix can wait for a person.
    fn can_wait(&self) -> bool {
        self.order.place == WriteTarget::WorkingTree
    }
}

fn is_no_model(fault: &Fault) -> bool {
    matches!(fault.kind, Some(FaultKind::NoModel | FaultKind::NoKey))
}

/// Returns the likeliest edit that is proven to repair the failing tests, else the likeliest that
/// repairs them.
fn found(ranking: &Ranking, evidence: &Evidence) -> Option<TrialFix> {
    let files = &evidence.files;
    let mut lines = ranking.lines.iter().filter(|it| it.hint.is_some() && !files[it.file].is_test);
    let line = lines.clone().find(|it| it.is_proven).or_else(|| lines.next())?;
    let path = &files[line.file].path;
    Some(TrialFix {
        texts: BTreeMap::from([(path.clone(), line.repair.as_ref()?.text.clone())]),
        at: (line.file, line.line),
        shown: format!("{path}:{}: {}", line.line, line.hint.as_ref()?),
        is_proven: line.is_proven,
    })
}
