//! `trellis symbols undo`: undoes an edit.

use std::path::PathBuf;

use clap::Args;

use super::edit::show;
use crate::output::Output;
use trellis_server::api::edits::{UndoEditParams, undo_edit};
use trellis_workflows::fault::{Exit, Fault};

/// Undo an edit or an accepted fix.
///
/// Refused if the edited files have changed since.
#[derive(Args)]
pub(crate) struct UndoArgs {
    /// Number of the edit [default: the last one].
    id: Option<u64>,
    /// Folder of the project.
    #[arg(long = "project", alias = "in", default_value = ".", value_name = "DIR")]
    r#in: PathBuf,
}

pub(crate) fn run(args: &UndoArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = UndoEditParams { id: args.id, root: Some(args.r#in.clone()) };
    show(&undo_edit(&params)?, &args.r#in, output)
}
