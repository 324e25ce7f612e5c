//! Code laid out as black lays it out, by ruff's formatter.

use ruff_python_formatter::{PyFormatOptions, format_module_source};

/// Returns a module in black's style; none for a text that is no Python.
///
/// Ruff's formatter differs from black where comments stand in odd places.
/// <https://docs.astral.sh/ruff/formatter/black/>
pub fn formatted(source: &str) -> Option<String> {
    let formatted = format_module_source(source, PyFormatOptions::default()).ok()?;
    Some(formatted.into_code())
}
