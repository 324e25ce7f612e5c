//! Applies search/replace edits written by people and models: exact match first, then tolerant,
//! never ambiguous.

use std::ops::Range;

use super::line_matching::Lines;
use super::refused::Candidate;
use super::text_edits::{TextEdit, TextEdits};
use super::tolerant_replace::{self, Conflict};
use crate::syntax::{line_break, line_content_end, line_of, line_start};

/// One search/replace edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchReplace {
    /// Path relative to the repository; empty if the model gave none.
    pub path: String,
    pub search: String,
    pub replace: String,
    /// Number of the match, from 1; 0 means all; `None` requires exactly one match.
    pub occurrence: Option<usize>,
}

/// Result of a search/replace edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    pub edits: TextEdits,
    /// Similarity of the search and the text found, ignoring white space around lines: 1 if they
    /// are equal, else twice the shared letters divided by the letters of both.
    pub likeness: f32,
}

impl Replaced {
    /// Returns a sentence on the text found if it differs from the search text.
    pub fn report(&self) -> Option<String> {
        (self.likeness < 1.0).then(|| {
            format!(
                "the search text is not there exactly; the text found is {} % like it, and only \
                 what changes between search and replacement was changed",
                percent(self.likeness)
            )
        })
    }
}

fn percent(likeness: f32) -> usize {
    (likeness * 100.0) as usize
}

/// The reason why an edit was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditRefused {
    #[error("the search text is empty; give the lines to be replaced")]
    EmptySearch,
    #[error("neither the search text nor anything similar is in the file; copy its lines exactly")]
    NotFound,
    #[error(
        "the search text occurs {}, at lines {}; give more of the lines around the one you \
         want, or its number",
        times(candidates),
        shown(candidates)
    )]
    Ambiguous {
        /// Starts of the matches with their first lines, at most twenty.
        candidates: Vec<Candidate>,
    },
    #[error(
        "the search text is not in the file; lines {first} to {last} are {} % like it, but the \
         replacement changes text that does not match (line {line}: `{text}`); copy the lines \
         exactly",
        percent(*likeness)
    )]
    Uncertain {
        /// The lines most similar to the search, from 1.
        first: usize,
        last: usize,
        /// Twice the shared letters divided by the letters of both texts.
        likeness: f32,
        /// The first line that the replacement cannot change with certainty, and its text.
        line: usize,
        text: String,
    },
    #[error("you asked for match {wanted}, but there are {found}; count from 1, or give 0 for all")]
    NoSuchOccurrence { wanted: usize, found: usize },
}

/// Largest number of matches reported when there is more than one.
const NAMED: usize = 20;

fn times(candidates: &[Candidate]) -> String {
    let more = if candidates.len() < NAMED { "" } else { " or more" };
    format!("{}{more} times", candidates.len())
}

fn shown(candidates: &[Candidate]) -> String {
    let all = candidates.iter().map(|it| format!("{} (`{}`)", it.line, it.text));
    all.collect::<Vec<_>>().join(", ")
}

/// Returns the edits that one search/replace makes in a text.
///
/// Tried in turn: the exact text; the same lines with other white space (the replacement is
/// indented like the match); the most similar run of lines, if the similarity is at least 0.8
/// (twice the shared letters divided by the letters of both). If the match is not exact, only the
/// differences between search and replacement are applied, and only where the file agrees with the
/// search. Line breaks of the file stay, whatever line breaks the edit has.
pub fn search_replace(text: &str, edit: &SearchReplace) -> Result<Replaced, EditRefused> {
    if edit.search.trim().is_empty() {
        return Err(EditRefused::EmptySearch);
    }
    let plain = Plain::of(text);
    let search = edit.search.replace("\r\n", "\n");
    let replace = edit.replace.replace("\r\n", "\n");
    let exact = exact(&plain.text, &search, edit.occurrence);
    let wanted: Vec<&str> = search.trim_matches('\n').lines().collect();
    let (found, likeness, is_exact) = match exact {
        found if !found.is_empty() => (found, 1.0, true),
        _ => {
            let (found, likeness) = tolerant(&plain.text, &wanted);
            (found, likeness, false)
        }
    };
    let chosen = choose(&plain.text, found, edit.occurrence)?;
    let edits = chosen.into_iter().map(|range| {
        let new = match is_exact {
            true => replace.clone(),
            false => tolerant_replace::replaced(&wanted, &replace, &plain.text[range.clone()])
                .map_err(|conflict| uncertain(&plain.text, &range, likeness, conflict))?,
        };
        let range = plain.to_source(range.start)..plain.to_source(range.end);
        let text = new.replace('\n', near_break(text, &range));
        Ok(TextEdit { range, text })
    });
    let edits: Vec<TextEdit> = edits.collect::<Result<_, EditRefused>>()?;
    let edits = TextEdits::new(text, edits).map_err(|_| EditRefused::NotFound)?;
    Ok(Replaced { edits, likeness })
}

