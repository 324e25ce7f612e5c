//! A change of a file as pieces that can be taken one by one.

use std::collections::BTreeSet;
use std::ops::Range;

use super::text_edits::TextEdits;

/// One piece: a run of lines in the place of another, with at least one unchanged line to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Lines of the old text, from 0; empty where lines are only added.
    pub old_lines: Range<usize>,
    /// Lines of the new text with all hunks taken, from 0; empty where lines are only removed.
    pub new_lines: Range<usize>,
    /// The text that goes, with its line breaks.
    pub old: String,
    /// The text that comes, with its line breaks.
    pub new: String,
}

impl Hunk {
    /// `@@ -3,2 +3,4 @@`, as unified diffs have it without lines around.
    pub fn header(&self) -> String {
        format!("@@ -{} +{} @@", place(&self.old_lines), place(&self.new_lines))
    }
}

/// An empty range is named by the line above it.
fn place(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        count => format!("{},{count}", lines.start + 1),
    }
}

/// What turns one text into another, in the order of the text.
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

/// The old text with some of its hunks, by their places in `hunks`.
///
/// # Panics
///
/// If the hunks are not those of this text.
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

/// Why a hunk has no place in a text that is another by now.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HunkError {
    /// Neither it nor the lines around it stand there.
    #[error("the lines that it changes (from line {line}) no longer exist")]
    Gone {
        /// In the text it was made for, from 1.
        line: usize,
    },
    /// It fits in several places.
    #[error(
        "the lines that it changes (from line {line}) occur more than once, at lines {}",
        shown(places)
    )]
    Several {
        /// In the text it was made for, from 1.
        line: usize,
        /// Where it fits, from 1.
        places: Vec<usize>,
    },
    /// Two hunks fit into the same place, or the other way round.
    #[error(
        "the lines that it changes (from line {line}) no longer follow those of the change \
         before it"
    )]
    Crossed {
        /// In the text it was made for, from 1.
        line: usize,
    },
}

fn shown(places: &[usize]) -> String {
    places.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// Unchanged lines on each side by which a hunk is found again; fewer where that many are not there any more.
const AROUND: usize = 3;

/// The text `now` with all hunks that were made for `old`. Each has to fit in one place only, by its lines and unchanged
/// ones around it, and all in their order.
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

/// The lines of the text that a hunk is about now.
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
