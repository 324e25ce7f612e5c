//! The drafts accepted so far, shared with every worker that builds on them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trellis_engine::Draft;
use trellis_plan::NodeIx;

/// Drafts of settled nodes: `Some` for nodes that passed, `None` for those that did not. Cheap to
/// clone.
#[derive(Clone, Debug, Default)]
pub(super) struct AcceptedDrafts {
    settled: Arc<HashMap<NodeIx, Option<Arc<Draft>>>>,
    /// Accepted integration tests by subgraph, and acceptance tests by path.
    flows: Arc<BTreeMap<String, IntegrationTests>>,
}

/// A file with tests of several nodes together.
#[derive(Clone, Debug)]
pub(super) struct IntegrationTests {
    pub path: String,
    pub text: Arc<str>,
}

impl AcceptedDrafts {
    pub(super) fn put(&mut self, node: NodeIx, draft: Option<Arc<Draft>>) {
        Arc::make_mut(&mut self.settled).insert(node, draft);
    }

    pub(super) fn put_flow(&mut self, subgraph: &str, flow: IntegrationTests) {
        Arc::make_mut(&mut self.flows).insert(subgraph.to_owned(), flow);
    }

    pub(super) fn remove_flow(&mut self, name: &str) {
        Arc::make_mut(&mut self.flows).remove(name);
    }

    /// Returns the accepted integration tests by subgraph, and acceptance tests by path.
    pub(super) fn flows(&self) -> &BTreeMap<String, IntegrationTests> {
        &self.flows
    }

    pub(super) fn draft(&self, node: NodeIx) -> Option<Arc<Draft>> {
        self.settled.get(&node).cloned().flatten()
    }

    pub(super) fn has_all(&self, nodes: &[NodeIx]) -> bool {
        nodes.iter().all(|node| self.settled.contains_key(node))
    }
}
