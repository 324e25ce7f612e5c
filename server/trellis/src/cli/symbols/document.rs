//! `trellis symbols document`: what one file defines.

use std::path::PathBuf;

use clap::Args;
use code::Outline;
use serde_json::{Value, json};

use crate::edits;
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::symbols::sheet::Sheet;

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
    let source = edits::read(&args.file)?;
    let outline = Outline::of(&source);
    let sheet = Sheet::of(&source, &outline);
    let below = args.depth.map_or(usize::MAX, |it| it as usize - 1);
    let errors: Vec<String> = outline.errors.iter().map(ToString::to_string).collect();
    if output.is_json() {
        let symbols: Vec<Value> = sheet.top().map(|it| sheet.tree(it, below)).collect();
        let file = args.file.to_string_lossy();
        output.json(&json!({ "file": file, "symbols": symbols, "errors": errors }))?;
    } else {
        let lines: Vec<String> = sheet.top().flat_map(|it| sheet.branch(it, below, 0)).collect();
        output.text(lines.join("\n"))?;
        let shown = args.file.display();
        errors.iter().for_each(|it| output.note(format_args!("warning: {shown}: {it}")));
    }
    Ok(Exit::Done)
}
