//! Methods that make, change and compare planning graphs.

use std::path::PathBuf;
use std::sync::Arc;

use super::catalog::blocking;
use super::context::Context;
use super::graphs::{Placed, disk, located};
use super::table::{Effect, Table};
use crate::api::plan_change::{EditPlanParams, PlanChange, edit_plan};
use crate::api::plan_diff::plan_diff;
use crate::api::plan_draft::{DraftPlanParams, DraftPlanResult};
use crate::api::plan_from_code::{PlanFromCodeParams, PlanFromCodeResult, plan_from_code};
use crate::api::plan_trace::plan_trace;
use crate::api::run_tests::cancelled;
use crate::jobs::JobContext;
use trellis_workflows::fault::Fault;
use trellis_workflows::plan_draft::draft;

pub(super) fn register(table: &mut Table) {
    disk(table, "trellis/diffPlans", plan_diff);
    disk(table, "trellis/tracePlan", plan_trace);
    table.call("trellis/editPlan", Effect::Writes, |context, params: EditPlanParams| async move {
        let params = located(&context, params).await;
        blocking(move || edit_plan(&params)).await
    });
    table.work(
        "trellis/planFromCode",
        Effect::Writes,
        |it: &PlanFromCodeParams| format!("a plan from {}", it.root.display()),
        from_code,
    );
    table.work(
        "trellis/draftPlan",
        Effect::Runs,
        |it: &DraftPlanParams| format!("a plan from {}", it.spec.display()),
        draft_plan,
    );
}

impl Placed for EditPlanParams {
    fn paths(&mut self) -> Vec<&mut PathBuf> {
        let mut all = vec![&mut self.graph];
        all.extend(&mut self.out);
        if let PlanChange::Spec { spec, .. } = &mut self.edit {
            all.push(spec);
        }
        all
    }
}

/// Derives a graph; the file is written last, so that a cancelled job leaves none.
async fn from_code(
    context: Arc<Context>,
    params: PlanFromCodeParams,
    duty: JobContext,
) -> Result<PlanFromCodeResult, Fault> {
    let mut params = located(&context, params).await;
    let out = params.out.take();
    duty.reporter.note(format_args!("reading the code of {}", params.root.display()));
    let made = tokio::select! {
        () = duty.control.cancel.cancelled() => return Err(cancelled("the plan from the code")),
        made = blocking(move || plan_from_code(&params)) => made?,
    };
    match out {
        Some(out) => blocking(move || made.written_to(&out)).await,
        None => Ok(made),
    }
}

async fn draft_plan(
    context: Arc<Context>,
    params: DraftPlanParams,
    duty: JobContext,
) -> Result<DraftPlanResult, Fault> {
    let folder = context.root(None).await;
    let mut params = located(&context, params).await;
    params.model = params.model.resolve_recordings(&folder);
    if let Some(editor) = context.editor.clone() {
        params.model = params.model.with_editor(editor);
    }
    Ok(draft(params.into(), &duty.reporter, &duty.control).await?.into())
}
