//! Edits of one file: replace a symbol's body, insert text beside a symbol, replace text; and undo
//! of edits.
//!
//! An edit is planned from a given text without reading the disk, and written by
//! [`Planned::write`], which refuses the edit if a file has another text by then.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trellis_python::{
    Index, Lines, Located, NamePath, Refused, SearchReplace, TextEdit, TextEdits,
};

use super::symbol_query::parsed;
use trellis_project::edits::{self, Change};
use trellis_project::project;
use trellis_project::sources::Workspace;
use trellis_project::symbols::locations::{Range, stretch};
use trellis_project::symbols::unique::{self, LookupError};
use trellis_workflows::fault::Fault;

/// Replaces a symbol's body, or the whole symbol if the text has its own `def` or `class`. Decorators stay unless the
/// text has its own; the docstring is part of the body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplaceSymbolBodyParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    pub name_path: String,
    /// The new text.
    pub text: String,
    /// The file, relative to the root; default: the one file below the root that defines the name path.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The folder; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// Inserts statements above a symbol, its decorators and comments.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InsertBeforeSymbolParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    pub name_path: String,
    /// The statements.
    pub text: String,
    /// The file, relative to the root; default: the one file below the root that defines the name path.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The folder; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// Inserts statements below a symbol.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InsertAfterSymbolParams {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second with that name.
    pub name_path: String,
    /// The statements.
    pub text: String,
    /// Insert at the end of the class instead; a lone `pass` is replaced.
    #[serde(default)]
    pub inside: bool,
    /// The file, relative to the root; default: the one file below the root that defines the name path.
    #[serde(default)]
    pub path: Option<PathBuf>,
    /// The folder; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// Replaces text in a file: an exact match, else one with other white space, else the most similar lines (at least
/// 0.8).
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReplaceTextParams {
    /// The file, relative to the root.
    pub path: PathBuf,
    /// The text to replace.
    pub search: String,
    /// The new text.
    pub replace: String,
    /// Which match, from 1; 0 for all. Without it, there must be only one match.
    #[serde(default)]
    pub occurrence: Option<usize>,
    /// The folder; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
    /// Only show what would change.
    #[serde(default)]
    pub dry_run: bool,
}

/// Undoes an edit that one of these methods made; refused if its files changed after it.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UndoEditParams {
    /// Number of the edit; default: the last one that was not undone.
    #[serde(default)]
    pub id: Option<u64>,
    /// A file or folder of the edited project; default: the current folder.
    #[serde(default)]
    pub root: Option<PathBuf>,
}

/// What changed, or would change.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct EditResult {
    /// In the order of the text.
    pub edits: Vec<FileEdit>,
    /// The same as a unified diff.
    pub diff: String,
    /// The number for `undoEdit`; null if nothing changed.
    pub undo: Option<u64>,
    /// Notes, as sentences: for example, how similar the text found was to the search.
    pub notes: Vec<String>,
}

/// One edit of a file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileEdit {
    pub file: String,
    /// Positions in the text before any of the edits.
    pub range: Range,
    /// The new text.
    pub text: String,
}

/// Results that carry the number for undoing the edit.
pub trait Undoable {
    fn undo(&mut self) -> &mut Option<u64>;
}

impl Undoable for EditResult {
    fn undo(&mut self) -> &mut Option<u64> {
        &mut self.undo
    }
}

/// A file to edit.
pub struct Target {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the file in results and faults.
    pub shown: String,
}

impl Target {
    /// Returns a target named by its path.
    pub fn at(path: PathBuf) -> Target {
        let shown = path.to_string_lossy().into_owned();
        Target { path, shown }
    }
}

/// A planned edit that is not applied yet.
pub struct Planned<R> {
    /// Result after the edit is applied.
    pub result: R,
    /// Description of the edit.
    what: String,
    changes: Vec<Change>,
}

impl<R: Undoable> Planned<R> {
    pub(super) fn new(result: R, what: String, changes: Vec<Change>) -> Planned<R> {
        Planned { result, what, changes }
    }

