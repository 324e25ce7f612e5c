//! What can be asked of an index.

use std::ops::Range;

use rayon::prelude::*;

use super::{FileId, Index};
use crate::name_path::NamePath;
use crate::outline::SymbolKind;

/// A stretch of a file, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Bytes of its text.
    pub range: Range<usize>,
}

/// A symbol of an index: the `symbol`-th of the file's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Located {
    /// The file.
    pub file: FileId,
    /// Its place in [`Outline::symbols`](crate::Outline::symbols).
    pub symbol: usize,
}

impl Index {
    /// Every symbol that a name path means, in the order of paths and texts. With `substring` the last
    /// part may be any part of the name; an empty list of kinds stands for all.
    pub fn find(&self, pattern: &NamePath, substring: bool, kinds: &[SymbolKind]) -> Vec<Located> {
        let last = pattern.last();
        self.matching(
            |file| substring || self.words(file).may_hold(last),
            |file, index| {
                let outline = self.outline(file);
                (kinds.is_empty() || kinds.contains(&outline.symbols[index].kind))
                    && pattern.matches(&outline.path(index), substring)
            },
        )
    }

    /// Symbols whose name holds the query, upper and lower case alike; those of exactly that name come
    /// first, then those that begin with it, then shorter names.
    pub fn workspace_symbols(&self, query: &str, limit: usize) -> Vec<Located> {
        let wanted = query.to_lowercase();
        let mut found = self.matching(
            |_| true,
            |file, index| self.outline(file).symbols[index].name.to_lowercase().contains(&wanted),
        );
        let rank = |it: &Located| {
            let name = &self.outline(it.file).symbols[it.symbol].name;
            let lower = name.to_lowercase();
            (name != query, lower != wanted, !lower.starts_with(&wanted), name.len())
        };
        found.sort_by_cached_key(rank);
        found.truncate(limit);
        found
    }

    fn matching(
        &self,
        file: impl Fn(FileId) -> bool + Sync,
        symbol: impl Fn(FileId, usize) -> bool + Sync,
    ) -> Vec<Located> {
        let mut files: Vec<FileId> = self.files().filter(|it| file(*it)).collect();
        files.sort_by_key(|it| self.path(*it));
        let of_file = |file: FileId| {
            let count = self.outline(file).symbols.len();
            let fits = |index: &usize| symbol(file, *index);
            (0..count).filter(fits).map(move |symbol| Located { file, symbol }).collect::<Vec<_>>()
        };
        files.into_par_iter().flat_map_iter(of_file).collect()
    }
}
