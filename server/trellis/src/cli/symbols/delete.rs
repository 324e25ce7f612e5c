//! `trellis symbols delete`: deletes a symbol if nothing uses it.

use clap::Args;

use super::edit::{How, changed_folder, root_and_path, say_undo};
use super::place::ScopeArgs;
use crate::output::Output;
use trellis_server::api::refactorings::{SafeDeleteSymbolParams, safe_delete_symbol};
use trellis_workflows::fault::{Exit, Fault};

/// Delete a symbol that is not used.
///
/// If something uses it or may use it, nothing is deleted, and every use is listed. Imports and `__all__` count.
#[derive(Args)]
pub(crate) struct DeleteArgs {
    /// Symbol: `name`, `Class/name`, `/Class/name` (full path), or `name[1]` (the second one).
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    name_path: Option<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Delete it even if it is used; lists what breaks.
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
        // Also for a refusal, since the uses are its result.
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
