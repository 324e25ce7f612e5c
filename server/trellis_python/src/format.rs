//! Formats code in black's style, with ruff's formatter.

use ruff_python_formatter::{PyFormatOptions, format_module_source};

/// Largest number of consecutive comments that is formatted; the formatter's time grows with the
/// square of that number.
const COMMENTS: usize = 500;

/// Returns a module in black's style; `None` if the text is not valid Python or has too many
/// consecutive comments.
///
/// Ruff's formatter differs from black for comments in unusual places.
/// <https://docs.astral.sh/ruff/formatter/black/>
pub fn formatted(source: &str) -> Option<String> {
    if longest_comment(source) > COMMENTS {
        return None;
    }
    let formatted = format_module_source(source, PyFormatOptions::default()).ok()?;
    Some(formatted.into_code())
}

/// Returns the length of the longest run of comment lines, blank lines ignored.
fn longest_comment(source: &str) -> usize {
    let lines = source.lines().map(str::trim_start).filter(|line| !line.is_empty());
    let (mut longest, mut now) = (0, 0);
    for line in lines {
        now = if line.starts_with('#') { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}
