//! `trellis symbols replace-body`, `insert-before`, `insert-after`, `replace`: edits of one file.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use code::{Index, Lines, Located, NamePath, Refused, SearchReplace, TextEdit, TextEdits};
use serde_json::{Value, json};

use crate::edits::{self, Change};
use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::project;
use crate::sources::Workspace;
use crate::symbols::one::{self, NotOne};
use crate::symbols::shapes::stretch;

/// What is edited, where, and with which text.
#[derive(Args)]
pub(crate) struct PlaceArgs {
    /// The symbol: `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that
    /// name.
    name_path: String,
    /// The file, or a folder in which one symbol has that name path.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
    /// The new text; without it and --text-file, standard input.
    #[arg(long, conflicts_with = "text_file", allow_hyphen_values = true)]
    text: Option<String>,
    /// File with the new text.
    #[arg(long, value_name = "FILE")]
    text_file: Option<PathBuf>,
    #[command(flatten)]
    how: How,
}

#[derive(Args)]
pub(super) struct How {
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// Insert statements below a symbol.
#[derive(Args)]
pub(crate) struct InsertAfterArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Insert at the end of the class instead; `pass` gives way.
    #[arg(long)]
    inside: bool,
}

/// Replace text of a file: exact, then with other white space, then the most similar lines (0.8 at least).
#[derive(Args)]
pub(crate) struct ReplaceArgs {
    /// What is there.
    #[arg(long, allow_hyphen_values = true)]
    search: String,
    /// What is to be there.
    #[arg(long, allow_hyphen_values = true)]
    replace: String,
    /// Which match, from 1; 0 for all. Without it there must be only one.
    #[arg(long, value_name = "N")]
    occurrence: Option<usize>,
    /// The file.
    #[arg(long, value_name = "FILE")]
    r#in: PathBuf,
    #[command(flatten)]
    how: How,
}

type Edit<'a> = dyn Fn(&str, &NamePath, &str) -> Result<TextEdits, Refused> + 'a;

pub(crate) fn replace_body(args: &PlaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let edit =
        |source: &str, path: &NamePath, text: &str| code::replace_symbol_body(source, path, text);
    at_symbol(args, "replace-body", &edit, output)
}

pub(crate) fn insert_before(args: &PlaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    let edit =
        |source: &str, path: &NamePath, text: &str| code::insert_before_symbol(source, path, text);
    at_symbol(args, "insert-before", &edit, output)
}

pub(crate) fn insert_after(args: &InsertAfterArgs, output: &mut Output) -> Result<Exit, Fault> {
    let edit = |source: &str, path: &NamePath, text: &str| {
        if args.inside {
            code::insert_into_class(source, path, text)
        } else {
            code::insert_after_symbol(source, path, text)
        }
    };
    at_symbol(&args.place, "insert-after", &edit, output)
}

