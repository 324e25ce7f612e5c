//! Answers protocol queries from the indexes.

use std::collections::HashMap;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    DocumentChanges, DocumentSymbol, Location, OneOf, OptionalVersionedTextDocumentIdentifier,
    PrepareRenameResponse, SymbolInformation, TextDocumentEdit, TextDocumentPositionParams,
    TextEdit, Uri, WorkspaceEdit,
};
use trellis_python::{Place, ReferenceKind, Rename};

use super::to_lsp;
use crate::session::positions;
use crate::session::{At, Snapshot, WorkspaceFolder};
use trellis_python::{Lines, Unit};

/// Maximum number of symbols in one answer, besides those with exactly the name; more would not
/// help.
const SYMBOLS_AT_MOST: usize = 1000;
/// Maximum number of places named in a warning.
const NAMED_PLACES: usize = 5;

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

/// A rename in the client's terms.
pub(super) struct Renamed {
    edits: Vec<(OptionalVersionedTextDocumentIdentifier, Vec<TextEdit>)>,
    /// Places in code that may mean the symbol.
    possible: Vec<String>,
    /// Number of places in documents that have the name.
    mentions: usize,
}

/// Returns the edits that rename the symbol at a position.
pub(super) fn rename(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    to: &str,
    unit: Unit,
) -> Result<Renamed> {
    let (at, offset) = place(view, at, unit)?;
    let part = at.part;
    let rename = part.index().rename(at.file, offset, to).map_err(|it| to_lsp::refused(&it))?;
    let edits = edits(view, part, &rename, unit);
    // Applying only some of the files would break the code.
    let edits = edits.ok_or_else(|| {
        let why = "a file changed on disk during the rename: try again";
        to_lsp::failed(why.to_owned())
    })?;
    let (mentions, possible): (Vec<Place>, Vec<Place>) = (rename.possible.iter())
        .map(|(place, _)| place.clone())
        .partition(|it| trellis_python::is_document(part.index().path(it.file)));
    let places = view.locations(part, &possible, unit);
    let shown = |it: &Location| {
        let path = positions::path(&it.uri);
        let path = path.map_or_else(|| it.uri.as_str().to_owned(), |it| it.display().to_string());
        format!("{path}:{}", it.range.start.line + 1)
    };
    let possible = places.iter().map(shown).collect();
    Ok(Renamed { edits, possible, mentions: mentions.len() })
}

type Edits = Vec<(OptionalVersionedTextDocumentIdentifier, Vec<TextEdit>)>;

fn edits(view: &Snapshot, part: &WorkspaceFolder, rename: &Rename, unit: Unit) -> Option<Edits> {
    let of_file = |(file, ranges): &(trellis_python::FileId, Vec<std::ops::Range<usize>>)| {
        let at = At { part, file: *file };
        let (uri, text) = (view.uri(at)?, part.index().text(*file)?);
        let lines = Lines::of(&text);
        let edit = |range| TextEdit {
            range: positions::range(&lines, range, unit),
            new_text: rename.to.clone(),
        };
        let version = view.document(at).map(|it| it.version);
        let document = OptionalVersionedTextDocumentIdentifier { uri, version };
        Some((document, ranges.iter().map(edit).collect()))
    };
    rename.edits.iter().map(of_file).collect()
}

fn place<'a>(
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

impl Renamed {
    /// Returns the workspace edit, with document versions if the client accepts them.
    pub(super) fn edit(&self, versioned: bool) -> WorkspaceEdit {
        if !versioned {
            let of_file =
                |(document, edits): &(OptionalVersionedTextDocumentIdentifier, Vec<_>)| {
                    (document.uri.clone(), edits.clone())
                };
            let changes = self.edits.iter().map(of_file).collect();
            return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
        }
        let of_file = |(document, edits): &(OptionalVersionedTextDocumentIdentifier, Vec<_>)| {
            TextDocumentEdit {
                text_document: document.clone(),
                edits: edits.iter().cloned().map(OneOf::Left).collect(),
            }
        };
        let changes = DocumentChanges::Edits(self.edits.iter().map(of_file).collect());
        WorkspaceEdit { document_changes: Some(changes), ..WorkspaceEdit::default() }
    }

    /// Returns a warning about unchanged places that may mean the symbol too.
    pub(super) fn warning(&self) -> Option<String> {
        let sentences: Vec<String> =
            [self.doubts(), self.documents()].into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn doubts(&self) -> Option<String> {
        let count = self.possible.len();
        let first = self.possible[..count.min(NAMED_PLACES)].join(", ");
        let more = if count > NAMED_PLACES { ", …" } else { "" };
        let places = if count == 1 { "place may" } else { "places may" };
        let were = if count == 1 { "was" } else { "were" };
        (count > 0).then(|| {
            format!("{count} more {places} mean the renamed symbol and {were} not changed: {first}{more}.")
        })
    }

    fn documents(&self) -> Option<String> {
        let places = if self.mentions == 1 { "place" } else { "places" };
        let count = self.mentions;
        (count > 0).then(|| format!("Files beside the code have the old name in {count} {places}."))
    }
}
