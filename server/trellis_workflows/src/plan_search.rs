//! Semantic search over a planning graph.

use tokio::sync::Mutex;
use trellis_plan::{Evidence, NodeIx, Plan, PlanSearch};

use crate::embedding_index::Index;

/// A search whose embedding index is opened on first use.
pub struct SemanticPlanSearch {
    search: PlanSearch,
    /// The embedder of the vectors.
    embedder: String,
    space: Mutex<Option<Index>>,
}

/// A prepared query, with similarities if the embedder was available.
pub struct PreparedQuery {
    pub words: String,
    similarities: Result<Vec<f32>, String>,
}

impl SemanticPlanSearch {
    pub fn of(plan: &Plan) -> SemanticPlanSearch {
        let embedder = std::env::var("TRELLIS_EMBEDDINGS").unwrap_or_else(|_| "builtin".to_owned());
        SemanticPlanSearch { search: PlanSearch::of(plan), embedder, space: Mutex::new(None) }
    }

    /// Prepares queries.
    pub async fn prepare(&self, queries: Vec<String>) -> Vec<PreparedQuery> {
        let mut wanted = Vec::new();
        for words in queries {
            let similarities = self.similarities(&words).await;
            wanted.push(PreparedQuery { words, similarities });
        }
        wanted
    }

    async fn similarities(&self, words: &str) -> Result<Vec<f32>, String> {
        let mut space = self.space.lock().await;
        if space.is_none() {
            let opened = Index::open(&self.embedder, self.search.facets()).await;
            *space = Some(opened.map_err(|fault| fault.message)?);
        }
        match space.as_mut() {
            Some(space) => space.similarities(words).await.map_err(|fault| fault.message),
            None => Ok(Vec::new()),
        }
    }

    /// Returns the best nodes; those of the subgraph replace all others if there are any. Without
    /// the embedder, only words count.
    ///
    /// # Errors
    ///
    /// Nothing was found, and the embedder was unavailable.
    pub fn find(
        &self,
        plan: &Plan,
        wanted: &PreparedQuery,
        subgraph: Option<&str>,
        top: usize,
    ) -> Result<Vec<NodeIx>, String> {
        let evidence = match &wanted.similarities {
            Ok(similarities) => Evidence::Both(similarities),
            Err(_) => Evidence::Words,
        };
        let find = |subgraph| self.search.find(plan, &wanted.words, evidence, subgraph, top);
        let within = find(subgraph).unwrap_or_default();
        let hits = if within.is_empty() { find(None).unwrap_or_default() } else { within };
        match &wanted.similarities {
            Err(error) if hits.is_empty() => Err(error.clone()),
            _ => Ok(hits.into_iter().map(|hit| hit.node).collect()),
        }
    }
}
