//! Which symbol a name path means: one, or a refusal that names what there is.

use trellis_python::{FileId, Index, Located, NamePath, Place};

/// Why a name path means no symbol.
#[derive(Debug)]
pub(crate) enum LookupError {
    /// No symbol has that path.
    Missing,
    /// Several have, which do not refer to one another.
    Several(Vec<Located>),
}

/// The definitions of a name path, in one file where only that counts.
pub(crate) fn named(index: &Index, pattern: &NamePath, within: Option<&str>) -> Vec<Located> {
    let mut found = index.find(pattern, false, &[]);
    found.retain(|it| within.is_none_or(|file| index.path(it.file) == file));
    found
}

/// Where the one symbol is named that all these definitions are of, as `Index` takes it. Several are one symbol if they
/// refer to one another.
pub(crate) fn unique(index: &Index, found: &[Located]) -> Result<(FileId, usize), LookupError> {
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

/// The file in which the one definition of a name path is.
pub(crate) fn only_file(index: &Index, pattern: &NamePath) -> Result<FileId, LookupError> {
    match &named(index, pattern, None)[..] {
        [] => Err(LookupError::Missing),
        [one] => Ok(one.file),
        several => Err(LookupError::Several(several.to_vec())),
    }
}

/// Where a symbol of an outline is named.
pub(crate) fn name(index: &Index, it: Located) -> Place {
    let range = index.outline(it.file).symbols[it.symbol].name_range.clone();
    Place { file: it.file, range }
}
