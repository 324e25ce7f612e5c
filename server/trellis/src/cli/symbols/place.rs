//! Which symbol a command line means, and how places are shown.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use code::{FileId, Index, Located, NamePath, Place, Reference, SymbolKind};
use serde_json::{Value, json};

use super::edit::root_of;
use crate::edits;
use crate::error::{Exit, Fault};
use crate::sources::Workspace;
use code::{Lines, Unit};

/// A symbol by its name path, or by a place where it is named.
#[derive(Args)]
pub(super) struct SymbolArgs {
    /// `name`, `Class/name`, `/Class/name` for the whole path, `name[1]` for the second of that name.
    #[arg(required_unless_present = "at", conflicts_with = "at")]
    pub(super) name_path: Option<String>,
    #[command(flatten)]
    pub(super) scope: ScopeArgs,
}

/// Where to look, and for which place.
#[derive(Args)]
pub(super) struct ScopeArgs {
    /// Folder to look in.
    #[arg(long, default_value = ".", value_name = "PATH")]
    pub(super) r#in: PathBuf,
    /// A place where the symbol is named, with line and column from 1, in place of its name path.
    #[arg(long, value_name = "FILE:LINE:COLUMN")]
    pub(super) at: Option<At>,
}

/// `FILE:LINE:COLUMN`.
#[derive(Clone)]
pub(super) struct At {
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

/// The symbol that was asked for, ready to be looked for in an index.
pub(super) struct Meant {
    wanted: Wanted,
    /// The one file in which a name path counts.
    within: Option<String>,
}

enum Wanted {
    Named(NamePath),
    At { file: String, line: usize, column: usize },
}

impl SymbolArgs {
    /// Opens the folder to look in.
    pub(super) fn open(&self) -> Result<(Workspace, Meant), Fault> {
        let workspace = Workspace::open(&self.scope.r#in)?;
        let meant = Meant::of(&workspace, self.name_path.as_deref(), &self.scope)?;
        Ok((workspace, meant))
    }
}

impl ScopeArgs {
    /// Opens what a change has to know of: the folder or, of a file, the whole project around it; in which
    /// a name path means what it means in that file. Edits that a crash cut short are taken back first.
    pub(super) fn open_whole(&self, path: Option<&str>) -> Result<(Workspace, Meant), Fault> {
        let root = root_of(&self.r#in)?;
        edits::settle(&root)?;
        let is_file = self.r#in.is_file();
        let workspace = Workspace::open(if is_file { &root } else { &self.r#in })?;
        let mut meant = Meant::of(&workspace, path, self)?;
        meant.within = is_file.then(|| below(&workspace, &self.r#in)).transpose()?;
        Ok((workspace, meant))
    }
}

impl Meant {
    fn of(workspace: &Workspace, path: Option<&str>, scope: &ScopeArgs) -> Result<Meant, Fault> {
        let wanted = match (&scope.at, path) {
            (Some(at), _) => {
                Wanted::At { file: below(workspace, &at.file)?, line: at.line, column: at.column }
            }
            (None, Some(path)) => {
                Wanted::Named(NamePath::parse(path).map_err(|e| Fault::new(Exit::Usage, e))?)
            }
            (None, None) => {
                return Err(Fault::new(Exit::Usage, "neither a name path nor a place")
                    .hint("give a name path, or --at FILE:LINE:COLUMN"));
            }
        };
        Ok(Meant { wanted, within: None })
    }

    /// A place where the symbol is named, as `Index` takes it. Several definitions are one symbol if they
    /// refer to one another.
    pub(super) fn place(&self, index: &Index) -> Result<(FileId, usize), Fault> {
        match &self.wanted {
            Wanted::At { file, line, column } => offset(index, file, *line, *column),
            Wanted::Named(pattern) => unique(index, pattern, &self.named(index, pattern)),
        }
    }

    /// Its definitions in the outlines, all those that a name path means.
    pub(super) fn definitions(&self, index: &Index) -> Result<Vec<Located>, Fault> {
        match &self.wanted {
            Wanted::Named(pattern) => {
                let found = self.named(index, pattern);
                unique(index, pattern, &found)?;
                Ok(found)
            }
            Wanted::At { file, line, column } => {
                let (file, offset) = offset(index, file, *line, *column)?;
                Ok(defined(index, &index.definition(file, offset)))
            }
        }
    }

    fn named(&self, index: &Index, pattern: &NamePath) -> Vec<Located> {
        let mut found = index.find(pattern, false, &[]);
        let within = self.within.as_deref();
        found.retain(|it| within.is_none_or(|file| index.path(it.file) == file));
        found
    }
}

/// The symbols of outlines that are named at places.
fn defined(index: &Index, places: &[Place]) -> Vec<Located> {
    let symbol = |place: &Place| {
        let outline = index.outline(place.file);
        let symbol = outline.symbols.iter().position(|it| it.name_range == place.range)?;
        Some(Located { file: place.file, symbol })
    };
    places.iter().filter_map(symbol).collect()
}

/// The one symbol that all these definitions are of.
fn unique(index: &Index, pattern: &NamePath, found: &[Located]) -> Result<(FileId, usize), Fault> {
    let places: Vec<Place> = found.iter().map(|it| name(index, *it)).collect();
    let missing = || {
        Fault::input(format!("no symbol is called {pattern}"))
            .hint("`trellis symbols find --substring` lists similar ones")
    };
    let first = places.first().ok_or_else(missing)?;
    let all = index.references(first.file, first.range.start);
    let same =
        |it: &Place| all.as_ref().is_some_and(|all| all.found.iter().any(|r| r.place == *it));
    if places.len() > 1 && !places.iter().all(same) {
        return Err(several(index, &places));
    }
    Ok((first.file, first.range.start))
}

/// More symbols than one have the name.
pub(super) fn several(index: &Index, places: &[Place]) -> Fault {
    let candidates: Vec<String> =
        places.iter().filter_map(|it| place(index, it)).map(|it| shown(&it)).collect();
    Fault::input(format!("{} symbols are called so:\n{}", places.len(), candidates.join("\n")))
        .hint("give more of the path, or the place with --at")
}

/// Where a symbol of an outline is named.
pub(super) fn name(index: &Index, it: Located) -> Place {
    let range = index.outline(it.file).symbols[it.symbol].name_range.clone();
    Place { file: it.file, range }
}

/// A file's name in the workspace. Results name files from the folder on, so that is tried first.
pub(super) fn below(workspace: &Workspace, file: &Path) -> Result<String, Fault> {
    let absolute = |path: &Path| std::fs::canonicalize(path).ok();
    let root = absolute(&workspace.file(""));
    let inside = workspace.file(&file.to_string_lossy());
    let name = [inside.as_path(), file].into_iter().find_map(|path| {
        let path = absolute(path)?;
        path.strip_prefix(root.as_ref()?).ok()?.to_str().map(str::to_owned)
    });
    name.ok_or_else(|| {
        let (file, root) = (file.display(), workspace.root().display());
        Fault::input(format!("there is no {file} in {root}")).hint("name the folder with --in")
    })
}

fn offset(index: &Index, name: &str, line: usize, column: usize) -> Result<(FileId, usize), Fault> {
    let file = index.file(name).ok_or_else(|| {
        Fault::input(format!("{name} is no Python source of the folder"))
            .hint("what git ignores, hidden folders and installed packages are left out")
    })?;
    let text = index.text(file).unwrap_or_default();
    Ok((file, Lines::of(&text).offset(line, column, Unit::Char)))
}

pub(super) fn no_name() -> Fault {
    Fault::input("there is no name at this place").hint("give line and column of a name, from 1")
}

/// `FILE:LINE:COLUMN` with numbers from 1; the file alone if it cannot be read any more.
pub(super) fn spot(index: &Index, place: &Place) -> String {
    let path = index.path(place.file);
    let Some(text) = index.text(place.file) else { return path.to_owned() };
    let (line, column) = index.lines(place.file, &text).position(place.range.start, Unit::Char);
    format!("{path}:{}:{}", line + 1, column + 1)
}

/// `{file, range, line, enclosing}`; `line` is the text around, `enclosing` the name path of the innermost
/// class or function around, or null.
pub(super) fn place(index: &Index, place: &Place) -> Option<Value> {
    let text = index.text(place.file)?;
    let lines = index.lines(place.file, &text);
    let (line, _) = lines.position(place.range.start, Unit::Char);
    Some(json!({
        "file": index.path(place.file),
        "range": stretch(&lines, &place.range),
        "line": text[lines.line(line)].trim(),
        "enclosing": enclosing(index, place),
    }))
}

fn enclosing(index: &Index, place: &Place) -> Option<String> {
    let outline = index.outline(place.file);
    let around = |it: &code::Symbol| {
        !matches!(it.kind, SymbolKind::Variable | SymbolKind::Attribute)
            && it.range.contains(&place.range.start)
            && it.name_range != place.range
    };
    // A child stands behind its parent, so the last one is the innermost.
    let innermost = outline.symbols.iter().rposition(around)?;
    Some(super::sheet::name_path(&outline, innermost))
}

/// `place` with `kind`, `certain` and `why` (of what is merely possible, else null).
pub(super) fn reference(index: &Index, reference: &Reference) -> Option<Value> {
    let mut shape = place(index, &reference.place)?;
    shape["kind"] = reference.kind.as_str().into();
    shape["certain"] = reference.doubt.is_none().into();
    shape["why"] = reference.doubt.into();
    Some(shape)
}

/// A shape of this file as text, on two lines.
pub(super) fn shown(it: &Value) -> String {
    let text = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
    let start = &it["range"]["start"];
    let confirmed = it["confirmedBy"].as_str();
    let confirmed = confirmed.map_or_else(String::new, |it| format!(", confirmed by {it}"));
    let kind = match (it["kind"].as_str(), it["why"].as_str()) {
        (Some(kind), Some(why)) => format!("  {kind}, possibly ({why}){confirmed}"),
        (Some(kind), None) => format!("  {kind}"),
        (None, Some(why)) => format!("  possibly ({why})"),
        (None, None) => String::new(),
    };
    let place = format!("{}:{}:{}", text("file"), start["line"], start["column"]);
    format!("{place}{kind}  {}\n    {}", text("enclosing"), text("line"))
}

/// A stretch as results give it, `{start: {line, column}, end}`: from 1, columns in characters.
pub(super) fn stretch(lines: &Lines<'_>, range: &Range<usize>) -> Value {
    let place = |offset| {
        let (line, column) = lines.position(offset, Unit::Char);
        json!({ "line": line + 1, "column": column + 1 })
    };
    json!({ "start": place(range.start), "end": place(range.end) })
}
