//! Applies a replacement to lines that are similar, but not equal, to the searched lines: only the
//! differences between search and replacement are applied, the rest stays as in the file.
//!
//! This is a three-way merge: the search is the base, the replacement is one side, the found lines
//! are the other. Lines are merged first; a line that differs from the base on both sides is merged
//! word by word.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::indents::{Pair, moved};
use super::levels::FileLevels;
use super::line_matching::squeezed;
use super::partial_code::indent_of;

/// The replacement changes text that differs in the file.
pub(super) struct Conflict {
    /// Index of the line among the found lines, from 0.
    pub(super) line: usize,
    pub(super) text: String,
}

impl Conflict {
    /// Creates the conflict of a line, by its index.
    pub(super) fn at(line: usize, found: &str) -> Conflict {
        let lines: Vec<&str> = found.lines().collect();
        let text = lines.get(line).map_or("", |it| it.trim()).to_owned();
        Conflict { line: line.min(lines.len().saturating_sub(1)), text }
    }
}

/// Returns the lines `found` with the differences between `wanted` and `replace` applied. White
/// space within and around lines is ignored when `found` is compared with `wanted`; new lines are
/// indented like those around them, with the levels of the file.
pub(super) fn replaced(
    wanted: &[&str],
    new: &[&str],
    file: &FileLevels<'_>,
    range: &Range<usize>,
) -> Result<String, Conflict> {
    let found = &file.text[range.clone()];
    let there: Vec<&str> = found.lines().collect();
    let keys = |lines: &[&str]| lines.iter().map(|it| squeezed(it)).collect::<Vec<_>>();
    let ours = changes(wanted, new);
    let theirs = changes(&keys(wanted), &keys(&there));
    let moved = moved(wanted, pairs(wanted, &there, &theirs), new, || file.at(range.start));
    let pieces = merged(wanted.len(), &ours, &theirs);
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Ours { base, ours, theirs } if base.len() == ours.len() => {
                let places = base.zip(ours).zip(theirs);
                lines.extend(places.map(|((base, our), at)| {
                    let line = like_found([wanted[base], new[our], &moved[our]], there[at]);
                    line.unwrap_or_else(|| moved[our].clone())
                }));
            }
            Piece::Ours { ours, .. } => lines.extend_from_slice(&moved[ours]),
            Piece::Kept { theirs: range, .. } | Piece::Theirs(range) => {
                lines.extend(there[range].iter().map(|it| (*it).to_owned()))
            }
            Piece::Both { ours, theirs, .. }
                if keys(&new[ours.clone()]) == keys(&there[theirs.clone()]) =>
            {
                lines.extend(there[theirs].iter().map(|it| (*it).to_owned()));
            }
            Piece::Both { base, ours, theirs } => {
                let conflict = |line: usize| Conflict::at(line, found);
                if base.len() != ours.len() || base.len() != theirs.len() {
                    let known = keys(&wanted[base]);
                    let other = |at: &usize| !known.contains(&squeezed(there[*at]));
                    return Err(conflict(theirs.clone().find(other).unwrap_or(theirs.start)));
                }
                for ((base, new), at) in wanted[base].iter().zip(&moved[ours]).zip(theirs) {
                    let line = one_line(base, new, there[at]).ok_or_else(|| conflict(at))?;
                    lines.push(line);
                }
            }
        }
    }
    let end = if found.ends_with('\n') && !lines.is_empty() { "\n" } else { "" };
    Ok(lines.join("\n") + end)
}

/// Returns the searched lines with the lines found for them.
fn pairs<'t>(wanted: &[&'t str], there: &[&'t str], theirs: &[Change]) -> Vec<Pair<'t>> {
    let mut pairs = Vec::new();
    let mut add = |base: Range<usize>, side: &[&'t str]| {
        let both = base.zip(side.to_vec());
        pairs.extend(both.map(|(number, found)| Pair { number, wanted: wanted[number], found }));
    };
    let (mut base, mut side) = (0, 0);
    let end = Change { base: wanted.len()..wanted.len(), side: there.len()..there.len() };
    for change in theirs.iter().chain([&end]) {
        add(base..change.base.start, &there[side..]);
        if change.base.len() == change.side.len() {
            add(change.base.clone(), &there[change.side.clone()]);
        }
        (base, side) = (change.base.end, change.side.end);
    }
    pairs
}

/// Returns a changed line with the white space of the file where the search has other white space.
fn like_found([base, new, moved]: [&str; 3], there: &str) -> Option<String> {
    let line = (base.trim() != there.trim()).then(|| one_line(base, moved, there))??;
    let is_moved = indent_of(base) != indent_of(new);
    let indent = indent_of(if is_moved { moved } else { &line });
    Some(format!("{indent}{}", line.trim_start()))
}

/// Merges the words of a line; `None` if both sides change the same words, or if the merge depends on
/// which of several equal words are taken for the same. The line is indented as in the file.
fn one_line(base: &str, new: &str, there: &str) -> Option<String> {
    let mut sides = [base, new, there].map(words);
    let out = merged_words(&sides)?;
    sides.iter_mut().for_each(|it| it.reverse());
    let mut backwards = merged_words(&sides)?;
    backwards.reverse();
    if texts(&backwards) != texts(&out) {
        return None;
    }
    let mut line = indent_of(there).to_owned();
    for (number, word) in out.iter().enumerate() {
        line += if number == 0 { "" } else { word.space };
        line += word.text;
    }
    Some(line)
}

/// Merges the words of a base, of a new line and of the line in the file; `None` if both sides change
/// the same words.
fn merged_words<'t>([base, new, old]: &[Vec<Word<'t>>; 3]) -> Option<Vec<Word<'t>>> {
    let (ours, theirs) = (changes(&texts(base), &texts(new)), changes(&texts(base), &texts(old)));
    let mut out = Vec::new();
    for piece in merged(base.len(), &ours, &theirs) {
        match piece {
            // White space is merged as well.
            Piece::Kept { base: at, ours, theirs } => {
                let kept = base[at].iter().zip(&new[ours]).zip(&old[theirs]);
                out.extend(kept.map(|((base, new), old)| Word {
                    space: if base.space == old.space { new.space } else { old.space },
                    text: old.text,
                }));
            }
            Piece::Ours { ours, .. } => out.extend_from_slice(&new[ours]),
            Piece::Theirs(range) => out.extend_from_slice(&old[range]),
            Piece::Both { ours, theirs, .. }
                if texts(&new[ours.clone()]) == texts(&old[theirs.clone()]) =>
            {
                out.extend_from_slice(&old[theirs]);
            }
            Piece::Both { .. } => return None,
        }
    }
    Some(out)
}

