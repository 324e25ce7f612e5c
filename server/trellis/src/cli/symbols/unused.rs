//! `trellis symbols unused`: lists symbols that nothing uses.

use std::path::PathBuf;

use clap::Args;

use crate::output::Output;
use trellis_server::api::folder;
use trellis_server::api::symbols::{
    Completeness as _, FindUnusedParams, UnusedSymbol, find_unused,
};
use trellis_workflows::fault::{Exit, Fault};

/// List functions, classes and methods that nothing uses.
#[derive(Args)]
pub(crate) struct UnusedArgs {
    /// Folder of the project.
    #[arg(long = "project", alias = "in", default_value = ".", value_name = "DIR")]
    r#in: PathBuf,
}

pub(crate) fn run(args: &UnusedArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = FindUnusedParams { root: Some(args.r#in.clone()) };
    let mut workspace = folder::open(params.root.as_deref())?;
    let result = workspace.ask(find_unused).also_incomplete(workspace.problems());
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.text(result.unused.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
    output.note(format_args!("not listed: {}", result.left_out.join("; ")));
    output.note("what is used from outside the folder, or by a name put together at run time, is listed all the same");
    result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    Ok(Exit::Done)
}

fn shown(it: &UnusedSymbol) -> String {
    let possibly = match it.possibly_used {
        true => "  possibly used: an object of unknown type is asked for that name",
        false => "",
    };
    format!("{}  {} {}{possibly}", it.place, it.kind, it.name_path)
}
