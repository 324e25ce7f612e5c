//! What a change of a symbol reaches: files it is made in, and files nobody looked at.

use std::path::{Path, PathBuf};

use code::TextEdits;

use super::edit::root_of;
use crate::edits::Change;
use crate::error::Fault;
use crate::sources::Workspace;

/// Edits of one file of a workspace; refused if the file would be worse Python than before.
pub(super) fn changed<E: std::fmt::Display>(
    workspace: &Workspace,
    name: &str,
    source: &str,
    edits: impl FnOnce(&str) -> Result<TextEdits, E>,
) -> Result<Change, Fault> {
    let refused = |why: &dyn std::fmt::Display| {
        Fault::input(format!("{name} was not edited: {why}; nothing was changed"))
            .hint("mend the file, or edit it by hand")
    };
    let edits = edits(source).map_err(|e| refused(&e))?;
    code::no_worse(source, &edits).map_err(|e| refused(&e))?;
    Ok(Change { path: shown(&workspace.file(name)), source: source.to_owned(), edits })
}

/// A path from the current folder on, if it is below it.
fn shown(path: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    let inner = [Path::new("."), &here].into_iter().find_map(|it| path.strip_prefix(it).ok());
    inner.unwrap_or(path).to_owned()
}

/// Says so if files of the project outside a folder mention a name: what refers to a symbol from there was
/// not looked for.
pub(super) fn elsewhere(workspace: &Workspace, name: &str) -> Result<Option<String>, Fault> {
    let whole = root_of(workspace.root())?;
    let here = workspace.root().canonicalize().unwrap_or_default();
    if whole == here {
        return Ok(None);
    }
    let all = Workspace::open(&whole)?;
    let index = all.snapshot().index;
    let mut outside: Vec<&str> = (index.files())
        .filter(|it| index.words(*it).may_hold(name))
        .map(|it| index.path(it))
        .filter(|it| !whole.join(it).starts_with(&here))
        .collect();
    outside.sort_unstable();
    let Some(first) = outside.first() else { return Ok(None) };
    let (count, whole) = (outside.len(), whole.display());
    let files = if count == 1 { "file".to_owned() } else { "files".to_owned() };
    Ok(Some(format!(
        "{count} {files} of the project outside the folder mention `{name}`, {first} first, and were not looked at; `--in {whole}` takes them in"
    )))
}
