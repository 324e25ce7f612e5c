//! Symbols of the Python files below a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use code::{NamePath, Outline, SymbolKind};
use ignore::{WalkBuilder, WalkState};
use memchr::memmem;

use crate::error::Fault;

/// What to look for.
pub(crate) struct Query {
    pub(crate) pattern: NamePath,
    pub(crate) substring: bool,
    /// None: any.
    pub(crate) kinds: Vec<SymbolKind>,
}

/// A file with symbols that match: their places in its outline.
pub(crate) struct Found {
    /// Relative to the folder.
    pub(crate) path: PathBuf,
    pub(crate) source: String,
    pub(crate) outline: Outline,
    pub(crate) matches: Vec<usize>,
}

/// Every match below `root`, by file, and files that could not be read, as sentences. What git ignores
/// and hidden folders are left out.
pub(crate) fn find(root: &Path, query: &Query) -> Result<(Vec<Found>, Vec<String>), Fault> {
    if !root.exists() {
        return Err(Fault::input(format!("there is no {}", root.display()))
            .hint("give a folder or a Python file"));
    }
    let (found, problems) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let walker = WalkBuilder::new(root).require_git(false).build_parallel();
    walker.run(|| {
        Box::new(|entry| {
            match entry
                .map_err(|error| error.to_string())
                .and_then(|it| look(root, it.path(), query))
            {
                Ok(None) => {}
                Ok(Some(file)) => found.lock().unwrap_or_else(PoisonError::into_inner).push(file),
                Err(why) => problems.lock().unwrap_or_else(PoisonError::into_inner).push(why),
            }
            WalkState::Continue
        })
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by(|a, b| a.path.cmp(&b.path));
    let mut problems = problems.into_inner().unwrap_or_else(PoisonError::into_inner);
    problems.sort();
    Ok((found, problems))
}

/// Files are parsed only if the word is in them: that is known at many times the parser's speed.
fn look(root: &Path, path: &Path, query: &Query) -> Result<Option<Found>, String> {
    let is_python = path.extension().is_some_and(|it| it == "py" || it == "pyi");
    if !is_python || !path.is_file() {
        return Ok(None);
    }
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if memmem::find(&bytes, query.pattern.last().as_bytes()).is_none() {
        return Ok(None);
    }
    let source = String::from_utf8(bytes)
        .map_err(|_| format!("{}: it is not UTF-8, and was left out", path.display()))?;
    let outline = Outline::of(&source);
    let fits = |index: &usize| {
        let kind = outline.symbols[*index].kind;
        (query.kinds.is_empty() || query.kinds.contains(&kind))
            && query.pattern.matches(&outline.path(*index), query.substring)
    };
    let matches: Vec<usize> = (0..outline.symbols.len()).filter(fits).collect();
    let name = path.strip_prefix(root).ok().filter(|it| !it.as_os_str().is_empty()).unwrap_or(path);
    let path = name.to_owned();
    Ok((!matches.is_empty()).then_some(Found { path, source, outline, matches }))
}
