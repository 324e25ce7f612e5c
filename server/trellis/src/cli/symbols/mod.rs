//! `trellis symbols`: symbol tools on any Python folder.

use clap::{Args, Subcommand};

use crate::output::Output;
use trellis_workflows::fault::{Exit, Fault};

mod callers;
mod delete;
mod document;
mod edit;
mod find;
mod place;
pub(crate) mod planned;
mod refs;
mod rename;
mod undo;
mod unused;

/// Find, rename, edit or delete Python symbols safely.
#[derive(Args)]
pub(crate) struct SymbolsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Find(find::FindArgs),
    #[command(visible_alias = "outline")]
    Document(document::DocumentArgs),
    /// List every reference of a symbol.
    Refs(refs::RefsArgs),
    /// List the functions and classes that use a symbol.
    Callers(callers::CallersArgs),
    Unused(unused::UnusedArgs),
    Planned(planned::PlannedArgs),
    /// Show where the symbol at a position is defined.
    Definition(refs::DefinitionArgs),
    /// Replace the body of a symbol, or all of it.
    ///
    /// A text with its own `def` or `class` line replaces the whole definition. Decorators stay unless the text has some. The
    /// docstring is part of the body.
    ReplaceBody(edit::PlaceArgs),
    /// Insert statements above a symbol, its decorators and comments.
    InsertBefore(edit::PlaceArgs),
    InsertAfter(edit::InsertAfterArgs),
    Replace(edit::ReplaceArgs),
    Rename(rename::RenameArgs),
    Delete(delete::DeleteArgs),
    Undo(undo::UndoArgs),
}

pub(crate) fn run(args: &SymbolsArgs, output: &mut Output) -> Result<Exit, Fault> {
    match &args.what {
        What::Find(args) => find::run(args, output),
        What::Document(args) => document::run(args, output),
        What::Refs(args) => refs::refs(args, output),
        What::Callers(args) => callers::run(args, output),
        What::Unused(args) => unused::run(args, output),
        What::Planned(args) => planned::run(args, output),
        What::Definition(args) => refs::definition(args, output),
        What::ReplaceBody(args) => edit::replace_body(args, output),
        What::InsertBefore(args) => edit::insert_before(args, output),
        What::InsertAfter(args) => edit::insert_after(args, output),
        What::Replace(args) => edit::replace(args, output),
        What::Rename(args) => rename::run(args, output),
        What::Delete(args) => delete::run(args, output),
        What::Undo(args) => undo::run(args, output),
    }
}
