//! What has been accepted so far, shared with everyone who builds on it.

use std::collections::HashMap;
use std::sync::Arc;

use cycle::Draft;
use plan::NodeIx;

/// Settled nodes: with their text when they passed, without when they did not. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shelf {
    settled: Arc<HashMap<NodeIx, Option<Arc<Draft>>>>,
}

impl Shelf {
    pub(crate) fn put(&mut self, node: NodeIx, draft: Option<Arc<Draft>>) {
        Arc::make_mut(&mut self.settled).insert(node, draft);
    }

    pub(crate) fn draft(&self, node: NodeIx) -> Option<Arc<Draft>> {
        self.settled.get(&node).cloned().flatten()
    }

    pub(crate) fn has_all(&self, nodes: &[NodeIx]) -> bool {
        nodes.iter().all(|node| self.settled.contains_key(node))
    }
}
