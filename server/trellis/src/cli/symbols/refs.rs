//! `trellis symbols refs` and `definition`: where a symbol is used, where it is defined.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::place::{At, ScopeArgs, SymbolArgs, no_name, place, reference, shown};
use crate::error::{Exit, Fault};
use crate::output::Output;

#[derive(Args)]
pub(super) struct RefsArgs {
    #[command(flatten)]
    symbol: SymbolArgs,
}

#[derive(Args)]
pub(super) struct DefinitionArgs {
    /// A place where the symbol is named, with line and column from 1.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    at: At,
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
}

pub(super) fn refs(args: &RefsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (mut workspace, meant) = args.symbol.open()?;
    let answer = workspace.ask(|index| {
        let (file, offset) = meant.place(index)?;
        let found = index.references(file, offset).ok_or_else(no_name)?;
        let references = found.found.iter().filter_map(|it| reference(index, it)).collect();
        Ok((references, found.complete, found.reasons))
    });
    let (references, complete, mut reasons): (Vec<Value>, _, Vec<String>) = answer?;
    // What could not be read may hold some, too.
    let unread = workspace.problems();
    let complete = complete && unread.is_empty();
    reasons.extend(unread);
    if output.is_json() {
        let shape = json!({ "references": references, "complete": complete, "reasons": reasons });
        output.json(&shape)?;
    } else {
        output.text(references.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
        reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

pub(super) fn definition(args: &DefinitionArgs, output: &mut Output) -> Result<Exit, Fault> {
    let scope = ScopeArgs { r#in: args.r#in.clone(), at: Some(args.at.clone()) };
    let (mut workspace, meant) = SymbolArgs { name_path: None, scope }.open()?;
    let found: Result<Vec<Value>, Fault> = workspace.ask(|index| {
        let (file, offset) = meant.place(index)?;
        let places = index.definition(file, offset);
        Ok(places.iter().filter_map(|it| place(index, it)).collect())
    });
    let found = found?;
    workspace.problems().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&json!({ "definitions": found }))?;
    } else {
        output.text(found.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}
