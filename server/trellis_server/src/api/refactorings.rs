//! Edits across a project: rename a symbol, or delete it if nothing uses it.
//!
//! Edits are planned from an index without reading the disk, and written like [`Planned::write`].

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_python::{FileId, Index, Lines, Located, RenameRefused, TextEdits};

use super::edits::{FileEdit, Planned, Target, Undoable, below, diff, file_edits};
use super::folder;
use super::symbol_query::{SourcePosition, SymbolQuery, no_name, several};
use super::symbols::{Completeness as _, reasoned};
use super::unsearched::{beside, unsearched};
use trellis_project::edits::{self, Change};
use trellis_project::project;
use trellis_project::sources::{Unsearched, Workspace, is_source};
use trellis_project::symbols::deletion::{deletion, remove};
use trellis_project::symbols::locations::{
    PossibleReference, Range, Reference, possible, reference, spot, stretch,
};
use trellis_project::symbols::outline_view::name_path;
use trellis_project::symbols::renaming::{Places, renamed, renaming};
use trellis_project::symbols::unique::LookupError;
use trellis_workflows::fault::{Exit, Fault};

/// Renames a symbol with all its references, imports and exports: in every file or in none. Refused if a name would
/// get another meaning; possible references that cannot be confirmed are listed, not changed.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RenameSymbolParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    #[serde(default)]
    pub name_path: Option<String>,
    /// A place where the symbol is named, instead of its name path.
    #[serde(default)]
    pub at: Option<SourcePosition>,
    /// The new name.
    pub new_name: String,
    /// Rename it although a library, or code that takes names from data, looks for the name.
    #[serde(default)]
    pub force: bool,
    /// The one file in which to look up the name path, relative to the root.
    #[serde(default)]
    pub path: Option<String>,
    /// Folder to search; default: the project of the file, or the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a rename changed, or would change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenameSymbolResult {
    pub edits: Vec<RenamedFile>,
    /// The name before.
    pub from: String,
    /// The new name.
    pub to: String,
    /// The edits as a unified diff.
    pub diff: String,
    /// The number for `undoEdit`; null if nothing changed.
    pub undo: Option<u64>,
    /// Places that may refer to the symbol and are not changed.
    pub possible: Vec<PossibleReference>,
    /// Whether there are certainly no other places.
    pub complete: bool,
    /// Why there may be others, as sentences.
    pub reasons: Vec<String>,
}

/// The places of the new name in one file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RenamedFile {
    /// Relative to the folder of the request.
    pub file: String,
    /// Positions in the text before, in order.
    pub places: Vec<Range>,
}

/// Deletes a symbol that nothing uses. Refused if something uses it or may use it, with every use listed: imports and
/// `__all__` count, too.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SafeDeleteSymbolParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    #[serde(default)]
    pub name_path: Option<String>,
    /// A place where the symbol is named, instead of its name path.
    #[serde(default)]
    pub at: Option<SourcePosition>,
    /// Delete it anyway; broken uses are listed.
    #[serde(default)]
    pub force: bool,
    /// The one file in which to look up the name path, relative to the root.
    #[serde(default)]
    pub path: Option<String>,
    /// Folder to search; default: the project of the file, or the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// What was deleted, or would be; nothing if it is still used.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SafeDeleteSymbolResult {
    /// The definitions of the symbol; none if it was refused.
    pub deleted: Vec<Deleted>,
    pub edits: Vec<FileEdit>,
    /// The edits as a unified diff.
    pub diff: String,
    /// The number for `undoEdit`; null if nothing changed.
    pub undo: Option<u64>,
    /// What uses it, or may use it.
    pub references: Vec<Reference>,
    /// Whether there are certainly no other uses.
    pub complete: bool,
    /// Why there may be others, as sentences.
    pub reasons: Vec<String>,
    /// The symbol's name, and whether it was refused; for [`SafeDeleteSymbolResult::refusal`].
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    is_refused: bool,
}

/// A definition that was deleted.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deleted {
    /// Relative to the folder of the request.
    pub file: String,
    /// `Class/name`, `name[1]` for the second with that name in its scope.
    pub name_path: String,
}

reasoned!(RenameSymbolResult, SafeDeleteSymbolResult);

impl Undoable for RenameSymbolResult {
    fn undo(&mut self) -> &mut Option<u64> {
        &mut self.undo
    }
}

impl Undoable for SafeDeleteSymbolResult {
    fn undo(&mut self) -> &mut Option<u64> {
        &mut self.undo
    }
}

/// Function from a file's name in the index to its path and shown name.
pub type Place<'a> = &'a dyn Fn(&str) -> Target;

