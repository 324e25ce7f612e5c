//! Random changes of inputs.

/// Maximum length of an input, in bytes.
pub const LONGEST: usize = 64 << 10;

/// Values at the ends of ranges, as they stand in texts.
const EDGES: [&str; 12] = [
    "0",
    "-1",
    "1e309",
    "255",
    "65536",
    "4294967295",
    "18446744073709551616",
    "null",
    "\"\"",
    "[]",
    "{}",
    "\u{fffd}",
];

/// A linear congruential generator (Knuth's MMIX constants).
#[derive(Debug)]
pub struct Random(pub u64);

impl Random {
    /// Returns a number below `limit`; 0 for a limit of 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }

    /// Returns the start and the end of a part of at most `most` bytes.
    fn part(&mut self, length: usize, most: usize) -> (usize, usize) {
        let start = self.below(length + 1);
        (start, start + self.below((length - start).min(most) + 1))
    }
}

/// Returns a changed copy of an input; `others` give parts to insert.
pub fn mutate(input: &[u8], others: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(6) {
        change(&mut bytes, others, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn change(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    match random.below(11) {
        0 => flip(bytes, random),
        1 => set_byte(bytes, random),
        2 => remove(bytes, random),
        3 => repeat(bytes, random),
        4 | 5 => splice(bytes, others, random),
        6 => insert_edge(bytes, random),
        7 => replace_number(bytes, random),
        8 => change_line(bytes, random),
        9 => swap_words(bytes, random),
        _ => cut(bytes, random),
    }
}

fn flip(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn set_byte(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    bytes.insert(at, random.below(256) as u8);
}

fn remove(bytes: &mut Vec<u8>, random: &mut Random) {
    let (start, end) = random.part(bytes.len(), 64);
    bytes.drain(start..end);
}

fn repeat(bytes: &mut Vec<u8>, random: &mut Random) {
    let (start, end) = random.part(bytes.len(), 64);
    let times = [1, 2, 8, 200][random.below(4)];
    let part = bytes[start..end].repeat(times);
    bytes.splice(end..end, part);
}

fn splice(bytes: &mut Vec<u8>, others: &[Vec<u8>], random: &mut Random) {
    let Some(other) = others.get(random.below(others.len())) else { return };
    let (start, end) = random.part(other.len(), 512);
    let (from, to) = random.part(bytes.len(), 64);
    bytes.splice(from..to, other[start..end].iter().copied());
}

fn insert_edge(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, EDGES[random.below(EDGES.len())].bytes());
}

fn replace_number(bytes: &mut Vec<u8>, random: &mut Random) {
    let from = random.below(bytes.len());
    let Some(start) = bytes.iter().skip(from).position(u8::is_ascii_digit) else { return };
    let start = from + start;
    let digits = bytes[start..].iter().take_while(|it| it.is_ascii_digit()).count();
    bytes.splice(start..start + digits, EDGES[random.below(EDGES.len())].bytes());
}

/// Removes, doubles or moves a line.
fn change_line(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|it| *it == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return;
    }
    let line = lines.remove(random.below(lines.len()));
    for _ in 0..random.below(3) {
        lines.insert(random.below(lines.len() + 1), line.clone());
    }
    *bytes = lines.concat();
}

/// Exchanges two words: pieces between quotes.
fn swap_words(bytes: &mut Vec<u8>, random: &mut Random) {
    let mut words: Vec<&[u8]> = bytes.split(|it| *it == b'"').collect();
    let (one, other) = (random.below(words.len()), random.below(words.len()));
    words.swap(one, other);
    *bytes = words.join(&b'"');
}

fn cut(bytes: &mut Vec<u8>, random: &mut Random) {
    bytes.truncate(random.below(bytes.len() + 1));
}
