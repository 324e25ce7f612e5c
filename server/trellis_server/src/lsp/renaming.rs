//! Renames in the client's terms: edits, edits that a person has to confirm, and a warning.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use tower_lsp::jsonrpc::Result;
use tower_lsp::ls_types::{
    AnnotatedTextEdit, ChangeAnnotation, DocumentChanges, OneOf,
    OptionalVersionedTextDocumentIdentifier, TextDocumentEdit, TextDocumentPositionParams,
    TextEdit, WorkspaceEdit,
};
use trellis_python::{FileId, Lines, Place, Rename, Unit};

use super::from_lsp::Client;
use super::{queries, to_lsp};
use crate::session::positions;
use crate::session::{At, Snapshot, WorkspaceFolder};

/// Maximum number of places named in a warning.
const NAMED_PLACES: usize = 5;

/// A place that may mean the renamed symbol, with the reason for the doubt.
type Doubt = (Place, &'static str);
/// Ranges of one file, with the reason for the doubt where there is one.
type Ranges = Vec<(Range<usize>, Option<&'static str>)>;

/// A rename, ready to be sent.
pub(super) struct Renamed {
    edits: Vec<FileEdits>,
    /// Places in code that may mean the symbol and that the edits leave out.
    left: Vec<String>,
    /// Number of places in documents that have the name and that the edits leave out.
    mentions: usize,
}

/// The edits of one file.
struct FileEdits {
    document: OptionalVersionedTextDocumentIdentifier,
    /// By position; an edit with a reason waits for a person's consent.
    edits: Vec<(TextEdit, Option<&'static str>)>,
}

/// Returns the edits that rename the symbol at a position. If places in code may mean the symbol
/// too and the client can ask, the person decides on each of them, and on those in documents.
pub(super) fn rename(
    view: &Snapshot,
    at: &TextDocumentPositionParams,
    to: &str,
    client: &Client,
) -> Result<Renamed> {
    let (at, offset) = queries::place(view, at, client.unit)?;
    let part = at.part;
    let rename = part.index().rename(at.file, offset, to).map_err(|it| to_lsp::refused(&it))?;
    let (mentions, doubts): (Vec<Doubt>, Vec<Doubt>) = (rename.possible.iter().cloned())
        .partition(|(it, _)| trellis_python::is_document(part.index().path(it.file)));
    let asks = client.confirms_renames && client.versioned_edits && !doubts.is_empty();
    let of_name = |(it, _): &Doubt| asks && is_name(part, it, &rename.from);
    let (mut asked, left): (Vec<Doubt>, Vec<Doubt>) = doubts.into_iter().partition(of_name);
    let (more, mentions): (Vec<Doubt>, Vec<Doubt>) = mentions.into_iter().partition(of_name);
    asked.extend(more);
    let edits = edits(view, part, &rename, &asked, client.unit);
    // Applying only some of the files would break the code.
    let edits = edits.ok_or_else(|| {
        let why = "a file changed on disk during the rename: try again";
        to_lsp::failed(why.to_owned())
    })?;
    let left = shown(view, part, &left, client.unit);
    Ok(Renamed { edits, left, mentions: mentions.len() })
}

/// Returns whether the text of a place is the name, not one that contains it or looks it up.
fn is_name(part: &WorkspaceFolder, place: &Place, name: &str) -> bool {
    let text = part.index().text(place.file);
    text.is_some_and(|it| it.get(place.range.clone()) == Some(name))
}

fn edits(
    view: &Snapshot,
    part: &WorkspaceFolder,
    rename: &Rename,
    asked: &[Doubt],
    unit: Unit,
) -> Option<Vec<FileEdits>> {
    let certain = rename.edits.iter().flat_map(|(file, ranges)| {
        ranges.iter().map(|range| (Place { file: *file, range: range.clone() }, None))
    });
    let asked = asked.iter().map(|(place, why)| (place.clone(), Some(*why)));
    let mut files: BTreeMap<&str, (FileId, Ranges)> = BTreeMap::new();
    for (place, why) in certain.chain(asked) {
        let of_file = files.entry(part.index().path(place.file));
        of_file.or_insert((place.file, Vec::new())).1.push((place.range, why));
    }
    let of_file = |(file, mut ranges): (FileId, Ranges)| {
        ranges.sort_by_key(|(it, _)| it.start);
        let at = At { part, file };
        let (uri, text) = (view.uri(at)?, part.index().text(file)?);
        let lines = Lines::of(&text);
        let edit = |(range, why)| {
            let range = positions::range(&lines, &range, unit);
            (TextEdit { range, new_text: rename.to.clone() }, why)
        };
        let version = view.document(at).map(|it| it.version);
        let document = OptionalVersionedTextDocumentIdentifier { uri, version };
        Some(FileEdits { document, edits: ranges.into_iter().map(edit).collect() })
    };
    files.into_values().map(of_file).collect()
}

fn shown(view: &Snapshot, part: &WorkspaceFolder, all: &[Doubt], unit: Unit) -> Vec<String> {
    let places: Vec<Place> = all.iter().map(|(it, _)| it.clone()).collect();
    let line = |it: tower_lsp::ls_types::Location| {
        let path = positions::path(&it.uri);
        let path = path.map_or_else(|| it.uri.as_str().to_owned(), |it| it.display().to_string());
        format!("{path}:{}", it.range.start.line + 1)
    };
    view.locations(part, &places, unit).into_iter().map(line).collect()
}

impl FileEdits {
    fn change(&self) -> TextDocumentEdit {
        let edit = |(edit, why): &(TextEdit, Option<&'static str>)| match why {
            Some(why) => OneOf::Right(AnnotatedTextEdit {
                text_edit: edit.clone(),
                annotation_id: (*why).to_owned(),
            }),
            None => OneOf::Left(edit.clone()),
        };
        let text_document = self.document.clone();
        TextDocumentEdit { text_document, edits: self.edits.iter().map(edit).collect() }
    }
}

impl Renamed {
    /// Returns the workspace edit, with document versions if the client accepts them.
    pub(super) fn edit(&self, versioned: bool) -> WorkspaceEdit {
        if !versioned {
            let of_file = |it: &FileEdits| {
                let edits = it.edits.iter().map(|(edit, _)| edit.clone()).collect();
                (it.document.uri.clone(), edits)
            };
            let changes = self.edits.iter().map(of_file).collect();
            return WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() };
        }
        let changes = self.edits.iter().map(FileEdits::change).collect();
        WorkspaceEdit {
            document_changes: Some(DocumentChanges::Edits(changes)),
            change_annotations: self.annotations(),
            ..WorkspaceEdit::default()
        }
    }

    /// Returns what a person has to confirm, by the reason; `None` if there is nothing.
    fn annotations(&self) -> Option<HashMap<String, ChangeAnnotation>> {
        let reasons = self.edits.iter().flat_map(|it| it.edits.iter().filter_map(|(_, why)| *why));
        let annotation = |why: &str| ChangeAnnotation {
            label: format!("Unsure: {why}"),
            needs_confirmation: Some(true),
            description: Some("Select what to rename too".to_owned()),
        };
        let all: HashMap<String, ChangeAnnotation> =
            reasons.map(|why| (why.to_owned(), annotation(why))).collect();
        (!all.is_empty()).then_some(all)
    }

    /// Returns a warning about unchanged places that may mean the symbol too.
    pub(super) fn warning(&self) -> Option<String> {
        let sentences: Vec<String> =
            [self.doubts(), self.documents()].into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }

    fn doubts(&self) -> Option<String> {
        let count = self.left.len();
        let first = self.left[..count.min(NAMED_PLACES)].join(", ");
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
