//! `trellis symbols rename`: renames a symbol everywhere.

use clap::Args;

use super::edit::{How, changed_folder, root_and_path, say_undo};
use super::place::ScopeArgs;
use crate::output::Output;
use trellis_server::api::refactorings::{RenameSymbolParams, rename_symbol};
use trellis_workflows::fault::{Exit, Fault};

/// Rename a symbol and all its references.
///
/// Changes imports and exports, too: every file or none. Refused if the new name would clash or change the meaning of other
/// code. Uncertain references are not changed but listed.
#[derive(Args)]
pub(crate) struct RenameArgs {
    /// Symbol (omit it with --at) and its new name.
    #[arg(required = true, num_args = 1..=2, value_names = ["NAME_PATH", "NEW_NAME"])]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Rename it although a library, or code that takes names from data, looks for the name.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    how: How,
}

pub(crate) fn run(args: &RenameArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (path, to) = names(args)?;
    let (root, file) = root_and_path(&args.scope.r#in);
    let result = rename_symbol(RenameSymbolParams {
        name_path: path.map(str::to_owned),
        at: args.scope.place(),
        new_name: to.to_owned(),
        force: args.force,
        path: file.map(|it| it.to_string_lossy().into_owned()),
        root,
        dry_run: args.how.dry_run,
    })?;
    if output.is_json() {
        output.json(&result)?;
        return Ok(Exit::Done);
    }
    output.text(result.diff.trim_end_matches('\n'))?;
    for it in &result.possible {
        output.note(format_args!("warning: not changed: {}", it.shown()));
    }
    result.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    say_undo(result.undo, &changed_folder(&args.scope.r#in)?, output);
    Ok(Exit::Done)
}

/// Returns the optional name path, and the new name.
fn names(args: &RenameArgs) -> Result<(Option<&str>, &str), Fault> {
    match (&args.names[..], &args.scope.at) {
        ([path, to], None) => Ok((Some(path), to)),
        ([to], Some(_)) => Ok((None, to)),
        ([_], None) => Err(Fault::new(Exit::Usage, "a rename takes a symbol and its new name")
            .hint("give NAME_PATH NEW_NAME, or NEW_NAME with --at FILE:LINE:COLUMN")),
        _ => Err(Fault::new(Exit::Usage, "the symbol is given twice, by its name and with --at")
            .hint("give NAME_PATH NEW_NAME, or NEW_NAME with --at FILE:LINE:COLUMN")),
    }
}
