//! Methods for planning graphs and the projects generated from them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use trellis_plan::Plan;

use super::catalog::blocking;
use super::context::Context;
use super::table::{Effect, Table};
use crate::api::code::{CodeViewParams, code_view};
use crate::api::node::{NodeParams, node};
use crate::api::plan::{
    self as questions, Around, DialectName, PlanCheckParams, PlanDepsParams, PlanFlowsParams,
    PlanLevelsParams, PlanOrderParams, PlanShowParams,
};
use crate::api::plan_diagnostics::{PlanDiagnosticsParams, plan_diagnostics};
use crate::api::plan_diff::PlanDiffParams;
use crate::api::plan_draft::DraftPlanParams;
use crate::api::plan_estimate::{PlanEstimateParams, plan_estimate};
use crate::api::plan_from_code::PlanFromCodeParams;
use crate::api::plan_node::{PlanNodeParams, plan_node};
use crate::api::plan_search::{PlanSearchParams, Searched};
use crate::api::plan_trace::PlanTraceParams;
use crate::api::rollback::{RollbackParams, rollback};
use crate::api::status::{ReportParams, StatusParams, report, status};
use crate::api::tasks_status::{TasksStatusParams, tasks_status};
use trellis_workflows::fault::Fault;

/// Parameters with paths relative to the first folder of the workspace.
pub(super) trait Placed {
    fn paths(&mut self) -> Vec<&mut PathBuf>;
}

macro_rules! placed {
    ($($params:ty: $($path:ident)* $(, maybe $maybe:ident)*;)*) => {$(
        impl Placed for $params {
            fn paths(&mut self) -> Vec<&mut PathBuf> {
                #[allow(unused_mut)]
                let mut all = vec![$(&mut self.$path),*];
                $(all.extend(&mut self.$maybe);)*
                all
            }
        }
    )*};
}

placed! {
    PlanCheckParams: graph;
    PlanOrderParams: graph;
    PlanShowParams: graph;
    PlanNodeParams: graph;
    PlanLevelsParams: graph;
    PlanFlowsParams: graph;
    PlanSearchParams: graph;
    PlanDepsParams: graph, maybe status;
    StatusParams: out;
    TasksStatusParams: out;
    ReportParams: out;
    NodeParams: out;
    PlanDiagnosticsParams: graph;
    PlanEstimateParams: graph;
    RollbackParams: out;
    CodeViewParams: , maybe root, maybe plan;
    PlanDiffParams: old new;
    PlanTraceParams: graph, maybe spec, maybe run;
    PlanFromCodeParams: root, maybe out;
    DraftPlanParams: spec out;
}

pub(super) fn register(table: &mut Table) {
    graph(table, "trellis/planCheck", |plan, _: &PlanCheckParams| Ok(questions::check(plan)));
    graph(table, "trellis/planOrder", |plan, _: &PlanOrderParams| Ok(questions::order(plan)));
    graph(table, "trellis/planShow", |plan, _: &PlanShowParams| Ok(questions::show(plan)));
    graph(table, "trellis/planNode", plan_node);
    graph(table, "trellis/planLevels", |plan, _: &PlanLevelsParams| Ok(questions::levels(plan)));
    graph(table, "trellis/planFlows", |plan, params| Ok(questions::ways(plan, params)));
    graph(table, "trellis/planDeps", |plan, params| Ok(Around::of(plan, params)?.result(plan)));
    table.call(
        "trellis/planSearch",
        Effect::Reads,
        |context, params: PlanSearchParams| async move {
            let params = located(&context, params).await;
            let (graph, dialect) = (params.graph.clone(), params.dialect);
            let plan = blocking(move || questions::read(&graph, dialect)).await?;
            let mut searched = Searched::of(&plan, &params).await?;
            let hits = searched.find(&params.query).await?;
            Ok(searched.result(&params.query, &hits))
        },
    );
    disk(table, "trellis/status", status);
    disk(table, "trellis/tasksStatus", tasks_status);
    disk(table, "trellis/report", report);
    disk(table, "trellis/node", node);
    disk(table, "trellis/planDiagnostics", plan_diagnostics);
    disk(table, "trellis/planEstimate", plan_estimate);
    table.call("trellis/rollback", Effect::Writes, |context, params: RollbackParams| async move {
        // Git runs programs that a repository's settings name.
        context.may_run()?;
        let params = located(&context, params).await;
        blocking(move || rollback(&params)).await
    });
    table.call(
        "trellis/codeView",
        Effect::Reads,
        |context, mut params: CodeViewParams| async move {
            params.root = Some(context.root(params.root.as_deref()).await);
            let params = located(&context, params).await;
            blocking(move || code_view(&params)).await
        },
    );
}

pub(super) async fn located<P: Placed>(context: &Context, mut params: P) -> P {
    let root = context.root(None).await;
    params.paths().into_iter().for_each(|path| *path = root.join(&*path));
    params
}

/// Parameters that name a graph.
trait OfGraph {
    fn graph(&self) -> (&Path, Option<DialectName>);
}

macro_rules! of_graph {
    ($($params:ty)*) => {$(
        impl OfGraph for $params {
            fn graph(&self) -> (&Path, Option<DialectName>) {
                (&self.graph, self.dialect)
            }
        }
    )*};
}

of_graph!(PlanNodeParams PlanCheckParams PlanOrderParams PlanShowParams PlanLevelsParams PlanFlowsParams PlanDepsParams);

/// Registers a query about one graph.
fn graph<P, R>(table: &mut Table, name: &'static str, answer: fn(&Plan, &P) -> Result<R, Fault>)
where
    P: Placed + OfGraph + DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    table.call(name, Effect::Reads, move |context: Arc<Context>, params: P| async move {
        let params = located(&context, params).await;
        let ask = move || {
            let (graph, dialect) = params.graph();
            answer(&questions::read(graph, dialect)?, &params)
        };
        blocking(ask).await
    });
}

/// Registers a query about files of a folder.
pub(super) fn disk<P, R>(table: &mut Table, name: &'static str, answer: fn(&P) -> Result<R, Fault>)
where
    P: Placed + DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    table.call(name, Effect::Reads, move |context: Arc<Context>, params: P| async move {
        let params = located(&context, params).await;
        blocking(move || answer(&params)).await
    });
}
