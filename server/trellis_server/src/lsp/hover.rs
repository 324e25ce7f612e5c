//! Hovers: signature and docstring of a symbol, and the state of its node.

use tower_lsp::ls_types::{
    Hover, HoverContents, MarkupContent, MarkupKind, TextDocumentPositionParams,
};
use trellis_python::{Symbol, SymbolKind, Unit};

use super::markdown;
use crate::session::{At, GeneratedProjects, NodeState, Snapshot, positions};

/// Options of a hover.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub(super) unit: Unit,
    /// True if the client shows Markdown.
    pub(super) markdown: bool,
    /// True to describe symbols wherever they occur; false to describe only nodes, at their
    /// definitions.
    pub(super) symbols: bool,
}

/// A part of the hover's text.
enum Piece {
    Code(String),
    Text(String),
    /// A label and its value.
    Fact(&'static str, String),
}

/// Returns the hover at a position; `None` if nothing is known.
pub(super) fn of(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    grounds: &GeneratedProjects,
    how: How,
) -> Option<Hover> {
    let (here, offset) = view.place(&at.text_document.uri, at.position, how.unit)?;
    let (at, number) = symbol(here, offset, how.symbols)?;
    let mut pieces = Vec::new();
    if how.symbols {
        pieces.extend(report(at, number)?);
    }
    if let Some(node) = node(view, at, number, grounds) {
        pieces.extend(of_node(node));
    }
    let (kind, value) = match how.markdown {
        true => (MarkupKind::Markdown, joined(&pieces, marked)),
        false => (MarkupKind::PlainText, joined(&pieces, plain)),
    };
    let contents = HoverContents::Markup(MarkupContent { kind, value });
    (!pieces.is_empty()).then_some(Hover { contents, range: None })
}

/// Returns the definition that an offset refers to, by its index in the outline of its file.
fn symbol(here: At<'_>, offset: usize, anywhere: bool) -> Option<(At<'_>, usize)> {
    let index = here.part.index();
    let outline = index.outline(here.file);
    let own = |it: &Symbol| it.name_range.start <= offset && offset <= it.name_range.end;
    if let Some(number) = outline.symbols.iter().position(own) {
        return Some((here, number));
    }
    let places = if anywhere { index.definition(here.file, offset) } else { Vec::new() };
    places.into_iter().find_map(|place| {
        let is_it = |it: &Symbol| it.name_range.start == place.range.start;
        let number = index.outline(place.file).symbols.iter().position(is_it)?;
        Some((At { part: here.part, file: place.file }, number))
    })
}

fn report(at: At<'_>, number: usize) -> Option<Vec<Piece>> {
    let (index, text) = (at.part.index(), at.part.index().text(at.file)?);
    let outline = index.outline(at.file);
    let symbol = &outline.symbols[number];
    let line = || text.get(symbol.range.clone())?.lines().next().map(str::to_owned);
    let signature = match &symbol.header {
        Some(header) => text.get(header.clone()).map(str::to_owned),
        None if symbol.kind == SymbolKind::Attribute || symbol.kind == SymbolKind::Variable => {
            line()
        }
        None => None,
    };
    let docstring = symbol.docstring.as_ref().and_then(|it| text.get(it.clone()));
    let pieces = signature.map(Piece::Code).into_iter();
    Some(pieces.chain(docstring.map(|it| Piece::Text(content(it)))).collect())
}

fn node(
    view: &Snapshot,
    at: At<'_>,
    number: usize,
    grounds: &GeneratedProjects,
) -> Option<NodeState> {
    let outline = at.part.index().outline(at.file);
    let names: Vec<&str> = outline.path(number).iter().map(|it| it.name.as_str()).collect();
    let (generated, path) = grounds.around(&positions::path(&view.uri(at)?)?)?;
    generated.node(&path, &names.join("."))
}

fn of_node(node: NodeState) -> Vec<Piece> {
    let state = match &node.reason {
        Some(reason) => format!("{}: {reason}", node.status),
        None => node.status,
    };
    let mut pieces = vec![Piece::Fact("Node", node.id), Piece::Fact("State", state)];
    pieces.extend(node.subgraph.map(|it| Piece::Fact("Subgraph", it)));
    if !node.needs.is_empty() {
        pieces.push(Piece::Fact("Needs", node.needs.join(", ")));
    }
    pieces.extend(node.docstring.map(|it| Piece::Fact("Specification", it)));
    pieces
}

fn joined(pieces: &[Piece], shown: fn(&Piece) -> String) -> String {
    pieces.iter().map(shown).collect::<Vec<_>>().join("\n\n")
}

fn marked(piece: &Piece) -> String {
    match piece {
        Piece::Code(code) => markdown::code(code),
        Piece::Text(text) => markdown::text(text),
        Piece::Fact(word, text) => format!("**{word}** {}", markdown::text(text)),
    }
}

fn plain(piece: &Piece) -> String {
    match piece {
        Piece::Code(text) | Piece::Text(text) => text.clone(),
        Piece::Fact(word, text) => format!("{word}: {text}"),
    }
}

/// Returns the content of a docstring literal, without quotes and surrounding indentation, like
/// `inspect.cleandoc`.
fn content(literal: &str) -> String {
    let quoted = literal.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    let quotes = ["\"\"\"", "'''", "\"", "'"];
    let inner = quotes.iter().find_map(|it| quoted.strip_prefix(it)?.strip_suffix(it));
    let mut lines = inner.unwrap_or(quoted).lines();
    let first = lines.next().unwrap_or_default().trim_start();
    let rest: Vec<&str> = lines.collect();
    // Spaces and tabs have one byte each, so the cut splits no character.
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let shallowest = rest.iter().filter(|it| !it.trim().is_empty()).map(indent).min();
    let cut =
        |line: &&str| line.get(shallowest.unwrap_or_default()..).unwrap_or_default().to_owned();
    let all: Vec<String> = std::iter::once(first.to_owned()).chain(rest.iter().map(cut)).collect();
    all.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn docstrings_are_shown_without_their_quotes() {
        for (literal, wanted) in [
            ("\"\"\"Adds.\"\"\"", "Adds."),
            ("r'''Adds.\n\n    Twice.\n        Deeper.\n    '''", "Adds.\n\nTwice.\n    Deeper."),
            ("'x'", "x"),
            ("\"\"\"\n    Late.\n    \"\"\"", "Late."),
            ("'''\u{e9}\n  a\n\u{a0}b'''", "\u{e9}\n  a\n\u{a0}b"),
        ] {
            assert_eq!(content(literal), wanted, "{literal}");
        }
    }
}
