//! Snapshot of the session at one point of the client's stream, for queries.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tower_lsp::ls_types::{Location, Position, Uri};
use trellis_python::{FileId, Index, Place};

use super::documents::Document;
use super::positions;
use trellis_project::sources::IndexSnapshot;
use trellis_python::{Lines, Unit};

/// Base of the names in an index.
#[derive(Clone)]
pub enum FolderKind {
    /// A folder.
    Folder(PathBuf),
    /// A single document outside of all folders.
    Alone(Uri),
}

/// One index of the workspace.
pub struct WorkspaceFolder {
    pub number: u64,
    pub base: FolderKind,
    pub snapshot: IndexSnapshot,
}

/// All indexes and open documents.
pub struct Snapshot {
    pub parts: Vec<WorkspaceFolder>,
    pub documents: Arc<FxHashMap<String, Document>>,
    /// Texts of open documents in other languages than Python.
    pub outlined: Vec<(PathBuf, Arc<str>)>,
}

/// A file of a snapshot.
#[derive(Clone, Copy)]
pub struct At<'a> {
    pub part: &'a WorkspaceFolder,
    pub file: FileId,
}

impl Snapshot {
    /// Returns the number of texts that were unavailable because the disk was newer.
    pub fn misses(&self) -> u64 {
        self.parts.iter().map(|it| it.snapshot.misses()).sum()
    }

    /// Returns the file of a URI; `None` if it is neither open nor in a folder.
    pub fn file(&self, uri: &Uri) -> Option<At<'_>> {
        if let Some(open) = self.documents.get(uri.as_str()) {
            let part = self.parts.iter().find(|it| it.number == open.part)?;
            return Some(At { part, file: part.index().file(&open.name)? });
        }
        let path = positions::path(uri)?;
        let inside = |part: &'_ WorkspaceFolder| match &part.base {
            FolderKind::Folder(root) => {
                Some((root.as_os_str().len(), path.strip_prefix(root).ok()?.to_owned()))
            }
            FolderKind::Alone(_) => None,
        };
        let found = self.parts.iter().filter_map(|part| {
            let (depth, name) = inside(part)?;
            Some((depth, At { part, file: part.index().file(name.to_str()?)? }))
        });
        found.max_by_key(|(depth, _)| *depth).map(|(_, at)| at)
    }

    /// Returns the index of a folder, given by its real path without links.
    pub fn at_folder(&self, real: &Path) -> Option<&WorkspaceFolder> {
        let is = |path: &Path| path == real || path.canonicalize().is_ok_and(|it| it == real);
        self.parts.iter().find(|part| matches!(&part.base, FolderKind::Folder(path) if is(path)))
    }

    /// Returns the folder that was added first.
    pub fn first_folder(&self) -> Option<&Path> {
        self.parts.iter().find_map(|part| match &part.base {
            FolderKind::Folder(path) => Some(path.as_path()),
            FolderKind::Alone(_) => None,
        })
    }

    /// Returns the text of a file that the client has open.
    pub fn open_text(&self, path: &Path) -> Option<&Arc<str>> {
        let is = |it: &&Document| positions::path(&it.uri).is_some_and(|it| it == path);
        let python = self.documents.values().find(is).map(|it| &it.text);
        let other = || self.outlined.iter().find(|(it, _)| it == path).map(|(_, text)| text);
        python.or_else(other)
    }

    /// Returns open files below a folder whose text differs from the disk.
    pub fn unsaved(&self, root: &Path) -> Vec<String> {
        let below = |it: &Document| {
            let path = positions::path(&it.uri)?;
            let name = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
            let saved =
                trellis_os::files::read(&path).ok().and_then(|it| String::from_utf8(it).ok());
            let is_saved = saved.is_some_and(|text| trellis_python::is_shown_as(&text, &it.text));
            (!is_saved).then_some(name)
        };
        let mut all: Vec<String> = self.documents.values().filter_map(below).collect();
        all.sort();
        all
    }

    /// Returns the file and offset of a position in a document.
    pub fn place(&self, uri: &Uri, at: Position, unit: Unit) -> Option<(At<'_>, usize)> {
        let file = self.file(uri)?;
        let text = file.part.index().text(file.file)?;
        Some((file, positions::offset(&Lines::of(&text), at, unit)))
    }

    /// Returns the client's URI of a file.
    pub fn uri(&self, at: At<'_>) -> Option<Uri> {
        let path = at.part.index().path(at.file);
        match &at.part.base {
            FolderKind::Alone(uri) => Some(uri.clone()),
            FolderKind::Folder(root) => self
                .document(at)
                .map(|it| it.uri.clone())
                .or_else(|| Uri::from_file_path(root.join(path))),
        }
    }

    /// Returns the open document of a file.
    pub fn document(&self, at: At<'_>) -> Option<&Document> {
        let name = at.part.index().path(at.file);
        self.documents.values().find(|it| it.part == at.part.number && it.name == name)
    }

    /// Converts places of one index to the client's form, in order. A file whose text is gone is
    /// left out; the query is then repeated.
    pub fn locations(&self, part: &WorkspaceFolder, places: &[Place], unit: Unit) -> Vec<Location> {
        let same_file = places.chunk_by(|a, b| a.file == b.file);
        let of_file = |places: &[Place]| {
            let at = At { part, file: places.first()?.file };
            let (uri, text) = (self.uri(at)?, part.index().text(at.file)?);
            let lines = part.index().lines(at.file, &text);
            let ranges = places.iter().map(|it| positions::range(&lines, &it.range, unit));
            Some(ranges.map(|range| Location { uri: uri.clone(), range }).collect::<Vec<_>>())
        };
        same_file.filter_map(of_file).flatten().collect()
    }
}

impl WorkspaceFolder {
    pub fn index(&self) -> &Index {
        &self.snapshot.index
    }
}
