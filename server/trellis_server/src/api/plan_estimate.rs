//! `planEstimate`: size, order and likely cost of a planning graph or list of tasks before a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_plan::Plan;
use trellis_workflows::fault::Fault;
use trellis_workflows::generate::{EstimatedCost, estimate};

/// Estimates the requests, the tokens and the price of a run of a planning graph or list of tasks. No
/// service is called.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlanEstimateParams {
    /// The planning graph or list of tasks, a JSON file.
    pub graph: PathBuf,
    /// The model, as `provider:name`; default: the one that a run beside the graph would use.
    #[serde(default)]
    pub model: Option<String>,
}

/// Size and likely cost of a run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanEstimateResult {
    /// Nodes with code, or tasks.
    pub nodes: usize,
    pub subgraphs: usize,
    /// Groups of nodes that can be generated at the same time.
    pub levels: usize,
    /// Ids of the longest chain, in which each node depends on the one before.
    pub chain: Vec<String>,
    /// The number of problems; a graph with problems is not generated.
    pub problems: usize,
    /// If every node passes at once.
    pub least: CostRange,
    /// With as many fixes as the demonstration needs.
    pub usual: CostRange,
    /// The names of the models; null if none is configured.
    pub model: Option<String>,
    /// Why there is no model.
    pub no_model: Option<String>,
}

/// Requests with tokens and price.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostRange {
    /// The number of requests to the model.
    pub requests: usize,
    /// Null for lists of tasks, whose prompts contain the code so far.
    pub tokens: Option<u64>,
    /// US dollars; null if tokens or the price of the model are unknown.
    pub usd: Option<f64>,
}

impl From<EstimatedCost> for CostRange {
    fn from(it: EstimatedCost) -> CostRange {
        let tokens = it.tokens.map(|it| it.input_tokens + it.output_tokens);
        CostRange { requests: it.requests, tokens, usd: it.usd }
    }
}

pub fn plan_estimate(params: &PlanEstimateParams) -> Result<PlanEstimateResult, Fault> {
    let plan = Arc::new(super::plan::read(&params.graph, None)?);
    let folder = params.graph.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let found = estimate(plan.clone(), params.model.as_deref(), folder);
    let (levels, chain) = shape(&plan);
    let (model, no_model) = match found.model {
        Ok(model) => (Some(model), None),
        Err(reason) => (None, Some(reason)),
    };
    Ok(PlanEstimateResult {
        nodes: found.nodes,
        subgraphs: found.subgraphs,
        levels,
        chain,
        problems: trellis_plan::check(&plan).len(),
        least: found.least.into(),
        usual: found.usual.into(),
        model,
        no_model,
    })
}

/// Returns the number of levels, and the longest chain.
fn shape(plan: &Plan) -> (usize, Vec<String>) {
    let found = trellis_plan::levels(plan);
    let chain = found.chain.iter().map(|&ix| plan.id(ix).to_owned()).collect();
    (found.levels.len(), chain)
}
