//! `trellis plan`: looks at a planning graph without generating anything.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use plan::{Dialect, Direction, Exploration, NodeIx, Plan, Problem, Status};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::plan_file;
use crate::statuses::Statuses;

mod flows;
mod search;

/// How many nodes of similar name an unknown id is answered with.
const NEAR: usize = 5;

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Subcommand)]
enum PlanCommand {
    /// Report every problem of the graph at once.
    Check(Graph),
    /// Print the order in which the nodes are generated, one id a line.
    Order(Graph),
    /// Print the graph as a tree of kinds, names and files.
    Show(Graph),
    Search(search::SearchArgs),
    Flows(flows::FlowsArgs),
    /// Show who needs a node and what it needs.
    Deps {
        #[command(flatten)]
        graph: Graph,
        /// The id of the node.
        node: String,
        /// How far to look.
        #[arg(long, value_name = "N", default_value_t = 2)]
        hops: usize,
        /// The folder of the run whose failures are marked [default: that of RPG, if it lies in DIR/docs].
        #[arg(long, value_name = "DIR")]
        status: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Graph {
    /// The planning graph, a JSON file.
    rpg: PathBuf,
    /// Read it as rpg, zerorepo, codermind or rpg-encoder, whatever it looks like.
    #[arg(long, value_name = "D")]
    dialect: Option<Dialect>,
}

pub(crate) async fn run(args: PlanArgs, output: &mut Output) -> Result<Exit, Fault> {
    match args.command {
        PlanCommand::Check(graph) => check(&load(&graph, output)?, output),
        PlanCommand::Order(graph) => order(&load(&graph, output)?, output),
        PlanCommand::Show(graph) => show(&load(&graph, output)?, output),
        PlanCommand::Search(args) => search::run(&args, output).await,
        PlanCommand::Flows(args) => flows::run(&args, output),
        PlanCommand::Deps { graph, node, hops, status } => {
            let plan = load(&graph, output)?;
            let statuses = match &status {
                Some(run) => Statuses::of_run(run)?,
                None => Statuses::beside(&graph.rpg)?,
            };
            deps(&plan, &statuses, &node, hops, output)
        }
    }
}

fn load(graph: &Graph, output: &Output) -> Result<Plan, Fault> {
    let plan = plan_file::read(&graph.rpg, graph.dialect)?;
    if !output.is_json() {
        output.note(format_args!("dialect: {}", plan.dialect()));
    }
    for warning in plan.warnings() {
        output.note(format_args!("warning: {warning}"));
    }
    Ok(plan)
}

fn check(plan: &Plan, output: &mut Output) -> Result<Exit, Fault> {
    let problems = plan::check(plan);
    let (nodes, edges) = (plan.nodes().len(), plan.edge_count());
    if output.is_json() {
        let dialect = plan.dialect().name();
        output.json(&json!({
            "dialect": dialect, "nodes": nodes, "edges": edges, "problems": to_json(&problems),
        }))?;
    } else if problems.is_empty() {
        output.text(format_args!("no problems in {nodes} nodes and {edges} edges"))?;
    }
    if problems.is_empty() {
        return Ok(Exit::Done);
    }
    list(&problems, output);
    output.note(format_args!("{} in {nodes} nodes and {edges} edges", counted(problems.len())));
    Ok(Exit::BadInput)
}

fn order(plan: &Plan, output: &mut Output) -> Result<Exit, Fault> {
    let problems = plan::check(plan);
    let order = plan::order(plan);
    list(&problems, output);
    if output.is_json() {
        let ids: Vec<&str> = order.sequence.iter().map(|&ix| plan.id(ix)).collect();
        output.json(&json!({ "order": ids, "problems": to_json(&problems) }))?;
        return Ok(Exit::Done);
    }
    if !order.set_aside.is_empty() {
        let count = order.set_aside.len();
        output.note(format_args!("{count} links that close cycles were left out of the order"));
    }
    output
        .stream(|out| order.sequence.iter().try_for_each(|&ix| writeln!(out, "{}", plan.id(ix))))?;
    Ok(Exit::Done)
}

fn show(plan: &Plan, output: &mut Output) -> Result<Exit, Fault> {
    let problems = plan::check(plan);
    list(&problems, output);
    if output.is_json() {
        let nodes: Vec<Value> = plan.indices().map(|ix| described(plan, ix)).collect();
        output.json(&json!({
            "dialect": plan.dialect().name(), "nodes": nodes, "problems": to_json(&problems),
        }))?;
    } else {
        let tree = plan::tree(plan);
        output.stream(|out| write!(out, "{tree}"))?;
    }
    Ok(Exit::Done)
}

fn described(plan: &Plan, ix: NodeIx) -> Value {
    let node = plan.node(ix);
    let ids = |nodes: &[NodeIx]| -> Vec<String> {
        nodes.iter().map(|&ix| plan.id(ix).to_owned()).collect()
    };
    json!({
        "id": node.id, "name": node.name, "kind": node.kind.name(), "leaf": node.is_leaf(),
        "filePath": node.file_path, "subgraph": node.subgraph, "parents": ids(plan.parents(ix)),
        "dependsOn": ids(plan.depends_on(ix)),
    })
}

fn deps(
    plan: &Plan,
    statuses: &Statuses,
    id: &str,
    hops: usize,
    output: &mut Output,
) -> Result<Exit, Fault> {
    let node = plan.find(id).ok_or_else(|| unknown(plan, id))?;
    list(&plan::check(plan), output);
    let incoming = plan::explore(plan, node, hops, Direction::Incoming);
    let outgoing = plan::explore(plan, node, hops, Direction::Outgoing);
    if output.is_json() {
        let reached = |of: &Exploration| reached(plan, statuses, of);
        output.json(&json!({
            "node": id, "status": statuses.of(plan, node).map(Status::name), "hops": hops,
            "incoming": reached(&incoming), "outgoing": reached(&outgoing),
        }))?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        writeln!(out, "who needs it:")?;
        draw(plan, statuses, &incoming, out)?;
        writeln!(out, "what it needs:")?;
        draw(plan, statuses, &outgoing, out)
    })?;
    Ok(Exit::Done)
}

fn unknown(plan: &Plan, id: &str) -> Fault {
    let fault = Fault::input(format_args!("the plan has no node `{id}`"));
    let near: Vec<&str> = plan.near(id, NEAR).into_iter().map(|ix| plan.id(ix)).collect();
    if near.is_empty() {
        fault.hint("`trellis plan show` lists the nodes with their ids")
    } else {
        fault.hint(format_args!("did you mean {}?", near.join(", ")))
    }
}

fn reached(plan: &Plan, statuses: &Statuses, exploration: &Exploration) -> Vec<Value> {
    let steps = exploration.nodes(plan);
    let entry = |step: &plan::Step| {
        json!({
            "id": plan.id(step.node), "name": plan.qualified_name(step.node), "hops": step.hops,
            "from": plan.id(step.from), "role": step.role.name(),
            "status": statuses.of(plan, step.node).map(Status::name),
        })
    };
    steps.iter().map(entry).collect()
}

fn draw(
    plan: &Plan,
    statuses: &Statuses,
    exploration: &Exploration,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = exploration.render(plan, |ix| statuses.of(plan, ix), &mut text);
    out.write_all(text.as_bytes())
}

/// Lists problems beside the result; in JSON they are part of it.
fn list(problems: &[Problem], output: &Output) {
    if output.is_json() {
        return;
    }
    for problem in problems {
        output.note(format_args!("problem: {problem}\n  hint: {}", problem.hint));
    }
}

fn counted(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}

fn to_json(problems: &[Problem]) -> Vec<Value> {
    let entry = |problem: &Problem| {
        json!({
            "kind": problem.kind.code(), "node": problem.node, "message": problem.message,
            "hint": problem.hint,
        })
    };
    problems.iter().map(entry).collect()
}
