//! `trellis plan flows`: the ways through each subgraph that integration tests follow.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;

use clap::{Args, ValueEnum};
use plan::{Along, Flow, NodeIx, Plan, flows};
use serde_json::{Value, json};

use super::Graph;
use crate::error::{Exit, Fault};
use crate::output::Output;

/// Show the ways through each subgraph that integration tests follow, from where data comes in.
#[derive(Args)]
pub(super) struct FlowsArgs {
    #[command(flatten)]
    graph: Graph,
    /// Which links to follow.
    #[arg(long, value_name = "LINKS", default_value = "both")]
    along: Links,
    /// How many flows of one subgraph.
    #[arg(long, value_name = "N", default_value_t = 5)]
    top: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Links {
    /// Data flow alone.
    DataFlow,
    /// Dependencies alone.
    Structure,
    Both,
}

pub(super) fn run(args: &FlowsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let plan = super::load(&args.graph, output)?;
    let along = match args.along {
        Links::DataFlow => Along::DataFlow,
        Links::Structure => Along::Structure,
        Links::Both => Along::Both,
    };
    let found: Vec<(&str, usize, Vec<Flow>)> = (leaves(&plan).into_iter())
        .map(|(subgraph, leaves)| (subgraph, leaves.len(), flows(&plan, &leaves, along, args.top)))
        .collect();
    if output.is_json() {
        let subgraphs: Vec<Value> = found.iter().map(|it| shape(&plan, it)).collect();
        output.json(&json!({ "subgraphs": subgraphs }))?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        for (subgraph, count, flows) in &found {
            writeln!(out, "{subgraph}: {} of {count} nodes", seen(&plan, subgraph, flows))?;
            for flow in flows {
                writeln!(out, "  {}", ids(&plan, flow).join(" -> "))?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn leaves(plan: &Plan) -> BTreeMap<&str, Vec<NodeIx>> {
    let mut out: BTreeMap<&str, Vec<NodeIx>> = BTreeMap::new();
    for ix in plan.indices().filter(|ix| plan.node(*ix).is_leaf()) {
        out.entry(subgraph(plan, ix)).or_default().push(ix);
    }
    out
}

fn subgraph(plan: &Plan, ix: NodeIx) -> &str {
    plan.node(ix).subgraph.as_deref().unwrap_or("main")
}

/// Nodes of the subgraph that some flow goes through.
fn seen(plan: &Plan, name: &str, flows: &[Flow]) -> usize {
    let nodes = flows.iter().flat_map(|flow| &flow.nodes);
    nodes.filter(|ix| subgraph(plan, **ix) == name).collect::<BTreeSet<_>>().len()
}

fn ids<'p>(plan: &'p Plan, flow: &Flow) -> Vec<&'p str> {
    flow.nodes.iter().map(|ix| plan.id(*ix)).collect()
}

fn shape(plan: &Plan, (name, nodes, flows): &(&str, usize, Vec<Flow>)) -> Value {
    let flows_by_id: Vec<Vec<&str>> = flows.iter().map(|flow| ids(plan, flow)).collect();
    json!({ "id": name, "nodes": nodes, "covered": seen(plan, name, flows), "flows": flows_by_id })
}
