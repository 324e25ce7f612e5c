//! The folder a question is about, with an index that knows the client's unsaved texts.

use std::path::{Path, PathBuf};

use trellis_python::Index;

use crate::api::symbol_query::SourcePosition;
use crate::edits;
use crate::error::Fault;
use crate::session::Snapshot;
use crate::session::positions;
use crate::sources::Workspace;

/// Parameters that may name the folder, and a place in it.
pub(super) trait HasLocation {
    fn root(&self) -> Option<&Path>;

    /// The place where the symbol asked for is named.
    fn at(&mut self) -> Option<&mut SourcePosition> {
        None
    }
}

/// What a question is put to.
pub(super) struct QueryScope<'a> {
    pub(super) index: &'a Index,
    /// Where the names of the index begin.
    pub(super) folder: &'a Path,
    /// What could not be read, as sentences.
    pub(super) problems: &'a [String],
}

/// Puts a question to the folder that parameters name, relative to the first of the workspace, else to that one.
pub(super) fn within<T>(
    view: &Snapshot,
    root: Option<&Path>,
    question: impl Fn(QueryScope<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let folder = place(view, root);
    let real = folder.canonicalize().map_err(|error| {
        Fault::input(trellis_sandbox::wording::cannot_read(folder.display(), &error))
            .hint("give a folder or file of the workspace as `root`, or leave it out")
    })?;
    if let Some(part) = view.at_folder(&real) {
        let problems = part.snapshot.problems();
        return question(QueryScope { index: part.index(), folder: &real, problems });
    }
    let mut workspace = Workspace::open(&real)?;
    for document in view.documents.values() {
        let path = positions::path(&document.uri).filter(|it| workspace.holds(it));
        if let Some(name) = path.and_then(|it| workspace.name_of(&it)) {
            workspace.set_open(&name, document.text.clone());
        }
    }
    let (base, problems) = (workspace.file(""), workspace.problems());
    workspace.ask(|index| question(QueryScope { index, folder: &base, problems: &problems }))
}

/// A path as parameters give it.
pub(super) fn place(view: &Snapshot, given: Option<&Path>) -> PathBuf {
    let first = view.first_folder().map_or_else(|| PathBuf::from("."), Path::to_owned);
    given.map_or(first.clone(), |given| first.join(given))
}

/// A file named as the index names it, whether it was given so or by its whole path.
pub(super) fn name_in(folder: &Path, file: &str) -> String {
    let inside = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
    inside.unwrap_or(file).to_owned()
}

impl QueryScope<'_> {
    /// A place named as the index names files.
    pub(super) fn named(&self, at: &mut SourcePosition) {
        at.file = name_in(self.folder, &at.file);
    }
}

/// The text of a file as the client has it, else as it is on the disk.
pub(super) fn text(view: &Snapshot, file: &Path) -> Result<String, Fault> {
    match view.open_text(file) {
        Some(text) => Ok(text.to_string()),
        None => edits::read(file),
    }
}
