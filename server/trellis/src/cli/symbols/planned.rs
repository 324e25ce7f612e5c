//! `trellis symbols planned`: compares a planning graph with the existing code.

use std::path::PathBuf;

use clap::Args;
use trellis_plan::Dialect;

use crate::output::Output;
use trellis_server::api::plan_vs_code::{CheckPlannedParams, CheckPlannedResult, check_planned};
use trellis_server::api::symbols::Completeness as _;
use trellis_server::api::{folder, plan as graphs};
use trellis_workflows::fault::{Exit, Fault};

/// Compare planned dependencies with what the code uses.
#[derive(Args)]
pub(crate) struct PlannedArgs {
    /// Planning graph, a JSON file.
    #[arg(value_name = "GRAPH")]
    rpg: PathBuf,
    /// Folder of the code.
    #[arg(long = "project", alias = "in", default_value = ".", value_name = "DIR")]
    r#in: PathBuf,
    /// Read the graph as rpg, zerorepo, codermind or rpg-encoder.
    #[arg(long)]
    dialect: Option<Dialect>,
}

pub(crate) fn run(args: &PlannedArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = CheckPlannedParams {
        graph: args.rpg.clone(),
        root: Some(args.r#in.clone()),
        dialect: args.dialect.map(Into::into),
    };
    let plan = graphs::read(&params.graph, params.dialect)?;
    plan.warnings().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    let mut workspace = folder::open(params.root.as_deref())?;
    let result = workspace.ask(|index| check_planned(index, &plan));
    let result = result.also_incomplete(workspace.problems());
    if output.is_json() {
        output.json(&result)?;
    } else {
        output.text(text(&result).trim_end())?;
        result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

fn text(it: &CheckPlannedResult) -> String {
    let percent = it.confirmed_share.map(|it| format!(" ({:.0} %)", it * 100.0));
    let (confirmed, planned) = (it.confirmed.len(), it.planned);
    let percent = percent.unwrap_or_default();
    let mut out = format!("{confirmed} of {planned} planned dependencies are real{percent}\n");
    let mut list = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            out += &format!("{} {title}:\n", lines.len());
            lines.iter().for_each(|line| out += &format!("  {line}\n"));
        }
    };
    let missing = it.missing.iter().map(|it| {
        let possible = if it.possible { "  (a use of unknown type may be it)" } else { "" };
        format!("{} -> {}{possible}", it.from, it.to)
    });
    let unplanned =
        it.unplanned.iter().map(|it| format!("{} -> {}  {}:{}", it.from, it.to, it.file, it.line));
    let moved = it.moved.iter().map(|it| format!("{}  {}", it.id, it.file));
    list("planned, not found in the code", missing.collect());
    list("in the code, not planned", unplanned.collect());
    list("used by nothing but tests, entry points among them", it.unused.clone());
    list("without a definition", it.absent.clone());
    list("in another file than planned", moved.collect());
    if it.unchecked > 0 {
        let count = it.unchecked;
        out += &format!(
            "{count} planned dependencies were not checked: one end is not a definition\n"
        );
    }
    out
}
