//! `trellis symbols refs` and `definition`: where a symbol is used, where it is defined.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use code::{FileId, Index, NamePath, Place, Reference, SymbolKind};
use serde_json::{Value, json};

use crate::error::{Exit, Fault};
use crate::output::Output;
use crate::sources::Workspace;
use code::{Lines, Unit};

#[derive(Args)]
pub(super) struct RefsArgs {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    name_path: Option<String>,
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
    /// A place where the symbol is named, with line and column from 1, in place of its name path.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    at: Option<At>,
}

#[derive(Args)]
pub(super) struct DefinitionArgs {
    /// A place where the symbol is named, with line and column from 1.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    at: At,
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    r#in: PathBuf,
}

/// `FILE:LINE:COLUMN`.
#[derive(Clone)]
struct At {
    file: PathBuf,
    /// From 0, in characters.
    line: usize,
    column: usize,
}

impl FromStr for At {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<At, &'static str> {
        let bad = "give FILE:LINE:COLUMN, with numbers from 1";
        let mut parts = text.rsplitn(3, ':');
        let mut number = || parts.next()?.parse::<usize>().ok()?.checked_sub(1);
        let (column, line) = (number().ok_or(bad)?, number().ok_or(bad)?);
        let file = parts.next().filter(|it| !it.is_empty()).ok_or(bad)?;
        Ok(At { file: file.into(), line, column })
    }
}

