//! Estimate of the requests and the cost of a run, before anything is paid for.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use trellis_engine::node::{Action, Event, NodeMachine, State};
use trellis_engine::{Item, ItemContext, Machine, Policy, Prompt, Tier};
use trellis_llm::{ModelInfo, Usage};
use trellis_plan::{Dialect, Plan};

use crate::generate::items::WorkGraph;
use crate::models::{self, ModelArgs, Models};

/// Requests about a node that passes at once: for its tests and for its implementation.
const REQUESTS: usize = 2;
/// Further requests about each node, in percent: fixes, diagnoses and repeated requests for the
/// 50 nodes of the master fixture.
const MORE_PERCENT: usize = 148;
/// Bytes per token. Code and English have three to four.
const TOKEN_BYTES: usize = 3;
/// Mean bytes of tests, and of the output of their red run, in the prompt for an implementation.
const TESTS_BYTES: usize = 1200;
/// Mean bytes of a reply with tests, an implementation or a fix in the master fixture.
const REPLY_BYTES: usize = 760;

/// The cost of a run that has not begun.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Number of nodes or tasks.
    pub nodes: usize,
    pub subgraphs: usize,
    /// If every node passes at once.
    pub least: EstimatedCost,
    /// With as many fixes as the master fixture needs.
    pub usual: EstimatedCost,
    /// Names of the models, or the reason that there is none.
    pub model: Result<String, String>,
}

/// Requests with their tokens and their price.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EstimatedCost {
    pub requests: usize,
    /// Input and output; `None` for task lists, whose prompts depend on the code so far.
    pub tokens: Option<Usage>,
    /// US dollars; `None` if tokens or prices are unknown.
    pub usd: Option<f64>,
}

/// Estimates the cost of generating `plan` with `model`, or with the models for work in `folder`.
pub fn estimate(plan: Arc<Plan>, model: Option<&str>, folder: &Path) -> Estimate {
    let leaves = plan.indices().filter(|ix| plan.node(*ix).is_leaf()).count();
    let subgraphs: BTreeSet<&str> = (plan.nodes().iter().filter(|it| it.is_leaf()))
        .map(|it| it.subgraph.as_deref().unwrap_or("main"))
        .collect();
    let subgraphs = subgraphs.len();
    let (name, card) = model_for(model, folder);
    let is_list = plan.dialect() == Dialect::Tasks;
    let features = plan.spec().ok().flatten().map_or(0, |it| it.features.len());
    let prompts = (!is_list).then(|| prompt_tokens(plan));
    let cost = |requests: usize| {
        let tokens = prompts.map(|all| tokens(all, requests, leaves));
        let usd = tokens.zip(card).map(|(tokens, card): (Usage, ModelInfo)| card.cost(tokens));
        EstimatedCost { requests, tokens, usd }
    };
    // Each feature of the specification gets acceptance tests, and each subgraph that passes as a
    // whole integration tests.
    let least = REQUESTS * leaves + features;
    let usual = least + (leaves * MORE_PERCENT).div_ceil(100) + subgraphs;
    let (least, usual) = (cost(least), cost(usual));
    Estimate { nodes: leaves, subgraphs, least, usual, model: name }
}

/// Returns the names of the models, or the reason that there is none; and their price. A model
/// without a key has a price, too.
fn model_for(model: Option<&str>, folder: &Path) -> (Result<String, String>, Option<ModelInfo>) {
    let args = ModelArgs::single_retry(model.map(str::to_owned));
    let config = match models::config(folder) {
        Ok(config) => config,
        Err(fault) => return (Err(fault.message), None),
    };
    match (Models::open(&args, &config, &models::env), model) {
        (Ok(models), _) => (Ok(models.name()), models.of(Tier::Strong).card),
        (Err(_), Some(model)) => (Ok(model.to_owned()), config.prices.of(model)),
        (Err(fault), None) => (Err(fault.message), None),
    }
}

/// Returns the tokens of all requests, if each has the mean size of the first ones.
fn tokens(prompts: u64, requests: usize, leaves: usize) -> Usage {
    let mean = prompts / (REQUESTS * leaves.max(1)) as u64;
    let requests = requests as u64;
    let output_tokens = requests * REPLY_BYTES.div_ceil(TOKEN_BYTES) as u64;
    Usage { input_tokens: requests * mean, output_tokens, ..Usage::default() }
}

/// Returns the tokens of the first two prompts of each node. The first prompt is the one that a run
/// sends, except for the code that is written by then.
fn prompt_tokens(plan: Arc<Plan>) -> u64 {
    let sequence = trellis_plan::order(&plan).sequence;
    let work = WorkGraph::new(plan, &sequence);
    let bytes: usize = work.items.values().map(|it| 2 * first_prompt(it) + TESTS_BYTES).sum();
    bytes.div_ceil(TOKEN_BYTES) as u64
}

/// Returns the bytes of the prompt for a node's tests.
fn first_prompt(item: &Item) -> usize {
    let (policy, around) = (Policy::generate(), ItemContext::default());
    let mut machine = NodeMachine::new(item, &policy, &around, State::default());
    let actions = machine.step(Event::Started).unwrap_or_default();
    let size = |prompt: &Prompt| {
        let sections = prompt.sections.iter().map(|it| it.title.len() + it.body.len());
        prompt.system.len() + sections.sum::<usize>()
    };
    let asked = actions.iter().map(|action| match action {
        Action::Complete(request) => size(&request.prompt),
        _ => 0,
    });
    asked.sum()
}
