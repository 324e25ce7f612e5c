//! A replacement for lines that are like those it was written for: what it changes is changed, and all else stays as
//! the file has it.
//!
//! A merge of three texts: what was searched for is the base, the replacement one side, the lines that were found the
//! other. Lines are merged first, and of a line in which both sides differ from the base, its words.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::line_matching::squeezed;

/// The replacement changes something that reads otherwise in the file.
pub(super) struct Conflict {
    /// Of the lines that were found, from 0.
    pub(super) line: usize,
    pub(super) text: String,
}

/// The lines `found`, with what differs between `wanted` and `replace`. White space within and around lines that are
/// otherwise the same is no difference to what was wanted; new lines are indented as those around them.
pub(super) fn replaced(wanted: &[&str], replace: &str, found: &str) -> Result<String, Conflict> {
    let new: Vec<&str> = match replace.trim().is_empty() {
        true => Vec::new(),
        false => replace.trim_matches('\n').lines().collect(),
    };
    let there: Vec<&str> = found.lines().collect();
    let keys = |lines: &[&str]| lines.iter().map(|it| squeezed(it)).collect::<Vec<_>>();
    let ours = changes(wanted, &new);
    let theirs = changes(&keys(wanted), &keys(&there));
    let indents = Indents::of(wanted, &there, &theirs);
    let moved: Vec<String> = new.iter().map(|it| indents.moved(it)).collect();
    let pieces = merged(wanted.len(), &ours, &theirs);
    let mut lines: Vec<String> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Ours(range) => lines.extend_from_slice(&moved[range]),
            Piece::Kept { theirs: range, .. } | Piece::Theirs(range) => {
                lines.extend(there[range].iter().map(|it| (*it).to_owned()))
            }
            Piece::Both { ours, theirs, .. }
                if keys(&new[ours.clone()]) == keys(&there[theirs.clone()]) =>
            {
                lines.extend(there[theirs].iter().map(|it| (*it).to_owned()));
            }
            Piece::Both { base, ours, theirs } => {
                let conflict = |line: usize| Conflict {
                    line: line.min(there.len().saturating_sub(1)),
                    text: there.get(line).map_or("", |it| it.trim()).to_owned(),
                };
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

/// The words of a line merged; none where both sides change the same ones. The line is indented as the file's.
fn one_line(base: &str, new: &str, there: &str) -> Option<String> {
    let [base, new, old] = [base, new, there].map(words);
    let alone = |words: &[Word<'_>]| words.iter().map(|it| it.text.to_owned()).collect::<Vec<_>>();
    let (ours, theirs) =
        (changes(&alone(&base), &alone(&new)), changes(&alone(&base), &alone(&old)));
    let mut out: Vec<Word<'_>> = Vec::new();
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
            Piece::Ours(range) => out.extend_from_slice(&new[range]),
            Piece::Theirs(range) => out.extend_from_slice(&old[range]),
            Piece::Both { ours, theirs, .. }
                if alone(&new[ours.clone()]) == alone(&old[theirs.clone()]) =>
            {
                out.extend_from_slice(&old[theirs]);
            }
            Piece::Both { .. } => return None,
        }
    }
    let mut line = indent_of(there).to_owned();
    for (number, word) in out.iter().enumerate() {
        line += if number == 0 { "" } else { word.space };
        line += word.text;
    }
    Some(line)
}

/// A word, or a letter that is part of none.
#[derive(Clone, Copy)]
struct Word<'t> {
    /// The white space before it, which makes it no other.
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

/// What one side makes of a run of the base. An empty run: something is put in before it.
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

/// A run of the result.
enum Piece {
    /// Of neither side.
    Kept {
        base: Range<usize>,
        ours: Range<usize>,
        theirs: Range<usize>,
    },
    Ours(Range<usize>),
    Theirs(Range<usize>),
    /// Both sides change the same run of the base.
    Both {
        base: Range<usize>,
        ours: Range<usize>,
        theirs: Range<usize>,
    },
}

/// The merge of two sides whose changes of a base of `length` are given, in order.
fn merged(length: usize, ours: &[Change], theirs: &[Change]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    // How far the base is done, and where that is in either side.
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
        // Changes that touch the same run grow together.
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
            (false, true) => Piece::Ours(our_run),
            (true, _) => Piece::Theirs(their_run),
            (false, false) => Piece::Both { base: at..end, ours: our_run, theirs: their_run },
        });
        at = end;
    }
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// From the indentation of the lines that were searched for to that of the lines that were found.
struct Indents {
    from: String,
    to: String,
    known: HashMap<String, String>,
}

impl Indents {
    fn of(wanted: &[&str], there: &[&str], theirs: &[Change]) -> Indents {
        let mut pairs = Vec::new();
        let (mut base, mut side) = (0, 0);
        let end = Change { base: wanted.len()..wanted.len(), side: there.len()..there.len() };
        for change in theirs.iter().chain([&end]) {
            let same = wanted[base..change.base.start].iter().zip(&there[side..]);
            pairs.extend(same.map(|(a, b)| (*a, *b)));
            if change.base.len() == change.side.len() {
                let like = wanted[change.base.clone()].iter().zip(&there[change.side.clone()]);
                pairs.extend(like.map(|(a, b)| (*a, *b)));
            }
            (base, side) = (change.base.end, change.side.end);
        }
        pairs.retain(|(line, _)| !line.trim().is_empty());
        let indents = |(a, b): &(&str, &str)| (indent_of(a).to_owned(), indent_of(b).to_owned());
        let (from, to) = pairs.first().map(indents).unwrap_or_default();
        let mut known: HashMap<String, String> = HashMap::from([(from.clone(), to.clone())]);
        for (from, to) in pairs.iter().map(indents) {
            known.entry(from).or_insert(to);
        }
        Indents { from, to, known }
    }

    /// A line keeps its distance from the first one, which may be the deeper one.
    fn moved(&self, line: &str) -> String {
        let Indents { from, to, known } = self;
        if line.trim().is_empty() {
            return line.to_owned();
        }
        if let Some(indent) = known.get(indent_of(line)) {
            return format!("{indent}{}", line.trim_start());
        }
        if let Some(more) = to.strip_suffix(from.as_str()) {
            return format!("{more}{line}");
        }
        let rest = match from.strip_suffix(to.as_str()) {
            Some(less) => line.strip_prefix(less).map(str::to_owned),
            None => line.strip_prefix(from.as_str()).map(|rest| format!("{to}{rest}")),
        };
        rest.unwrap_or_else(|| line.to_owned())
    }
}
