//! `trellis symbols unused`: what nothing uses.

use std::path::PathBuf;

use clap::Args;
use code::{Index, Unused};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::sources::Workspace;
use crate::symbols::one::name;
use crate::symbols::shapes::spot;
use crate::symbols::sheet::Sheet;

/// List functions, classes and methods that nothing uses outside their own text.
#[derive(Args)]
pub(crate) struct UnusedArgs {
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
}

/// What is not listed though nothing may use it, and what is though something may.
const LEFT_OUT: [&str; 5] = [
    "names that Python or pytest looks for (`__init__`, `test_…`, `Test…`)",
    "methods that override or implement others",
    "whatever has a decorator, which may have handed it on",
    "variables and attributes",
    "names in `__all__`, which count as used; imports do not",
];

pub(crate) fn run(args: &UnusedArgs, output: &mut Output) -> Result<Exit, Fault> {
    let mut workspace = Workspace::open(&args.r#in)?;
    let (found, mut reasons) = workspace.ask(|index| {
        let found: Vec<Value> = index.unused().iter().filter_map(|it| shape(index, *it)).collect();
        (found, broken(index))
    });
    reasons.extend(workspace.problems());
    if output.is_json() {
        output.json(&json!({
            "unused": found, "leftOut": LEFT_OUT,
            "complete": reasons.is_empty(), "reasons": reasons,
        }))?;
        return Ok(Exit::Done);
    }
    output.text(found.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
    output.note(format_args!("not listed: {}", LEFT_OUT.join("; ")));
    output.note("what is used from outside the folder, or by a name put together at run time, is listed all the same");
    reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    Ok(Exit::Done)
}

/// Files whose uses may not have been seen.
fn broken(index: &Index) -> Vec<String> {
    let broken = index.files().filter(|it| !index.outline(*it).errors.is_empty());
    let mut paths: Vec<&str> = broken.map(|it| index.path(it)).collect();
    paths.sort_unstable();
    paths.iter().map(|it| format!("{it} has syntax errors: it may use what is listed")).collect()
}

/// A symbol's shape with `file`, `place` (`FILE:LINE:COLUMN`) and `possiblyUsed`.
fn shape(index: &Index, it: Unused) -> Option<Value> {
    let (file, symbol) = (it.symbol.file, it.symbol.symbol);
    let (text, outline) = (index.text(file)?, index.outline(file));
    let mut shape = Sheet::of(&text, &outline).shape(symbol);
    shape["file"] = index.path(file).into();
    shape["place"] = spot(index, &name(index, it.symbol)).into();
    shape["possiblyUsed"] = it.possibly_used.into();
    Some(shape)
}

fn shown(it: &Value) -> String {
    let text = |key: &str| it[key].as_str().unwrap_or_default();
    let possibly = match it["possiblyUsed"].as_bool() {
        Some(true) => "  possibly used: an object of unknown type is asked for that name",
        _ => "",
    };
    format!("{}  {} {}{possibly}", text("place"), text("kind"), text("namePath"))
}
