//! Tokenization into pieces of BERT's vocabulary of English words and parts of words.

use std::hash::Hasher;
use std::sync::LazyLock;

use rustc_hash::FxHasher;

/// One piece per line; its number is that of the line. A piece that continues a word begins with
/// `##`.
static VOCABULARY: &str = include_str!("../../data/vocab.txt");

/// Number of pieces.
pub(super) const PIECES: usize = 30_522;

/// Number of the piece for a word that cannot be tokenized.
const UNKNOWN: usize = 100;

/// Length of the longest piece, in bytes.
const LONGEST: usize = 20;

/// Maximum length of a word, in bytes; longer ones are unknown.
const LONGEST_WORD: usize = 200;

/// Hash table of pieces by text with open addressing: piece numbers from 1, 0 for an empty slot.
struct VocabularyTable {
    /// Start of each line, and the end of the text.
    starts: Vec<u32>,
    slots: Vec<u16>,
}

const SLOTS: usize = 1 << 16;

/// Built when the first text is embedded.
static TABLE: LazyLock<VocabularyTable> = LazyLock::new(VocabularyTable::new);

impl VocabularyTable {
    fn new() -> VocabularyTable {
        let ends = VOCABULARY.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).take(PIECES + 1);
        let mut table = VocabularyTable { starts: starts.collect(), slots: vec![0; SLOTS] };
        for number in 0..PIECES {
            let mut slot = slot(table.line(number));
            while table.slots[slot] != 0 {
                slot = (slot + 1) % SLOTS;
            }
            table.slots[slot] = number as u16 + 1;
        }
        table
    }

    fn line(&self, number: usize) -> &'static [u8] {
        let range = self.starts[number] as usize..self.starts[number + 1] as usize - 1;
        &VOCABULARY.as_bytes()[range]
    }

    fn find(&self, piece: &[u8]) -> Option<usize> {
        let mut slot = slot(piece);
        loop {
            let number = self.slots[slot].checked_sub(1)?.into();
            if self.line(number) == piece {
                return Some(number);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

fn slot(piece: &[u8]) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(piece);
    (hasher.finish() >> 48) as usize
}

/// Visits the pieces of a text: words and punctuation marks in lower case, each word split greedily
/// into the longest pieces.
pub(super) fn for_each_piece(text: &str, mut visit: impl FnMut(usize)) {
    let text = text.to_lowercase();
    let is_mark = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && !c.is_control();
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let end = match rest.find(is_mark) {
                Some(0) => first.len_utf8(),
                other => other.unwrap_or(rest.len()),
            };
            let (own, after) = rest.split_at(end);
            in_word(&TABLE, own, &mut visit);
            rest = after;
        }
    }
}

fn in_word(table: &VocabularyTable, word: &str, visit: &mut impl FnMut(usize)) {
    match pieces(table, word) {
        Some(pieces) => pieces.into_iter().for_each(visit),
        None => visit(UNKNOWN),
    }
}

/// Returns the pieces of a word; `None` if it cannot be tokenized.
fn pieces(table: &VocabularyTable, word: &str) -> Option<Vec<usize>> {
    if word.len() > LONGEST_WORD {
        return None;
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < word.len() {
        let (piece, end) = longest(table, word, start)?;
        found.push(piece);
        start = end;
    }
    Some(found)
}

/// Returns the longest piece at a position in a word, and its end.
fn longest(table: &VocabularyTable, word: &str, start: usize) -> Option<(usize, usize)> {
    let mut buffer = [b'#'; LONGEST + 2];
    let prefix = if start > 0 { 2 } else { 0 };
    let last = word.len().min(start + LONGEST);
    (start + 1..=last).rev().filter(|end| word.is_char_boundary(*end)).find_map(|end| {
        let length = end - start;
        buffer[prefix..prefix + length].copy_from_slice(&word.as_bytes()[start..end]);
        Some((table.find(&buffer[..prefix + length])?, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> String {
        let mut found: Vec<&str> = Vec::new();
        for_each_piece(text, |piece| found.push(VOCABULARY.lines().nth(piece).expect("a line")));
        found.join(" ")
    }

    #[test]
    fn every_piece_is_found_under_its_number() {
        let table = VocabularyTable::new();
        assert_eq!(VOCABULARY.lines().count(), PIECES);
        assert!(VOCABULARY.lines().all(|it| it.len() <= LONGEST));
        for (number, line) in VOCABULARY.lines().enumerate() {
            assert_eq!(table.find(line.as_bytes()), Some(number), "{line}");
        }
        assert_eq!(table.find(b"no such piece"), None);
    }

    #[test]
    fn texts_are_taken_apart() {
        for (text, expected) in [
            ("Calculate the mean.", "calculate the mean ."),
            ("unaffable embeddings", "una ##ffa ##ble em ##bed ##ding ##s"),
            ("don't x_y", "don ' t x _ y"),
            ("日本 \u{e000}", "日 ##本 [UNK]"),
            ("  \t\n", ""),
        ] {
            assert_eq!(spelled(text), expected, "{text}");
        }
        assert_eq!(spelled(&"a".repeat(LONGEST_WORD + 1)), "[UNK]");
    }
}
