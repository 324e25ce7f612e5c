//! Stores the words of a file as a small sorted set of hashes.
//!
//! A file without the word cannot contain the symbol, and scanning is much faster than parsing (on
//! Django 50 ms against 279 ms, one thread). If two words share a hash, a file is parsed
//! unnecessarily, but no answer is wrong.

use std::hash::Hasher;

use rustc_hash::FxHasher;
use unicode_normalization::UnicodeNormalization;

/// The words of one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Box<[u32]>);

impl Words {
    /// Scans a text: every run of letters, digits, underscores and non-ASCII bytes, including
    /// strings and comments.
    pub fn of(text: &str) -> Words {
        let mut table = Table::with_room_for(text.len() / 16);
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let length = bytes[at..].iter().take_while(|byte| IN_WORD[**byte as usize]).count();
            if length > 0 && !bytes[at].is_ascii_digit() {
                table.insert(normal(&text[at..at + length]));
            }
            at += length + 1;
        }
        Words(table.sorted())
    }

    /// Restores a set from [`Words::hashes`]; `None` if the numbers are not sorted.
    pub fn from_hashes(hashes: Vec<u32>) -> Option<Words> {
        hashes.is_sorted().then(|| Words(hashes.into_boxed_slice()))
    }

    /// Returns the hashes, ascending, for storage.
    pub fn hashes(&self) -> &[u32] {
        &self.0
    }

    /// Returns whether the text may contain a word; `false` is certain.
    pub fn may_hold(&self, word: &str) -> bool {
        self.has(Word::of(word))
    }

    /// Does the same as [`Words::may_hold`] for a word that is looked for in many files.
    pub(crate) fn has(&self, word: Word) -> bool {
        self.0.binary_search(&word.0).is_ok()
    }

    /// Returns whether the text may contain one of some words.
    pub(crate) fn has_any(&self, words: &WordSet) -> bool {
        let halvings = self.0.len().max(1).ilog2() as usize + 1;
        match words.hashes.len() * halvings < self.0.len() {
            true => words.hashes.iter().any(|it| self.0.binary_search(it).is_ok()),
            false => self.0.iter().any(|it| words.has(*it)),
        }
    }
}

/// A word to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word(u32);

impl Word {
    pub(crate) fn of(word: &str) -> Word {
        Word(normal(word))
    }
}

/// Words of which a file may contain any.
#[derive(Clone, Debug)]
pub(crate) struct WordSet {
    /// Their hashes, ascending.
    hashes: Vec<u32>,
    /// A bit for the lower half of each hash: it decides for most words of a file.
    bits: Box<[u64; BITS / 64]>,
}

/// Number of lower halves of hashes.
const BITS: usize = 1 << 16;

impl WordSet {
    pub(crate) fn of<'w>(words: impl IntoIterator<Item = &'w str>) -> WordSet {
        let mut hashes: Vec<u32> = words.into_iter().map(normal).collect();
        hashes.sort_unstable();
        hashes.dedup();
        let mut bits = Box::new([0; BITS / 64]);
        for hash in &hashes {
            bits[*hash as usize % BITS / 64] |= 1 << (hash % 64);
        }
        WordSet { hashes, bits }
    }

    fn has(&self, hash: u32) -> bool {
        self.bits[hash as usize % BITS / 64] & 1 << (hash % 64) != 0
            && self.hashes.binary_search(&hash).is_ok()
    }
}

/// Hashes a word in Unicode's NFKC form, in which Python reads identifiers, so that all its
/// spellings are equal.
fn normal(word: &str) -> u32 {
    match word.is_ascii() {
        true => hash(word.as_bytes()),
        false => hash(word.nfkc().collect::<String>().as_bytes()),
    }
}

/// Hashes the bytes of a word. The result is never zero, which marks a free place of the table.
fn hash(word: &[u8]) -> u32 {
    let mut hasher = FxHasher::default();
    hasher.write(word);
    let wide = hasher.finish();
    ((wide >> 32) as u32 ^ wide as u32).max(1)
}

const IN_WORD: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let c = byte as u8;
        table[byte] = c.is_ascii_alphanumeric() || c == b'_' || c >= 0x80;
        byte += 1;
    }
    table
};

/// An open-addressing set of non-zero numbers. Most words of a text repeat, so duplicates are
/// removed before sorting.
struct Table {
    places: Vec<u32>,
    used: usize,
}

impl Table {
    fn with_room_for(words: usize) -> Table {
        Table { places: vec![0; (words * 2).next_power_of_two().max(64)], used: 0 }
    }

    fn insert(&mut self, word: u32) {
        if self.used * 2 >= self.places.len() {
            self.enlarge();
        }
        let mask = self.places.len() - 1;
        let mut at = word as usize & mask;
        while self.places[at] != 0 {
            if self.places[at] == word {
                return;
            }
            at = (at + 1) & mask;
        }
        self.places[at] = word;
        self.used += 1;
    }

    fn enlarge(&mut self) {
        let bigger = vec![0; self.places.len() * 2];
        let old = std::mem::replace(&mut self.places, bigger);
        self.used = 0;
        old.into_iter().filter(|word| *word != 0).for_each(|word| self.insert(word));
    }

    fn sorted(self) -> Box<[u32]> {
        let mut words: Vec<u32> = self.places.into_iter().filter(|word| *word != 0).collect();
        words.sort_unstable();
        words.into_boxed_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::{WordSet, Words};

    #[test]
    fn a_text_has_one_of_few_or_of_many_words_or_none() {
        let text: String = (0..200).map(|it| format!("word{it} ")).collect();
        let words = Words::of(&text);
        let others: Vec<String> = (0..300).map(|it| format!("other{it}")).collect();
        let has = |all: &[&str]| words.has_any(&WordSet::of(all.iter().copied()));
        assert!(!has(&[]));
        assert!(has(&["other", "word7"]));
        assert!(!has(&["other", "word"]));
        let mut many: Vec<&str> = others.iter().map(|it| &**it).collect();
        assert!(!has(&many));
        for it in ["word0", "word120", "word199"] {
            many.push(it);
            assert!(has(&many), "{it}");
            many.pop();
        }
        assert!(!Words::of("").has_any(&WordSet::of(["word"])));
    }
}
