//! Answers queries for symbols by name.

use std::ops::Range;

use rayon::prelude::*;

use super::names::NameTable;
use super::{FileId, Index};
use crate::name_path::NamePath;
use crate::outline::SymbolKind;

/// A range of a file, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// Byte range of its text.
    pub range: Range<usize>,
}

/// A symbol of an index: the `symbol`-th of the file's outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Located {
    /// The file.
    pub file: FileId,
    /// Index in [`Outline::symbols`](crate::Outline::symbols).
    pub symbol: usize,
}

impl Index {
    /// Returns every symbol that matches a name path, by path and position. With `substring` the
    /// last component may be any part of the name. An empty list of kinds means all kinds.
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
        let listed =
            if substring { names.containing(&folded) } else { names.candidates_for(&folded) };
        let mut found = self.matching(&names, listed, may_hold, named);
        found.retain(|it| fits(*it));
        found.sort_by_key(|it| (self.path(it.file), it.symbol));
        found
    }

    /// Returns symbols whose name contains the query, ignoring case: exact matches first, then
    /// names that begin with the query, then shorter names. The limit does not apply to exact
    /// matches, because a partial answer would look like a complete one.
    pub fn workspace_symbols(&self, query: &str, limit: usize) -> Vec<Located> {
        let folded = fold(query);
        let names = self.names();
        let listed = names.containing(&folded);
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

    /// Returns the symbols with a fitting name: those in the table, and those of files that the
    /// table does not cover and that may contain one.
    fn matching(
        &self,
        names: &NameTable,
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

    /// Returns whether a file may have a name with this folded part. True if the outline is already
    /// computed; otherwise the text is scanned, which costs far less than parsing.
    fn text_may_hold(&self, file: FileId, folded: &str) -> bool {
        let Some(it) = self.get(file) else { return false };
        it.outlines.are_known()
            || !folded.is_ascii()
            || self.text(file).is_some_and(|text| may_define(text.as_bytes(), folded.as_bytes()))
    }
}

/// Folds a name for comparisons that ignore case. Each character is folded on its own; a non-ASCII
/// character never becomes ASCII, so that ASCII text can be searched byte by byte.
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

/// Letters by frequency in English and code, the rarest first.
const BY_RARITY: &[u8] = b"qjzxkvwybghpmfucdl_norasite";

/// Returns whether a text contains `part`, ignoring ASCII case.
fn holds_folded(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || hits(text, part).next().is_some()
}

/// Returns the offsets of `part` in a text. The search jumps between occurrences of the rarest
/// letter.
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

/// Returns whether a text may define something whose name contains `part`; `false` is certain. Most
/// words only name definitions elsewhere, which the text around them shows.
fn may_define(text: &[u8], part: &[u8]) -> bool {
    part.is_empty() || hits(text, part).any(|start| may_bind(text, start, start + part.len()))
}

/// Returns whether the word around a range may be in an outline: a word after `def` or `class`, or
/// an assigned or annotated one.
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
        // Lines continued with a backslash are left to the parser.
        (Some(b'\\'), _) | (_, Some(b'\\')) => true,
        (Some(b'.'), _) => false,
        (_, Some(b'=' | b':')) => true,
        // One of several targets, unless it is in a call or an import.
        (_, Some(b',' | b')' | b']')) => !is_in_call(&text[..head]),
        _ => false,
    }
}

/// Returns whether the last line contains `import`, or a parenthesis right after a word, as in a
/// call.
fn is_in_call(before: &[u8]) -> bool {
    let line = &before[before.iter().rposition(|it| *it == b'\n').map_or(0, |it| it + 1)..];
    let called = |it: &[u8]| is_in_word(it[0]) && it[1] == b'(';
    line.windows(2).any(called) || line.windows(7).any(|it| it == b"import ")
}

fn is_in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}