pub(crate) fn replace(args: &ReplaceArgs, output: &mut Output) -> Result<Exit, Fault> {
    edits::settle(&root_of(&args.r#in)?)?;
    let source = edits::read(&args.r#in)?;
    let wanted = SearchReplace {
        path: String::new(),
        search: args.search.clone(),
        replace: args.replace.clone(),
        occurrence: args.occurrence,
    };
    let shown = args.r#in.display();
    let edits = code::search_replace(&source, &wanted)
        .map_err(|e| Fault::input(format!("{shown} was not edited: {e}")))?;
    if args.r#in.extension().is_some_and(|it| it == "py" || it == "pyi") {
        code::no_worse(&source, &edits)
            .map_err(|e| Fault::input(format!("{shown} was not edited: {e}")))?;
    }
    let change = Change { path: args.r#in.clone(), source, edits };
    make("replace", vec![change], &args.how, output)
}

fn at_symbol(
    place: &PlaceArgs,
    what: &str,
    edit: &Edit<'_>,
    output: &mut Output,
) -> Result<Exit, Fault> {
    let pattern = NamePath::parse(&place.name_path).map_err(|e| Fault::new(Exit::Usage, e))?;
    let text = text_of(place)?;
    let path =
        if place.r#in.is_dir() { only_file(&place.r#in, &pattern)? } else { place.r#in.clone() };
    edits::settle(&root_of(&path)?)?;
    let source = edits::read(&path)?;
    let edits = edit(&source, &pattern, &text)
        .map_err(|e| Fault::input(format!("{} was not edited: {e}", path.display())))?;
    let what = format!("{what} {pattern}");
    make(&what, vec![Change { path, source, edits }], &place.how, output)
}

fn text_of(place: &PlaceArgs) -> Result<String, Fault> {
    let file = match (&place.text, &place.text_file) {
        (Some(text), _) => return Ok(text.clone()),
        (None, Some(path)) => return edits::read(path),
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

/// The file below a folder in which the one symbol of this name path is.
fn only_file(folder: &Path, pattern: &NamePath) -> Result<PathBuf, Fault> {
    let mut workspace = Workspace::open(folder)?;
    let place = |index: &Index, it: &Located| {
        let line = index.outline(it.file).symbols[it.symbol].place.line + 1;
        let path = index.outline(it.file).name_path(it.symbol);
        format!("{}:{line} {path}", index.path(it.file))
    };
    let missing = || {
        Fault::input(format!("there is no `{pattern}` in {}", folder.display()))
            .hint("`trellis symbols find --substring` shows what there is")
    };
    workspace.ask(|index| match one::only_file(index, pattern) {
        Ok(file) => Ok(folder.join(index.path(file))),
        Err(NotOne::Missing) => Err(missing()),
        Err(NotOne::Several(found)) => {
            let places: Vec<String> = found.iter().map(|it| place(index, it)).collect();
            let (count, places) = (places.len(), places.join(", "));
            Err(Fault::input(format!("`{pattern}` is defined {count} times: {places}"))
                .hint("give one file with --in, and the whole name path"))
        }
    })
}

/// The project that a file or folder belongs to, which keeps its edits.
pub(crate) fn root_of(path: &Path) -> Result<PathBuf, Fault> {
    Ok(project::of(&[path.to_string_lossy().into_owned()])?.root)
}

fn make(what: &str, changes: Vec<Change>, how: &How, output: &mut Output) -> Result<Exit, Fault> {
    let first = changes.first().map_or_else(|| PathBuf::from("."), |it| it.path.clone());
    let (changes, undo) = how.perform(&first, what, changes)?;
    show(&changes, undo, &first, output)
}

impl How {
    /// Makes changes in the project of `place`, unless they are only to be shown or there are none; with the
    /// number by which they are undone.
    pub(super) fn perform(
        &self,
        place: &Path,
        what: &str,
        changes: Vec<Change>,
    ) -> Result<(Vec<Change>, Option<u64>), Fault> {
        if self.dry_run || changes.is_empty() {
            return Ok((changes, None));
        }
        let made = edits::apply(&root_of(place)?, what, changes)?;
        Ok((made.changes, Some(made.id)))
    }
}

/// Prints what was or would be changed in the project of `place`.
pub(crate) fn show(
    changes: &[Change],
    undo: Option<u64>,
    place: &Path,
    output: &mut Output,
) -> Result<Exit, Fault> {
    let diff = edits::diff(changes);
    if output.is_json() {
        let edits: Vec<Value> = changes.iter().flat_map(shapes).collect();
        output.json(&json!({ "edits": edits, "diff": diff, "undo": undo }))?;
    } else {
        output.text(diff.trim_end_matches('\n'))?;
        say_undo(undo, place, output);
    }
    Ok(Exit::Done)
}

/// How an edit in the project of `place` is undone from here.
pub(super) fn say_undo(undo: Option<u64>, place: &Path, output: &Output) {
    let Some(id) = undo else { return };
    let here = root_of(Path::new(".")).ok() == root_of(place).ok();
    let scope = if here { String::new() } else { format!(" --in {}", place.display()) };
    output.note(format_args!("edit {id}; `trellis symbols undo {id}{scope}` takes it back"));
}

/// The edits of a file, ranges in the text before any of them.
pub(super) fn shapes(change: &Change) -> Vec<Value> {
    let lines = Lines::of(&change.source);
    let shape = |edit: &TextEdit| {
        json!({
            "file": change.path.to_string_lossy(),
            "range": stretch(&lines, &edit.range),
            "text": edit.text,
        })
    };
    change.edits.as_slice().iter().map(shape).collect()
}
