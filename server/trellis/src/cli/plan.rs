//! `trellis plan`: inspects a planning graph without generating anything.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use trellis_os::wording::counted;
use trellis_plan::{Dialect, Exploration, Plan};

use super::symbols::planned::{self, PlannedArgs};
use crate::output::Output;
use trellis_server::api::plan::{
    self as questions, Around, DialectName, PlanCheckParams, PlanDepsParams, PlanOrderParams,
    PlanOrderResult, PlanShowParams,
};
use trellis_workflows::fault::{Exit, Fault};
use trellis_workflows::node_status::NodeStatuses;

mod diff;
mod draft;
mod edit;
mod estimate;
mod flows;
mod from_code;
mod levels;
mod problems;
mod search;
mod trace;

#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(subcommand)]
    command: PlanCommand,
}

#[derive(Subcommand)]
enum PlanCommand {
    /// Report every problem of a graph.
    Check(Graph),
    /// Print the ids of the nodes in generation order.
    Order(Graph),
    /// Print a graph as a tree.
    Show(Graph),
    Draft(draft::DraftArgs),
    Levels(levels::LevelsArgs),
    Estimate(estimate::EstimateArgs),
    Search(search::SearchArgs),
    Flows(flows::FlowsArgs),
    Diff(diff::DiffArgs),
    Trace(trace::TraceArgs),
    Edit(edit::EditArgs),
    FromCode(from_code::FromCodeArgs),
    /// Compare planned dependencies with what the code uses.
    Verify(PlannedArgs),
    /// Show what a node depends on, and what depends on it.
    Deps {
        #[command(flatten)]
        graph: Graph,
        /// Id of the node.
        node: String,
        /// Follow at most this many links.
        #[arg(long, value_name = "N", default_value_t = 2)]
        hops: usize,
        /// Mark the failures of the run in this folder [default: DIR, if GRAPH is in DIR/docs].
        #[arg(long, value_name = "DIR")]
        status: Option<PathBuf>,
    },
}

#[derive(Args)]
struct Graph {
    /// Planning graph or task list, a JSON file.
    #[arg(value_name = "GRAPH")]
    rpg: PathBuf,
    /// Read it as rpg, zerorepo, codermind, rpg-encoder or tasks.
    #[arg(long)]
    dialect: Option<Dialect>,
}

pub(crate) async fn run(args: PlanArgs, output: &mut Output) -> Result<Exit, Fault> {
    match args.command {
        PlanCommand::Check(Graph { rpg, dialect }) => {
            check(&PlanCheckParams { graph: rpg, dialect: dialect.map(Into::into) }, output)
        }
        PlanCommand::Order(Graph { rpg, dialect }) => {
            order(&PlanOrderParams { graph: rpg, dialect: dialect.map(Into::into) }, output)
        }
        PlanCommand::Show(Graph { rpg, dialect }) => {
            show(&PlanShowParams { graph: rpg, dialect: dialect.map(Into::into) }, output)
        }
        PlanCommand::Draft(args) => draft::run(args, output).await,
        PlanCommand::Levels(args) => levels::run(&args, output),
        PlanCommand::Estimate(args) => estimate::run(&args, output),
        PlanCommand::Search(args) => search::run(&args, output).await,
        PlanCommand::Flows(args) => flows::run(&args, output),
        PlanCommand::Diff(args) => diff::run(&args, output),
        PlanCommand::Trace(args) => trace::run(&args, output),
        PlanCommand::Edit(args) => edit::run(args, output),
        PlanCommand::FromCode(args) => from_code::run(&args, output).await,
        PlanCommand::Verify(args) => planned::run(&args, output),
        PlanCommand::Deps { graph: Graph { rpg, dialect }, node, hops, status } => {
            let (graph, dialect) = (rpg, dialect.map(Into::into));
            deps(&PlanDepsParams { graph, dialect, node, hops, status }, output)
        }
    }
}

