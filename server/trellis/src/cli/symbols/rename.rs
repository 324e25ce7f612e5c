//! `trellis symbols rename`: another name, everywhere at once.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use code::{Index, Lines, RenameRefused};
use serde_json::{Value, json};

use super::edit::{How, say_undo};
use super::place::{Meant, ScopeArgs, no_name};
use super::scope::{changed, elsewhere};
use crate::edits::{self, Change};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::symbols::renaming::{Places, renamed, renaming};
use crate::symbols::shapes::{place as place_of, shown, spot, stretch};

/// Rename a symbol with all its references, imports and exports: every file or none. Refused when a name
/// would come to mean something else; what may mean the symbol, of which nobody can be sure, is not changed
/// but listed.
#[derive(Args)]
pub(crate) struct RenameArgs {
    /// The symbol (`name`, `Class/name`, `/Class/name`, `name[1]`), left out with --at; and its new name.
    #[arg(required = true, num_args = 1..=2, value_names = ["NAME_PATH", "NEW_NAME"])]
    names: Vec<String>,
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    how: How,
}

/// What a rename would do.
struct Planned {
    from: String,
    /// File, its text, and the places in it.
    edits: Vec<(String, Arc<str>, Vec<Range<usize>>)>,
    /// Places that are not changed, with `why`.
    possible: Vec<Value>,
    reasons: Vec<String>,
}

pub(crate) fn run(args: &RenameArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (path, to) = names(args)?;
    let (mut workspace, meant) = args.scope.open_whole(path)?;
    let mut planned = workspace.ask(|index| plan(index, &meant, to))?;
    planned.reasons.extend(workspace.problems());
    planned.reasons.extend(elsewhere(&workspace, &planned.from)?);
    let change = |(name, source, places): &(String, Arc<str>, Vec<Range<usize>>)| {
        changed(&workspace, name, source, |source| renamed(source, places, to))
    };
    let changes: Vec<Change> = planned.edits.iter().map(change).collect::<Result<_, _>>()?;
    let what = format!("rename {} to {to}", planned.from);
    let (changes, undo) = args.how.perform(workspace.root(), &what, changes)?;
    show(&planned, to, &edits::diff(&changes), undo, workspace.root(), output)
}

/// The name path, if there is one, and the new name.
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

fn plan(index: &Index, meant: &Meant, to: &str) -> Result<Planned, Fault> {
    let found = renaming(index, meant.place(index)?, to).map_err(|it| refused(index, &it))?;
    let file = |(file, text, places): Places| (index.path(file).to_owned(), text, places);
    let possible = |(it, why): &(code::Place, &str)| {
        let mut shape = place_of(index, it)?;
        shape["why"] = (*why).into();
        Some(shape)
    };
    Ok(Planned {
        edits: found.files.into_iter().map(file).collect(),
        possible: found.possible.iter().filter_map(possible).collect(),
        reasons: found.reasons,
        from: found.from,
    })
}

/// What is wrong with the new name alone is wrong usage; the rest is how things stand in the files.
fn refused(index: &Index, why: &RenameRefused) -> Fault {
    let message = format!("{why}; nothing was changed");
    match why {
        RenameRefused::NoName => no_name(),
        RenameRefused::NoIdentifier { .. } | RenameRefused::Keyword { .. } => {
            Fault::new(Exit::Usage, message)
                .hint("give letters, digits and underscores, no digit first, and no keyword")
        }
        RenameRefused::Clash { place: Some(place), .. } => {
            Fault::input(format!("{}: {message}", spot(index, place)))
                .hint("choose another name, or rename what is there first")
        }
        RenameRefused::Clash { .. } | RenameRefused::Builtin { .. } => {
            Fault::input(message).hint("choose another name")
        }
        RenameRefused::Special { .. } => {
            Fault::input(message).hint("names between double underscores are Python's own")
        }
        RenameRefused::Module { .. } => Fault::input(message)
            .hint("renaming a file is no edit of texts: move it, then mend its imports"),
        RenameRefused::Outside { .. } => {
            Fault::input(message).hint("only what files of the folder define can be renamed")
        }
        RenameRefused::Unknown { .. } => {
            Fault::input(message).hint("give the place of the definition with --at")
        }
    }
}

fn show(
    planned: &Planned,
    to: &str,
    diff: &str,
    undo: Option<u64>,
    place: &Path,
    output: &mut Output,
) -> Result<Exit, Fault> {
    if output.is_json() {
        let edits: Vec<Value> = planned.edits.iter().map(shape).collect();
        output.json(&json!({
            "edits": edits, "from": planned.from, "to": to, "diff": diff, "undo": undo,
            "possible": planned.possible, "complete": planned.reasons.is_empty() && planned.possible.is_empty(),
            "reasons": planned.reasons,
        }))?;
        return Ok(Exit::Done);
    }
    output.text(diff.trim_end_matches('\n'))?;
    for it in &planned.possible {
        output.note(format_args!("warning: not changed: {}", shown(it)));
    }
    planned.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    say_undo(undo, place, output);
    Ok(Exit::Done)
}

/// `{file, places: [range]}`; ranges in the text before.
fn shape((file, source, places): &(String, Arc<str>, Vec<Range<usize>>)) -> Value {
    let lines = Lines::of(source);
    let places: Vec<Value> = places.iter().map(|it| stretch(&lines, it)).collect();
    json!({ "file": file, "places": places })
}
