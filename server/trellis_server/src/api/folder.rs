//! Opens the folder of a query.

use std::path::Path;

use super::symbol_query::SourcePosition;
use trellis_project::sources::Workspace;
use trellis_workflows::fault::Fault;

/// Opens the folder of the parameters, or the current folder.
pub fn open(root: Option<&Path>) -> Result<Workspace, Fault> {
    Ok(Workspace::open(root.unwrap_or(Path::new(".")))?)
}

/// Opens the folder for a query about a symbol, and converts the position's file to its name in the
/// workspace.
pub fn open_at(root: Option<&Path>, at: &mut Option<SourcePosition>) -> Result<Workspace, Fault> {
    let workspace = open(root)?;
    *at = at.take().map(|it| resolved(&workspace, it)).transpose()?;
    Ok(workspace)
}

/// Converts the file of a position to its name in the workspace.
pub fn resolved(workspace: &Workspace, at: SourcePosition) -> Result<SourcePosition, Fault> {
    Ok(SourcePosition { file: below(workspace, Path::new(&at.file))?, ..at })
}

/// Returns a file's name in the workspace. A path relative to the folder, as in results, is tried
/// first.
pub fn below(workspace: &Workspace, file: &Path) -> Result<String, Fault> {
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
