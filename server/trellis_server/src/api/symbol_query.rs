//! Resolves the symbol of a query.

use schemars::JsonSchema;
use serde::Deserialize;
use trellis_python::{FileId, Index, Lines, Located, NamePath, Unit};

use trellis_project::symbols::locations::place;
use trellis_project::symbols::unique::{self, LookupError, name};
use trellis_workflows::fault::{Exit, Fault};

/// A place in a file where the symbol is named.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SourcePosition {
    /// Relative to the folder of the request.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
}

/// A requested symbol, to be resolved in an index.
pub struct SymbolQuery {
    wanted: Wanted,
    /// The one file in which the name path is resolved.
    within: Option<String>,
}

enum Wanted {
    Named(NamePath),
    /// Line and column, from 0.
    At {
        file: String,
        line: usize,
        column: usize,
    },
}

impl SymbolQuery {
    /// Creates a query from a position, or from a name path within one file or all files.
    pub fn of(
        name_path: Option<&str>,
        at: Option<&SourcePosition>,
        within: Option<&str>,
    ) -> Result<SymbolQuery, Fault> {
        let wanted = match (at, name_path) {
            (Some(_), Some(_)) => {
                return Err(Fault::new(
                    Exit::Usage,
                    "the symbol is given twice, by its name and by a place",
                )
                .hint("give only one of the two"));
            }
            (Some(at), None) => wanted_at(at)?,
            (None, Some(path)) => Wanted::Named(parsed(path)?),
            (None, None) => {
                return Err(Fault::new(Exit::Usage, "neither a name path nor a place was given")
                    .hint("give a name path, or --at FILE:LINE:COLUMN"));
            }
        };
        Ok(SymbolQuery { wanted, within: within.map(str::to_owned) })
    }

    /// Returns a place of the symbol's name, in the form that `Index` takes. Definitions are of one
    /// symbol if they refer to one another.
    pub fn place(&self, index: &Index) -> Result<(FileId, usize), Fault> {
        match &self.wanted {
            Wanted::At { file, line, column } => offset(index, file, *line, *column),
            Wanted::Named(pattern) => unique(index, pattern, &self.named(index, pattern)),
        }
    }

    /// Returns the symbol's definitions; for a name path, all that it selects.
    pub fn definitions(&self, index: &Index) -> Result<Vec<Located>, Fault> {
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
        unique::named(index, pattern, self.within.as_deref())
    }
}

/// Parses a name path typed by a person.
pub fn parsed(name_path: &str) -> Result<NamePath, Fault> {
    NamePath::parse(name_path).map_err(|e| Fault::new(Exit::Usage, e))
}

fn wanted_at(at: &SourcePosition) -> Result<Wanted, Fault> {
    match (at.line.checked_sub(1), at.column.checked_sub(1)) {
        (Some(line), Some(column)) => Ok(Wanted::At { file: at.file.clone(), line, column }),
        _ => Err(Fault::new(Exit::Usage, "the line or column of the place is 0")
            .hint("lines and columns count from 1")),
    }
}

/// Returns the symbols whose names are at these places.
fn defined(index: &Index, places: &[trellis_python::Place]) -> Vec<Located> {
    let symbol = |place: &trellis_python::Place| {
        let outline = index.outline(place.file);
        let symbol = outline.symbols.iter().position(|it| it.name_range == place.range)?;
        Some(Located { file: place.file, symbol })
    };
    places.iter().filter_map(symbol).collect()
}

/// Returns the one symbol of all these definitions.
fn unique(index: &Index, pattern: &NamePath, found: &[Located]) -> Result<(FileId, usize), Fault> {
    unique::unique(index, found).map_err(|why| match why {
        LookupError::Missing => Fault::input(format!("there is no symbol {pattern}"))
            .hint("`trellis symbols find --substring` lists similar ones"),
        LookupError::Several(found) => several(index, &found),
    })
}

/// Returns the fault of an ambiguous name.
pub fn several(index: &Index, found: &[Located]) -> Fault {
    let candidate = |it: &Located| place(index, &name(index, *it)).map(|it| it.shown());
    let candidates: Vec<String> = found.iter().filter_map(candidate).collect();
    Fault::input(format!("{} symbols match:\n{}", found.len(), candidates.join("\n")))
        .hint("give more of the path, or the place with --at")
}

fn offset(index: &Index, name: &str, line: usize, column: usize) -> Result<(FileId, usize), Fault> {
    let file = index.file(name).ok_or_else(|| {
        Fault::input(format!("{name} is not Python code of the folder"))
            .hint("files that git ignores, hidden folders and installed packages do not count")
    })?;
    let text = index.text(file).unwrap_or_default();
    Ok((file, Lines::of(&text).offset(line, column, Unit::Char)))
}

pub fn no_name() -> Fault {
    Fault::input("there is no name at this place")
        .hint("give the line and column of a name, both from 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_asked_for_in_one_way_with_numbers_from_1() {
        let at = |line, column| Some(SourcePosition { file: "a.py".to_owned(), line, column });
        let table = [
            (Some("A/b"), None, true),
            (None, at(1, 1), true),
            (None, None, false),
            (Some("A/b"), at(1, 1), false),
            (None, at(0, 1), false),
            (None, at(1, 0), false),
            (Some("A//b"), None, false),
        ];
        for (name_path, at, fits) in table {
            let meant = SymbolQuery::of(name_path, at.as_ref(), None);
            let refused = meant.err().map(|it| it.exit);
            assert_eq!(refused, (!fits).then_some(Exit::Usage), "{name_path:?} {at:?}");
        }
    }
}
