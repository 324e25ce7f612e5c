//! `trellis symbols`: symbol tools on any Python folder.

use clap::{Args, Subcommand};

use crate::error::{Exit, Fault};
use crate::output::Output;

mod callers;
mod delete;
mod document;
mod edit;
mod find;
mod place;
mod planned;
mod refs;
mod rename;
mod undo;
mod unused;

/// Look at the symbols of Python files, and edit them.
#[derive(Args)]
pub(crate) struct SymbolsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Find(find::FindArgs),
    Document(document::DocumentArgs),
    /// List every reference of a symbol.
    Refs(refs::RefsArgs),
    /// List from where a symbol is used, by the functions and classes around the uses.
    Callers(callers::CallersArgs),
    Unused(unused::UnusedArgs),
    Planned(planned::PlannedArgs),
    /// Say where the symbol at a place is defined.
    Definition(refs::DefinitionArgs),
    /// Replace a symbol's body, or all of it with a text that brings its own `def` or `class`. Decorators
    /// stay unless the text has some; the docstring is part of the body.
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
