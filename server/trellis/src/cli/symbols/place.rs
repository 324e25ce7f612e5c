//! Which symbol a command line means.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use code::{FileId, Index, Lines, Located, NamePath, Place, Unit};

use super::edit::root_of;
use crate::edits;
use crate::error::{Exit, Fault};
use crate::sources::Workspace;
use crate::symbols::one::{self, NotOne, name};
use crate::symbols::shapes::{place, shown};

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
        one::named(index, pattern, self.within.as_deref())
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
    one::unique(index, found).map_err(|why| match why {
        NotOne::Missing => Fault::input(format!("no symbol is called {pattern}"))
            .hint("`trellis symbols find --substring` lists similar ones"),
        NotOne::Several(found) => several(index, &found),
    })
}

/// More symbols than one have the name.
pub(super) fn several(index: &Index, found: &[Located]) -> Fault {
    let candidate = |it: &Located| place(index, &name(index, *it)).map(|it| shown(&it));
    let candidates: Vec<String> = found.iter().filter_map(candidate).collect();
    Fault::input(format!("{} symbols are called so:\n{}", found.len(), candidates.join("\n")))
        .hint("give more of the path, or the place with --at")
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
