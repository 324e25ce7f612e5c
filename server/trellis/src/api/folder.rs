//! The folder that a question is about, opened for it.

use std::path::Path;

use super::symbol_query::SourcePosition;
use crate::error::Fault;
use crate::sources::Workspace;

/// Opens the folder of parameters; without one the current folder.
pub(crate) fn open(root: Option<&Path>) -> Result<Workspace, Fault> {
    Workspace::open(root.unwrap_or(Path::new(".")))
}

/// The same for a question about a symbol, whose place comes to be named as the workspace names files.
pub(crate) fn open_at(
    root: Option<&Path>,
    at: &mut Option<SourcePosition>,
) -> Result<Workspace, Fault> {
    let workspace = open(root)?;
    *at = at.take().map(|it| resolved(&workspace, it)).transpose()?;
    Ok(workspace)
}

/// A place whose file is named as the workspace names it.
pub(crate) fn resolved(workspace: &Workspace, at: SourcePosition) -> Result<SourcePosition, Fault> {
    Ok(SourcePosition { file: below(workspace, Path::new(&at.file))?, ..at })
}

/// A file's name in the workspace. Results name files from the folder on, so that is tried first.
pub(crate) fn below(workspace: &Workspace, file: &Path) -> Result<String, Fault> {
    let absolute = |path: &Path| std::fs::canonicalize(path).ok();
    let root = absolute(&workspace.file(""));
    let inside = workspace.file(&file.to_string_lossy());
    let name = [inside.as_path(), file].into_iter().find_map(|path| {
        let path = absolute(path)?;
        path.strip_prefix(root.as_ref()?).ok()?.to_str().map(str::to_owned)
    });
    name.ok_or_else(|| {
        let (file, root) = (file.display(), workspace.root().display());
        Fault::input(format!("there is no {file} in {root}")).hint("give the folder with --in")
    })
}
