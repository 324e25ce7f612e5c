//! Renames a symbol in all its places.

use std::ops::Range;
use std::sync::Arc;

use trellis_python::{BadEdits, FileId, Index, Place, RenameRefused, TextEdit, TextEdits};

/// A file, its text, and ranges in it.
pub type Places = (FileId, Arc<str>, Vec<Range<usize>>);

/// A planned rename.
pub struct Renaming {
    pub from: String,
    /// Occurrences of the name; empty if the name does not change.
    pub files: Vec<Places>,
    /// Places that may mean the symbol and are not changed, each with the reason for the doubt.
    pub possible: Vec<(Place, &'static str)>,
    /// Reasons why there may be other places, as sentences.
    pub reasons: Vec<String>,
}

/// Plans the rename of the symbol at a place; with `force` also if something looks for its name.
pub fn renaming(
    index: &Index,
    file: FileId,
    offset: usize,
    to: &str,
    force: bool,
) -> Result<Renaming, RenameRefused> {
    let rename = match force {
        true => index.rename_anyway(file, offset, to)?,
        false => index.rename(file, offset, to)?,
    };
    let mut reasons = index.references(file, offset).map_or_else(Vec::new, |it| it.reasons);
    reasons.extend(rename.fixed_by);
    let edits = if rename.from == to { Vec::new() } else { rename.edits };
    let with_text = |(file, places): (FileId, _)| Some((file, index.text(file)?, places));
    Ok(Renaming {
        files: edits.into_iter().filter_map(with_text).collect(),
        possible: rename.possible,
        reasons,
        from: rename.from,
    })
}

/// Replaces these places of a text with the new name.
pub fn renamed(source: &str, places: &[Range<usize>], to: &str) -> Result<TextEdits, BadEdits> {
    let edits = places.iter().map(|it| TextEdit { range: it.clone(), text: to.to_owned() });
    TextEdits::new(source, edits)
}
