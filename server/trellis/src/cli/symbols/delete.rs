//! `trellis symbols delete`: a symbol taken out, if nothing uses it.

use clap::Args;

use super::edit::{How, changed_folder, root_and_path, say_undo};
use super::place::ScopeArgs;
use crate::error::{Exit, Fault};
use crate::methods::refactorings::{SafeDeleteSymbolParams, safe_delete_symbol};
use crate::output::Output;

/// Delete a symbol that nothing uses. Refused, with every use listed, when something does or may do:
/// imports and `__all__` count as well.
#[derive(Args)]
pub(crate) struct DeleteArgs {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    name_path: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Delete it even so; what breaks is listed.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &DeleteArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (root, file) = root_and_path(&args.scope.r#in);
    let result = safe_delete_symbol(SafeDeleteSymbolParams {
        name_path: args.name_path.clone(),
        at: args.scope.place(),
        force: args.force,
        path: file.map(|it| it.to_string_lossy().into_owned()),
        root,
        dry_run: args.how.dry_run,
    })?;
    if output.is_json() {
        // Of a refusal too: the uses are its result.
        output.json(&result)?;
    }
    if let Some(refusal) = result.refusal() {
        return Err(refusal);
    }
    if output.is_json() {
        return Ok(Exit::Done);
    }
    output.text(result.diff.trim_end_matches('\n'))?;
    for it in &result.references {
        output.note(format_args!("warning: this will break: {}", it.shown()));
    }
    result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    say_undo(result.undo, &changed_folder(&args.scope.r#in)?, output);
    Ok(Exit::Done)
}
