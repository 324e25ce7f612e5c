//! Finds nodes of a planning graph by a typed query.

use std::collections::BTreeSet;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_plan::{Evidence, NodeHit, Plan, PlanSearch};

use super::plan::DialectName;
use trellis_workflows::embedding_index::Index;
use trellis_workflows::fault::{Exit, Fault};

/// Finds nodes by name in any spelling, or by a description of what they do.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanSearchParams {
    /// The planning graph, a JSON file.
    pub graph: PathBuf,
    /// Read the graph in this format, instead of detecting it.
    #[serde(default)]
    pub dialect: Option<DialectName>,
    /// The search text: a name, a description, an error message.
    pub query: String,
    /// The number of nodes to show; nodes as good as the last one are included. 5 if left out.
    #[serde(default = "five")]
    pub top: u32,
    /// Only nodes of this subgraph.
    #[serde(default)]
    pub subgraph: Option<String>,
    /// The embeddings to use: `builtin`, `openai:MODEL` or `ollama:MODEL`; `builtin` if left out.
    #[serde(default = "builtin")]
    pub embeddings: String,
    /// What to compare; both if left out.
    #[serde(default)]
    pub by: By,
}

fn five() -> u32 {
    5
}

fn builtin() -> String {
    "builtin".to_owned()
}

/// What a search goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum By {
    /// Meaning, words and names.
    #[default]
    Both,
    /// Words and names; no model is asked.
    Words,
    /// Meaning alone.
    Meaning,
}

/// Nodes that match a query.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanSearchResult {
    pub query: String,
    /// The best first.
    pub results: Vec<FoundNode>,
    /// The time it took; left out if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<f64>,
}

/// A node that matches a query.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundNode {
    pub id: String,
    /// For a method, with its class in front.
    pub name: String,
    /// How well it matches; higher is better.
    pub score: f64,
    /// The matched words as written, each once, those of the name first.
    pub matched: Vec<String>,
    /// The planned file, relative to the project.
    pub path: Option<String>,
    pub subgraph: Option<String>,
}

/// A plan prepared for queries.
pub struct Searched<'a> {
    plan: &'a Plan,
    search: PlanSearch,
    by: By,
    /// Embeddings; `None` for a search by words only.
    space: Option<Index>,
    subgraph: Option<&'a str>,
    top: usize,
}

fn known_subgraph(plan: &Plan, wanted: Option<&str>) -> Result<(), Fault> {
    let leaves = plan.nodes().iter().filter(|it| it.is_leaf());
    let all: BTreeSet<&str> = leaves.filter_map(|it| it.subgraph.as_deref()).collect();
    match wanted {
        Some(wanted) if !all.contains(wanted) => {
            let all: Vec<&str> = all.into_iter().collect();
            Err(Fault::input(format!("the plan has no subgraph `{wanted}`"))
                .hint(format!("there are {}", all.join(", "))))
        }
        _ => Ok(()),
    }
}

impl<'a> Searched<'a> {
    /// Prepares a plan; ignores the query in the parameters.
    pub async fn of(plan: &'a Plan, params: &'a PlanSearchParams) -> Result<Searched<'a>, Fault> {
        known_subgraph(plan, params.subgraph.as_deref())?;
        let search = PlanSearch::of(plan);
        let space = match params.by {
            By::Words => None,
            By::Both | By::Meaning => Some(Index::open(&params.embeddings, search.facets()).await?),
        };
        let (subgraph, top) = (params.subgraph.as_deref(), params.top as usize);
        Ok(Searched { plan, search, by: params.by, space, subgraph, top })
    }

    pub async fn find(&mut self, query: &str) -> Result<Vec<NodeHit>, Fault> {
        let similarities = match &mut self.space {
            Some(space) => space.similarities(query).await?,
            None => Vec::new(),
        };
        let evidence = match self.by {
            By::Both => Evidence::Both(&similarities),
            By::Words => Evidence::Words,
            By::Meaning => Evidence::Meaning(&similarities),
        };
        let hits = self.search.find(self.plan, query, evidence, self.subgraph, self.top);
        hits.ok_or_else(|| {
            Fault::new(Exit::Usage, format!("the query {query:?} has no word to search for"))
                .hint("give a name, or say what the code does")
        })
    }

    pub fn result(&self, query: &str, hits: &[NodeHit]) -> PlanSearchResult {
        let results = hits.iter().map(|hit| found(self.plan, hit)).collect();
        PlanSearchResult { query: query.to_owned(), results, milliseconds: None }
    }
}

fn found(plan: &Plan, hit: &NodeHit) -> FoundNode {
    let node = plan.node(hit.node);
    FoundNode {
        id: node.id.to_string(),
        name: plan.qualified_name(hit.node).into_owned(),
        score: (f64::from(hit.score) * 10_000.0).round() / 10_000.0,
        matched: matched(plan, hit),
        path: node.file_path.as_deref().map(str::to_owned),
        subgraph: node.subgraph.as_deref().map(str::to_owned),
    }
}

/// Returns the matched words as written, without repetition, those of the name first.
fn matched(plan: &Plan, hit: &NodeHit) -> Vec<String> {
    let name = plan.qualified_name(hit.node);
    let docstring = plan.node(hit.node).docstring.as_deref().unwrap_or_default();
    let in_name = hit.in_name.iter().map(|it| &name[it.clone()]);
    let in_docstring = hit.in_docstring.iter().map(|it| &docstring[it.clone()]);
    let mut words: Vec<String> = Vec::new();
    for word in in_name.chain(in_docstring) {
        if !words.iter().any(|it| it == word) {
            words.push(word.to_owned());
        }
    }
    words
}
