//! Splits a change of a file into hunks that can be accepted one by one.

use std::collections::BTreeSet;
use std::ops::Range;

use super::text_edits::TextEdits;

/// One hunk: a run of lines that replaces another. At least one unchanged line separates two hunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text, from 0; empty if lines are only added.
    pub old_lines: Range<usize>,
    /// Lines of the new text with all hunks applied, from 0; empty if lines are only removed.
    pub new_lines: Range<usize>,
    /// Removed text, with its line breaks.
    pub old: String,
    /// Added text, with its line breaks.
    pub new: String,
}

impl Hunk {
    /// Returns the header of a unified diff without context lines, such as `@@ -3,2 +3,4 @@`.
    pub fn header(&self) -> String {
        format!("@@ -{} +{} @@", place(&self.old_lines), place(&self.new_lines))
    }
}

/// Formats a range of lines. An empty range is given by the line above it.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// Returns the hunks that turn `old` into `new`, in order.
pub fn hunks(old: &str, new: &str) -> Vec<Hunk> {
    let mut joined: Vec<(Range<usize>, String)> = Vec::new();
    for edit in TextEdits::between(old, new).as_slice() {
        match joined.last_mut() {
            Some((range, text)) if range.end == edit.range.start => {
                range.end = edit.range.end;
                text.push_str(&edit.text);
            }
            _ => joined.push((edit.range.clone(), edit.text.clone())),
        }
    }
    let (mut added, mut removed) = (0, 0);
    let hunk = |(range, text): (Range<usize>, String)| {
        let gone = old[range.clone()].to_owned();
        let first = old[..range.start].split_inclusive('\n').count();
        let old_lines = first..first + count(&gone);
        let start = first + added - removed;
        let new_lines = start..start + count(&text);
        added += new_lines.len();
        removed += old_lines.len();
        Hunk { old_lines, new_lines, old: gone, new: text }
    };
    joined.into_iter().map(hunk).collect()
}

fn count(text: &str) -> usize {
    text.split_inclusive('\n').count()
}

/// Returns the old text with some of its hunks applied. `taken` holds indexes into `hunks`.
///
/// # Panics
///
/// Panics if the hunks do not belong to this text.
pub fn apply_hunks(old: &str, hunks: &[Hunk], taken: &BTreeSet<usize>) -> String {
    let lines: Vec<&str> = old.split_inclusive('\n').collect();
    let mut out = String::with_capacity(old.len());
    let mut done = 0;
    for (_, hunk) in hunks.iter().enumerate().filter(|(at, _)| taken.contains(at)) {
        lines[done..hunk.old_lines.start].iter().for_each(|line| out.push_str(line));
        out.push_str(&hunk.new);
        done = hunk.old_lines.end;
    }
    lines[done..].iter().for_each(|line| out.push_str(line));
    out
}

/// The reason why a hunk cannot be placed in a changed text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    /// The lines of the hunk, with their context, are not in the text.
    #[error("the lines that it changes (from line {line}) no longer exist")]
    Gone {
        /// First line of the hunk in its original text, from 1.
        line: usize,
    },
    /// The hunk fits in several places.
    #[error(
        "the lines that it changes (from line {line}) occur more than once, at lines {}",
        shown(places)
    )]
    Several {
        /// First line of the hunk in its original text, from 1.
        line: usize,
        /// First lines of the possible places, from 1.
        places: Vec<usize>,
    },
    /// Two hunks fit in the same place or in reversed order.
    #[error(
        "the lines that it changes (from line {line}) no longer follow those of the change \
         before it"
    )]
    Crossed {
        /// First line of the hunk in its original text, from 1.
        line: usize,
    },
}

fn shown(places: &[usize]) -> String {
    places.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Number of unchanged lines on each side by which a hunk is found again. Fewer are tried if that
/// many are not found.
const AROUND: usize = 3;

/// Applies all hunks that were made for `old` to `now`. Each hunk must fit in exactly one place, by
/// its lines and the unchanged lines around them, and the hunks must keep their order.
pub fn rebase(old: &str, hunks: &[Hunk], now: &str) -> Result<String, HunkError> {
    let before: Vec<&str> = old.split_inclusive('\n').collect();
    let after: Vec<&str> = now.split_inclusive('\n').collect();
    let mut out = String::with_capacity(now.len());
    let mut done = 0;
    for hunk in hunks {
        let place = found(&before, hunk, &after)?;
        if place.start < done {
            return Err(HunkError::Crossed { line: hunk.old_lines.start + 1 });
        }
        after[done..place.start].iter().for_each(|line| out.push_str(line));
        out.push_str(&hunk.new);
        done = place.end;
    }
    after[done..].iter().for_each(|line| out.push_str(line));
    Ok(out)
}

/// Returns the lines of `after` that correspond to the hunk's old lines.
fn found(before: &[&str], hunk: &Hunk, after: &[&str]) -> Result<Range<usize>, HunkError> {
    let Range { start, end } = hunk.old_lines;
    let line = start + 1;
    for around in (1..=AROUND).rev() {
        let from = start.saturating_sub(around);
        let wanted = &before[from..(end + around).min(before.len())];
        let last = after.len().checked_sub(wanted.len());
        let fits = |at: &usize| after[*at..].starts_with(wanted);
        let places: Vec<usize> = last.map_or(0..0, |it| 0..it + 1).filter(fits).collect();
        let above = start - from;
        match places[..] {
            [] => {}
            [at] => return Ok(at + above..at + above + end - start),
            _ => {
                let places = places.iter().map(|at| at + above + 1).collect();
                return Err(HunkError::Several { line, places });
            }
        }
    }
    Err(HunkError::Gone { line })
}
