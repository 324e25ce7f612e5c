//! `trellis plan flows`: shows the paths through each subgraph that integration tests follow.

use std::io::Write as _;

use clap::Args;

use super::Graph;
use crate::output::Output;
use trellis_server::api::plan::{Links, PlanFlowsParams, ways};
use trellis_workflows::fault::{Exit, Fault};

/// Show the data flows that integration tests follow.
#[derive(Args)]
pub(super) struct FlowsArgs {
    #[command(flatten)]
    graph: Graph,
    /// Links to follow.
    #[arg(long, value_name = "LINKS", default_value = "both")]
    along: Links,
    /// Show at most this many flows of each subgraph.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

pub(super) fn run(args: &FlowsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Graph { rpg, dialect } = &args.graph;
    let (graph, dialect) = (rpg.clone(), dialect.map(Into::into));
    let params = PlanFlowsParams { graph, dialect, along: args.along, top: args.top };
    let result = ways(&super::load(&params.graph, params.dialect, output)?, &params);
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        for it in &result.subgraphs {
            writeln!(out, "{}: {} of {} nodes", it.id, it.covered, it.nodes)?;
            it.flows.iter().try_for_each(|flow| writeln!(out, "  {}", flow.join(" -> ")))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
