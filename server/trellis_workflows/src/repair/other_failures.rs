//! Failing tests of other groups that speak against a small edit.

use std::collections::BTreeSet;

use trellis_engine::localize::TestEvidence;
use trellis_engine::repair::Group;

use super::driver::{RepairRun, lost};
use super::trial_search::TrialFix;
use crate::fault::Fault;
use crate::proposals::Changed;

impl RepairRun<'_> {
    /// Takes the proof from an edit with which a test of another group still fails that runs the
    /// edited line: if two groups have one cause, an edit satisfies half of the tests too easily.
    pub(super) async fn weighed_by_others(
        &self,
        group: &Group,
        mut found: TrialFix,
    ) -> Result<TrialFix, Fault> {
        if !found.is_proven {
            return Ok(found);
        }
        let others = self.others_at(group, found.at)?;
        let texts = found.texts.iter();
        let changed: Changed =
            texts.map(|(path, text)| (path.clone(), text.as_str().into())).collect();
        let still = self.verifier.not_passed(&changed, &others, &others).await?;
        if let Some(first) = still.first() {
            found.is_proven = false;
            found.shown += &format!(" ({} runs this line as well and still fails)", first.id);
        }
        Ok(found)
    }

    /// Returns the failing tests of other groups that run a line and fail by the same exception as a
    /// test of this group; others fail for another reason.
    fn others_at(&self, group: &Group, (file, line): (usize, u32)) -> Result<Vec<String>, Fault> {
        let baseline = self.baseline.as_ref().ok_or_else(lost)?;
        let evidence = &baseline.found.evidence;
        let (_, first) = evidence.statement_line((file, line));
        let is_own = |it: &TestEvidence| group.tests.contains(&it.id);
        let exception = |it: &TestEvidence| it.failure.as_ref().map(|it| it.exception.clone());
        let own: BTreeSet<_> =
            evidence.tests.iter().filter(|it| is_own(it)).map(exception).collect();
        let runs = |it: &TestEvidence| it.lines.get(&file).is_some_and(|it| it.contains(&first));
        let set_aside = |id: &str| {
            baseline.set_aside.contains_key(id) || baseline.found.flaky.iter().any(|it| it == id)
        };
        let others = evidence.tests.iter().filter(|it| {
            it.failed
                && !is_own(it)
                && runs(it)
                && own.contains(&exception(it))
                && !set_aside(&it.id)
        });
        Ok(others.map(|it| it.id.clone()).collect())
    }
}