/// Plans a rename in the files of an index.
pub fn plan_rename(
    index: &Index,
    params: &RenameSymbolParams,
    place: Place<'_>,
) -> Result<Planned<RenameSymbolResult>, Fault> {
    let to = &params.new_name;
    let meant =
        SymbolQuery::of(params.name_path.as_deref(), params.at.as_ref(), params.path.as_deref())?;
    let (file, offset) = meant.place(index)?;
    let found = renaming(index, file, offset, to, params.force);
    let found = found.map_err(|it| refused(index, &it))?;
    let (mut edits, mut changes, mut differences) = (Vec::new(), Vec::new(), String::new());
    for (file, source, places) in &found.files as &Vec<Places> {
        edits.push(renamed_file(index.path(*file), source, places));
        let target = place(index.path(*file));
        let change = changed(index.path(*file), &target, source, |it| renamed(it, places, to))?;
        differences += &diff(&target.shown, &change);
        changes.push(change);
    }
    let unsure: Vec<PossibleReference> =
        found.possible.iter().filter_map(|(it, why)| possible(index, it, why)).collect();
    let what = format!("rename {} to {to}", found.from);
    let result = RenameSymbolResult {
        edits,
        from: found.from,
        to: to.clone(),
        diff: differences,
        undo: None,
        complete: found.reasons.is_empty() && unsure.is_empty(),
        possible: unsure,
        reasons: found.reasons,
    };
    Ok(Planned::new(result, what, changes))
}

fn renamed_file(name: &str, source: &str, places: &[std::ops::Range<usize>]) -> RenamedFile {
    let lines = Lines::of(source);
    let places = places.iter().map(|it| stretch(&lines, it)).collect();
    RenamedFile { file: name.to_owned(), places }
}

/// Returns the fault of a refused rename. An invalid new name is wrong usage; other reasons lie in
/// the files.
fn refused(index: &Index, why: &RenameRefused) -> Fault {
    let message = format!("{why}; nothing was changed");
    match why {
        RenameRefused::NoName => no_name(),
        RenameRefused::NoIdentifier { .. } | RenameRefused::Keyword { .. } => {
            Fault::new(Exit::Usage, message).hint(
                "use letters, digits and underscores; do not begin with a digit, and do not \
                     use a keyword",
            )
        }
        RenameRefused::Clash { place: Some(place), .. } => {
            Fault::input(format!("{}: {message}", spot(index, place)))
                .hint("choose another name, or rename the other definition first")
        }
        RenameRefused::Clash { .. } | RenameRefused::Builtin { .. } => {
            Fault::input(message).hint("choose another name")
        }
        RenameRefused::Special { .. } => {
            Fault::input(message).hint("Python reserves names between double underscores")
        }
        RenameRefused::Convention { .. } => Fault::input(message)
            .hint("change what looks for it first, or rename it anyway with --force"),
        RenameRefused::Module { .. } => Fault::input(message)
            .hint("a module is renamed with its file: move the file, then fix its imports"),
        RenameRefused::Outside { .. } => {
            Fault::input(message).hint("only definitions in the folder can be renamed")
        }
        RenameRefused::Unknown { .. } => {
            Fault::input(message).hint("give the place of the definition with --at")
        }
    }
}

/// Plans a deletion in the files of an index; changes nothing if the symbol is used and the
/// deletion is not forced. `elsewhere` returns the files that are not in the index and have a name.
pub fn plan_delete(
    index: &Index,
    params: &SafeDeleteSymbolParams,
    place: Place<'_>,
    elsewhere: &dyn Fn(&str) -> Result<Unsearched, Fault>,
) -> Result<Planned<SafeDeleteSymbolResult>, Fault> {
    let meant =
        SymbolQuery::of(params.name_path.as_deref(), params.at.as_ref(), params.path.as_deref())?;
    let found = deletion(index, &meant.definitions(index)?).map_err(|why| match why {
        LookupError::Missing => nothing(),
        LookupError::Several(found) => several(index, &found),
    })?;
    let beside = elsewhere(&found.name)?;
    let unsure = !(found.reasons.is_empty() && found.uses.is_empty() && beside.doubts.is_empty());
    let reasons: Vec<String> = found.reasons.into_iter().chain(beside.all()).collect();
    let what = format!("delete {}", found.name);
    let mut result = SafeDeleteSymbolResult {
        deleted: Vec::new(),
        edits: Vec::new(),
        diff: String::new(),
        undo: None,
        references: found.uses.iter().filter_map(|it| reference(index, it)).collect(),
        complete: reasons.is_empty(),
        reasons,
        name: found.name,
        is_refused: unsure && !params.force,
    };
    let mut changes = Vec::new();
    if !result.is_refused {
        let path = |it: &Located| Deleted {
            file: index.path(it.file).to_owned(),
            name_path: name_path(&index.outline(it.file), it.symbol),
        };
        result.deleted = found.symbols.iter().map(path).collect();
        for (file, source, starts) in &found.files as &Vec<(FileId, Arc<str>, Vec<usize>)> {
            let target = place(index.path(*file));
            let change = changed(index.path(*file), &target, source, |it| remove(it, starts))?;
            result.diff += &diff(&target.shown, &change);
            result.edits.extend(file_edits(&target.shown, &change));
            changes.push(change);
        }
    }
    Ok(Planned::new(result, what, changes))
}

