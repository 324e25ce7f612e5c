//! Symbols of the Python files below a folder, and what is asked and done of them, by the command line and by models
//! alike: [`one`] says which is meant, [`deletion`] and [`renaming`] what a change takes, [`shapes`] and [`sheet`] how
//! places and outlines are shown. But for [`find`] all of it is a matter of an index, not of a disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use code::{Index, Located, NamePath, Outline, SymbolKind};

use crate::error::Fault;
use crate::sources::Workspace;

pub(crate) mod deletion;
pub(crate) mod one;
pub(crate) mod renaming;
pub(crate) mod shapes;
pub(crate) mod sheet;

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
    pub(crate) source: Arc<str>,
    pub(crate) outline: Arc<Outline>,
    pub(crate) matches: Vec<usize>,
}

/// Every match below `root`, by file, and files that could not be read, as sentences. What git ignores,
/// hidden folders and installed packages are left out.
pub(crate) fn find(root: &Path, query: &Query) -> Result<(Vec<Found>, Vec<String>), Fault> {
    let mut workspace = Workspace::open(root)?;
    let found = workspace.ask(|index| {
        let all = index.find(&query.pattern, query.substring, &query.kinds);
        all.chunk_by(|a, b| a.file == b.file).filter_map(|it| in_file(index, it)).collect()
    });
    Ok((found, workspace.problems()))
}

fn in_file(index: &Index, matches: &[Located]) -> Option<Found> {
    let file = matches.first()?.file;
    Some(Found {
        path: index.path(file).into(),
        source: index.text(file)?,
        outline: index.outline(file),
        matches: matches.iter().map(|it| it.symbol).collect(),
    })
}
