//! Answers protocol queries from the indexes.

use std::collections::HashMap;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentSymbol, Location, PrepareRenameResponse, SymbolInformation, TextDocumentPositionParams,
    Uri,
};
use trellis_python::{Place, ReferenceKind};

use super::to_lsp;
use crate::session::positions;
use crate::session::{At, Snapshot, WorkspaceFolder};
use trellis_python::{Lines, Unit};

/// Maximum number of symbols in one answer, besides those with exactly the name; more would not
/// help.
const SYMBOLS_AT_MOST: usize = 1000;

/// Returns symbols of the workspace, best first.
pub(super) fn symbols(view: &Snapshot, query: &str, unit: Unit) -> Vec<SymbolInformation> {
    let mut all: Vec<SymbolInformation> =
        view.parts.iter().flat_map(|part| symbols_of(view, part, query, unit)).collect();
    if view.parts.len() > 1 {
        // A folder may lie in another one, and its symbols are then found twice.
        let mut seen = std::collections::HashSet::new();
        all.retain(|it| {
            let start = it.location.range.start;
            seen.insert((it.location.uri.as_str().to_owned(), start.line, start.character))
        });
    }
    all
}

fn symbols_of(
    view: &Snapshot,
    part: &WorkspaceFolder,
    query: &str,
    unit: Unit,
) -> Vec<SymbolInformation> {
    let index = part.index();
    let mut uris = HashMap::new();
    let found = index.workspace_symbols(query, SYMBOLS_AT_MOST);
    let shape = |it: &trellis_python::Located| {
        let uri = uris.entry(it.file).or_insert_with(|| view.uri(At { part, file: it.file }));
        let outline = index.outline(it.file);
        let symbol = &outline.symbols[it.symbol];
        let around = outline.path(it.symbol);
        let names: Vec<&str> = around.iter().map(|it| it.name.as_str()).collect();
        let container = names[..names.len() - 1].join(".");
        Some(to_lsp::information(
            symbol.name.clone(),
            to_lsp::kind(symbol.kind, &symbol.name),
            uri.clone()?,
            to_lsp::name_range(symbol, unit),
            (!container.is_empty()).then_some(container),
        ))
    };
    found.iter().filter_map(shape).collect()
}

/// Returns the symbols of a document as a tree; `None` for an unknown document.
pub(super) fn outline(view: &Snapshot, uri: &Uri, unit: Unit) -> Option<Vec<DocumentSymbol>> {
    let at = view.file(uri)?;
    let text = at.part.index().text(at.file)?;
    Some(to_lsp::document_symbols(&at.part.index().outline(at.file), &text, unit))
}

/// Returns the definitions of the symbol at a position.
pub(super) fn definition(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    unit: Unit,
) -> Vec<Location> {
    let Some((at, offset)) = view.place(&at.text_document.uri, at.position, unit) else {
        return Vec::new();
    };
    let places = at.part.index().definition(at.file, offset);
    view.locations(at.part, &places, unit)
}

/// Returns the certain references of the symbol at a position. The protocol cannot mark a reference
/// as merely possible, and a mixed list would mislead tools that rename by it.
pub(super) fn references(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    declaration: bool,
    unit: Unit,
) -> Option<Vec<Location>> {
    let (at, offset) = view.place(&at.text_document.uri, at.position, unit)?;
    let all = at.part.index().certain_references(at.file, offset)?;
    let wanted =
        |it: &&trellis_python::Reference| declaration || it.kind != ReferenceKind::Definition;
    let places: Vec<Place> = all.iter().filter(wanted).map(|it| it.place.clone()).collect();
    Some(view.locations(at.part, &places, unit))
}

/// Returns the name that would be renamed.
pub(super) fn prepare_rename(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    unit: Unit,
) -> Result<PrepareRenameResponse> {
    let (at, offset) = place(view, at, unit)?;
    let index = at.part.index();
    let range = index.prepare_rename(at.file, offset).map_err(|it| to_lsp::refused(&it))?;
    let text = index.text(at.file).unwrap_or_default();
    Ok(PrepareRenameResponse::RangeWithPlaceholder {
        range: positions::range(&Lines::of(&text), &range, unit),
        placeholder: text[range].to_owned(),
    })
}

/// Returns the file and offset of a position.
///
/// # Errors
///
/// The file is unknown.
pub(super) fn place<'a>(
    view: &'a Snapshot,
    at: &TextDocumentPositionParams,
    unit: Unit,
) -> Result<(At<'a>, usize)> {
    let uri = &at.text_document.uri;
    view.place(uri, at.position, unit).ok_or_else(|| {
        let why = format!("{} is neither open nor a Python file of the workspace", uri.as_str());
        to_lsp::failed(why)
    })
}