    /// Applies the edit in the project of `place`, unless it is a dry run or changes nothing.
    /// Changes all files or none; none if a file has another text than the edit was planned for.
    pub fn write(mut self, place: &Path, dry_run: bool) -> Result<R, Fault> {
        if !dry_run && !self.changes.is_empty() {
            let made = edits::apply(&project::root_of(place)?, &self.what, self.changes)?;
            *self.result.undo() = Some(made.id);
        }
        Ok(self.result)
    }
}

impl<R> Planned<R> {
    /// Returns the files to change, with the texts the edit was planned for.
    pub fn texts(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.changes.iter().map(|it| (it.path.as_path(), it.source.as_str()))
    }
}

impl Planned<EditResult> {
    /// Plans an edit of one file.
    fn of_file(what: String, it: Target, source: String, edits: TextEdits) -> Planned<EditResult> {
        let change = Change { path: it.path, source, edits };
        let diff = diff(&it.shown, &change);
        let result = EditResult {
            edits: file_edits(&it.shown, &change),
            diff,
            undo: None,
            notes: Vec::new(),
        };
        Planned::new(result, what, vec![change])
    }
}

/// Returns the edits of a file under its name in results.
pub(super) fn file_edits(shown: &str, change: &Change) -> Vec<FileEdit> {
    let lines = Lines::of(&change.source);
    let shape = |edit: &TextEdit| FileEdit {
        file: shown.to_owned(),
        range: stretch(&lines, &edit.range),
        text: edit.text.clone(),
    };
    change.edits.as_slice().iter().map(shape).collect()
}

/// Returns a unified diff of a file under its name in results.
pub(super) fn diff(shown: &str, change: &Change) -> String {
    trellis_python::unified_diff(shown, &change.source, &change.text())
}

/// Function that edits a text at a symbol, with another text.
type Edit = fn(&str, &NamePath, &str) -> Result<TextEdits, Refused>;

/// An edit at a symbol, for all methods that request one.
pub struct SymbolEdit {
    what: &'static str,
    edit: Edit,
    pattern: NamePath,
    text: String,
    path: Option<PathBuf>,
    root: Option<PathBuf>,
    dry_run: bool,
}

impl TryFrom<ReplaceSymbolBodyParams> for SymbolEdit {
    type Error = Fault;

    fn try_from(it: ReplaceSymbolBodyParams) -> Result<SymbolEdit, Fault> {
        let pattern = parsed(&it.name_path)?;
        let (what, edit): (_, Edit) = ("replace-body", |source, path, text| {
            trellis_python::replace_symbol_body(source, path, text)
        });
        let ReplaceSymbolBodyParams { text, path, root, dry_run, .. } = it;
        Ok(SymbolEdit { what, edit, pattern, text, path, root, dry_run })
    }
}

impl TryFrom<InsertBeforeSymbolParams> for SymbolEdit {
    type Error = Fault;

    fn try_from(it: InsertBeforeSymbolParams) -> Result<SymbolEdit, Fault> {
        let pattern = parsed(&it.name_path)?;
        let (what, edit): (_, Edit) = ("insert-before", |source, path, text| {
            trellis_python::insert_before_symbol(source, path, text)
        });
        let InsertBeforeSymbolParams { text, path, root, dry_run, .. } = it;
        Ok(SymbolEdit { what, edit, pattern, text, path, root, dry_run })
    }
}

impl TryFrom<InsertAfterSymbolParams> for SymbolEdit {
    type Error = Fault;

    fn try_from(it: InsertAfterSymbolParams) -> Result<SymbolEdit, Fault> {
        let pattern = parsed(&it.name_path)?;
        let edit: Edit = match it.inside {
            true => |source, path, text| trellis_python::insert_into_class(source, path, text),
            false => |source, path, text| trellis_python::insert_after_symbol(source, path, text),
        };
        let InsertAfterSymbolParams { text, path, root, dry_run, .. } = it;
        Ok(SymbolEdit { what: "insert-after", edit, pattern, text, path, root, dry_run })
    }
}

