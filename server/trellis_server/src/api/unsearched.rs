//! Files that an answer does not cover although they have the name: those of the folder that are not
//! searched, and those of the project outside the folder.

use std::path::Path;

use trellis_project::project;
use trellis_project::sources::{self, Unsearched, Workspace};
use trellis_python::Index;
use trellis_workflows::fault::Fault;

/// Returns the reasons why an answer about a name in a workspace may be incomplete.
pub fn unsearched(workspace: &Workspace, name: &str) -> Result<Vec<String>, Fault> {
    let mut reasons = workspace.problems();
    reasons.extend(beside(workspace.root(), &workspace.snapshot().index, name)?.all());
    Ok(reasons)
}

/// Returns the reasons that lie in files which are not in the index of a folder.
pub fn beside(root: &Path, index: &Index, name: &str) -> Result<Unsearched, Fault> {
    let mut found = sources::unsearched(root, index, name);
    found.doubts.extend(elsewhere(root, name)?);
    Ok(found)
}

/// Returns a note if project files outside the folder mention a name, since references from there
/// were not searched.
fn elsewhere(root: &Path, name: &str) -> Result<Option<String>, Fault> {
    let whole = project::root_of(root)?;
    let here = root.canonicalize().unwrap_or_default();
    if whole == here {
        return Ok(None);
    }
    let all = Workspace::open(&whole)?;
    let index = all.snapshot().index;
    let mut outside: Vec<&str> = (index.files().chain(index.documents()))
        .filter(|it| index.words(*it).may_hold(name))
        .map(|it| index.path(it))
        .filter(|it| !whole.join(it).starts_with(&here))
        .collect();
    outside.sort_unstable();
    let Some(first) = outside.first() else { return Ok(None) };
    let (count, whole) = (outside.len(), whole.display());
    let files = if count == 1 { "file" } else { "files" };
    Ok(Some(format!(
        "`{name}` is also in {count} {files} of the project outside {}, {first} first, and Trellis did \
         not check them; `--in {whole}` includes them",
        root.display()
    )))
}