pub(super) fn refs(args: &RefsArgs, output: &mut Output) -> Result<Exit, Fault> {
    let mut workspace = Workspace::open(&args.r#in)?;
    let pattern = args.name_path.as_deref().map(NamePath::parse).transpose();
    let pattern = pattern.map_err(|e| Fault::new(Exit::Usage, e))?;
    let at = args.at.as_ref().map(|it| named(&workspace, it)).transpose()?;
    let answer = workspace.ask(|index| {
        let (file, offset) = match (&pattern, &at) {
            (Some(pattern), _) => unique(index, pattern)?,
            (None, Some((name, at))) => offset(index, name, at)?,
            (None, None) => return Err(Fault::internal("neither a name path nor a place")),
        };
        let found = index.references(file, offset).ok_or_else(no_name)?;
        let references = found.found.iter().filter_map(|it| reference(index, it)).collect();
        Ok((references, found.complete, found.reasons))
    });
    let (references, complete, mut reasons): (Vec<Value>, _, Vec<String>) = answer?;
    // What could not be read may hold some, too.
    let unread = workspace.problems();
    let complete = complete && unread.is_empty();
    reasons.extend(unread);
    if output.is_json() {
        let shape = json!({ "references": references, "complete": complete, "reasons": reasons });
        output.json(&shape)?;
    } else {
        output.text(references.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
        reasons.iter().for_each(|it| output.note(format_args!("not complete: {it}")));
    }
    Ok(Exit::Done)
}

pub(super) fn definition(args: &DefinitionArgs, output: &mut Output) -> Result<Exit, Fault> {
    let mut workspace = Workspace::open(&args.r#in)?;
    let (name, at) = named(&workspace, &args.at)?;
    let found: Result<Vec<Value>, Fault> = workspace.ask(|index| {
        let (file, offset) = offset(index, &name, at)?;
        let places = index.definition(file, offset);
        Ok(places.iter().filter_map(|it| place(index, it)).collect())
    });
    let found = found?;
    workspace.problems().iter().for_each(|it| output.note(format_args!("warning: {it}")));
    if output.is_json() {
        output.json(&json!({ "definitions": found }))?;
    } else {
        output.text(found.iter().map(shown).collect::<Vec<_>>().join("\n"))?;
    }
    Ok(Exit::Done)
}

/// The one symbol that a name path means: several definitions will do if they are of one symbol.
fn unique(index: &Index, pattern: &NamePath) -> Result<(FileId, usize), Fault> {
    let found = index.find(pattern, false, &[]);
    let name = |it: &code::Located| {
        let range = index.outline(it.file).symbols[it.symbol].name_range.clone();
        Place { file: it.file, range }
    };
    let places: Vec<Place> = found.iter().map(name).collect();
    let missing = || {
        Fault::input(format!("no symbol is called {}", pattern.last()))
            .hint("`trellis symbols find --substring` lists similar ones")
    };
    let first = places.first().ok_or_else(missing)?;
    let all = index.references(first.file, first.range.start);
    let same =
        |it: &Place| all.as_ref().is_some_and(|all| all.found.iter().any(|r| r.place == *it));
    if places.len() > 1 && !places.iter().all(same) {
        let candidates: Vec<String> =
            places.iter().filter_map(|it| place(index, it)).map(|it| shown(&it)).collect();
        let many = format!("{} symbols are called so:\n{}", places.len(), candidates.join("\n"));
        return Err(Fault::input(many).hint("give more of the path, or the place with --at"));
    }
    Ok((first.file, first.range.start))
}

/// The file's name in the workspace. Results name files from the folder on, so that is tried first.
fn named<'a>(workspace: &Workspace, at: &'a At) -> Result<(String, &'a At), Fault> {
    let inside = workspace.root().join(&at.file);
    let absolute = |path: &Path| std::fs::canonicalize(path).ok();
    let root = absolute(workspace.root());
    let name = [inside.as_path(), &at.file].into_iter().find_map(|path| {
        let path = absolute(path)?;
        path.strip_prefix(root.as_ref()?).ok()?.to_str().map(str::to_owned)
    });
    let missing = || {
        let (file, root) = (at.file.display(), workspace.root().display());
        Fault::input(format!("there is no {file} in {root}")).hint("name the folder with --in")
    };
    Ok((name.ok_or_else(missing)?, at))
}

fn offset(index: &Index, name: &str, at: &At) -> Result<(FileId, usize), Fault> {
    let file = index.file(name).ok_or_else(|| {
        Fault::input(format!("{name} is no Python source of the folder"))
            .hint("what git ignores, hidden folders and installed packages are left out")
    })?;
    let text = index.text(file).unwrap_or_default();
    Ok((file, Lines::of(&text).offset(at.line, at.column, Unit::Char)))
}

fn no_name() -> Fault {
    Fault::input("there is no name at this place").hint("give line and column of a name, from 1")
}

/// `{file, range, line, enclosing}`; `line` is the text around, `enclosing` the name path of the innermost
/// class or function around, or null.
fn place(index: &Index, place: &Place) -> Option<Value> {
    let text = index.text(place.file)?;
    let lines = Lines::of(&text);
    let position = |offset| {
        let (line, column) = lines.position(offset, Unit::Char);
        json!({ "line": line + 1, "column": column + 1 })
    };
    let (line, _) = lines.position(place.range.start, Unit::Char);
    Some(json!({
        "file": index.path(place.file),
        "range": { "start": position(place.range.start), "end": position(place.range.end) },
        "line": text[lines.line(line)].trim(),
        "enclosing": enclosing(index, place),
    }))
}

fn enclosing(index: &Index, place: &Place) -> Option<String> {
    let outline = index.outline(place.file);
    let around = |it: &&code::Symbol| {
        !matches!(it.kind, SymbolKind::Variable | SymbolKind::Attribute)
            && it.range.contains(&place.range.start)
            && it.name_range != place.range
    };
    // A child stands behind its parent, so the last one is the innermost.
    let innermost = outline.symbols.iter().rposition(|it| around(&it))?;
    let path = outline.path(innermost);
    let nth = outline.symbols[innermost].nth;
    let number = if nth > 0 { format!("[{nth}]") } else { String::new() };
    Some(path.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join("/") + &number)
}

fn reference(index: &Index, reference: &Reference) -> Option<Value> {
    let mut shape = place(index, &reference.place)?;
    shape["kind"] = reference.kind.as_str().into();
    shape["certain"] = reference.doubt.is_none().into();
    shape["why"] = reference.doubt.into();
    Some(shape)
}

fn shown(it: &Value) -> String {
    let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let start = &it["range"]["start"];
    let kind = match (it["kind"].as_str(), it["why"].as_str()) {
        (Some(kind), Some(why)) => format!("  {kind}, possibly ({why})"),
        (Some(kind), None) => format!("  {kind}"),
        (None, _) => String::new(),
    };
    let place = format!("{}:{}:{}", text("file"), start["line"], start["column"]);
    format!("{place}{kind}  {}\n    {}", text("enclosing"), text("line"))
}
