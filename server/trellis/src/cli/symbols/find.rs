//! `trellis symbols find`: definitions by name path.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use code::{NamePath, SymbolKind};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::symbols::sheet::Sheet;
use crate::symbols::{Found, Query, find};

/// Find definitions by name or name path.
#[derive(Args)]
pub(crate) struct FindArgs {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
    pattern: String,
    /// Folder or file to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
    /// The last part may be any part of the symbol's name.
    #[arg(long)]
    substring: bool,
    /// Only symbols of these kinds.
    #[arg(long, value_parser = kinds())]
    kind: Vec<SymbolKind>,
    /// Show the definitions' text.
    #[arg(long)]
    body: bool,
    /// Show what is in the definitions too, down to so many levels.
    #[arg(long, value_name = "N", default_value_t = 0)]
    depth: usize,
}

/// The kinds under the names that the outline gives them.
fn kinds() -> impl TypedValueParser<Value = SymbolKind> {
    let kind = |name: String| SymbolKind::ALL.into_iter().find(|it| it.as_str() == name);
    PossibleValuesParser::new(SymbolKind::ALL.map(SymbolKind::as_str))
        .try_map(move |name| kind(name).ok_or("no such kind"))
}

pub(crate) fn run(args: &FindArgs, output: &mut Output) -> Result<Exit, Fault> {
    let pattern = NamePath::parse(&args.pattern).map_err(|e| Fault::new(Exit::Usage, e))?;
    let query = Query { pattern, substring: args.substring, kinds: args.kind.clone() };
    let (found, problems) = find(&args.r#in, &query)?;
    problems.iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        let symbols: Vec<Value> = found.iter().flat_map(|file| shapes(file, args)).collect();
        output.json(&json!({ "symbols": symbols }))?;
    } else {
        let lines: Vec<String> = found.iter().flat_map(|file| lines(file, args)).collect();
        match lines.is_empty() {
            true => output.note(format_args!("no symbol is called {}", args.pattern)),
            false => output.text(lines.join("\n"))?,
        }
    }
    Ok(Exit::Done)
}

fn lines(file: &Found, args: &FindArgs) -> Vec<String> {
    let sheet = Sheet::of(&file.source, &file.outline);
    let path = file.path.display().to_string();
    file.matches.iter().flat_map(|it| sheet.found(&path, *it, args.body, args.depth)).collect()
}

fn shapes(file: &Found, args: &FindArgs) -> Vec<Value> {
    let sheet = Sheet::of(&file.source, &file.outline);
    let shape = |index: &usize| {
        let symbol = &file.outline.symbols[*index];
        let mut shape = sheet.shape(*index);
        shape["file"] = file.path.to_string_lossy().into();
        shape["docstring"] = symbol.docstring.as_ref().map(|it| sheet.text(it)).into();
        let decorators: Vec<&str> = symbol.decorators.iter().map(|it| sheet.text(it)).collect();
        shape["decorators"] = decorators.into();
        shape["preview"] = sheet.preview(*index).into();
        shape["body"] = args.body.then(|| sheet.text(&symbol.range)).into();
        if args.depth > 0 {
            shape["children"] = sheet.children(*index, args.depth).into();
        }
        shape
    };
    file.matches.iter().map(shape).collect()
}
