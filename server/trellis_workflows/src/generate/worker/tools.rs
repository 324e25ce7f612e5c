//! A fix made with tools: an agent conversation about a copy of the files that the tests see.

use std::collections::BTreeSet;
use std::sync::Arc;

use trellis_engine::node::Event;
use trellis_engine::{ModelRequest, Reply};

use crate::agent::run;
use crate::generate::worker::ask::worker_error;
use crate::generate::worker::{RunContext, Worker, WorkerError};
use crate::llm_client::CallContext;
use crate::tools::{Limits, PlanSearch, PlannedNode, ToolSet};
use trellis_store::cost::StageCost;

/// Maximum number of nodes that one search of the plan returns.
const TOP: usize = 5;

impl Worker {
    /// Lets the model search and edit until it is done.
    pub(super) async fn ask_with_tools(
        &mut self,
        ask: &ModelRequest,
    ) -> Result<Event, WorkerError> {
        let run_context = self.run_context.clone();
        let before = run_context.tree(&self.assemble(&self.draft)?.files);
        let mut toolbox = ToolSet::new(&before, self.write_guard(), Limits::default())
            .with_suspects(self.suspects.clone())
            .with_plan(plan_search(&run_context))
            .with_lookups(self.trail.left());
        let id = self.id();
        let call =
            CallContext { id: &id, journal: &run_context.journal, cancel: &run_context.cancel };
        let mut cost = StageCost::default();
        let reasks = run_context.policy.malformed_reasks;
        let reply = run(&run_context.llm, call, ask, &mut toolbox, reasks, &mut cost).await;
        self.cost.model_calls += cost.calls;
        self.cost.asked(ask.stage.as_str(), cost);
        for it in toolbox.lookups() {
            // The tool set allows no more lookups than the trail has left.
            let _ = self.trail.looked_up(it.tool, &it.query, it.found.as_deref());
        }
        let reply = reply.map_err(|halt| worker_error(halt, Some(self.node)))?;
        let is_idle = matches!(&reply, Reply::Edited(edit) if edit.files.is_empty());
        Ok(match is_idle && toolbox.is_exhausted() {
            true => Event::Exhausted(self.trail.all().cloned().collect()),
            false => Event::Reply(reply),
        })
    }

    /// Returns a check that permits edits only of the node's own file and of suspects' files that
    /// passed before.
    fn write_guard(&self) -> impl Fn(&str) -> Option<&'static str> + Send + Sync + use<> {
        let own = self.run_context.work.items[&self.node].path.clone();
        let open: BTreeSet<String> = self.amendable.iter().cloned().chain([own]).collect();
        move |path| match path {
            _ if open.contains(path) => None,
            _ if path.starts_with("tests/") => {
                Some("tests are read-only while the implementation is fixed")
            }
            _ => Some("it belongs to other nodes"),
        }
    }
}

fn plan_search(run_context: &Arc<RunContext>) -> Arc<PlanSearch> {
    let (run_context, runtime) = (run_context.clone(), tokio::runtime::Handle::current());
    Arc::new(move |words| {
        let wanted = runtime.block_on(run_context.graph.prepare(vec![words.to_owned()]));
        let Some(wanted) = wanted.first() else { return Ok(Vec::new()) };
        let nodes = run_context.graph.find(&run_context.work.plan, wanted, None, TOP)?;
        let items = nodes.iter().filter_map(|ix| run_context.work.items.get(ix));
        let planned = items.map(|item| PlannedNode {
            id: item.id.clone(),
            path: item.path.clone(),
            symbol: item.qualified_name(),
            docstring: item.docstring.clone(),
        });
        Ok(planned.collect())
    })
}
