//! What can be asked of an index.

use std::ops::Range;

use rayon::prelude::*;

use super::names::Names;
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
        let folded = fold(last);
        let fits = |it: Located| {
            let outline = self.outline(it.file);
            (kinds.is_empty() || kinds.contains(&outline.symbols[it.symbol].kind))
                && pattern.matches(&outline.path(it.symbol), substring)
        };
        let named = |name: &str| if substring { name.contains(last) } else { name == last };
        let may_hold = |file: FileId| match substring {
            true => self.text_may_hold(file, &folded),
            false => self.words(file).may_hold(last),
        };
        let names = self.names();
        let listed = if substring { names.holding(&folded) } else { names.exactly(&folded) };
        let mut found = self.matching(&names, listed, may_hold, named);
        found.retain(|it| fits(*it));
        found.sort_by_key(|it| (self.path(it.file), it.symbol));
        found
    }

    /// Symbols whose name holds the query, upper and lower case alike; those of exactly that name come
    /// first, then those that begin with it, then shorter names. Those of exactly that name are all
    /// there, whatever the limit: half an answer would look like a whole one.
    pub fn workspace_symbols(&self, query: &str, limit: usize) -> Vec<Located> {
        let folded = fold(query);
        let names = self.names();
        let listed = names.holding(&folded);
        let may_hold = |file: FileId| self.text_may_hold(file, &folded);
        let found =
            self.matching(&names, listed, may_hold, |name: &str| fold(name).contains(&folded));
        let rank = |it: Located| {
            let outline = self.outline(it.file);
            let name = &outline.symbols[it.symbol].name;
            let lower = fold(name);
            (name != query, lower != folded, !lower.starts_with(&folded), name.len())
        };
        let mut ranked: Vec<_> = found.into_iter().map(|it| (rank(it), it)).collect();
        ranked.sort_by(|(rank, it), (other, that)| {
            let order = |it: &Located| (self.path(it.file), it.symbol);
            rank.cmp(other).then_with(|| order(it).cmp(&order(that)))
        });
        let exact = ranked.partition_point(|((other, ..), _)| !other);
        ranked.truncate(limit.max(exact));
        ranked.into_iter().map(|(_, it)| it).collect()
    }

    /// Symbols with a fitting name: those that the table lists, and those of the files it has not seen
    /// as they are, where they may hold one.
    fn matching(
        &self,
        names: &Names,
        listed: impl Iterator<Item = Located>,
        may_hold: impl Fn(FileId) -> bool + Sync,
        fits: impl Fn(&str) -> bool + Sync,
    ) -> Vec<Located> {
        let named = |it: &Located| fits(&self.outline(it.file).symbols[it.symbol].name);
        let mut found: Vec<Located> =
            listed.filter(|it| names.covers(self, it.file)).filter(named).collect();
        let unseen: Vec<FileId> = self.files().filter(|it| !names.covers(self, *it)).collect();
        let of_file = |file: FileId| {
            let count = if may_hold(file) { self.outline(file).symbols.len() } else { 0 };
            (0..count).map(move |symbol| Located { file, symbol }).filter(named).collect::<Vec<_>>()
        };
        found.par_extend(unseen.into_par_iter().flat_map_iter(of_file));
        found
    }

    /// Whether it is worth looking for a name with this folded part: certainly where the outline is
    /// there, else by a look at the text, which costs a tenth of the parser's time.
    fn text_may_hold(&self, file: FileId, folded: &str) -> bool {
        let Some(it) = self.get(file) else { return false };
        it.outline.get().is_some()
            || !folded.is_ascii()
            || self.text(file).is_some_and(|text| holds_folded(text.as_bytes(), folded.as_bytes()))
    }
}

/// A name as it is compared where upper and lower case are alike. Each character on its own; what is
/// not ASCII stays so, that ASCII text can be looked for byte by byte.
pub(super) fn fold(name: &str) -> String {
    let mut folded = String::with_capacity(name.len());
    for c in name.chars() {
        match c.to_lowercase() {
            lower if c.is_ascii() || !lower.clone().any(|it| it.is_ascii()) => folded.extend(lower),
            _ => folded.push(c),
        }
    }
    folded
}

/// Letters of English and of code, the frequent ones last.
const BY_RARITY: &[u8] = b"qjzxkvwybghpmfucdl_norasite";

/// Whether ASCII letters of either case make up `part` somewhere in a text. The search leaps from one
/// occurrence of its rarest letter to the next.
fn holds_folded(text: &[u8], part: &[u8]) -> bool {
    let rarity = |byte: &u8| BY_RARITY.iter().position(|it| it == byte).unwrap_or(0);
    let Some((at, rarest)) = part.iter().enumerate().min_by_key(|(_, byte)| rarity(byte)) else {
        return true;
    };
    memchr::memchr2_iter(*rarest, rarest.to_ascii_uppercase(), text).any(|hit| {
        let start = hit.checked_sub(at);
        start
            .and_then(|start| text.get(start..start + part.len()))
            .is_some_and(|there| there.eq_ignore_ascii_case(part))
    })
}
