//! `trellis plan levels`: shows which nodes can be worked on at the same time.

use std::io::Write as _;

use clap::Args;

use super::Graph;
use crate::output::Output;
use trellis_server::api::plan::{PlanLevelsParams, levels};
use trellis_workflows::fault::{Exit, Fault};

/// Show what can run in parallel, and the longest chain.
#[derive(Args)]
pub(super) struct LevelsArgs {
    #[command(flatten)]
    graph: Graph,
}

pub(super) fn run(args: &LevelsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Graph { rpg, dialect } = &args.graph;
    let params = PlanLevelsParams { graph: rpg.clone(), dialect: dialect.map(Into::into) };
    let result = levels(&super::load(&params.graph, params.dialect, output)?);
    super::problems::list(&result.problems, output);
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        for (number, level) in result.levels.iter().enumerate() {
            writeln!(out, "{number}: {}", level.join(", "))?;
        }
        let (chain, weight) = (result.chain_weight, result.weight);
        writeln!(out, "longest chain: {} ({chain} of {weight})", result.chain.join(" -> "))
    })?;
    Ok(Exit::Done)
}
