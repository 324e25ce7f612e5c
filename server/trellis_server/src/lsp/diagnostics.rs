//! Diagnostics: failing tests at the failing line, and import cycles.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tower_lsp::ls_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Range,
    Uri,
};
use trellis_python::{CycleImport, ImportCycle, Lines, Place};

use super::commands::Test;
use super::from_lsp;
use crate::results::{Failed, FailureLocation};
use crate::session::{At, Document, FolderKind, Snapshot, WorkspaceFolder, positions};

/// Source name shown by editors.
const SOURCE: &str = "trellis";
/// Diagnostic code of import cycles.
const CIRCLE: &str = "circular-import";

/// Diagnostics by document, each with the version of its text.
type ByDocument = BTreeMap<String, (Uri, Option<i32>, Vec<Diagnostic>)>;

/// Lines by id of the failure location; `None` for a deleted line.
type MarkedLines = Vec<(u64, Option<u32>)>;

/// All diagnostics, with findings made on the way.
#[derive(Default)]
pub(super) struct Found {
    by_document: ByDocument,
    /// Failing tests that no longer exist, by folder and id.
    pub(super) gone: Vec<(PathBuf, String)>,
    /// Lines moved by edits, by id of the failure location.
    pub(super) lines: BTreeMap<u64, u32>,
    /// Failure locations in each open document.
    pub(super) marks: Vec<(Uri, i32, MarkedLines)>,
}

/// Diagnostics last sent to the client.
#[derive(Default)]
pub(super) struct Published(HashMap<String, Vec<Diagnostic>>);

impl Published {
    /// Returns diagnostics that differ from those last sent; an empty list clears a document.
    pub(super) fn news(&mut self, found: Found) -> Vec<(Uri, Option<i32>, Vec<Diagnostic>)> {
        let mut news = Vec::new();
        for key in self.0.keys().filter(|key| !found.by_document.contains_key(*key)) {
            if let Ok(uri) = key.parse() {
                news.push((uri, None, Vec::new()));
            }
        }
        self.0.retain(|key, _| found.by_document.contains_key(key));
        for (key, (uri, version, diagnostics)) in found.by_document {
            if self.0.get(&key) != Some(&diagnostics) {
                self.0.insert(key, diagnostics.clone());
                news.push((uri, version, diagnostics));
            }
        }
        news
    }
}

/// Returns all diagnostics for a snapshot and its failing tests.
pub(super) fn of(view: &Snapshot, failures: &[Failed], known: from_lsp::Client) -> Found {
    let mut speaker = Publisher { view, known, texts: HashMap::new(), found: Found::default() };
    failures.iter().for_each(|it| speaker.failed(it));
    for part in view.parts.iter().filter(|it| matches!(it.base, FolderKind::Folder(_))) {
        part.index().import_cycles().iter().for_each(|it| speaker.circle(part, it));
    }
    speaker.finish()
}

/// The text of a file with diagnostics.
struct DocumentText {
    uri: Uri,
    text: Arc<str>,
    version: Option<i32>,
}

struct Publisher<'a> {
    view: &'a Snapshot,
    known: from_lsp::Client,
    texts: HashMap<PathBuf, Option<Arc<DocumentText>>>,
    found: Found,
}

