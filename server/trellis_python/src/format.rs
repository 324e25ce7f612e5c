//! Code laid out as black lays it out, by ruff's formatter.

use ruff_python_formatter::{PyFormatOptions, format_module_source};

/// Most comments in a row of a text that is laid out: the formatter's time grows with the square of their number.
const COMMENTS: usize = 500;

/// Returns a module in black's style; none for a text that is no Python, or that has too many comments in a row.
///
/// Ruff's formatter differs from black where comments stand in odd places.
/// <https://docs.astral.sh/ruff/formatter/black/>
pub fn formatted(source: &str) -> Option<String> {
    if longest_comment(source) > COMMENTS {
        return None;
    }
    let formatted = format_module_source(source, PyFormatOptions::default()).ok()?;
    Some(formatted.into_code())
}

/// Comment lines in a row, blank ones between them left out.
fn longest_comment(source: &str) -> usize {
    let lines = source.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let (mut longest, mut now) = (0, 0);
    for line in lines {
        now = if line.starts_with('#') { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}
