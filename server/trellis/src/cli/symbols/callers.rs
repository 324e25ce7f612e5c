//! `trellis symbols callers`: from where a symbol is used.

use clap::Args;
use code::Index;
use serde_json::{Value, json};

use super::place::{Meant, SymbolArgs, no_name};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::symbols::shapes::{caller, caller_shown};

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
        output.text(callers.iter().map(caller_shown).collect::<Vec<_>>().join("\n"))?;
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