impl Publisher<'_> {
    fn failed(&mut self, failed: &Failed) {
        let name = failed.name();
        let first = name.split('.').next().unwrap_or_default();
        let Some(sheet) = self.sheet(&failed.root.join(&failed.at.path)) else {
            return self.found.gone.push((failed.root.clone(), failed.test.clone()));
        };
        // Names from a star import are not resolved.
        if !sheet.text.contains(first) && !sheet.text.contains("import *") {
            return self.found.gone.push((failed.root.clone(), failed.test.clone()));
        }
        let Some((sheet, range)) = self.spot(&failed.root, &failed.at) else { return };
        let also = failed.also.as_ref().and_then(|it| self.spot(&failed.root, it));
        let related = also.filter(|_| self.known.related_information).map(|(sheet, range)| {
            let location = Location { uri: sheet.uri.clone(), range };
            vec![DiagnosticRelatedInformation { location, message: failed.message.clone() }]
        });
        let test = Test { root: failed.root.clone(), test: failed.test.clone() };
        let diagnostic = Diagnostic {
            range,
            severity: Some(DiagnosticSeverity::ERROR),
            code: Some(NumberOrString::String(failed.test.clone())),
            source: Some(SOURCE.to_owned()),
            message: failed.message.clone(),
            related_information: related,
            data: serde_json::to_value(test).ok(),
            ..Diagnostic::default()
        };
        self.say(sheet.uri.clone(), sheet.version, diagnostic);
    }

    /// Adds the diagnostic of an import cycle, at the import that closes it.
    fn circle(&mut self, part: &WorkspaceFolder, circle: &ImportCycle) {
        let index = part.index();
        let place = |it: &CycleImport| Place { file: it.from, range: it.range.clone() };
        let Some(closing) = circle.imports.last() else { return };
        let all: Vec<Place> = circle.imports.iter().map(place).collect();
        let places = self.view.locations(part, &all, self.known.unit);
        // A file that changed meanwhile is examined again later.
        let Some(at) = places.last().filter(|_| places.len() == all.len()).cloned() else { return };
        let names: Vec<&str> = circle.imports.iter().map(|it| index.path(it.from)).collect();
        let way = names.iter().chain(names.first()).copied().collect::<Vec<_>>().join(" \u{2192} ");
        let imports = circle.imports.iter().zip(places);
        let related = imports.map(|(it, location)| {
            let message = format!("{} imports {}", index.path(it.from), index.path(it.to));
            DiagnosticRelatedInformation { location, message }
        });
        let diagnostic = Diagnostic {
            range: at.range,
            severity: Some(DiagnosticSeverity::WARNING),
            code: Some(NumberOrString::String(CIRCLE.to_owned())),
            source: Some(SOURCE.to_owned()),
            message: format!("circular import: {way}"),
            related_information: self.known.related_information.then(|| related.collect()),
            ..Diagnostic::default()
        };
        let document = self.view.document(At { part, file: closing.from });
        let version = document.map(|it| it.version);
        self.say(at.uri, version, diagnostic);
    }

    fn say(&mut self, uri: Uri, version: Option<i32>, diagnostic: Diagnostic) {
        let of_document = self.found.by_document.entry(uri.as_str().to_owned());
        of_document.or_insert_with(|| (uri, version, Vec::new())).2.push(diagnostic);
    }

    /// Returns the current place of a line; `None` if it was deleted, or its file cannot be read.
    fn spot(&mut self, root: &Path, spot: &FailureLocation) -> Option<(Arc<DocumentText>, Range)> {
        let sheet = self.sheet(&root.join(&spot.path))?;
        let document = self.view.documents.get(sheet.uri.as_str());
        let line = match document.and_then(|it| it.marks.line(spot.id)) {
            Some(moved) => moved,
            None => Some(spot.line),
        };
        if let Some(document) = document {
            self.mark(document, spot.id, line);
        }
        let line = line?;
        if line != spot.line {
            self.found.lines.insert(spot.id, line);
        }
        let lines = Lines::of(&sheet.text);
        let number = line as usize - 1;
        let start = lines.offset(number, 0, trellis_python::Unit::Utf8);
        let bytes = lines.line(lines.position(start, trellis_python::Unit::Utf8).0);
        let blank = sheet.text[bytes.clone()].len() - sheet.text[bytes.clone()].trim_start().len();
        let range = positions::range(&lines, &(bytes.start + blank..bytes.end), self.known.unit);
        Some((sheet, range))
    }

    fn mark(&mut self, document: &Document, id: u64, line: Option<u32>) {
        let marks = &mut self.found.marks;
        match marks.iter_mut().find(|(uri, ..)| *uri == document.uri) {
            Some((.., lines)) => lines.push((id, line)),
            None => marks.push((document.uri.clone(), document.version, vec![(id, line)])),
        }
    }

    /// Returns a file's text from the editor, else from the index or the disk.
    fn sheet(&mut self, path: &Path) -> Option<Arc<DocumentText>> {
        if let Some(known) = self.texts.get(path) {
            return known.clone();
        }
        // Test runs report the folder's real path, without links.
        let is = |it: PathBuf| it == path || it.canonicalize().is_ok_and(|it| it == path);
        let is_it = |it: &&Document| positions::path(&it.uri).is_some_and(is);
        let open = self.view.documents.values().find(is_it).map(|it| DocumentText {
            uri: it.uri.clone(),
            text: it.text.clone(),
            version: Some(it.version),
        });
        let on_disk = || {
            let uri = Uri::from_file_path(path)?;
            let indexed = self.view.file(&uri).and_then(|at| at.part.index().text(at.file));
            let text =
                indexed.or_else(|| trellis_os::files::read_text(path).ok().map(Arc::from))?;
            Some(DocumentText { uri, text, version: None })
        };
        let sheet = open.or_else(on_disk).map(Arc::new);
        self.texts.insert(path.to_owned(), sheet.clone());
        sheet
    }

    fn finish(mut self) -> Found {
        for (.., diagnostics) in self.found.by_document.values_mut() {
            diagnostics.sort_by_key(|it| (it.range.start.line, it.message.clone()));
        }
        self.found
    }
}
