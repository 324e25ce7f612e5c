//! Finds the places of a text that a search text means.
//!
//! A search of whole lines is found as whole lines; one line may be the end of another, but not of
//! a name. A search of a part of a line may be anywhere, but is a whole line first.

use std::ops::Range;

use super::line_matching::Lines;
use super::refused::Candidate;
use super::search::{EditRefused, NAMED, SearchReplace};
use crate::syntax::{line_content_end, line_of, line_start};

/// A place that a search text may mean.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) fit: Fit,
}

/// The way in which a place equals the search text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fit {
    /// The place is the search text: whole lines with their indentation.
    Exact,
    /// A part of a line is the search text.
    Part,
    /// Whole lines that are the search text after the indentation of the first one.
    Indented,
    /// Whole lines that equal the search but for white space, or are like it.
    Alike,
}

/// Returns the places that equal the search, also with other white space. They may overlap.
pub(super) fn same(text: &str, edit: &SearchReplace) -> Vec<Place> {
    let places = || starts(text, &edit.search).map(|start| place(text, edit, start));
    let enough = match edit.occurrence {
        Some(0) => usize::MAX,
        number => number.unwrap_or(0).max(NAMED),
    };
    if edit.occurrence == Some(0) && !is_lines(&edit.search) {
        let parts: Vec<Place> = places().collect();
        return if parts.is_empty() { spaced(text, &edit.search) } else { parts };
    }
    let whole = |it: &Place| it.fit != Fit::Part;
    let exact: Vec<Place> = places().filter(whole).take(enough).collect();
    if !exact.is_empty() {
        return exact;
    }
    let spaced = spaced(text, &edit.search);
    match is_lines(&edit.search) {
        true if spaced.is_empty() && edit.search.trim_matches('\n').lines().count() == 1 => {
            places().filter(|it| begins_word(text, it)).take(enough).collect()
        }
        true => spaced,
        false => joined(places().take(enough).collect(), spaced),
    }
}

/// Returns whether a place begins with a word or sign of its own, and is not the end of a longer
/// name.
fn begins_word(text: &str, place: &Place) -> bool {
    let before = text[..place.range.start].chars().next_back();
    !before.is_some_and(|it| it.is_alphanumeric() || "_.".contains(it))
}

/// Returns whether a search is whole lines, and no part of a line.
fn is_lines(search: &str) -> bool {
    search.ends_with('\n') || search.trim_matches('\n').contains('\n')
}

/// Returns where the search text starts. The matches may overlap.
fn starts<'t>(text: &'t str, search: &'t str) -> impl Iterator<Item = usize> + 't {
    let step = search.chars().next().map_or(1, char::len_utf8);
    let find = move |from: usize| text[from..].find(search).map(|at| from + at);
    std::iter::successors(find(0), move |at| find(at + step))
}

/// Returns the place of a match. Its range begins with the line if only the indentation is before
/// the match.
fn place(text: &str, edit: &SearchReplace, start: usize) -> Place {
    let SearchReplace { search, replace, .. } = edit;
    let end = start + search.len();
    let ends = search.ends_with('\n') || is_line_end(text, end);
    let line = margin_start(text, start).filter(|_| ends);
    match line {
        Some(line) if line == start => Place { range: start..end, fit: Fit::Exact },
        Some(line) if !search.starts_with(char::is_whitespace) => {
            Place { range: line..end, fit: Fit::Indented }
        }
        // Both begin with the end of the line above.
        _ if ends && search.starts_with('\n') && replace.starts_with('\n') => {
            Place { range: start..end, fit: Fit::Exact }
        }
        _ => Place { range: start..end, fit: Fit::Part },
    }
}

fn is_line_end(text: &str, offset: usize) -> bool {
    offset == text.len() || text[offset..].starts_with(['\n', '\r'])
}

/// Returns the start of the white space before an offset, if nothing else is before it in the line.
/// A byte order mark and form feeds do not count.
fn margin_start(text: &str, offset: usize) -> Option<usize> {
    let is_space = |c: char| c.is_whitespace() && !matches!(c, '\n' | '\r');
    let above = text[..offset].trim_end_matches(is_space);
    let begins = above.is_empty() || above.ends_with(['\n', '\r']) || above == "\u{feff}";
    let margin = text[above.len()..offset].trim_start_matches('\u{c}');
    begins.then_some(offset - margin.len())
}

/// Returns the lines that equal the search but for white space.
fn spaced(text: &str, search: &str) -> Vec<Place> {
    alike_places(Lines::of(text).same_but_for_space(&lines(search)))
}

fn alike_places(ranges: Vec<Range<usize>>) -> Vec<Place> {
    ranges.into_iter().map(|range| Place { range, fit: Fit::Alike }).collect()
}

/// Returns the lines of a text without the blank ones around them.
pub(super) fn lines(text: &str) -> Vec<&str> {
    text.trim_matches('\n').lines().collect()
}

/// Joins parts of lines with whole lines. A part of such a line is the line.
fn joined(parts: Vec<Place>, lines: Vec<Place>) -> Vec<Place> {
    let is_apart = |it: &Place| {
        let next = lines.partition_point(|line| line.range.end <= it.range.start);
        lines.get(next).is_none_or(|line| it.range.end <= line.range.start)
    };
    let mut all: Vec<Place> = parts.into_iter().filter(is_apart).collect();
    all.extend(lines);
    all.sort_by_key(|it| it.range.start);
    all
}

/// Returns the lines most similar to the search, with their similarity.
pub(super) fn alike(text: &str, search: &str) -> (Vec<Place>, f32) {
    let (found, likeness) = Lines::of(text).most_similar(&lines(search));
    (alike_places(found), likeness)
}

/// Returns whether the lines of a search are found as a part of other lines. A comment is no part
/// of a line.
pub(super) fn is_part(search: &str, found: &str) -> bool {
    let search = search.trim_matches('\n');
    found.find(search).is_some_and(|at| {
        let rest = &found[at + search.len()..];
        let after = rest[..line_content_end(rest, 0)].trim();
        margin_start(found, at).is_none() || !after.is_empty() && !after.starts_with('#')
    })
}

/// Returns the places that an edit means, by their number.
pub(super) fn choose(
    text: &str,
    mut found: Vec<Place>,
    occurrence: Option<usize>,
) -> Result<Vec<Place>, EditRefused> {
    match (occurrence, found.len()) {
        (_, 0) => Err(EditRefused::NotFound),
        (Some(0), _) => Ok(without_overlaps(found)),
        (Some(n), count) if n > count => {
            Err(EditRefused::NoSuchOccurrence { wanted: n, found: count })
        }
        (Some(n), _) => Ok(vec![found.swap_remove(n - 1)]),
        (None, 1) => Ok(found),
        (None, _) => Err(ambiguous(text, &found)),
    }
}

/// Removes places that overlap an earlier one.
fn without_overlaps(found: Vec<Place>) -> Vec<Place> {
    let mut done = 0;
    let free = |it: &Place| {
        let free = it.range.start >= done;
        done = if free { it.range.end } else { done };
        free
    };
    found.into_iter().filter(free).collect()
}

/// Returns the refusal that names the places.
pub(super) fn ambiguous(text: &str, found: &[Place]) -> EditRefused {
    let candidates = found.iter().take(NAMED).map(|it| candidate(text, it.range.start)).collect();
    EditRefused::Ambiguous { candidates }
}

fn candidate(text: &str, at: usize) -> Candidate {
    let line = &text[line_start(text, at)..line_content_end(text, at)];
    Candidate { line: line_of(text, at), text: line.trim().to_owned() }
}
