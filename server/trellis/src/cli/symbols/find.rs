//! `trellis symbols find`: definitions by name path.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use code::{NamePath, Symbol, SymbolKind};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::output::Output;
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
        let symbols: Vec<Value> = found.iter().flat_map(|file| shapes(file, args.body)).collect();
        output.json(&json!({ "symbols": symbols }))?;
    } else {
        let lines: Vec<String> = found.iter().flat_map(|file| lines(file, args.body)).collect();
        output.text(lines.join("\n"))?;
    }
    Ok(Exit::Done)
}

fn name_path(file: &Found, index: usize) -> String {
    let names = file.outline.path(index).into_iter().map(|it| it.name.as_str());
    let nth = file.outline.symbols[index].nth;
    let number = if nth > 0 { format!("[{nth}]") } else { String::new() };
    names.collect::<Vec<_>>().join("/") + &number
}

fn lines(file: &Found, body: bool) -> Vec<String> {
    let line = |index: &usize| {
        let symbol = &file.outline.symbols[*index];
        let (row, column) = position(&file.source, symbol.name_range.start);
        let place = format!("{}:{row}:{column}", file.path.display());
        let shown = if body { text(file, &symbol.range) } else { preview(file, symbol) };
        format!("{place}  {} {}\n    {shown}", symbol.kind.as_str(), name_path(file, *index))
    };
    file.matches.iter().map(line).collect()
}

fn shapes(file: &Found, body: bool) -> Vec<Value> {
    let shape = |index: &usize| {
        let symbol = &file.outline.symbols[*index];
        json!({
            "name": symbol.name,
            "namePath": name_path(file, *index),
            "kind": symbol.kind.as_str(),
            "file": file.path.to_string_lossy(),
            "range": range(&file.source, &symbol.range),
            "nameRange": range(&file.source, &symbol.name_range),
            "signature": symbol.header.as_ref().map(|it| text(file, it)),
            "docstring": symbol.docstring.as_ref().map(|it| text(file, it)),
            "decorators": symbol.decorators.iter().map(|it| text(file, it)).collect::<Vec<_>>(),
            "preview": preview(file, symbol),
            "body": body.then(|| text(file, &symbol.range)),
        })
    };
    file.matches.iter().map(shape).collect()
}

fn text(file: &Found, range: &Range<usize>) -> String {
    file.source[range.clone()].to_owned()
}

/// The line of the definition.
fn preview(file: &Found, symbol: &Symbol) -> String {
    let at = symbol.name_range.start;
    let start = file.source[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = file.source[at..].find('\n').map_or(file.source.len(), |it| at + it);
    file.source[start..end].trim().to_owned()
}

/// Lines and columns from 1, columns in characters.
pub(super) fn range(source: &str, range: &Range<usize>) -> Value {
    let place = |offset| {
        let (line, column) = position(source, offset);
        json!({ "line": line, "column": column })
    };
    json!({ "start": place(range.start), "end": place(range.end) })
}

/// Line and column from 1, the column in characters.
pub(super) fn position(source: &str, offset: usize) -> (usize, usize) {
    let before = &source[..offset];
    let start = before.rfind('\n').map_or(0, |it| it + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
