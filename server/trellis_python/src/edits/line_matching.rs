//! Finds runs of lines that are similar to a searched text.
//!
//! Every candidate run is scored, but few are compared letter by letter: runs are tried in the
//! order of the lines they share with the search and of an upper bound on their score, from how
//! often each letter occurs; the number of compared letters is limited. So a search of 200 lines in
//! a megabyte stays well below a second.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, TextDiff, capture_diff_slices};

/// Smallest similarity (0 to 1) at which a run counts as a match.
const LIKENESS: f32 = 0.8;
/// Two runs whose similarity differs by less than this are equally likely matches.
const MARGIN: f32 = 0.03;
/// Largest number of letters compared for one search.
const BUDGET: usize = 1_000_000;

/// A text split into lines.
pub(super) struct Lines<'t> {
    /// Start, end (after the line break) and text without the line break of each line.
    lines: Vec<(usize, usize, &'t str)>,
}

/// A run of lines and its similarity to the search.
struct Scored {
    lines: Range<usize>,
    score: f32,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            (start, at, line.strip_suffix('\n').unwrap_or(line))
        });
        Lines { lines: lines.collect() }
    }

    /// Returns the runs that equal the search except for white space within lines.
    pub(super) fn same_but_for_space(&self, wanted: &[&str]) -> Vec<Range<usize>> {
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let mut number = |line: &str| {
            let next = numbers.len();
            *numbers.entry(squeezed(line)).or_insert(next)
        };
        let wanted: Vec<usize> = wanted.iter().map(|line| number(line)).collect();
        let here: Vec<usize> = self.lines.iter().map(|(.., line)| number(line)).collect();
        let runs = here.windows(wanted.len().max(1)).enumerate();
        let same = runs.filter(|(_, run)| **run == wanted);
        same.map(|(start, run)| self.bytes(&(start..start + run.len()))).collect()
    }

    /// Returns the run most similar to the search and all others nearly as similar, with the best
    /// similarity. White space around lines does not count.
    pub(super) fn most_similar(&self, wanted: &[&str]) -> (Vec<Range<usize>>, f32) {
        let mut best = LIKENESS;
        let mut found: Vec<Scored> = Vec::new();
        let mut left = BUDGET;
        let wanted: Vec<&str> = wanted.iter().map(|it| it.trim()).collect();
        for (bound, lines) in self.likely(&wanted) {
            if bound < best - MARGIN || left == 0 {
                continue;
            }
            let run: Vec<&str> =
                self.lines[lines.clone()].iter().map(|(.., it)| it.trim()).collect();
            let score = likeness(&wanted, &run, &mut left);
            if score >= LIKENESS {
                best = best.max(score);
                found.push(Scored { lines, score });
            }
        }
        found.retain(|it| it.score >= best - MARGIN);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.lines.start.cmp(&b.lines.start)));
        let mut apart: Vec<Range<usize>> = Vec::new();
        for Scored { lines, .. } in found {
            if apart.iter().all(|it| it.end <= lines.start || lines.end <= it.start) {
                apart.push(lines);
            }
        }
        apart.sort_by_key(|it| it.start);
        (apart.iter().map(|it| self.bytes(it)).collect(), best)
    }

    /// Returns runs of about the search's length with similar letter counts, each with an upper
    /// bound of its similarity. Runs that share most lines with the search come first.
    fn likely(&self, wanted: &[&str]) -> Vec<(f32, Range<usize>)> {
        let target = wanted.iter().fold(LetterCounts::default(), |sum, line| sum.plus(line));
        let shared = self.shared(wanted);
        let slack = if wanted.len() < 2 { 0 } else { (wanted.len() / 10).clamp(1, 3) };
        let mut runs = Vec::new();
        for length in wanted.len() - slack..=wanted.len() + slack {
            let mut letters = LetterCounts::default();
            for end in 1..=self.lines.len() {
                letters.add(self.lines[end - 1].2);
                let Some(start) = end.checked_sub(length) else { continue };
                if start > 0 {
                    letters.remove(self.lines[start - 1].2);
                }
                let bound = target.likeness(&letters);
                if bound >= LIKENESS {
                    runs.push((shared[end] - shared[start], bound, start..end));
                }
            }
        }
        runs.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)));
        runs.into_iter().map(|(_, bound, lines)| (bound, lines)).collect()
    }

    /// Returns, for each line index, the number of lines before it that are in the search as well.
    fn shared(&self, wanted: &[&str]) -> Vec<usize> {
        let known: std::collections::HashSet<&str> =
            wanted.iter().copied().filter(|it| !it.is_empty()).collect();
        let mut count = 0;
        let counts = self.lines.iter().map(|(.., line)| {
            count += usize::from(known.contains(line.trim()));
            count
        });
        std::iter::once(0).chain(counts).collect()
    }

    fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        let run = &self.lines[lines.clone()];
        let first = run.first().map_or(0, |(start, ..)| *start);
        first..run.last().map_or(first, |(_, end, _)| *end)
    }
}

