//! `trellis plan`: looks at a planning graph without generating anything.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use plan::{Dialect, Exploration, Plan};

use crate::error::{Exit, Fault};
use crate::methods::plan::{
    self as questions, Around, DialectName, PlanCheckParams, PlanDepsParams, PlanOrderParams,
    PlanProblem, PlanShowParams,
};
use crate::output::Output;
use crate::statuses::Statuses;

mod flows;
mod levels;
mod search;

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
    Levels(levels::LevelsArgs),
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
    /// The planning graph or list of tasks, a JSON file.
    rpg: PathBuf,
    /// Read it as rpg, zerorepo, codermind, rpg-encoder or tasks, whatever it looks like.
    #[arg(long, value_name = "D")]
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
        PlanCommand::Levels(args) => levels::run(&args, output),
        PlanCommand::Search(args) => search::run(&args, output).await,
        PlanCommand::Flows(args) => flows::run(&args, output),
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
    result.warnings.iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&result)?;
    } else if result.problems.is_empty() {
        output.text(format_args!("no problems in {nodes} nodes and {edges} edges"))?;
    }
    if result.problems.is_empty() {
        return Ok(Exit::Done);
    }
    list(&result.problems, output);
    let count = counted(result.problems.len());
    output.note(format_args!("{count} in {nodes} nodes and {edges} edges"));
    Ok(Exit::BadInput)
}

fn order(params: &PlanOrderParams, output: &mut Output) -> Result<Exit, Fault> {
    let result = questions::order(&load(&params.graph, params.dialect, output)?);
    list(&result.problems, output);
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    if result.set_aside > 0 {
        let count = result.set_aside;
        output.note(format_args!("{count} links that close cycles were left out of the order"));
    }
    output.stream(|out| result.order.iter().try_for_each(|id| writeln!(out, "{id}")))?;
    Ok(Exit::Done)
}

fn show(params: &PlanShowParams, output: &mut Output) -> Result<Exit, Fault> {
    let plan = load(&params.graph, params.dialect, output)?;
    let result = questions::show(&plan);
    list(&result.problems, output);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let tree = plan::tree(&plan);
        output.stream(|out| write!(out, "{tree}"))?;
    }
    Ok(Exit::Done)
}

fn deps(params: &PlanDepsParams, output: &mut Output) -> Result<Exit, Fault> {
    let plan = load(&params.graph, params.dialect, output)?;
    let around = Around::of(&plan, params)?;
    list(&questions::check(&plan).problems, output);
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
fn list(problems: &[PlanProblem], output: &Output) {
    if output.is_json() {
        return;
    }
    for problem in problems {
        let PlanProblem { kind, node, message, hint } = problem;
        output.note(format_args!("problem: [{kind}] {node}: {message}\n  hint: {hint}"));
    }
}

fn counted(problems: usize) -> String {
    if problems == 1 { "1 problem".to_owned() } else { format!("{problems} problems") }
}
