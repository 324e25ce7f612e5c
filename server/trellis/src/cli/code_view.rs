//! `trellis code view`: code by file or by node, whole or in signatures.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use trellis_plan::Status;

use crate::output::Output;
use trellis_server::api::code::{CodeSymbol, CodeViewParams, CodeViewResult, code_view};
use trellis_workflows::fault::{Exit, Fault};

#[derive(Args)]
pub(crate) struct CodeArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    View(ViewArgs),
}

/// Show the source or the signatures of a file or node.
#[derive(Args)]
struct ViewArgs {
    /// A Python file, or the id of a node.
    #[arg(value_name = "FILE|NODE")]
    what: String,
    /// Only this definition: `name`, `Class/name`, or `name[1]` for the second one.
    #[arg(long, value_name = "NAME_PATH")]
    symbol: Option<String>,
    /// Show only signatures, with the first line of each docstring.
    #[arg(long)]
    signatures: bool,
    /// Planning graph with the node [default: docs/rpg.json of the project].
    #[arg(long, value_name = "GRAPH")]
    plan: Option<PathBuf>,
    /// Folder of the project.
    #[arg(long, alias = "root", alias = "in", value_name = "DIR", default_value = ".")]
    project: PathBuf,
}

pub(crate) fn run(args: &CodeArgs, output: &mut Output) -> Result<Exit, Fault> {
    let What::View(args) = &args.what;
    let result = code_view(&CodeViewParams {
        what: args.what.clone(),
        symbol: args.symbol.clone(),
        signatures: args.signatures,
        plan: args.plan.clone(),
        root: Some(args.project.clone()),
    })?;
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    if let (Some(id), Some(Some(status))) = (&result.node, result.status) {
        let failed = status == Status::Failed.name();
        let mark = if failed { ": possible root cause" } else { "" };
        output.note(format_args!("{id} [{status}{mark}]"));
    }
    match &result.source {
        _ if !result.generated => {
            output.text(format_args!("{}: not yet generated", shown(&result)))?;
        }
        Some(source) => output.text(source.trim_end_matches('\n'))?,
        None => output.text(lines(&result).join("\n"))?,
    }
    for error in &result.errors {
        output.note(format_args!("warning: {}: {error}", result.path));
    }
    Ok(Exit::Done)
}

fn shown(result: &CodeViewResult) -> String {
    match &result.node {
        Some(id) => format!("{id} in {}", result.path),
        None => result.path.clone(),
    }
}

/// Returns the path, and a line for each definition, indented below its class.
fn lines(result: &CodeViewResult) -> Vec<String> {
    let least = result.symbols.iter().map(|it| it.depth).min().unwrap_or_default();
    let line = |it: &CodeSymbol| {
        let preview = it.preview.as_ref().map_or_else(String::new, |text| format!("  # {text}"));
        let margin = 4 * (it.depth - least);
        format!("{:>5}  {:margin$}{}{preview}", it.line, "", it.signature)
    };
    std::iter::once(result.path.clone()).chain(result.symbols.iter().map(line)).collect()
}
