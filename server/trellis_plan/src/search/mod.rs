//! Finding nodes of a plan, and whatever else has a name, by what somebody types.

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

/// The leaves of a plan, ready to be searched; what only groups others is no answer.
#[derive(Clone, Debug)]
pub struct PlanSearch {
    index: SearchIndex,
    facets: EmbeddingText,
    /// The node of each document.
    nodes: Vec<NodeIx>,
}

/// A node that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHit {
    pub node: NodeIx,
    /// As [`Hit::score`].
    pub score: f32,
    /// Matched words, in bytes of [`Plan::qualified_name`] and of the docstring.
    pub in_name: Vec<Range<usize>>,
    pub in_docstring: Vec<Range<usize>>,
}

impl PlanSearch {
    /// Reads names, paths and docstrings.
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

    /// The nodes that can be found, in the order in which [`Evidence`] has their similarities.
    pub fn nodes(&self) -> &[NodeIx] {
        &self.nodes
    }

    /// What a model of meaning is to see of them, to make similarities from.
    pub fn facets(&self) -> &EmbeddingText {
        &self.facets
    }

    /// The best `top` nodes, best first, equal ones in file order, and all as good as the last of them; `None` if there is
    /// no word in the query. With a subgraph only nodes of it.
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
