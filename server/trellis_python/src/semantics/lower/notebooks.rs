//! Lowers the code of notebooks, which lies in JSON strings.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::doctests::Examples;
use crate::semantics::ir::Module;

#[derive(Deserialize)]
struct Notebook<'t> {
    #[serde(borrow)]
    cells: Vec<Cell<'t>>,
}

#[derive(Deserialize)]
struct Cell<'t> {
    cell_type: String,
    /// A string, or a list of strings that each end with their line.
    #[serde(borrow)]
    source: &'t RawValue,
}

/// Lowers all code cells as one module, in their order. A text that is no notebook has no code.
pub(crate) fn lower_notebook(text: &str) -> Module {
    let notebook: Option<Notebook<'_>> = serde_json::from_str(text).ok();
    let mut code = Examples::default();
    let cells = notebook.iter().flat_map(|it| &it.cells).filter(|it| it.cell_type == "code");
    for cell in cells {
        lines(cell.source).into_iter().for_each(|it| add_string(&mut code, text, it));
        code.end_line();
    }
    code.lower()
}

/// Returns the strings of a cell as they are written, quotes included.
fn lines(source: &RawValue) -> Vec<&str> {
    let list: Result<Vec<&RawValue>, _> = serde_json::from_str(source.get());
    list.map_or_else(|_| vec![source.get()], |all| all.into_iter().map(RawValue::get).collect())
}

/// Adds the text of a JSON string. Each run without escapes has a place of its own.
fn add_string(code: &mut Examples, text: &str, string: &str) {
    let Some(inner) = string.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else { return };
    let start = inner.as_ptr() as usize - text.as_ptr() as usize;
    let mut from = 0;
    while from < inner.len() {
        let length = inner[from..].find('\\').unwrap_or(inner.len() - from);
        code.add_run(&inner[from..from + length], start + from);
        from += length;
        if from < inner.len() {
            from += add_escape(code, &inner[from..], start + from);
        }
    }
}

/// Adds the character of an escape and returns the escape's length.
fn add_escape(code: &mut Examples, rest: &str, at: usize) -> usize {
    let length = if rest[1..].starts_with('u') { 6 } else { 2 };
    let escape = rest.get(..length).unwrap_or(rest);
    // Half of a pair of surrogates is no text; it is no name either.
    let decoded: String = serde_json::from_str(&format!("\"{escape}\"")).unwrap_or("?".to_owned());
    code.add_run(&decoded, at);
    escape.len()
}
