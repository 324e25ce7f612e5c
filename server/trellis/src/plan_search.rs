//! A planning graph, to be searched by what a failure says.

use tokio::sync::Mutex;
use trellis_plan::{Evidence, NodeIx, Plan, PlanSearch};

use crate::embedding_index::Index;

/// Opened by the first search.
pub(crate) struct SemanticPlanSearch {
    search: PlanSearch,
    /// Whose vectors say what texts mean.
    embedder: String,
    space: Mutex<Option<Index>>,
}

/// A query, ready to be asked: similarities where the embedder could be reached.
pub(crate) struct Wanted {
    pub(crate) words: String,
    similarities: Result<Vec<f32>, String>,
}

impl SemanticPlanSearch {
    pub(crate) fn of(plan: &Plan) -> SemanticPlanSearch {
        let embedder = std::env::var("TRELLIS_EMBEDDINGS").unwrap_or_else(|_| "builtin".to_owned());
        SemanticPlanSearch { search: PlanSearch::of(plan), embedder, space: Mutex::new(None) }
    }

    /// Gets queries ready.
    pub(crate) async fn wanted(&self, queries: Vec<String>) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for words in queries {
            let similarities = self.similarities(&words).await;
            wanted.push(Wanted { words, similarities });
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

    /// The best nodes, those of the subgraph before all others. Without the embedder, by words alone.
    ///
    /// # Errors
    ///
    /// Neither vectors nor words find anything, and the former because they cannot be had.
    pub(crate) fn find(
        &self,
        plan: &Plan,
        wanted: &Wanted,
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
