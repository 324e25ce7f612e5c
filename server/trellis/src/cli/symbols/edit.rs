//! `trellis symbols replace-body`, `insert-before`, `insert-after`, `replace`: edits of one file.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::output::{Output, color};
use trellis_project::edits;
use trellis_project::project;
use trellis_server::api::edits::{
    EditResult, InsertAfterSymbolParams, InsertBeforeSymbolParams, ReplaceSymbolBodyParams,
    ReplaceTextParams, SymbolEdit, replace_text,
};
use trellis_server::api::symbol_query;
use trellis_workflows::fault::{Exit, Fault};

/// What is edited, where, and with which text.
#[derive(Args)]
pub(crate) struct PlaceArgs {
    /// Symbol: `name`, `Class/name`, `/Class/name` (full path), or `name[1]` (the second one).
    name_path: String,
    /// File or folder with the symbol.
    #[arg(long = "project", visible_alias = "in", default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
    /// New text [default: read from stdin].
    #[arg(long, conflicts_with = "text_file", allow_hyphen_values = true)]
    text: Option<String>,
    /// Read the new text from this file.
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Args)]
pub(super) struct How {
    /// Show the changes; write nothing.
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// Insert statements below a symbol.
#[derive(Args)]
pub(crate) struct InsertAfterArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Insert at the end of the class body; replaces `pass`.
    #[arg(long)]
    inside: bool,
}

/// Replace text in a file.
///
/// Looks for the exact text, then for the same text with other white space, then for the most similar lines (a score of at
/// least 0.8).
#[derive(Args)]
pub(crate) struct ReplaceArgs {
    /// Text to replace.
    #[arg(long, allow_hyphen_values = true)]
    search: String,
    /// New text.
    #[arg(long, allow_hyphen_values = true)]
    replace: String,
    /// Which match to replace, from 1; 0 for all. Needed if there is more than one.
    #[arg(long, value_name = "N")]
    occurrence: Option<usize>,
    /// File to edit.
    #[arg(long = "file", alias = "in", value_name = "FILE")]
    r#in: PathBuf,
    #[command(flatten)]
    how: How,
}

/// Arguments of an edit at a symbol.
struct Given {
    name_path: String,
    text: String,
    path: Option<PathBuf>,
    root: Option<PathBuf>,
    dry_run: bool,
}

impl PlaceArgs {
    fn given(&self) -> Result<Given, Fault> {
        // Checked before the text is read from standard input.
        symbol_query::parsed(&self.name_path)?;
        let (root, path) = root_and_path(&self.r#in);
        Ok(Given {
            name_path: self.name_path.clone(),
            text: text_of(self)?,
            path,
            root,
            dry_run: self.how.dry_run,
        })
    }
}

pub(crate) fn replace_body(args: &PlaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Given { name_path, text, path, root, dry_run } = args.given()?;
    let params = ReplaceSymbolBodyParams { name_path, text, path, root, dry_run };
    apply(&params.try_into()?, output)
}

pub(crate) fn insert_before(args: &PlaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Given { name_path, text, path, root, dry_run } = args.given()?;
    let params = InsertBeforeSymbolParams { name_path, text, path, root, dry_run };
    apply(&params.try_into()?, output)
}

pub(crate) fn insert_after(args: &InsertAfterArgs, output: &mut Output) -> Result<Exit, Fault> {
    let Given { name_path, text, path, root, dry_run } = args.place.given()?;
    let inside = args.inside;
    let params = InsertAfterSymbolParams { name_path, text, inside, path, root, dry_run };
    apply(&params.try_into()?, output)
}

pub(crate) fn replace(args: &ReplaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let params = ReplaceTextParams {
        path: args.r#in.clone(),
        search: args.search.clone(),
        replace: args.replace.clone(),
        occurrence: args.occurrence,
        root: None,
        dry_run: args.how.dry_run,
    };
    show(&replace_text(&params)?, &args.r#in, output)
}

fn text_of(place: &PlaceArgs) -> Result<String, Fault> {
    let file = match (&place.text, &place.text_file) {
        (Some(text), _) => return Ok(text.clone()),
        (None, Some(path)) => return Ok(edits::read(path)?),
        (None, None) => std::io::stdin(),
    };
    let mut text = String::new();
    let read = file.lock().read_to_string(&mut text);
    read.map_err(|e| {
        Fault::input(format!("cannot read the new text from standard input: {e}"))
            .hint("give it with --text or --text-file")
    })?;
    Ok(text)
}

/// Splits `--in` into a folder, or one file relative to the current folder.
pub(super) fn root_and_path(named: &Path) -> (Option<PathBuf>, Option<PathBuf>) {
    let named = named.to_owned();
    if named.is_dir() { (Some(named), None) } else { (None, Some(named)) }
}

fn apply(edit: &SymbolEdit, output: &mut Output) -> Result<Exit, Fault> {
    let result = edit.on_disk()?;
    let place = result.edits.first().map_or_else(|| PathBuf::from("."), |it| (&it.file).into());
    show(&result, &place, output)
}

/// Prints the changes, applied or planned, in the project of `place`.
pub(super) fn show(result: &EditResult, place: &Path, output: &mut Output) -> Result<Exit, Fault> {
    if output.is_json() {
        output.json(result)?;
    } else {
        let lines = result.diff.lines().map(|it| color::diff(&it.replace("/./", "/")));
        output.text(lines.collect::<Vec<_>>().join("\n"))?;
        result.notes.iter().for_each(|it| output.note(format_args!("{it}")));
        say_undo(result.undo, place, output);
    }
    Ok(Exit::Done)
}

/// Prints the command that undoes an edit in the project of `place`.
pub(super) fn say_undo(undo: Option<u64>, place: &Path, output: &Output) {
    let Some(id) = undo else { return };
    let here = project::root_of(Path::new(".")).ok() == project::root_of(place).ok();
    let scope = if here { String::new() } else { format!(" --project {}", place.display()) };
    output.note(format_args!("edit {id}; `trellis symbols undo {id}{scope}` undoes it"));
}

/// Returns the folder of a change across a project: for a file, its project.
pub(super) fn changed_folder(named: &Path) -> Result<PathBuf, Fault> {
    if named.is_file() { Ok(project::root_of(named)?) } else { Ok(named.to_owned()) }
}
