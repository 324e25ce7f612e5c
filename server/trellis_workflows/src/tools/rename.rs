//! Tools that change a symbol in all files: rename it, or delete it if nothing uses it.

use std::sync::Arc;

use trellis_python::{FileId, Index, RenameRefused, TextEdits};

use super::arguments::{NAME_PATH, tool};
use super::overlay::Changed;
use super::symbols::{SymbolQuery, listed};
use super::table::{Answer, Outcome, Run, ToolContext};
use super::truncate::counted;
use trellis_project::symbols::deletion::{deletion, remove};
use trellis_project::symbols::locations::{place, reference, spot};
use trellis_project::symbols::renaming::{Places, renamed, renaming};

tool! {
    "rename_symbol",
    "Renames a symbol with all its references, imports and exports, in every file or in none.",
    RenameSymbol {
        name: String = NAME_PATH,
        to: String = "the new name alone",
        path: Option<String> = "the file that defines it, where several do",
    }
}

tool! {
    "safe_delete_symbol",
    "Deletes a symbol that nothing uses; where something does or may, that is listed and nothing is changed.",
    SafeDeleteSymbol {
        name: String = NAME_PATH,
        path: Option<String> = "the file that defines it, where several do",
    }
}

impl Run for RenameSymbol {
    fn run(self, scene: &ToolContext) -> Outcome {
        let (index, to) = (scene.copy.index(), &self.to);
        let meant = SymbolQuery::of(scene, &self.name, self.path.as_deref())?;
        let (file, offset) = meant.place(index)?;
        let found = renaming(index, file, offset, to, false).map_err(|why| refused(index, &why))?;
        if found.files.is_empty() {
            return Err(format!("`{to}` is its name already; nothing was changed"));
        }
        let edit = |(file, text, places): &Places| changed(scene, *file, renamed(text, places, to));
        let changes: Vec<Changed> = found.files.iter().map(edit).collect::<Result<_, _>>()?;
        let places = found.files.iter().map(|(.., places)| places.len()).sum();
        let head = format!(
            "`{}` is now `{to}` at {} in {}",
            found.from,
            counted(places, "place"),
            counted(changes.len(), "file")
        );
        let of_file = |(file, _, places): &Places| {
            format!("{}: {}", index.path(*file), counted(places.len(), "place"))
        };
        let possible = found.possible.iter().filter_map(|(it, why)| {
            let shape = place(index, it)?;
            Some(format!("not changed, though it may mean it ({why}): {}", shape.shown()))
        });
        let all: Vec<String> = found.files.iter().map(of_file).chain(possible).collect();
        let text = listed(scene, &head, &all, &found.reasons);
        Ok(Answer { changes, ..Answer::of(text) })
    }
}

fn refused(index: &Index, why: &RenameRefused) -> String {
    let (at, hint) = match why {
        RenameRefused::Clash { place: Some(place), .. } => {
            (format!("{}: ", spot(index, place)), "choose another name")
        }
        RenameRefused::Module { .. } => {
            (String::new(), "write a new file, mend the imports, then delete the old one")
        }
        RenameRefused::NoIdentifier { .. }
        | RenameRefused::Keyword { .. }
        | RenameRefused::Builtin { .. }
        | RenameRefused::Clash { .. } => (String::new(), "choose another name"),
        RenameRefused::NoName
        | RenameRefused::Outside { .. }
        | RenameRefused::Special { .. }
        | RenameRefused::Convention { .. }
        | RenameRefused::Unknown { .. } => (String::new(), "leave it as it is"),
    };
    format!("{at}{why}; nothing was changed; {hint}")
}

impl Run for SafeDeleteSymbol {
    fn run(self, scene: &ToolContext) -> Outcome {
        let index = scene.copy.index();
        let meant = SymbolQuery::of(scene, &self.name, self.path.as_deref())?;
        let found =
            deletion(index, &meant.named(index)?).map_err(|why| meant.not_one(index, &why))?;
        if !found.uses.is_empty() || !found.reasons.is_empty() {
            let certain = found.uses.iter().any(|it| it.uncertainty.is_none());
            let is = if certain { "is still used" } else { "may still be used" };
            let head = format!(
                "`{}` {is}; nothing was changed. Remove these uses first, or edit the text yourself:",
                found.name
            );
            let uses = found.uses.iter().filter_map(|it| reference(index, it));
            let uses: Vec<String> = uses.map(|it| it.shown()).collect();
            return Err(listed(scene, &head, &uses, &found.reasons));
        }
        let edit = |(file, text, starts): &(FileId, Arc<str>, Vec<usize>)| {
            changed(scene, *file, remove(text, starts))
        };
        let changes: Vec<Changed> = found.files.iter().map(edit).collect::<Result<_, _>>()?;
        let paths: Vec<&str> = changes.iter().map(|it| it.path.as_str()).collect();
        let text = format!("`{}` was deleted from {}", found.name, paths.join(", "));
        Ok(Answer { changes, ..Answer::of(text) })
    }
}

/// Applies edits to a file, if they can be made.
fn changed<E: std::fmt::Display>(
    scene: &ToolContext,
    file: FileId,
    edits: Result<TextEdits, E>,
) -> Result<Changed, String> {
    let path = scene.copy.index().path(file);
    let edits = edits.map_err(|why| format!("{path} was not changed: {why}"));
    edits
        .and_then(|edits| scene.copy.edited(path, &edits))
        .map_err(|why| format!("{why}; nothing was changed in any file"))
}
