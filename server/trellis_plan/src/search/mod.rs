//! Finds nodes of a plan, and other named items, by typed queries.

mod embedding_text;
mod index;
mod name_match;
mod words;

use std::ops::Range;

pub use embedding_text::EmbeddingText;
pub use index::{Document, Evidence, Hit, Query, SearchIndex};
pub use words::spoken;

use crate::node::NodeIx;
use crate::plan::Plan;

/// The leaves of a plan prepared for search; composites are not searched.
#[derive(Clone, Debug)]
pub struct PlanSearch {
    index: SearchIndex,
    facets: EmbeddingText,
    /// The node of each document.
    nodes: Vec<NodeIx>,
}

/// A found node.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHit {
    pub node: NodeIx,
    /// Score, as in [`Hit::score`].
    pub score: f32,
    /// Byte ranges of matched words in [`Plan::qualified_name`] and in the docstring.
    pub in_name: Vec<Range<usize>>,
    pub in_docstring: Vec<Range<usize>>,
}

impl PlanSearch {
    /// Indexes names, paths and docstrings.
    pub fn of(plan: &Plan) -> PlanSearch {
        let nodes: Vec<NodeIx> = plan.indices().filter(|&ix| plan.node(ix).is_leaf()).collect();
        let names: Vec<_> = nodes.iter().map(|&ix| plan.qualified_name(ix)).collect();
        let documents = nodes.iter().zip(&names).map(|(&ix, name)| Document {
            name,
            path: plan.node(ix).file_path.as_deref().unwrap_or_default(),
            text: docstring(plan, ix),
        });
        let facets = EmbeddingText::of(documents.clone());
        PlanSearch { index: SearchIndex::new(documents), facets, nodes }
    }

    /// Returns the searchable nodes, in the order that the similarities of [`Evidence`] must have.
    pub fn nodes(&self) -> &[NodeIx] {
        &self.nodes
    }

    /// Returns the texts of the nodes for an embedding model, as a basis of similarities.
    pub fn facets(&self) -> &EmbeddingText {
        &self.facets
    }

    /// Returns the best `top` nodes, best first, equal ones in file order, and all that are as good
    /// as the last of them; `None` if the query has no words. With a subgraph, returns only its
    /// nodes.
    pub fn find(
        &self,
        plan: &Plan,
        query: &str,
        evidence: Evidence<'_>,
        subgraph: Option<&str>,
        top: usize,
    ) -> Option<Vec<NodeHit>> {
        let query = self.index.query(query)?;
        let inside = |document: usize| {
            let of_node = plan.node(self.nodes[document]).subgraph.as_deref();
            subgraph.is_none_or(|wanted| of_node == Some(wanted))
        };
        let hits = self.index.search(&query, evidence, inside, top);
        Some(hits.into_iter().map(|hit| self.shown(plan, &query, hit)).collect())
    }

    fn shown(&self, plan: &Plan, query: &Query, hit: Hit) -> NodeHit {
        let node = self.nodes[hit.document];
        NodeHit {
            node,
            score: hit.score,
            in_name: query.matches(&plan.qualified_name(node)),
            in_docstring: query.matches(docstring(plan, node)),
        }
    }
}

fn docstring(plan: &Plan, ix: NodeIx) -> &str {
    plan.node(ix).docstring.as_deref().unwrap_or_default()
}
