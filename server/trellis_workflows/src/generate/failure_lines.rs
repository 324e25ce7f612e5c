//! Report lines for nodes that did not pass.

use trellis_engine::assembly::{FailureFacts, NodeLine, recommendation, root_cause};

use crate::generate::dispatcher::Dispatcher;

/// Returns the report line of a node that did not pass, with the journal's facts if they belong to
/// the same `reason`.
pub(super) fn node_line(
    owner: &Dispatcher,
    known: Option<&FailureFacts>,
    id: &str,
    reason: &str,
) -> NodeLine {
    let item =
        owner.run_context.work.plan.find(id).and_then(|ix| owner.run_context.work.items.get(&ix));
    let name = item.map(trellis_engine::Item::qualified_name).unwrap_or_default();
    let facts = FailureFacts {
        name: name.clone(),
        path: item.map(|it| it.path.clone()).unwrap_or_default(),
        ..known.filter(|it| it.reason == reason).cloned().unwrap_or_default()
    };
    NodeLine {
        id: id.to_owned(),
        name,
        reason: reason.to_owned(),
        fixes: owner.checkpoint.get(id).map_or(0, |entry| entry.retry_count),
        root_cause: root_cause(&facts),
        recommendation: recommendation(&facts),
    }
}
