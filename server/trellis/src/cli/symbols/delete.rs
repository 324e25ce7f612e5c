//! `trellis symbols delete`: a symbol taken out, if nothing uses it.

use std::ops::Range;
use std::path::Path;

use clap::Args;
use code::{FileId, Index, Located, Reference, TextEdits};
use serde_json::{Value, json};

use super::edit::{How, say_undo, shapes};
use super::place::{Meant, ScopeArgs, name, reference, several, shown};
use super::scope::{changed, elsewhere};
use super::sheet::name_path;
use crate::edits::{self, Change};
use crate::error::{Exit, Fault};
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

/// What a deletion would take out, and who would miss it.
struct Planned {
    name: String,
    /// Name paths, with the file in front.
    deleted: Vec<(String, String)>,
    /// File, its text, and where the names of what is deleted start, the last one first.
    files: Vec<(String, String, Vec<usize>)>,
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
    let change = |(name, source, starts): &(String, String, Vec<usize>)| {
        changed(&workspace, name, source, |source| without(source, starts))
    };
    let changes: Vec<Change> = planned.files.iter().map(change).collect::<Result<_, _>>()?;
    let what = format!("delete {}", planned.name);
    let (changes, undo) = args.how.perform(workspace.root(), &what, changes)?;
    show(&planned, &changes, undo, workspace.root(), output)
}

/// A text without the symbols whose names start at these places. The last one goes first, so that the
/// places of the others hold.
fn without(source: &str, starts: &[usize]) -> Result<TextEdits, code::Refused> {
    let mut text = source.to_owned();
    for start in starts {
        text = code::delete_symbol(&text, code::Which::At(*start))?.apply(&text);
    }
    Ok(TextEdits::between(source, &text))
}

fn plan(index: &Index, meant: &Meant) -> Result<Planned, Fault> {
    let symbols = meant.definitions(index)?;
    let first = *symbols.first().ok_or_else(nothing)?;
    if !symbols.iter().all(|it| is_one(index, first, *it)) {
        let places: Vec<_> = symbols.iter().map(|it| name(index, *it)).collect();
        return Err(several(index, &places));
    }
    let at = name(index, first);
    let found = index.references(at.file, at.range.start).ok_or_else(nothing)?;
    let inside = |file: FileId, place: &Range<usize>| {
        let around = |it: &Located| {
            it.file == file && index.outline(file).symbols[it.symbol].range.contains(&place.start)
        };
        symbols.iter().any(around)
    };
    let (own, uses): (Vec<Reference>, Vec<Reference>) =
        found.found.into_iter().partition(|it| inside(it.place.file, &it.place.range));
    let path = |it: &Located| {
        (index.path(it.file).to_owned(), name_path(&index.outline(it.file), it.symbol))
    };
    let mut reasons = outside(found.reasons, &own, &uses);
    if index.overrides(at.file, at.range.start) {
        reasons.push(
            "it overrides, or may override, a member of a base: calls of that run it".to_owned(),
        );
    }
    Ok(Planned {
        reasons,
        uses: uses.iter().filter_map(|it| reference(index, it)).collect(),
        deleted: symbols.iter().map(path).collect(),
        files: files(index, &symbols),
        name: found.name,
    })
}

/// The reasons without those that only concern what is deleted itself.
fn outside(mut reasons: Vec<String>, own: &[Reference], uses: &[Reference]) -> Vec<String> {
    let gives = |all: &[Reference], why: &str| all.iter().any(|it| it.doubt == Some(why));
    reasons.retain(|why| !gives(own, why) || gives(uses, why));
    reasons
}

fn nothing() -> Fault {
    Fault::input("there is no class, function or name of a module or class at this place")
        .hint("give the place of a name that the folder defines, or a name path")
}

/// Definitions of one scope are one symbol, and so is a stub's with that of its source; those of other
/// classes, which override or implement it, are others.
fn is_one(index: &Index, a: Located, b: Located) -> bool {
    let path = |it: Located| {
        let outline = index.outline(it.file);
        outline.path(it.symbol).iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    let module = |it: Located| index.path(it.file).trim_end_matches('i').to_owned();
    module(a) == module(b) && path(a) == path(b)
}

fn files(index: &Index, symbols: &[Located]) -> Vec<(String, String, Vec<usize>)> {
    let of_file = |symbols: &[Located]| {
        let file = symbols.first()?.file;
        let mut starts: Vec<usize> =
            symbols.iter().map(|it| name(index, *it).range.start).collect();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Some((index.path(file).to_owned(), index.text(file)?.to_string(), starts))
    };
    symbols.chunk_by(|a, b| a.file == b.file).filter_map(of_file).collect()
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
