//! `trellis plan edit`: changes nodes of a planning graph, with all that refers to them.

use std::path::PathBuf;

use clap::Args;

use super::diff;
use crate::output::Output;
use trellis_server::api::plan_change::{EditPlanParams, PlanChange, edit_plan};
use trellis_workflows::fault::{Exit, Fault};

/// Change nodes of a graph; dependencies, edges and methods follow.
///
/// The rest of the file stays as it is, byte for byte. An edit that makes a new problem is refused.
#[derive(Args)]
pub(super) struct EditArgs {
    /// Planning graph, a JSON file in the format rpg.
    #[arg(value_name = "GRAPH")]
    rpg: PathBuf,
    /// Write a new file; the graph stays.
    #[arg(long, value_name = "FILE", global = true)]
    out: Option<PathBuf>,
    /// Edit even if that makes new problems.
    #[arg(long, global = true)]
    force: bool,
    /// Show the changes; write nothing.
    #[arg(long, global = true)]
    dry_run: bool,
    #[command(subcommand)]
    edit: PlanChange,
}

pub(super) fn run(args: EditArgs, output: &mut Output) -> Result<Exit, Fault> {
    let EditArgs { rpg: graph, out, force, dry_run, edit } = args;
    let result = edit_plan(&EditPlanParams { graph, edit, out, force, dry_run })?;
    result.notes.iter().for_each(|it| output.note(format_args!("note: {it}")));
    if output.is_json() {
        output.json(&result)?;
    } else {
        super::problems::list(&result.new_problems, output);
        output.text(diff::text(&result.diff).trim_end())?;
    }
    Ok(Exit::Done)
}