fn nothing() -> Fault {
    Fault::input("there is no class, function, variable or attribute at this place")
        .hint("give the place of a name defined in the folder, or a name path")
}

impl SafeDeleteSymbolResult {
    /// Returns the name of the symbol.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the refusal, with every use listed.
    pub fn refusal(&self) -> Option<Fault> {
        let uses = self.references.iter().map(Reference::shown);
        let lines: Vec<String> =
            uses.chain(self.reasons.iter().map(|it| format!("incomplete: {it}"))).collect();
        let certain = self.references.iter().any(|it| it.certain);
        let is = if certain { "is still used" } else { "may still be used" };
        let message = format!("`{}` {is}; nothing was changed:\n{}", self.name, lines.join("\n"));
        self.is_refused.then(|| {
            Fault::input(message).hint("remove these uses first, or delete it anyway with --force")
        })
    }
}

/// Plans edits of one file; refuses edits that add syntax errors.
fn changed<E: std::fmt::Display>(
    name: &str,
    target: &Target,
    source: &str,
    edits: impl FnOnce(&str) -> Result<TextEdits, E>,
) -> Result<Change, Fault> {
    let refused = |why: &dyn std::fmt::Display| {
        Fault::input(format!("{name} was not edited: {why}; nothing was changed"))
            .hint("fix the file, or edit it by hand")
    };
    let edits = edits(source).map_err(|e| refused(&e))?;
    if is_source(Path::new(name)) {
        trellis_python::check_no_new_errors(source, &edits).map_err(|e| refused(&e))?;
    }
    Ok(Change { path: target.path.clone(), source: source.to_owned(), edits })
}

/// Renames a symbol on the disk.
pub fn rename_symbol(mut params: RenameSymbolParams) -> Result<RenameSymbolResult, Fault> {
    let mut workspace = whole(params.root.as_deref(), &mut params.path, &mut params.at)?;
    let base = workspace.file("");
    let place = |name: &str| Target::at(shown(&base.join(name)));
    let mut planned = workspace.ask(|index| plan_rename(index, &params, &place))?;
    let more = unsearched(&workspace, &planned.result.from)?;
    planned.result = planned.result.also_incomplete(more);
    planned.write(workspace.root(), params.dry_run)
}

/// Deletes a symbol on the disk.
pub fn safe_delete_symbol(
    mut params: SafeDeleteSymbolParams,
) -> Result<SafeDeleteSymbolResult, Fault> {
    let mut workspace = whole(params.root.as_deref(), &mut params.path, &mut params.at)?;
    let base = workspace.file("");
    let place = |name: &str| Target::at(shown(&base.join(name)));
    let root = workspace.root().to_owned();
    let mut planned = workspace
        .ask(|index| plan_delete(index, &params, &place, &|name| beside(&root, index, name)))?;
    planned.result = planned.result.also_incomplete(workspace.problems());
    planned.write(workspace.root(), params.dry_run)
}

/// Opens the folder that a change covers: for a single file, the whole project around it. Rolls
/// back interrupted edits first, and converts file and position to names in the workspace.
fn whole(
    root: Option<&Path>,
    path: &mut Option<String>,
    at: &mut Option<SourcePosition>,
) -> Result<Workspace, Fault> {
    let file = path.as_ref().map(|it| below(root, Path::new(it)));
    let place = file.as_deref().or(root).unwrap_or(Path::new("."));
    let project = project::root_of(place)?;
    edits::recover(&project)?;
    let folder = if file.is_some() { root.unwrap_or(&project) } else { place };
    let workspace = Workspace::open(folder)?;
    *at = at.take().map(|it| folder::resolved(&workspace, it)).transpose()?;
    *path = file.map(|it| folder::below(&workspace, &it)).transpose()?;
    Ok(workspace)
}

/// Returns a path relative to the current folder, if below it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let inner = [Path::new("."), &here].into_iter().find_map(|it| path.strip_prefix(it).ok());
    inner.unwrap_or(path).to_owned()
}