fn load(graph: &Path, dialect: Option<DialectName>, output: &Output) -> Result<Plan, Fault> {
    let plan = questions::read(graph, dialect)?;
    if !output.is_json() {
        output.note(format_args!("dialect: {}", plan.dialect()));
    }
    for warning in plan.warnings() {
        output.note(format_args!("warning: {warning}"));
    }
    Ok(plan)
}

fn check(params: &PlanCheckParams, output: &mut Output) -> Result<Exit, Fault> {
    let result = questions::check(&load(&params.graph, params.dialect, output)?);
    let (nodes, edges) = (result.nodes, result.edges);
    warn(&result.warnings, output);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let problems = problems::shown(&result.problems).into_iter().map(|it| it + "\n");
        let size =
            format!("{} and {}", counted(nodes, "node", "nodes"), counted(edges, "edge", "edges"));
        let count = match result.problems.len() {
            0 => "no problems".to_owned(),
            count => counted(count, "problem", "problems"),
        };
        output.text(format!("{}{count} in {size}", problems.collect::<String>()))?;
    }
    Ok(if result.problems.is_empty() { Exit::Done } else { Exit::BadInput })
}

/// Largest number of warnings that are shown.
const WARNINGS: usize = 3;

fn warn(all: &[String], output: &Output) {
    all.iter().take(WARNINGS).for_each(|it| output.note(format_args!("warning: {it}")));
    let more = all.len().saturating_sub(WARNINGS);
    if more > 0 {
        let count = counted(more, "circle", "circles");
        output.note(format_args!("warning: {count} of imports more; `--json` lists all"));
    }
}

fn order(params: &PlanOrderParams, output: &mut Output) -> Result<Exit, Fault> {
    let result = questions::order(&load(&params.graph, params.dialect, output)?);
    problems::list(&result.problems, output);
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.stream(|out| groups(&result).try_for_each(|it| writeln!(out, "{it}")))?;
    Ok(Exit::Done)
}

/// Returns the order in lines: an id, or all ids of a circle.
fn groups(result: &PlanOrderResult) -> impl Iterator<Item = String> {
    let circles: HashMap<&str, &Vec<String>> =
        result.circles.iter().map(|it| (it[0].as_str(), it)).collect();
    let mut at = 0;
    std::iter::from_fn(move || {
        let id = result.order.get(at)?;
        let circle = circles.get(id.as_str());
        at += circle.map_or(1, |it| it.len());
        Some(match circle {
            Some(all) if all.len() > 1 => format!("circle of {}: {}", all.len(), all.join(", ")),
            _ => id.clone(),
        })
    })
}

fn show(params: &PlanShowParams, output: &mut Output) -> Result<Exit, Fault> {
    let plan = load(&params.graph, params.dialect, output)?;
    let result = questions::show(&plan);
    problems::list(&result.problems, output);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let tree = trellis_plan::tree(&plan);
        output.stream(|out| write!(out, "{tree}"))?;
    }
    Ok(Exit::Done)
}

fn deps(params: &PlanDepsParams, output: &mut Output) -> Result<Exit, Fault> {
    let plan = load(&params.graph, params.dialect, output)?;
    let around = Around::of(&plan, params)?;
    problems::list(&questions::check(&plan).problems, output);
    if output.is_json() {
        output.json(&around.result(&plan))?;
        return Ok(Exit::Done);
    }
    output.stream(|out| {
        writeln!(out, "who needs it:")?;
        draw(&plan, &around.statuses, &around.incoming, out)?;
        writeln!(out, "what it needs:")?;
        draw(&plan, &around.statuses, &around.outgoing, out)
    })?;
    Ok(Exit::Done)
}

fn draw(
    plan: &Plan,
    statuses: &NodeStatuses,
    exploration: &Exploration,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = exploration.render(plan, |ix| statuses.of(plan, ix), &mut text);
    out.write_all(text.as_bytes())
}
