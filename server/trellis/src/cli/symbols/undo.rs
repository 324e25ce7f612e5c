//! `trellis symbols undo`: an edit taken back.

use std::path::PathBuf;

use clap::Args;

use super::edit::show;
use crate::error::{Exit, Fault};
use crate::methods::edits::{UndoEditParams, undo_edit};
use crate::output::Output;

/// Take back an edit that one of these commands made; refused if its files were changed since.
#[derive(Args)]
pub(crate) struct UndoArgs {
    /// Number of the edit; without one, the last that was not undone.
    id: Option<u64>,
    /// A file or folder of the project that was edited.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
}

pub(crate) fn run(args: &UndoArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = UndoEditParams { id: args.id, root: Some(args.r#in.clone()) };
    show(&undo_edit(&params)?, &args.r#in, output)
}