impl SymbolEdit {
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// Returns the file, if given.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    pub fn is_dry_run(&self) -> bool {
        self.dry_run
    }

    /// Returns the name, in an index of the folder, of the file with the one symbol of the name
    /// path.
    pub fn file(&self, index: &Index, folder: &Path) -> Result<String, Fault> {
        let pattern = &self.pattern;
        let place = |it: &Located| {
            let line = index.outline(it.file).symbols[it.symbol].place.line + 1;
            let path = index.outline(it.file).name_path(it.symbol);
            format!("{}:{line} {path}", index.path(it.file))
        };
        match unique::only_file(index, pattern) {
            Ok(file) => Ok(index.path(file).to_owned()),
            Err(LookupError::Missing) => {
                Err(Fault::input(format!("there is no `{pattern}` in {}", folder.display()))
                    .hint("`trellis symbols find --substring` lists similar names"))
            }
            Err(LookupError::Several(found)) => {
                let places: Vec<String> = found.iter().map(place).collect();
                let (count, places) = (places.len(), places.join(", "));
                Err(Fault::input(format!("`{pattern}` is defined {count} times: {places}"))
                    .hint("choose one file with --in, and give the whole name path"))
            }
        }
    }

    /// Plans the edit of a file with this text.
    pub fn plan(&self, target: Target, source: String) -> Result<Planned<EditResult>, Fault> {
        let edits = (self.edit)(&source, &self.pattern, &self.text)
            .map_err(|e| Fault::input(format!("{} was not edited: {e}", target.shown)))?;
        let what = format!("{} {}", self.what, self.pattern);
        Ok(Planned::of_file(what, target, source, edits))
    }

    /// Plans the edit from the disk and applies it.
    pub fn on_disk(&self) -> Result<EditResult, Fault> {
        let root = self.root.as_deref().unwrap_or(Path::new("."));
        let path = match &self.path {
            Some(path) => below(self.root.as_deref(), path),
            None => root.join(Workspace::open(root)?.ask(|index| self.file(index, root))?),
        };
        edits::recover(&project::root_of(&path)?)?;
        let source = edits::read(&path)?;
        self.plan(Target::at(path.clone()), source)?.write(&path, self.dry_run)
    }
}

/// Plans a replacement in a file with this text.
pub fn plan_replace_text(
    target: Target,
    source: String,
    params: &ReplaceTextParams,
) -> Result<Planned<EditResult>, Fault> {
    let wanted = SearchReplace {
        path: String::new(),
        search: params.search.clone(),
        replace: params.replace.clone(),
        occurrence: params.occurrence,
    };
    let refused = |why: &dyn std::fmt::Display| {
        Fault::input(format!("{} was not edited: {why}", target.shown))
    };
    let replaced = trellis_python::search_replace(&source, &wanted).map_err(|e| refused(&e))?;
    let (notes, edits) = (replaced.report(), replaced.edits);
    if target.path.extension().is_some_and(|it| it == "py" || it == "pyi") {
        trellis_python::check_no_new_errors(&source, &edits).map_err(|e| refused(&e))?;
    }
    let mut planned = Planned::of_file("replace".to_owned(), target, source, edits);
    planned.result.notes.extend(notes);
    Ok(planned)
}

/// Replaces text in a file on the disk.
pub fn replace_text(params: &ReplaceTextParams) -> Result<EditResult, Fault> {
    let path = below(params.root.as_deref(), &params.path);
    edits::recover(&project::root_of(&path)?)?;
    let source = edits::read(&path)?;
    plan_replace_text(Target::at(path.clone()), source, params)?.write(&path, params.dry_run)
}

/// Undoes an edit; files are named relative to the folder if below it.
pub fn undo_edit(params: &UndoEditParams) -> Result<EditResult, Fault> {
    let folder = params.root.as_deref().unwrap_or(Path::new("."));
    let made = edits::undo(&project::root_of(folder)?, params.id)?;
    let named = |it: &Change| {
        let path = it.path.strip_prefix(folder).unwrap_or(&it.path);
        path.to_string_lossy().into_owned()
    };
    Ok(EditResult {
        edits: made.changes.iter().flat_map(|it| file_edits(&named(it), it)).collect(),
        diff: made.changes.iter().map(|it| diff(&named(it), it)).collect(),
        undo: Some(made.id),
        notes: Vec::new(),
    })
}

/// Returns a path below a folder, or the path itself without a folder.
pub(super) fn below(root: Option<&Path>, path: &Path) -> PathBuf {
    root.map_or_else(|| path.to_owned(), |root| root.join(path))
}
