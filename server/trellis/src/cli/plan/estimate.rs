//! `trellis plan estimate`: size and likely cost of a run, before anything is paid for.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;

use crate::output::Output;
use trellis_os::wording::counted;
use trellis_server::api::plan_estimate::{
    CostRange, PlanEstimateParams, PlanEstimateResult, plan_estimate,
};
use trellis_workflows::fault::{Exit, Fault};

/// Estimate the model requests, tokens and price of a run.
#[derive(Args)]
pub(super) struct EstimateArgs {
    /// Planning graph or task list, a JSON file.
    #[arg(value_name = "GRAPH")]
    rpg: PathBuf,
    /// Model, as `provider:name` [default: the one that a run beside the graph would use].
    #[arg(long)]
    model: Option<String>,
}

pub(super) fn run(args: &EstimateArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = PlanEstimateParams { graph: args.rpg.clone(), model: args.model.clone() };
    let result = plan_estimate(&params)?;
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(shown(&result))?;
    }
    Ok(Exit::Done)
}

fn shown(result: &PlanEstimateResult) -> String {
    let size = [
        counted(result.nodes, "node", "nodes"),
        counted(result.subgraphs, "subgraph", "subgraphs"),
        counted(result.levels, "level", "levels"),
    ];
    let mut out = format!("{}, longest chain {}\n", size.join(", "), result.chain.len());
    let _ = writeln!(out, "if every node passes at once: {}", cost(&result.least));
    let _ = writeln!(out, "usually, with fixes: {}", cost(&result.usual));
    out += &match (&result.model, &result.no_model) {
        (Some(model), _) => format!("model: {model}"),
        (None, reason) => reason.clone().unwrap_or_default(),
    };
    out
}

fn cost(it: &CostRange) -> String {
    let mut out = counted(it.requests, "request", "requests");
    if let Some(tokens) = it.tokens {
        let _ = write!(out, ", {tokens} tokens");
    }
    if let Some(usd) = it.usd {
        let _ = write!(out, ", ${usd:.2}");
    }
    out
}
