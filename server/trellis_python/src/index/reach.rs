//! Follows calls from a few functions; only the files on the way are visited.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{function_around, is_function, uses_of};
use super::{FileId, Index, Located};
use crate::semantics::ask_each;

/// Call graph computed on demand.
pub struct Reach<'i> {
    index: &'i Index,
    asked: FxHashSet<FileId>,
    /// Functions that a function uses, without the uses of functions nested in it.
    uses: FxHashMap<Located, BTreeSet<Located>>,
}

impl<'i> Reach<'i> {
    /// Creates an empty call graph.
    pub fn new(index: &'i Index) -> Reach<'i> {
        Reach { index, asked: FxHashSet::default(), uses: FxHashMap::default() }
    }

    /// Returns the functions that the given functions call or pass on directly.
    pub fn of(&mut self, callers: &[Located]) -> BTreeSet<Located> {
        self.ask(callers);
        callers.iter().filter_map(|it| self.uses.get(it)).flatten().copied().collect()
    }

    fn ask(&mut self, callers: &[Located]) {
        let files: BTreeSet<FileId> = callers.iter().map(|it| it.file).collect();
        let files: Vec<FileId> = files.into_iter().filter(|it| self.asked.insert(*it)).collect();
        let index = self.index;
        let known = |file: FileId, at: usize| named_at(index, file, at);
        let found = ask_each(index, &files, |eval, file| {
            let outline = index.outline(file);
            let uses = uses_of(eval, file, &known).into_iter();
            let pair = |(at, callee, _)| Some((function_around(&outline, file, at)?, callee));
            uses.filter_map(pair).collect::<Vec<(Located, Located)>>()
        });
        for (caller, callee) in found {
            self.uses.entry(caller).or_default().insert(callee);
        }
    }
}

/// Returns the function whose name is at an offset.
fn named_at(index: &Index, file: FileId, at: usize) -> Option<Located> {
    let outline = index.outline(file);
    let symbol =
        outline.symbols.iter().position(|it| is_function(it) && it.name_range.start == at)?;
    Some(Located { file, symbol })
}