fn texts<'t>(words: &[Word<'t>]) -> Vec<&'t str> {
    words.iter().map(|it| it.text).collect()
}

/// A word, or a single character that is not part of a word.
#[derive(Clone, Copy)]
struct Word<'t> {
    /// White space before the word; it is ignored in comparisons.
    space: &'t str,
    text: &'t str,
}

fn words(line: &str) -> Vec<Word<'_>> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        let start = rest.len() - rest.trim_start().len();
        let Some(first) = rest[start..].chars().next() else { return words };
        let length = match is_letter(first) {
            true => rest[start..].find(|c| !is_letter(c)).unwrap_or(rest.len() - start),
            false => first.len_utf8(),
        };
        words.push(Word { space: &rest[..start], text: &rest[start..start + length] });
        rest = &rest[start + length..];
    }
}

/// A change of a run of the base by one side. An empty run is an insertion before its position.
#[derive(Clone)]
struct Change {
    base: Range<usize>,
    side: Range<usize>,
}

fn changes<T: std::hash::Hash + Eq + Ord>(base: &[T], side: &[T]) -> Vec<Change> {
    let ops = capture_diff_slices(Algorithm::Myers, base, side).into_iter();
    let other = ops.filter(|op| !matches!(op, DiffOp::Equal { .. }));
    other.map(|op| Change { base: op.old_range(), side: op.new_range() }).collect()
}

/// A run of the merged result.
enum Piece {
    /// A run changed by neither side.
    Kept {
        base: Range<usize>,
        ours: Range<usize>,
        theirs: Range<usize>,
    },
    /// A run changed by our side only.
    Ours {
        base: Range<usize>,
        ours: Range<usize>,
        theirs: Range<usize>,
    },
    Theirs(Range<usize>),
    /// A run of the base changed by both sides.
    Both {
        base: Range<usize>,
        ours: Range<usize>,
        theirs: Range<usize>,
    },
}

/// Merges two sides, given their changes (in order) of a base of `length` elements.
fn merged(length: usize, ours: &[Change], theirs: &[Change]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // Positions reached in the base and in either side.
    let (mut at, mut our_at, mut their_at) = (0, 0, 0);
    let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
    loop {
        let start =
            [ours.peek(), theirs.peek()].into_iter().flatten().map(|it| it.base.start).min();
        let next = start.unwrap_or(length);
        let run = |from: usize| from..from + (next - at);
        let (ours_kept, theirs_kept) = (run(our_at), run(their_at));
        pieces.push(Piece::Kept { base: at..next, ours: ours_kept, theirs: theirs_kept });
        (our_at, their_at, at) = (our_at + (next - at), their_at + (next - at), next);
        if start.is_none() {
            return pieces;
        }
        // Changes that touch the same run are joined.
        let mut end = at;
        let (mut mine, mut other) = (Vec::new(), Vec::new());
        loop {
            let touches = |it: &Change| {
                it.base.start < end || it.base.start == at && (end == at || it.base.is_empty())
            };
            if let Some(it) = ours.next_if(|it| touches(it)) {
                end = end.max(it.base.end);
                mine.push(it.clone());
            } else if let Some(it) = theirs.next_if(|it| touches(it)) {
                end = end.max(it.base.end);
                other.push(it.clone());
            } else {
                break;
            }
        }
        let side = |changes: &[Change], from: usize| {
            let grown: usize = changes.iter().map(|it| it.side.len()).sum();
            let gone: usize = changes.iter().map(|it| it.base.len()).sum();
            from..from + (end - at) + grown - gone
        };
        let (our_run, their_run) = (side(&mine, our_at), side(&other, their_at));
        (our_at, their_at) = (our_run.end, their_run.end);
        pieces.push(match (mine.is_empty(), other.is_empty()) {
            (false, true) => Piece::Ours { base: at..end, ours: our_run, theirs: their_run },
            (true, _) => Piece::Theirs(their_run),
            (false, false) => Piece::Both { base: at..end, ours: our_run, theirs: their_run },
        });
        at = end;
    }
}
