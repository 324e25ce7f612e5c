//! `trellis symbols document`: lists the definitions of one file.

use std::path::PathBuf;

use clap::Args;

use crate::output::Output;
use trellis_project::edits;
use trellis_server::api::symbols::{DocumentSymbolsParams, document_symbols};
use trellis_workflows::fault::{Exit, Fault};

/// Show the definitions of a file as a tree.
#[derive(Args)]
pub(crate) struct DocumentArgs {
    /// Python file. Syntax errors do not matter.
    file: PathBuf,
    /// Show only this many levels.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,
}

pub(crate) fn run(args: &DocumentArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = DocumentSymbolsParams { file: args.file.clone(), depth: args.depth };
    let result = document_symbols(&edits::read(&params.file)?, &params);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let lines: Vec<String> = result.symbols.iter().flat_map(|it| it.branch(0)).collect();
        output.text(lines.join("\n"))?;
        let errors = result.errors.iter();
        errors.for_each(|it| output.note(format_args!("warning: {}: {it}", result.file)));
    }
    Ok(Exit::Done)
}