fn uncertain(
    text: &str,
    found: &Range<usize>,
    likeness: f32,
    Conflict { line, text: there }: Conflict,
) -> EditRefused {
    let first = line_of(text, found.start);
    let last = first + text[found.clone()].lines().count().saturating_sub(1);
    EditRefused::Uncertain { first, last, likeness, line: first + line, text: there }
}

/// Returns matches of the exact text. They may overlap, unless all are requested.
fn exact(text: &str, search: &str, occurrence: Option<usize>) -> Vec<Range<usize>> {
    if occurrence == Some(0) {
        return text.match_indices(search).map(|(at, it)| at..at + it.len()).collect();
    }
    let step = search.chars().next().map_or(1, char::len_utf8);
    let find = |from: usize| text[from..].find(search).map(|at| from + at);
    let starts = std::iter::successors(find(0), |at| find(at + step));
    let enough = occurrence.unwrap_or(0).max(NAMED);
    starts.take(enough).map(|at| at..at + search.len()).collect()
}

/// Returns the tolerant matches, with the similarity of the best one.
fn tolerant(text: &str, wanted: &[&str]) -> (Vec<Range<usize>>, f32) {
    let lines = Lines::of(text);
    match lines.same_but_for_space(wanted) {
        found if found.is_empty() => lines.most_similar(wanted),
        found => (found, 1.0),
    }
}

fn choose(
    text: &str,
    mut found: Vec<Range<usize>>,
    occurrence: Option<usize>,
) -> Result<Vec<Range<usize>>, EditRefused> {
    match (occurrence, found.len()) {
        (_, 0) => Err(EditRefused::NotFound),
        (Some(0), _) => Ok(without_overlaps(found)),
        (Some(n), count) if n > count => {
            Err(EditRefused::NoSuchOccurrence { wanted: n, found: count })
        }
        (Some(n), _) => Ok(vec![found.swap_remove(n - 1)]),
        (None, 1) => Ok(found),
        (None, _) => {
            let candidates = found.iter().take(NAMED).map(|it| candidate(text, it.start)).collect();
            Err(EditRefused::Ambiguous { candidates })
        }
    }
}

/// Removes matches that overlap an earlier one.
fn without_overlaps(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut done = 0;
    let free = |it: &Range<usize>| {
        let free = it.start >= done;
        done = if free { it.end } else { done };
        free
    };
    found.into_iter().filter(free).collect()
}

fn candidate(text: &str, at: usize) -> Candidate {
    let line = &text[line_start(text, at)..line_content_end(text, at)];
    Candidate { line: line_of(text, at), text: line.trim().to_owned() }
}

/// Returns the line break for a new text: the first one that it replaces, else that of the line
/// above.
fn near_break<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let old = line_break(&text[line_content_end(text, range.start)..]);
    let above = || {
        let start = line_start(text, range.start);
        line_break(&text[text[..start].trim_end_matches(['\n', '\r']).len()..])
    };
    [old, above(), "\n"].into_iter().find(|it| !it.is_empty()).unwrap_or("\n")
}

/// A text with `\n` as its only line break.
struct Plain {
    text: String,
    /// Offsets of the `\n` before which a `\r` was removed.
    dropped: Vec<usize>,
}

impl Plain {
    fn of(source: &str) -> Plain {
        let pairs = source.match_indices("\r\n").enumerate();
        let dropped = pairs.map(|(before, (at, _))| at - before).collect();
        Plain { text: source.replace("\r\n", "\n"), dropped }
    }

    fn to_source(&self, offset: usize) -> usize {
        offset + self.dropped.partition_point(|it| *it < offset)
    }
}
