//! Looks for a fix among small edits of suspicious lines, so that no model need be asked.

use std::collections::BTreeMap;

use trellis_engine::EditableFiles as _;
use trellis_engine::localize::{Evidence, LineSuspect, TestEvidence};
use trellis_engine::repair::{AttemptResult, Event, Group};
use trellis_sandbox::Tree;

use super::active_group::ActiveGroup;
use super::driver::{RepairRun, lost};
use crate::fault::Fault;
use crate::localize::{Localization, LocalizeRequest};

/// Number of suspects whose files' tests take part in the trials.
const SUSPECTS: usize = 10;
/// Origin of a fix, as people read it.
pub(super) const BY_TRIAL: &str = "found by trying small edits; no model was asked";

impl RepairRun<'_> {
    /// Tries small edits against the tests of a group, whose suspects are then ranked by the
    /// results. Returns the new texts of an edit that is proven.
    pub(super) async fn try_small_edits(
        &mut self,
        group: &mut Group,
    ) -> Result<Option<BTreeMap<String, String>>, Fault> {
        let Some(baseline) = self.baseline.as_ref().filter(|_| self.order.trials.is_some()) else {
            return Ok(None);
        };
        if group.tests.iter().any(|it| !it.contains("::")) {
            return Ok(None);
        }
        let evidence = &baseline.found.evidence;
        let search = LocalizeRequest {
            runner: &self.verifier.opened.runner,
            tree: Tree::Copy {
                folder: self.order.root.clone(),
                changed: self.verifier.kept.clone(),
            },
            index: &baseline.index,
            source_folders: self.verifier.source_folders.clone(),
            targets: targets(group, evidence),
            also: self.order.also.clone(),
            named: group.tests.clone(),
            test_timeout: self.order.test_timeout,
            run_timeout: self.order.run_timeout,
            raised_by: self.order.raised_by,
            trials: self.order.trials,
            history: Some(self.order.root.clone()),
            cancel: &self.control.cancel,
        };
        let found = match search.run().await {
            Err(fault) if self.control.cancel.is_cancelled() => return Err(fault),
            Err(fault) => {
                self.reporter.note(format_args!("  no small edits were tried: {}", fault.message));
                return Ok(None);
            }
            Ok(found) => found,
        };
        let files = self.files()?;
        let index = &baseline.index;
        // What you have written since then must not be undone.
        let is_unchanged = |path: &String| {
            let tried = index.file(path).and_then(|it| index.text(it));
            tried.is_some_and(|it| files.text(path).is_some_and(|now| *now == *it))
        };
        let proven = proven(&found).filter(|it| it.keys().all(is_unchanged));
        let paths = |it: &Evidence| it.files.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        if paths(&found.evidence) == paths(&files.found.evidence) {
            group.ranking = found.ranking;
        }
        Ok(proven)
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
        let result: AttemptResult = self.evaluate_change(&mut work, number, texts).await?;
        Ok(Event::Tried { work, result })
    }
}

/// Returns the tests of a group, and the passing tests that execute a file of its suspects.
fn targets(group: &Group, evidence: &Evidence) -> Vec<String> {
    let suspects = group.ranking.suspects.iter().filter(|it| !evidence.files[it.file].is_test);
    let files: Vec<usize> = suspects.take(SUSPECTS).map(|it| it.file).collect();
    let executes = |it: &&TestEvidence| {
        let mut lines = files.iter().filter_map(|file| it.lines.get(file));
        !it.failed && (!it.measured || lines.any(|it| !it.is_empty()))
    };
    let passing = evidence.tests.iter().filter(executes).map(|it| it.id.clone());
    group.tests.iter().cloned().chain(passing).collect()
}

/// Returns the new texts of the likeliest edit that is proven to repair the failing tests.
fn proven(found: &Localization) -> Option<BTreeMap<String, String>> {
    let files = &found.evidence.files;
    let is_code = |it: &&LineSuspect| it.is_proven && !files[it.file].is_test;
    let line = found.ranking.lines.iter().find(is_code)?;
    let text = line.repair.as_ref()?.text.clone();
    Some(BTreeMap::from([(files[line.file].path.clone(), text)]))
}
