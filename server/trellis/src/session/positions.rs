//! Files and places as the client writes them, and as we do.

use std::ops::Range;
use std::path::PathBuf;

use tower_lsp::ls_types::{self as lsp, Uri};
use trellis_python::{Lines, Unit};

/// The file that a URI means, if it is one.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let is_file = uri.scheme().as_str().eq_ignore_ascii_case("file");
    let path = uri.to_file_path().filter(|it| is_file && it.is_absolute())?;
    // Without a slash at the end, which would hide the folder's name.
    Some(path.components().collect())
}

/// The offset that a position means.
pub(crate) fn offset(lines: &Lines<'_>, at: lsp::Position, unit: Unit) -> usize {
    lines.offset(at.line as usize, at.character as usize, unit)
}

/// The bytes that a range means; a reversed one is empty.
pub(crate) fn bytes(lines: &Lines<'_>, range: lsp::Range, unit: Unit) -> Range<usize> {
    let start = offset(lines, range.start, unit);
    start..offset(lines, range.end, unit).max(start)
}

fn position(lines: &Lines<'_>, offset: usize, unit: Unit) -> lsp::Position {
    let (line, column) = lines.position(offset, unit);
    let number = |it: usize| u32::try_from(it).unwrap_or(u32::MAX);
    lsp::Position { line: number(line), character: number(column) }
}

pub(crate) fn range(lines: &Lines<'_>, range: &Range<usize>, unit: Unit) -> lsp::Range {
    lsp::Range { start: position(lines, range.start, unit), end: position(lines, range.end, unit) }
}
