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
        let fits = |name: &str| match name.is_ascii() {
            true => holds_folded(name.as_bytes(), folded.as_bytes()),
            false => fold(name).contains(&folded),
        };
        let found = self.matching(&names, listed, may_hold, fits);
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
    /// there, else by a look at the text, which costs far less than parsing it.
    fn text_may_hold(&self, file: FileId, folded: &str) -> bool {
        let Some(it) = self.get(file) else { return false };
        it.outline.get().is_some()
            || !folded.is_ascii()
            || self.text(file).is_some_and(|text| may_define(text.as_bytes(), folded.as_bytes()))
    }
}

/// A name as it is compared where upper and lower case are alike. Each character on its own; what is
/// not ASCII stays so, that ASCII text can be looked for byte by byte.
pub(super) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
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

/// Whether ASCII letters of either case make up `part` somewhere in a text.
fn holds_folded(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || hits(text, part).next().is_some()
}

/// Where they do. The search leaps from one occurrence of its rarest letter to the next.
fn hits<'a>(text: &'a [u8], part: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let rarity = |byte: &u8| BY_RARITY.iter().position(|it| it == byte).unwrap_or(0);
    let rarest = part.iter().enumerate().min_by_key(|(_, byte)| rarity(byte));
    rarest.into_iter().flat_map(move |(at, rarest)| {
        let found = memchr::memchr2_iter(*rarest, rarest.to_ascii_uppercase(), text);
        found.filter_map(move |hit| {
            let start = hit.checked_sub(at)?;
            let there = text.get(start..start + part.len())?;
            there.eq_ignore_ascii_case(part).then_some(start)
        })
    })
}

/// Whether a text may define something whose name holds `part`; `false` is certain. Most words only name
/// what is defined elsewhere, and the text around them shows it.
fn may_define(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || hits(text, part).any(|start| may_bind(text, start, start + part.len()))
}

/// Whether the word around a stretch of text may be one that an outline lists: what is behind `def` or
/// `class`, and what is assigned or annotated.
fn may_bind(text: &[u8], start: usize, end: usize) -> bool {
    let in_word = |it: &u8| is_in_word(*it);
    let head = text[..start].iter().rposition(|it| !is_in_word(*it)).map_or(0, |it| it + 1);
    let tail = end + text[end..].iter().take_while(|it| in_word(it)).count();
    let before = text[..head].trim_ascii_end();
    let blank = |it: &&u8| matches!(it, b' ' | b'\t');
    let next = text[tail..].iter().find(|it| !blank(it));
    let keyword = [&b"def"[..], b"class", b"type"].iter().any(|it| before.ends_with(it));
    match (before.last(), next) {
        _ if keyword => true,
        // Lines that go on behind a backslash are left to the parser.
        (Some(b'\\'), _) | (_, Some(b'\\')) => true,
        (Some(b'.'), _) => false,
        (_, Some(b'=' | b':')) => true,
        // One of several targets, unless it stands in a call or an import.
        (_, Some(b',' | b')' | b']')) => !is_in_call(&text[..head]),
        _ => false,
    }
}

/// Whether the last line has the word `import`, or a parenthesis right behind a word, as calls have.
fn is_in_call(before: &[u8]) -> bool {
    let line = &before[before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)..];
    let called = |it: &[u8]| is_in_word(it[0]) && it[1] == b'(';
    line.windows(2).any(called) || line.windows(7).any(|it| it == b"import ")
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
