//! One-line entries for definitions.

use trellis_python::{Lines, Outline, SymbolKind, Unit};

/// A class, function or method.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name path in the file, `Class/name`.
    pub name: String,
    pub kind: &'static str,
    /// Number of enclosing classes.
    pub depth: usize,
    /// First line, from 1, decorators included.
    pub line: usize,
    pub end_line: usize,
    /// Text from `def` or `class` to before the colon, on one line.
    pub signature: String,
    /// The first line of the docstring.
    pub preview: Option<String>,
}

/// Returns the definitions of a file, or those in the symbol `within`, itself included.
pub(super) fn entries(
    text: &str,
    outline: &Outline,
    lines: &Lines<'_>,
    within: Option<usize>,
) -> Vec<Entry> {
    let wanted = |index: &usize| match within {
        None => is_shown(outline, *index),
        Some(top) => {
            let header = outline.symbols[*index].header.is_some();
            header
                && (*index == top || (is_below(outline, *index, top) && is_member(outline, *index)))
        }
    };
    (0..outline.symbols.len())
        .filter(wanted)
        .filter_map(|index| entry(text, outline, lines, index))
        .collect()
}

/// Returns whether a symbol is a definition outside of functions.
pub(super) fn is_shown(outline: &Outline, index: usize) -> bool {
    let symbol = &outline.symbols[index];
    symbol.header.is_some() && (symbol.parent.is_none() || is_member(outline, index))
}

/// Returns whether a symbol has enclosing symbols and all of them are classes.
fn is_member(outline: &Outline, index: usize) -> bool {
    let path = outline.path(index);
    path.len() > 1 && path[..path.len() - 1].iter().all(|it| it.kind == SymbolKind::Class)
}

fn is_below(outline: &Outline, index: usize, top: usize) -> bool {
    let parent = |it: &usize| outline.symbols[*it].parent;
    std::iter::successors(parent(&index), parent).any(|it| it == top)
}

fn entry(text: &str, outline: &Outline, lines: &Lines<'_>, index: usize) -> Option<Entry> {
    let symbol = &outline.symbols[index];
    let header = &text[symbol.header.clone()?];
    let line = |offset| lines.position(offset, Unit::Char).0 + 1;
    Some(Entry {
        name: name_path(outline, index),
        kind: symbol.kind.as_str(),
        depth: outline.path(index).len() - 1,
        line: line(symbol.range.start),
        end_line: line(symbol.range.end.max(symbol.range.start + 1) - 1),
        signature: one_line(header),
        preview: symbol.docstring.clone().and_then(|it| first_line(&text[it])),
    })
}

/// Returns `Class/name`, without a number.
pub(super) fn name_path(outline: &Outline, index: usize) -> String {
    outline.path(index).iter().map(|it| &*it.name).collect::<Vec<_>>().join("/")
}

/// Joins a header of several lines, without blanks after an opening and before a closing bracket.
fn one_line(header: &str) -> String {
    let joined = header.split_whitespace().filter(|it| *it != "\\").collect::<Vec<_>>().join(" ");
    let tight = joined.replace("( ", "(").replace("[ ", "[");
    tight.replace(", )", ")").replace(" )", ")").replace(",)", ")").replace(" ]", "]")
}

/// Returns the first non-empty line of a string literal.
fn first_line(literal: &str) -> Option<String> {
    let literal = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| literal.starts_with(it))?;
    let inner = literal.strip_prefix(quotes)?;
    let inner = inner.strip_suffix(quotes).unwrap_or(inner);
    inner.lines().map(str::trim).find(|it| !it.is_empty()).map(str::to_owned)
}
