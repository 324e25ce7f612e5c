//! Model requests of a node or a subgraph.

use futures_util::future::join_all;
use trellis_engine::node::Event;
use trellis_engine::{ModelRequest, Reply};
use trellis_plan::NodeIx;

use crate::generate::worker::{RunContext, Worker, WorkerError};
use crate::llm_client::{CallContext, CallError, Completion};
use trellis_store::cost::Cost;

impl Worker {
    pub(super) async fn ask(&mut self, ask: &ModelRequest) -> Result<Event, WorkerError> {
        let mut cost = std::mem::take(&mut self.cost);
        let answer = send(&self.run_context, &self.id(), Some(self.node), ask, &mut cost).await;
        self.cost = cost;
        Ok(Event::Reply(answer?.into_reply()))
    }

    /// Sends all requests at once, so that only the slowest reply determines the time.
    pub(super) async fn vote(&mut self, asks: &[ModelRequest]) -> Result<Event, WorkerError> {
        let (run_context, id, node) = (self.run_context.clone(), self.id(), Some(self.node));
        let votes = asks.iter().map(async |ask| {
            let mut cost = Cost::default();
            let answer = send(&run_context, &id, node, ask, &mut cost).await;
            (answer, cost)
        });
        let mut replies = Vec::new();
        for (answer, cost) in join_all(votes).await {
            self.cost += &cost;
            replies.push(match answer?.into_reply() {
                Reply::Text(text) => Ok(text),
                // An unusable reply counts as an empty vote.
                Reply::Unusable { .. } | Reply::Edited(_) => Ok(String::new()),
                Reply::Failed { reason } => Err(reason),
            });
        }
        Ok(Event::Votes(replies))
    }
}

/// Sends a request of a node or a subgraph and adds its cost.
pub(crate) async fn send(
    run_context: &RunContext,
    id: &str,
    node: Option<NodeIx>,
    ask: &ModelRequest,
    cost: &mut Cost,
) -> Result<Completion, WorkerError> {
    let call = CallContext { id, journal: &run_context.journal, cancel: &run_context.cancel };
    let mut stage = Default::default();
    let answer = run_context.llm.ask(call, ask, &mut stage).await;
    cost.model_calls += stage.calls;
    cost.asked(ask.stage.as_str(), stage);
    answer.map_err(|halt| worker_error(halt, node))
}

/// Converts a call's error into the worker's error.
pub(super) fn worker_error(halt: CallError, node: Option<NodeIx>) -> WorkerError {
    match halt {
        CallError::Cancelled => WorkerError::Cancelled,
        CallError::Fault(fault) => WorkerError::Fault(fault),
        CallError::Budget(exhausted) => WorkerError::Budget(exhausted),
        CallError::Journal(error) => WorkerError::Journal { node, error },
    }
}
