//! `trellis symbols find`: finds definitions by name path.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trellis_python::SymbolKind;

use crate::output::Output;
use trellis_server::api::folder;
use trellis_server::api::symbols::{FindSymbolParams, Kind, find_symbol};
use trellis_workflows::fault::{Exit, Fault};

/// Find definitions by name.
#[derive(Args)]
pub(crate) struct FindArgs {
    /// Symbol: `name`, `Class/name`, `/Class/name` (full path), or `name[1]` (the second one).
    pattern: String,
    /// Folder or file to search.
    #[arg(long = "project", visible_alias = "in", default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
    /// Match any part of the name.
    #[arg(long)]
    substring: bool,
    /// Only these kinds. Repeatable.
    #[arg(long, value_parser = kinds())]
    kind: Vec<Kind>,
    /// Show the source of each definition.
    #[arg(long)]
    body: bool,
    /// Also show nested definitions, down to this level.
    #[arg(long, value_name = "N", default_value_t = 0)]
    depth: usize,
}

/// Parses kinds by their names in outlines.
fn kinds() -> impl TypedValueParser<Value = Kind> {
    let kind =
        |name: String| Kind::ALL.into_iter().find(|it| SymbolKind::from(*it).as_str() == name);
    PossibleValuesParser::new(SymbolKind::ALL.map(SymbolKind::as_str))
        .try_map(move |name| kind(name).ok_or("no such kind"))
}

pub(crate) fn run(args: &FindArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = FindSymbolParams {
        name_path: args.pattern.clone(),
        root: Some(args.r#in.clone()),
        substring: args.substring,
        kinds: args.kind.clone(),
        body: args.body,
        depth: args.depth,
    };
    let mut workspace = folder::open(params.root.as_deref())?;
    let found = workspace.ask(|index| find_symbol(index, &params))?;
    workspace.problems().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&found)?;
    } else {
        let lines: Vec<String> = found.symbols.iter().flat_map(|it| it.shown()).collect();
        match lines.is_empty() {
            true => output.note(format_args!("no symbol is called {}", args.pattern)),
            false => output.text(lines.join("\n"))?,
        }
    }
    Ok(Exit::Done)
}
