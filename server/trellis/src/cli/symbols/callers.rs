//! `trellis symbols callers`: lists the callers of a symbol.

use clap::Args;

use super::place::SymbolArgs;
use crate::output::Output;
use trellis_server::api::folder;
use trellis_server::api::symbols::{Completeness as _, FindCallersParams, find_callers};
use trellis_server::api::unsearched::unsearched;
use trellis_workflows::fault::{Exit, Fault};

#[derive(Args)]
pub(super) struct CallersArgs {
    #[command(flatten)]
    symbol: SymbolArgs,
}

pub(super) fn run(args: &CallersArgs, output: &mut Output) -> Result<Exit, Fault> {
    let SymbolArgs { name_path, scope } = &args.symbol;
    let mut params = FindCallersParams {
        name_path: name_path.clone(),
        at: scope.place(),
        root: Some(scope.r#in.clone()),
    };
    let mut workspace = folder::open_at(params.root.as_deref(), &mut params.at)?;
    let result = workspace.ask(|index| find_callers(index, &params))?;
    let more = unsearched(&workspace, &result.name)?;
    let result = result.also_incomplete(more);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let lines: Vec<String> = result.callers.iter().map(|it| it.shown()).collect();
        output.text(lines.join("\n"))?;
        result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}
