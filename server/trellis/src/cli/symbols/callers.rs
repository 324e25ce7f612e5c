//! `trellis symbols callers`: from where a symbol is used.

use clap::Args;
use code::{Caller, Index, Place};
use serde_json::{Value, json};

use super::place::{Meant, SymbolArgs, no_name, place};
use super::sheet::name_path;
use crate::error::{Exit, Fault};
use crate::output::Output;

#[derive(Args)]
pub(super) struct CallersArgs {
    #[command(flatten)]
    symbol: SymbolArgs,
}

/// Callers as shapes, and why they may not be all.
type Answer = Result<(Vec<Value>, Vec<String>), Fault>;

pub(super) fn run(args: &CallersArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (mut workspace, meant) = args.symbol.open()?;
    let (callers, mut reasons) = workspace.ask(|index| ask(index, &meant))?;
    reasons.extend(workspace.problems());
    if output.is_json() {
        let complete = reasons.is_empty();
        output.json(&json!({ "callers": callers, "complete": complete, "reasons": reasons }))?;
    } else {
        output.text(callers.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
        reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

fn ask(index: &Index, meant: &Meant) -> Answer {
    let (file, offset) = meant.place(index)?;
    let callers = index.callers(file, offset).ok_or_else(no_name)?;
    let reasons = index.references(file, offset).map_or_else(Vec::new, |it| it.reasons);
    Ok((callers.iter().map(|it| caller(index, it)).collect(), reasons))
}

/// `{file, symbol, kind, uses: [{range, line, certain, why}]}`; `symbol` is a name path, and null with
/// `kind` for the module itself.
fn caller(index: &Index, caller: &Caller) -> Value {
    let outline = index.outline(caller.file);
    let symbol = caller.symbol.map(|it| it.symbol);
    let use_ = |(at, why): &(Place, Option<&str>)| {
        let shape = place(index, at)?;
        let (range, line) = (&shape["range"], &shape["line"]);
        Some(json!({ "range": range, "line": line, "certain": why.is_none(), "why": why }))
    };
    json!({
        "file": index.path(caller.file),
        "symbol": symbol.map(|it| name_path(&outline, it)),
        "kind": symbol.map(|it| outline.symbols[it].kind.as_str()),
        "uses": caller.uses.iter().filter_map(use_).collect::<Vec<_>>(),
    })
}

/// A line for the caller and one for each use.
fn shown(it: &Value) -> String {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let (kind, symbol) = (it["kind"].as_str().unwrap_or("module"), text(&it["symbol"]));
    let use_ = |it: &Value| {
        let start = &it["range"]["start"];
        let why = it["why"].as_str().map_or_else(String::new, |it| format!("  possibly ({it})"));
        format!("\n    {}:{}  {}{why}", start["line"], start["column"], text(&it["line"]))
    };
    let uses: String = it["uses"].as_array().into_iter().flatten().map(use_).collect();
    let own = format!("{}  {kind} {symbol}", text(&it["file"]));
    own.trim_end().to_owned() + &uses
}
