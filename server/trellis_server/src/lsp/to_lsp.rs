//! Conversions from internal types to protocol types.

use crate::session::QueryError;
use crate::session::positions::range;
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::ls_types::{self as lsp, DocumentSymbol, PositionEncodingKind};
use trellis_python::{Lines, Outline, RenameRefused, Symbol, SymbolKind, Unit};

pub(super) fn encoding(unit: Unit) -> PositionEncodingKind {
    match unit {
        Unit::Utf8 => PositionEncodingKind::UTF8,
        Unit::Utf16 => PositionEncodingKind::UTF16,
        Unit::Char => PositionEncodingKind::UTF32,
    }
}

/// Returns the protocol's symbol kind; `__init__` is a constructor, with an icon of its own.
pub(super) fn kind(kind: SymbolKind, name: &str) -> lsp::SymbolKind {
    match kind {
        SymbolKind::Class => lsp::SymbolKind::CLASS,
        SymbolKind::Function => lsp::SymbolKind::FUNCTION,
        SymbolKind::Method if name == "__init__" => lsp::SymbolKind::CONSTRUCTOR,
        SymbolKind::Method => lsp::SymbolKind::METHOD,
        SymbolKind::Property => lsp::SymbolKind::PROPERTY,
        SymbolKind::Variable => lsp::SymbolKind::VARIABLE,
        SymbolKind::Attribute => lsp::SymbolKind::FIELD,
    }
}

/// Returns an outline as a tree.
pub(super) fn document_symbols(outline: &Outline, text: &str, unit: Unit) -> Vec<DocumentSymbol> {
    let lines = Lines::of(text);
    let mut below: Vec<Vec<DocumentSymbol>> = vec![Vec::new(); outline.symbols.len() + 1];
    // In reverse order, children are complete before their parents.
    for (index, symbol) in outline.symbols.iter().enumerate().rev() {
        let mut children = std::mem::take(&mut below[index + 1]);
        children.reverse();
        let signature = symbol.header.as_ref().map(|it| text[it.clone()].to_owned());
        #[expect(deprecated, reason = "the type has the field still")]
        let shape = DocumentSymbol {
            name: symbol.name.clone(),
            detail: signature,
            kind: kind(symbol.kind, &symbol.name),
            tags: None,
            deprecated: None,
            range: range(&lines, &symbol.range, unit),
            selection_range: range(&lines, &symbol.name_range, unit),
            children: (!children.is_empty()).then_some(children),
        };
        below[symbol.parent.map_or(0, |it| it + 1)].push(shape);
    }
    let mut top = std::mem::take(&mut below[0]);
    top.reverse();
    top
}

/// Returns symbols as a flat list, for clients without tree support.
pub(super) fn flat(uri: &lsp::Uri, symbols: Vec<DocumentSymbol>) -> Vec<lsp::SymbolInformation> {
    let mut left: Vec<(Option<String>, DocumentSymbol)> =
        symbols.into_iter().rev().map(|it| (None, it)).collect();
    let mut all = Vec::new();
    while let Some((container, it)) = left.pop() {
        let children = it.children.into_iter().flatten().rev();
        left.extend(children.map(|child| (Some(it.name.clone()), child)));
        all.push(information(it.name, it.kind, uri.clone(), it.range, container));
    }
    all
}

/// Returns the range of a symbol's name, without reading the text.
pub(super) fn name_range(symbol: &Symbol, unit: Unit) -> lsp::Range {
    let width = match unit {
        Unit::Utf8 => symbol.name.len(),
        Unit::Utf16 => symbol.name.encode_utf16().count(),
        Unit::Char => symbol.name.chars().count(),
    };
    let start = symbol.place.column(unit);
    let at = |column: usize| lsp::Position { line: symbol.place.line, character: column as u32 };
    lsp::Range { start: at(start), end: at(start + width) }
}

pub(super) fn information(
    name: String,
    kind: lsp::SymbolKind,
    uri: lsp::Uri,
    range: lsp::Range,
    container: Option<String>,
) -> lsp::SymbolInformation {
    let location = lsp::Location { uri, range };
    #[expect(deprecated, reason = "the type has the field still")]
    lsp::SymbolInformation {
        name,
        kind,
        tags: None,
        deprecated: None,
        location,
        container_name: container,
    }
}

/// `RequestFailed` in the protocol: a valid request that is refused for a reason.
const REQUEST_FAILED: i64 = -32803;

pub(super) fn refused(refused: &RenameRefused) -> Error {
    failed(refused.to_string())
}

pub(super) fn failed(why: String) -> Error {
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: why.into(), data: None }
}

/// Converts the reason of a missing answer.
pub(super) fn unanswered(why: QueryError) -> Error {
    match why {
        QueryError::ContentModified => Error::new(ErrorCode::ContentModified),
        QueryError::Cancelled => Error::request_cancelled(),
        QueryError::Panicked => Error::internal_error(),
    }
}
