//! Stores all names of an index in one table, so that a name query need not visit every symbol.
//!
//! Distinct folded names are concatenated in one text, so a part of a name is found at the speed of
//! a memory scan. The table is immutable. It stores the stamp of each file and ignores files that
//! changed since.

use std::hash::Hasher;

use memchr::memmem;
use rustc_hash::{FxHashMap, FxHasher};

use super::query::fold;
use super::{FileId, Index, Located};

/// The name table. Names are numbered in the order in which they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameTable {
    /// Stamp of each file, by file number; 0 for none.
    seen: Vec<u64>,
    /// All folded names, each followed by a line break.
    folded: String,
    /// Start of each name in `folded`, and one more entry at the end.
    starts: Vec<u32>,
    /// Start of each name's symbols in `symbols`, and one more entry at the end.
    heads: Vec<u32>,
    /// File number and index in the file's outline.
    symbols: Vec<(u32, u32)>,
    /// Hash and number of each name, sorted by hash.
    hashes: Vec<(u32, u32)>,
}

impl NameTable {
    /// Builds the table of files whose outlines are all computed. The table covers no file yet.
    pub(super) fn of(index: &Index, files: &[FileId], number: impl Fn(FileId) -> u32) -> NameTable {
        let mut of_name: FxHashMap<String, Vec<(u32, u32)>> = FxHashMap::default();
        for file in files {
            for (place, symbol) in index.passing_outline(*file).symbols.iter().enumerate() {
                of_name.entry(fold(&symbol.name)).or_default().push((number(*file), place as u32));
            }
        }
        let mut table = NameTable::default();
        of_name.iter().for_each(|(name, symbols)| table.add(name, symbols));
        table.starts.push(table.folded.len() as u32);
        table.heads.push(table.symbols.len() as u32);
        table.hashes.sort_unstable();
        table
    }

    /// Returns the table as that of the current state of an index.
    pub(super) fn seen_by(self, index: &Index) -> NameTable {
        let stamp = |place| index.stamp(FileId(place as u32)).unwrap_or(0);
        NameTable { seen: (0..index.files.len()).map(stamp).collect(), ..self }
    }

    /// Returns the table for storage: the names, then numbers.
    pub fn parts(&self) -> (&str, [Vec<u32>; 4]) {
        let flat = |pairs: &[(u32, u32)]| pairs.iter().flat_map(|it| [it.0, it.1]).collect();
        let numbers =
            [self.starts.clone(), self.heads.clone(), flat(&self.symbols), flat(&self.hashes)];
        (&self.folded, numbers)
    }

    /// Restores a table from [`NameTable::parts`].
    pub fn from_parts(folded: &str, numbers: [Vec<u32>; 4]) -> NameTable {
        let pairs = |flat: Vec<u32>| flat.as_chunks().0.iter().map(|[a, b]| (*a, *b)).collect();
        let [starts, heads, symbols, hashes] = numbers;
        NameTable {
            seen: Vec::new(),
            folded: folded.to_owned(),
            starts,
            heads,
            symbols: pairs(symbols),
            hashes: pairs(hashes),
        }
    }

    fn add(&mut self, name: &str, symbols: &[(u32, u32)]) {
        self.hashes.push((hash(name), self.starts.len() as u32));
        self.starts.push(self.folded.len() as u32);
        self.heads.push(self.symbols.len() as u32);
        self.folded.push_str(name);
        self.folded.push('\n');
        self.symbols.extend_from_slice(symbols);
    }

    /// Returns whether the table was built from the file's current state.
    pub(super) fn covers(&self, index: &Index, file: FileId) -> bool {
        index.stamp(file).is_some_and(|it| self.seen.get(file.0 as usize) == Some(&it))
    }

    /// Returns the symbols with this folded name, and possibly a few others with the same hash.
    pub(super) fn candidates_for(&self, folded: &str) -> Box<dyn Iterator<Item = Located> + '_> {
        let wanted = hash(folded);
        let start = self.hashes.partition_point(|(hash, _)| *hash < wanted);
        let same = self.hashes[start..].iter().take_while(move |(hash, _)| *hash == wanted);
        Box::new(same.flat_map(|(_, number)| self.symbols_of(*number as usize)))
    }

    /// Returns the symbols whose folded name contains `folded`.
    pub(super) fn containing(&self, folded: &str) -> Box<dyn Iterator<Item = Located> + '_> {
        if folded.is_empty() {
            return Box::new(self.symbols.iter().map(located));
        }
        let mut numbers: Vec<usize> = memmem::find_iter(self.folded.as_bytes(), folded)
            .map(|hit| self.starts.partition_point(|start| *start as usize <= hit) - 1)
            .collect();
        numbers.dedup();
        Box::new(numbers.into_iter().flat_map(|number| self.symbols_of(number)))
    }

    fn symbols_of(&self, number: usize) -> impl Iterator<Item = Located> + '_ {
        let range = self.heads[number] as usize..self.heads[number + 1] as usize;
        self.symbols[range].iter().map(located)
    }
}

fn located((file, symbol): &(u32, u32)) -> Located {
    Located { file: FileId(*file), symbol: *symbol as usize }
}

fn hash(name: &str) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish() as u32
}
