//! Conversions of files and positions between the client's form and the internal one.

use std::ops::Range;
use std::path::PathBuf;

use tower_lsp::ls_types::{self as lsp, Uri};
use trellis_python::{Lines, Unit};

/// Returns the file path of a URI, if it names a file.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    let path = uri.to_file_path().filter(|it| is_file && it.is_absolute())?;
    // A trailing slash would hide the folder's name.
    Some(path.components().collect())
}

/// Returns the offset of a position.
pub fn offset(lines: &Lines<'_>, at: lsp::Position, unit: Unit) -> usize {
    lines.offset(at.line as usize, at.character as usize, unit)
}

/// Returns the byte range of a range; a reversed range is empty.
pub fn bytes(lines: &Lines<'_>, range: lsp::Range, unit: Unit) -> Range<usize> {
    let start = offset(lines, range.start, unit);
    start..offset(lines, range.end, unit).max(start)
}

fn position(lines: &Lines<'_>, offset: usize, unit: Unit) -> lsp::Position {
    let (line, column) = lines.position(offset, unit);
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    lsp::Position { line: number(line), character: number(column) }
}

pub fn range(lines: &Lines<'_>, range: &Range<usize>, unit: Unit) -> lsp::Range {
    lsp::Range { start: position(lines, range.start, unit), end: position(lines, range.end, unit) }
}
