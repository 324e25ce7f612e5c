//! Finds names in format strings and templates.

use memchr::memmem;

use super::exprs::is_identifier;
use crate::semantics::ir::Quoted;

/// Returns offset and length of each name in a template, with its rule.
pub(super) fn names(text: &str) -> Vec<(usize, usize, Quoted)> {
    let mut found = Vec::new();
    for (open, close) in [("{{", "}}"), ("{%", "%}")] {
        between(text, open, close, |at, inner| found.extend(words(at, inner, Quoted::Plain)));
    }
    if found.is_empty() {
        between(text, "{", "}", |at, inner| {
            let fields = inner.find('.').map(|dot| (at + dot, &inner[dot..]));
            let end = |it: &str| it.find(['!', ':']).unwrap_or(it.len());
            found.extend(
                fields.into_iter().flat_map(|(at, it)| words(at, &it[..end(it)], Quoted::LookedUp)),
            );
        });
        between(text, "%(", ")", |at, inner| found.extend(words(at, inner, Quoted::LookedUp)));
    }
    found
}

/// Returns offset and length of the name of each field in a format string: `name` of `{name!r}`.
pub(super) fn fields(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    between(text, "{", "}", |at, inner| {
        let end = inner.find(['!', ':', '.', '[']).unwrap_or(inner.len());
        found.extend(is_identifier(&inner[..end]).then_some((at, end)));
    });
    found
}

/// Calls `each` with the offset and text of every part between two marks.
fn between<'t>(text: &'t str, open: &str, close: &str, mut each: impl FnMut(usize, &'t str)) {
    for start in memmem::find_iter(text.as_bytes(), open).map(|it| it + open.len()) {
        if let Some(length) = text[start..].find(close) {
            each(start, &text[start..start + length]);
        }
    }
}

fn words(at: usize, text: &str, rule: Quoted) -> impl Iterator<Item = (usize, usize, Quoted)> {
    let is_edge = |c: char| !(c == '_' || c.is_alphanumeric());
    let words = text.split(is_edge).filter(|it| is_identifier(it));
    words.map(move |it| (at + (it.as_ptr() as usize - text.as_ptr() as usize), it.len(), rule))
}
