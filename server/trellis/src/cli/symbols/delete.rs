//! `trellis symbols delete`: a symbol taken out, if nothing uses it.

use std::path::Path;
use std::sync::Arc;

use clap::Args;
use code::{FileId, Index, Located};
use serde_json::{Value, json};

use super::edit::{How, say_undo, shapes};
use super::place::{Meant, ScopeArgs, several};
use super::scope::{changed, elsewhere};
use crate::edits::{self, Change};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::symbols::deletion::{deletion, without};
use crate::symbols::one::NotOne;
use crate::symbols::shapes::{reference, shown};
use crate::symbols::sheet::name_path;

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

/// What a deletion would take out, and who would miss it.
struct Planned {
    name: String,
    /// Name paths, with the file in front.
    deleted: Vec<(String, String)>,
    /// File, its text, and where the names of what is deleted start, the last one first.
    files: Vec<(String, Arc<str>, Vec<usize>)>,
    /// References outside of what is deleted.
    uses: Vec<Value>,
    reasons: Vec<String>,
}

pub(crate) fn run(args: &DeleteArgs, output: &mut Output) -> Result<Exit, Fault> {
    let (mut workspace, meant) = args.scope.open_whole(args.name_path.as_deref())?;
    let mut planned = workspace.ask(|index| plan(index, &meant))?;
    let unsure = !planned.reasons.is_empty() || !planned.uses.is_empty();
    planned.reasons.extend(workspace.problems());
    planned.reasons.extend(elsewhere(&workspace, &planned.name)?);
    if unsure && !args.force {
        return Err(refuse(&planned, output)?);
    }
    let change = |(name, source, starts): &(String, Arc<str>, Vec<usize>)| {
        changed(&workspace, name, source, |source| without(source, starts))
    };
    let changes: Vec<Change> = planned.files.iter().map(change).collect::<Result<_, _>>()?;
    let what = format!("delete {}", planned.name);
    let (changes, undo) = args.how.perform(workspace.root(), &what, changes)?;
    show(&planned, &changes, undo, workspace.root(), output)
}

fn plan(index: &Index, meant: &Meant) -> Result<Planned, Fault> {
    let found = deletion(index, &meant.definitions(index)?).map_err(|why| match why {
        NotOne::Missing => nothing(),
        NotOne::Several(found) => several(index, &found),
    })?;
    let path = |it: &Located| {
        (index.path(it.file).to_owned(), name_path(&index.outline(it.file), it.symbol))
    };
    let file = |(file, text, starts): (FileId, Arc<str>, Vec<usize>)| {
        (index.path(file).to_owned(), text, starts)
    };
    Ok(Planned {
        deleted: found.symbols.iter().map(path).collect(),
        files: found.files.into_iter().map(file).collect(),
        uses: found.uses.iter().filter_map(|it| reference(index, it)).collect(),
        reasons: found.reasons,
        name: found.name,
    })
}

fn nothing() -> Fault {
    Fault::input("there is no class, function or name of a module or class at this place")
        .hint("give the place of a name that the folder defines, or a name path")
}

/// The refusal; as JSON the uses are its result.
fn refuse(planned: &Planned, output: &mut Output) -> Result<Fault, Fault> {
    if output.is_json() {
        output.json(&json!({
            "deleted": [], "edits": [], "diff": "", "undo": null, "references": planned.uses,
            "complete": planned.reasons.is_empty(), "reasons": planned.reasons,
        }))?;
    }
    let uses = planned.uses.iter().map(shown);
    let lines: Vec<String> =
        uses.chain(planned.reasons.iter().map(|it| format!("not complete: {it}"))).collect();
    let certain = planned.uses.iter().any(|it| it["certain"] == true);
    let is = if certain { "is still used" } else { "may still be used" };
    let message = format!("`{}` {is}; nothing was changed:\n{}", planned.name, lines.join("\n"));
    Ok(Fault::input(message)
        .hint("remove these uses first, or delete it all the same with --force"))
}

fn show(
    planned: &Planned,
    changes: &[Change],
    undo: Option<u64>,
    place: &Path,
    output: &mut Output,
) -> Result<Exit, Fault> {
    let diff = edits::diff(changes);
    if output.is_json() {
        let deleted: Vec<Value> = (planned.deleted.iter())
            .map(|(file, path)| json!({ "file": file, "namePath": path }))
            .collect();
        let edits: Vec<Value> = changes.iter().flat_map(shapes).collect();
        output.json(&json!({
            "deleted": deleted, "edits": edits, "diff": diff, "undo": undo,
            "references": planned.uses, "complete": planned.reasons.is_empty(),
            "reasons": planned.reasons,
        }))?;
        return Ok(Exit::Done);
    }
    output.text(diff.trim_end_matches('\n'))?;
    for it in &planned.uses {
        output.note(format_args!("warning: this will break: {}", shown(it)));
    }
    planned.reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    say_undo(undo, place, output);
    Ok(Exit::Done)
}
