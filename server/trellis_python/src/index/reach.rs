//! Where calls lead to from a few functions: only files on the way are asked.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::{function_around, is_function, uses_of};
use super::{FileId, Index, Located};
use crate::semantics::ask_each;

/// Who calls whom, as far as somebody asked.
pub struct Reach<'i> {
    index: &'i Index,
    asked: FxHashSet<FileId>,
    /// What a function uses, those inside of it not among it.
    uses: FxHashMap<Located, BTreeSet<Located>>,
}

impl<'i> Reach<'i> {
    /// Knows nothing yet.
    pub fn new(index: &'i Index) -> Reach<'i> {
        Reach { index, asked: FxHashSet::default(), uses: FxHashMap::default() }
    }

    /// The functions that some functions call, or hand on, themselves.
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

/// The function whose name stands at an offset.
fn named_at(index: &Index, file: FileId, at: usize) -> Option<Located> {
    let outline = index.outline(file);
    let symbol =
        outline.symbols.iter().position(|it| is_function(it) && it.name_range.start == at)?;
    Some(Located { file, symbol })
}
