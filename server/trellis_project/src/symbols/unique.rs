//! Resolves a name path to one symbol, or returns an error that names the candidates.

use trellis_python::{FileId, Index, Located, NamePath, Place};

/// Reason why a name path does not select one symbol.
#[derive(Debug)]
pub enum LookupError {
    /// No symbol has the path.
    Missing,
    /// Several unrelated symbols have the path.
    Several(Vec<Located>),
}

/// Returns the definitions of a name path, limited to one file if given.
pub fn named(index: &Index, pattern: &NamePath, within: Option<&str>) -> Vec<Located> {
    let mut found = index.find(pattern, false, &[]);
    found.retain(|it| within.is_none_or(|file| index.path(it.file) == file));
    found
}

/// Returns the place of the name of the one symbol behind all these definitions, in the form that
/// `Index` takes. Definitions are of one symbol if they refer to one another.
pub fn unique(index: &Index, found: &[Located]) -> Result<(FileId, usize), LookupError> {
    let places: Vec<Place> = found.iter().map(|it| name(index, *it)).collect();
    let first = places.first().ok_or(LookupError::Missing)?;
    let all = index.references(first.file, first.range.start);
    let same =
        |it: &Place| all.as_ref().is_some_and(|all| all.found.iter().any(|r| r.place == *it));
    if places.len() > 1 && !places.iter().all(same) {
        return Err(LookupError::Several(found.to_vec()));
    }
    Ok((first.file, first.range.start))
}

/// Returns the file of the one definition of a name path.
pub fn only_file(index: &Index, pattern: &NamePath) -> Result<FileId, LookupError> {
    match &named(index, pattern, None)[..] {
        [] => Err(LookupError::Missing),
        [one] => Ok(one.file),
        several => Err(LookupError::Several(several.to_vec())),
    }
}

/// Returns the place of a symbol's name.
pub fn name(index: &Index, it: Located) -> Place {
    let range = index.outline(it.file).symbols[it.symbol].name_range.clone();
    Place { file: it.file, range }
}
