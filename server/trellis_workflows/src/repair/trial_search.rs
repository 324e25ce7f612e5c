//! Looks for a fix among small edits of suspicious lines, so that no model need be asked.

use std::collections::{BTreeMap, BTreeSet};

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::{Evidence, LineSuspect, Ranking, rank};
use trellis_engine::repair::{AttemptResult, Event, Group};
use trellis_sandbox::{TestResult, Tree};

use super::active_group::ActiveGroup;
use super::cancelled;
use super::driver::{RepairRun, lost};
use super::fix::FileChange;
use crate::fault::Fault;
use crate::localize::LocalizeRequest;

/// Origin of a fix, as people read it.
pub(super) const BY_TRIAL: &str = "found by trying small edits; no model was asked";

impl RepairRun<'_> {
    /// Tries small edits against the tests of a group, whose suspects are then ranked by the
    /// results. Returns the new texts of an edit that is proven.
    pub(super) async fn try_small_edits(
        &mut self,
        group: &mut Group,
    ) -> Result<Option<BTreeMap<String, String>>, Fault> {
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
        Ok(proven(&group.ranking, &evidence).filter(|it| it.keys().all(is_unchanged)))
    }

    /// Tries the fix that small edits found.
    pub(super) async fn try_proven(
        &mut self,
        mut work: ActiveGroup,
    ) -> Result<Event<ActiveGroup>, Fault> {
        let number = work.begin_attempt();
        let texts = work.proven.take().ok_or_else(lost)?;
        work.by_trial = Some(number);
        self.reporter.note(format_args!("  fix {}: {BY_TRIAL}", number + 1));
        let change = FileChange { texts, ..FileChange::default() };
        let result: AttemptResult = self.evaluate_change(&mut work, number, change).await?;
        Ok(Event::Tried { work, result })
    }
}

/// Returns the new texts of the likeliest edit that is proven to repair the failing tests.
fn proven(ranking: &Ranking, evidence: &Evidence) -> Option<BTreeMap<String, String>> {
    let files = &evidence.files;
    let is_code = |it: &&LineSuspect| it.is_proven && !files[it.file].is_test;
    let line = ranking.lines.iter().find(is_code)?;
    let text = line.repair.as_ref()?.text.clone();
    Some(BTreeMap::from([(files[line.file].path.clone(), text)]))
}