pub(super) fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the similarity: twice the number of shared letters, divided by the number of all
/// letters. Lines are compared first; only lines that differ are compared by letters, each run of
/// them with the run in its place.
fn likeness(wanted: &[&str], run: &[&str], left: &mut usize) -> f32 {
    let size = |lines: &[&str]| lines.iter().map(|it| it.chars().count() + 1).sum::<usize>();
    let mut same = 0.0;
    for op in capture_diff_slices(Algorithm::Myers, wanted, run) {
        let (old, new) = (&wanted[op.old_range()], &run[op.new_range()]);
        same += match op {
            DiffOp::Equal { .. } => 2.0 * size(old) as f32,
            DiffOp::Replace { .. } => shared_letters(old, new, left),
            DiffOp::Delete { .. } | DiffOp::Insert { .. } => 0.0,
        };
    }
    same / (size(wanted) + size(run)).max(1) as f32
}

/// Largest total length, in bytes, of two texts with different numbers of lines that are compared
/// as a whole. Other texts are compared line by line.
const WHOLE: usize = 1000;

fn shared_letters(old: &[&str], new: &[&str], left: &mut usize) -> f32 {
    let (a, b) = (old.join("\n"), new.join("\n"));
    if old.len() != new.len() && a.len() + b.len() <= WHOLE {
        return compared(&a, &b, left);
    }
    old.iter().zip(new).map(|(a, b)| compared(a, b, left) + 2.0).sum()
}

fn compared(a: &str, b: &str, left: &mut usize) -> f32 {
    // For two very long lines, the cost is proportional to the product of their lengths.
    let total = a.len() + b.len();
    let cost = total.max(a.len().min(b.len()).saturating_mul(total) / WHOLE);
    if cost > *left {
        *left = 0;
        return 0.0;
    }
    *left -= cost;
    TextDiff::from_chars(a, b).ratio() * (a.chars().count() + b.chars().count()) as f32
}

/// Counts of each letter (a few letters share a counter). They bound the similarity of two texts
/// from above.
struct LetterCounts {
    counts: [u32; 128],
    total: u32,
}

impl Default for LetterCounts {
    fn default() -> Self {
        LetterCounts { counts: [0; 128], total: 0 }
    }
}

impl LetterCounts {
    fn plus(mut self, line: &str) -> Self {
        self.add(line);
        self
    }

    /// Adds a line and its line break.
    fn add(&mut self, line: &str) {
        for c in line.trim().chars().chain(['\n']) {
            self.counts[c as usize % 128] += 1;
            self.total += 1;
        }
    }

    fn remove(&mut self, line: &str) {
        for c in line.trim().chars().chain(['\n']) {
            self.counts[c as usize % 128] -= 1;
            self.total -= 1;
        }
    }

    fn likeness(&self, other: &LetterCounts) -> f32 {
        let shared: u32 = self.counts.iter().zip(&other.counts).map(|(a, b)| a.min(b)).sum();
        2.0 * shared as f32 / (self.total + other.total).max(1) as f32
    }
}
