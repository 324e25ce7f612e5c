//! Queries on a folder of the workspace, with an index that includes the client's unsaved texts.

use std::path::{Path, PathBuf};

use trellis_python::Index;

use crate::api::symbol_query::SourcePosition;
use crate::session::Snapshot;
use crate::session::positions;
use trellis_project::edits;
use trellis_project::sources::Workspace;
use trellis_workflows::fault::Fault;

/// Parameters that may name a folder and a position in it.
pub(super) trait HasLocation {
    fn root(&self) -> Option<&Path>;

    /// Returns the position of the requested symbol's name.
    fn at(&mut self) -> Option<&mut SourcePosition> {
        None
    }
}

/// Scope of a query.
pub(super) struct QueryScope<'a> {
    pub(super) index: &'a Index,
    /// Folder that names in the index are relative to.
    pub(super) folder: &'a Path,
    /// Files that could not be read, as sentences.
    pub(super) problems: &'a [String],
}

/// Runs a query on the folder named by the parameters, relative to the workspace's first folder, or
/// on that first folder.
pub(super) fn within<T>(
    view: &Snapshot,
    root: Option<&Path>,
    question: impl Fn(QueryScope<'_>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let folder = place(view, root);
    let real = folder.canonicalize().map_err(|error| {
        Fault::input(trellis_os::wording::cannot_read(folder.display(), &error))
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

/// Resolves a path from parameters.
pub(super) fn place(view: &Snapshot, given: Option<&Path>) -> PathBuf {
    let first = view.first_folder().map_or_else(|| PathBuf::from("."), Path::to_owned);
    given.map_or(first.clone(), |given| first.join(given))
}

/// Returns a file's name in the index, from a name in the index or an absolute path.
pub(super) fn name_in(folder: &Path, file: &str) -> String {
    let inside = Path::new(file).strip_prefix(folder).ok().and_then(Path::to_str);
    inside.unwrap_or(file).to_owned()
}

impl QueryScope<'_> {
    /// Converts the file of a position to its name in the index.
    pub(super) fn named(&self, at: &mut SourcePosition) {
        at.file = name_in(self.folder, &at.file);
    }
}

/// Returns a file's text from the client, else from the disk.
pub(super) fn text(view: &Snapshot, file: &Path) -> Result<String, Fault> {
    match view.open_text(file) {
        Some(text) => Ok(text.to_string()),
        None => Ok(edits::read(file)?),
    }
}
