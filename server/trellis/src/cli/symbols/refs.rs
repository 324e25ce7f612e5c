//! `trellis symbols refs` and `definition`: show where a symbol is used or defined.

use std::path::PathBuf;

use clap::Args;

use super::place::{Spot, SymbolArgs};
use crate::output::Output;
use trellis_server::api::confirm::confirm;
use trellis_server::api::folder;
use trellis_server::api::symbols::{
    Completeness as _, FindDefinitionParams, FindReferencingSymbolsParams, find_definition,
    find_referencing_symbols,
};
use trellis_server::api::unsearched::unsearched;
use trellis_server::type_checker::Checker;
use trellis_workflows::fault::{Exit, Fault};

#[derive(Args)]
pub(super) struct RefsArgs {
    #[command(flatten)]
    symbol: SymbolArgs,
    /// Ask an installed type checker which possible references are real.
    #[arg(long, value_enum, value_name = "CHECKER")]
    confirm: Option<Checker>,
}

#[derive(Args)]
pub(super) struct DefinitionArgs {
    /// Position of the symbol; lines and columns count from 1.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    at: Spot,
    /// Folder of the project.
    #[arg(long = "project", alias = "in", default_value = ".", value_name = "DIR")]
    r#in: PathBuf,
}

pub(super) fn refs(args: &RefsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let SymbolArgs { name_path, scope } = &args.symbol;
    let mut params = FindReferencingSymbolsParams {
        name_path: name_path.clone(),
        at: scope.place(),
        root: Some(scope.r#in.clone()),
        confirm: args.confirm,
    };
    let mut workspace = folder::open_at(params.root.as_deref(), &mut params.at)?;
    let result = workspace.ask(|index| find_referencing_symbols(index, &params))?;
    let index = workspace.snapshot().index;
    let result = confirm(&index, &workspace.file(""), &params, result)?;
    let more = unsearched(&workspace, &result.name)?;
    let result = result.also_incomplete(more);
    if output.is_json() {
        output.json(&result)?;
    } else {
        let lines: Vec<String> = result.references.iter().map(|it| it.shown()).collect();
        output.text(lines.join("\n"))?;
        result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

pub(super) fn definition(args: &DefinitionArgs, output: &mut Output) -> Result<Exit, Fault> {
    let mut params = FindDefinitionParams { at: args.at.place(), root: Some(args.r#in.clone()) };
    let mut workspace = folder::open(params.root.as_deref())?;
    params.at = folder::resolved(&workspace, params.at)?;
    let result = workspace.ask(|index| find_definition(index, &params))?;
    workspace.problems().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&result)?;
    } else {
        let lines: Vec<String> = result.definitions.iter().map(|it| it.shown()).collect();
        output.text(lines.join("\n"))?;
    }
    Ok(Exit::Done)
}
