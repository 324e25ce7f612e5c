//! `trellis symbols document`: what one file defines.

use std::path::PathBuf;

use clap::Args;

use crate::edits;
use crate::error::{Exit, Fault};
use crate::methods::symbols::{DocumentSymbolsParams, document_symbols};
use crate::output::Output;

/// Show what a file defines, as a tree.
#[derive(Args)]
pub(crate) struct DocumentArgs {
    /// The file; one with syntax errors is shown as far as it can be understood.
    file: PathBuf,
    /// Only so many levels, from 1.
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
