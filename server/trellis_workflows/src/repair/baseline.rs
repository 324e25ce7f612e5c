//! A run of all tests, repeated after each write: what fails, which failures a code change could fix, and which tests
//! seem to fail for one cause.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use tokio_util::sync::CancellationToken;
use trellis_engine::Diagnosis;
use trellis_engine::repair::{Group, groups};
use trellis_python::Index;
use trellis_sandbox::Tree;

use super::RepairRequest;
use crate::fault::{Exit, Fault, FaultKind};
use crate::localize::{Localization, LocalizeRequest, covers};
use crate::proposals::{Changed, Verifier};
use trellis_project::sources::Workspace;

/// Reason for a test that fails in each run of all tests and passes alone: alone it proves no fix.
const ORDERED: &str = "it fails after other tests and passes alone, so they share state; find the \
                       test that leaves it";

/// Test results of the tree before any further fix.
pub(super) struct Baseline {
    pub(super) found: Localization,
    /// Index of the sources as they were tested.
    pub(super) index: Index,
    /// Groups of failures that can be fixed.
    pub(super) groups: Vec<Group>,
    /// Time at which the tree was read.
    pub(super) text_of: SystemTime,
    /// Failing tests that are not repaired, with the reason: what they need is missing, or they fail
    /// only after other tests.
    pub(super) set_aside: BTreeMap<String, String>,
}

impl Baseline {
    /// Runs all tests on a copy of the tree with the kept fixes.
    pub(super) async fn run(
        order: &RepairRequest,
        verifier: &Verifier,
        cancel: &CancellationToken,
    ) -> Result<Baseline, Fault> {
        let text_of = SystemTime::now();
        let workspace = Workspace::open(&order.root)?;
        let mut index = workspace.snapshot().index;
        for (path, text) in &verifier.kept {
            index.put_text(path, text.clone());
        }
        let search = LocalizeRequest {
            runner: &verifier.opened.runner,
            tree: Tree::Copy { folder: order.root.clone(), changed: verifier.kept.clone() },
            index: &index,
            source_folders: verifier.source_folders.clone(),
            targets: targets(order),
            also: order.also.clone(),
            named: order.tests.iter().chain(&order.failing).cloned().collect(),
            test_timeout: order.test_timeout,
            run_timeout: order.run_timeout,
            raised_by: order.raised_by,
            trials: None,
            history: Some(order.root.clone()),
            cancel,
        };
        let mut found = search.run().await?;
        // Where code varies, luck may be what another run of the tests shows.
        let steady = if found.varies { &[] } else { &found.flaky[..] };
        let ordered = verifier.not_passed(&Changed::new(), &targets(order), steady).await?;
        let ordered: BTreeSet<String> = ordered.into_iter().map(|it| it.id).collect();
        found.flaky.retain(|it| !ordered.contains(it));
        Ok(Baseline::of(found, ordered, text_of, index, order))
    }

    fn of(
        found: Localization,
        ordered: BTreeSet<String>,
        text_of: SystemTime,
        index: Index,
        order: &RepairRequest,
    ) -> Baseline {
        let is_environment = |id: &str| {
            let of_test = found.findings.get(id);
            of_test.filter(|it| it.diagnosis == Diagnosis::Environment)
        };
        let environment = found
            .failures
            .iter()
            .filter_map(|it| Some((it.id.clone(), is_environment(&it.id)?.why.clone())));
        let ordered = ordered.into_iter().map(|id| (id, ORDERED.to_owned()));
        let set_aside: BTreeMap<String, String> = environment.chain(ordered).collect();
        let mut evidence = found.evidence.clone();
        evidence.tests.retain(|it| {
            !it.failed || !(set_aside.contains_key(&it.id) || found.flaky.contains(&it.id))
        });
        let groups = groups(&evidence).into_iter().filter_map(|it| wanted(it, &order.tests));
        Baseline { groups: groups.collect(), set_aside, text_of, found, index }
    }

    /// Returns the number of tests that passed.
    pub(super) fn passing(&self) -> usize {
        self.found.evidence.tests.iter().filter(|it| !it.failed).count()
    }

    /// Returns the ids of failing tests, without flaky ones.
    pub(super) fn failing(&self) -> Vec<String> {
        let failing = self.found.failures.iter().map(|it| it.id.clone());
        failing.filter(|id| !self.found.flaky.contains(id)).collect()
    }

    /// Returns the reason that a requested test is not in any group.
    pub(super) fn refusal(&self, wanted: &[String]) -> Option<Fault> {
        if wanted.is_empty() || !self.groups.is_empty() {
            return None;
        }
        let id = wanted.first()?;
        let (flaky, found) = (self.found.flaky.contains(id), &self.found);
        if let Some(why) = self.set_aside.get(id) {
            let message = format!("{id} is not repaired: {why}");
            return Some(
                Fault::new(Exit::NeedsHuman, message).hint("remove the reason, then try again"),
            );
        }
        if flaky {
            return Some(
                Fault::new(Exit::NeedsHuman, format!("{id} passes when it is run again"))
                    .kind(FaultKind::Flaky)
                    .hint("luck would look like a fix; fix the flaky test first"),
            );
        }
        let covers = |it: &str| covers(id, it);
        let is_known = found.evidence.tests.iter().any(|it| covers(&it.id));
        let what = if is_known { "passes" } else { "does not exist" };
        let failing: Vec<&str> = found.failures.iter().take(5).map(|it| it.id.as_str()).collect();
        let hint = match failing[..] {
            [] => "no test fails".to_owned(),
            _ => format!("these fail: {}", failing.join(", ")),
        };
        Some(Fault::input(format!("the test {id} {what}")).kind(FaultKind::NoFailure).hint(hint))
    }
}

/// Returns the test targets to run.
pub(super) fn targets(order: &RepairRequest) -> Vec<String> {
    if order.suite.is_empty() {
        return Vec::new();
    }
    let covered = |id: &&String| order.suite.iter().any(|it| covers(it, id));
    let more = order.tests.iter().filter(|it| !covered(it));
    order.suite.iter().chain(more).cloned().collect()
}

/// Reduces a group to the requested tests.
fn wanted(mut group: Group, tests: &[String]) -> Option<Group> {
    if !tests.is_empty() {
        group.tests.retain(|id| tests.iter().any(|it| covers(it, id)));
    }
    (!group.tests.is_empty()).then_some(group)
}
