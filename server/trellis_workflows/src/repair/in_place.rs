//! Repairs a tree in place, or only as a patch: opens everything that a repair needs, runs its
//! loop, and writes the report and the commit.

use trellis_engine::repair::{Event, RepairMachine};
use trellis_os::wording::counted;
use trellis_sandbox::test_ids::file_of;

use super::RepairRequest;
use super::approver::Approver;
use super::artifacts::Artifacts;
use super::driver::RepairRun;
use super::finish_commits::{commit_all, commit_left, end_commit};
use super::report::RepairReport;
use super::uncommitted::Uncommitted;
use crate::driver::drive;
use crate::fault::{Fault, FaultKind};
use crate::job_control::JobControl;
use crate::proposals::{Store, Times, Verifier, VerifyMode};
use crate::reporter::Reporter;
use trellis_project::edits;
use trellis_store::origin::Workflow;

/// Repairs a tree in place, or only as a patch.
pub(super) async fn repair(
    order: &RepairRequest,
    person: &Approver<'_>,
    reporter: &Reporter,
    control: &JobControl,
) -> Result<RepairReport, Fault> {
    refuse_unknown(order)?;
    edits::recover(&order.root)?;
    Store::of(&order.root).recover().await?;
    let origin = control.origin(Workflow::Repair);
    end_commit(order, reporter, &origin)?;
    if order.commit {
        commit_left(order, reporter, &origin)?;
    }
    let testing = VerifyMode {
        sandbox: order.sandbox.clone(),
        reporter,
        times: Times {
            test: Some(order.test_timeout),
            run: order.run_timeout,
            raised_by: order.raised_by,
        },
        cancel: control.cancel.clone(),
    };
    let verifier = Verifier::open(&order.home, &order.root, &testing).await?;
    let mut context = RepairRun {
        order,
        person,
        reporter,
        control,
        verifier,
        session: None,
        baseline: None,
        baselines: 0,
        artifacts: Artifacts::new(order),
        uncommitted: Uncommitted::new(order),
        code_graph: None,
    };
    let mut machine = RepairMachine::new(order.limits);
    if person.is_waiting_editor() {
        machine = machine.awaiting_proposals();
    }
    let end = drive(&mut machine, Event::Started, &mut context).await;
    let RepairRun { verifier, mut artifacts, baseline, session, .. } = context;
    artifacts.tested = verifier.opened.runner.totals();
    artifacts.notes.extend(verifier.opened.runner.engines_used());
    artifacts.notes.extend(verifier.close().await);
    if let (Some(session), Ok(end)) = (&session, &end)
        && !end.given_up.is_empty()
    {
        session.gave_up(counted(end.given_up.len(), "cause is left", "causes are left"))?;
    }
    artifacts.spent = session.map(|it| it.spent());
    let result = artifacts.finish(baseline.as_ref(), end.as_ref().ok());
    // Fixes kept before a fault stay, and the report lists them.
    end?;
    let mut result = result?;
    if order.commit && !result.all.is_empty() {
        commit_all(order, &mut result, reporter, &origin)?;
    }
    Ok(result)
}

/// Refuses tests whose file does not exist. Ids may be relative to a parent folder, where pytest
/// has its root.
fn refuse_unknown(order: &RepairRequest) -> Result<(), Fault> {
    for id in order.tests.iter().chain(&order.suite) {
        let path = file_of(id);
        if !order.root.ancestors().any(|it| it.join(path).exists()) {
            return Err(Fault::input(format!("{path} does not exist"))
                .kind(FaultKind::NoFailure)
                .hint(
                    "give ids, files or folders relative to the project, such as \
                 tests/test_a.py::test_b",
                ));
        }
    }
    Ok(())
}
