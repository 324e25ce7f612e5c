//! Deletion of a symbol: the affected definitions and remaining uses.

use std::ops::Range;
use std::sync::Arc;

use trellis_python::{FileId, Index, Located, Reference, TextEdits};

use super::unique::{LookupError, name};

/// A planned deletion, with the uses that prevent it.
pub struct Deletion {
    pub name: String,
    /// The definitions of the symbol.
    pub symbols: Vec<Located>,
    /// References from outside of the deleted code.
    pub uses: Vec<Reference>,
    /// Reasons why there may be other references, as sentences.
    pub reasons: Vec<String>,
    /// Files with their texts and the start offsets of the deleted names, in descending order.
    pub files: Vec<(FileId, Arc<str>, Vec<usize>)>,
}

/// Plans the deletion of definitions, which must all be of one symbol.
pub fn deletion(index: &Index, symbols: &[Located]) -> Result<Deletion, LookupError> {
    let first = *symbols.first().ok_or(LookupError::Missing)?;
    if !symbols.iter().all(|it| is_one(index, first, *it)) {
        return Err(LookupError::Several(symbols.to_vec()));
    }
    let at = name(index, first);
    let found = index.references(at.file, at.range.start).ok_or(LookupError::Missing)?;
    let inside = |file: FileId, place: &Range<usize>| {
        let around = |it: &Located| {
            it.file == file && index.outline(file).symbols[it.symbol].range.contains(&place.start)
        };
        symbols.iter().any(around)
    };
    let (own, uses): (Vec<Reference>, Vec<Reference>) =
        found.found.into_iter().partition(|it| inside(it.place.file, &it.place.range));
    let mut reasons = outside(found.reasons, &own, &uses);
    if index.overrides(at.file, at.range.start) {
        reasons.push(
            "it overrides, or may override, a member of a base class: calls of that run it"
                .to_owned(),
        );
    }
    for why in symbols.iter().filter_map(|it| index.unseen_use(*it)) {
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    let (symbols, files) = (symbols.to_vec(), files(index, symbols));
    Ok(Deletion { name: found.name, symbols, uses, reasons, files })
}

/// Removes the symbols whose names start at these offsets from a text. The offsets are in
/// descending order, so that the remaining ones stay valid.
pub fn remove(source: &str, starts: &[usize]) -> Result<TextEdits, trellis_python::Refused> {
    let mut text = source.to_owned();
    for start in starts {
        text = trellis_python::delete_symbol(&text, trellis_python::SymbolSelector::At(*start))?
            .apply(&text);
    }
    Ok(TextEdits::between(source, &text))
}

/// Returns the reasons without those that concern only the deleted code.
fn outside(mut reasons: Vec<String>, own: &[Reference], uses: &[Reference]) -> Vec<String> {
    let gives = |all: &[Reference], why: &str| all.iter().any(|it| it.uncertainty == Some(why));
    reasons.retain(|why| !gives(own, why) || gives(uses, why));
    reasons
}

/// Returns whether two definitions are of one symbol: same scope, or a stub and its source.
/// Definitions in other classes, which override or implement it, are other symbols.
fn is_one(index: &Index, a: Located, b: Located) -> bool {
    let path = |it: Located| {
        let outline = index.outline(it.file);
        outline.path(it.symbol).iter().map(|it| it.name.clone()).collect::<Vec<_>>()
    };
    let module = |it: Located| index.path(it.file).trim_end_matches('i').to_owned();
    module(a) == module(b) && path(a) == path(b)
}

fn files(index: &Index, symbols: &[Located]) -> Vec<(FileId, Arc<str>, Vec<usize>)> {
    let of_file = |symbols: &[Located]| {
        let file = symbols.first()?.file;
        let mut starts: Vec<usize> =
            symbols.iter().map(|it| name(index, *it).range.start).collect();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Some((file, index.text(file)?, starts))
    };
    symbols.chunk_by(|a, b| a.file == b.file).filter_map(of_file).collect()
}
