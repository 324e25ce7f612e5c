//! Search/replace edits as people and models write them: exact first, then tolerant, never ambiguous.

use std::collections::HashMap;
use std::ops::Range;

use super::matching::Lines;
use super::refused::Candidate;
use super::text_edits::{TextEdit, TextEdits};
use crate::syntax::{line_break, line_content_end, line_of, line_start};

/// One search/replace edit of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchReplace {
    /// Relative to the repository; empty when the model gave none.
    pub path: String,
    pub search: String,
    pub replace: String,
    /// The n-th match (from 1); 0: all; absent: there must be only one.
    pub occurrence: Option<usize>,
}

/// Why an edit was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    #[error("the search text is empty; give the lines to be replaced")]
    EmptySearch,
    #[error(
        "the search text is not in the file, nor anything like it; give its lines as they stand there"
    )]
    NotFound,
    #[error(
        "the search text is there {}, at lines {}; give more lines around the one meant, or its number",
        times(candidates),
        shown(candidates)
    )]
    Ambiguous {
        /// Where the matches start, and their first lines; at most twenty.
        candidates: Vec<Candidate>,
    },
    #[error("match {wanted} was asked for and there are {found}; count from 1, or give 0 for all")]
    NoSuchOccurrence { wanted: usize, found: usize },
}

/// Matches that are named when there is more than one.
const NAMED: usize = 20;

fn times(candidates: &[Candidate]) -> String {
    let more = if candidates.len() < NAMED { "" } else { " or more" };
    format!("{}{more} times", candidates.len())
}

fn shown(candidates: &[Candidate]) -> String {
    let all = candidates.iter().map(|it| format!("{} (`{}`)", it.line, it.text));
    all.collect::<Vec<_>>().join(", ")
}

/// The edits that one search/replace makes in a text. Tried in turn: the exact text; the same lines with
/// other white space (the replacement is indented as the match is); the most similar run of lines, if at
/// least 0.8 alike (twice the letters in common over those of both). Line breaks of the file stay, whatever
/// the edit has.
pub fn search_replace(text: &str, edit: &SearchReplace) -> Result<TextEdits, EditRefused> {
    if edit.search.trim().is_empty() {
        return Err(EditRefused::EmptySearch);
    }
    let plain = Plain::of(text);
    let search = edit.search.replace("\r\n", "\n");
    let replace = edit.replace.replace("\r\n", "\n");
    let exact = exact(&plain.text, &search, edit.occurrence);
    let wanted: Vec<&str> = search.trim_matches('\n').lines().collect();
    let (found, tolerant) = match exact {
        found if !found.is_empty() => (found, false),
        _ => (tolerant(&plain.text, &wanted), true),
    };
    let chosen = choose(&plain.text, found, edit.occurrence)?;
    let edits = chosen.into_iter().map(|range| {
        let matched = &plain.text[range.clone()];
        let new = if tolerant { reindent(&replace, &wanted, matched) } else { replace.clone() };
        let range = plain.to_source(range.start)..plain.to_source(range.end);
        let text = new.replace('\n', near_break(text, &range));
        TextEdit { range, text }
    });
    TextEdits::new(text, edits).map_err(|_| EditRefused::NotFound)
}

/// Matches of the exact text. They may overlap, unless all are wanted.
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

fn tolerant(text: &str, wanted: &[&str]) -> Vec<Range<usize>> {
    let lines = Lines::of(text);
    match lines.same_but_for_space(wanted) {
        found if found.is_empty() => lines.most_similar(wanted),
        found => found,
    }
}

fn choose(
    text: &str,
    mut found: Vec<Range<usize>>,
    occurrence: Option<usize>,
) -> Result<Vec<Range<usize>>, EditRefused> {
    match (occurrence, found.len()) {
        (_, 0) => Err(EditRefused::NotFound),
        (Some(0), _) => Ok(apart(found)),
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

/// Without those that overlap one before them.
fn apart(found: Vec<Range<usize>>) -> Vec<Range<usize>> {
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

/// The line break that a new text takes over: the first one that it replaces, else that of its line.
fn near_break<'t>(text: &'t str, range: &Range<usize>) -> &'t str {
    let old = line_break(&text[line_content_end(text, range.start)..]);
    let above = || {
        let start = line_start(text, range.start);
        line_break(&text[text[..start].trim_end_matches(['\n', '\r']).len()..])
    };
    [old, above(), "\n"].into_iter().find(|it| !it.is_empty()).unwrap_or("\n")
}

/// A text with `\n` between its lines.
struct Plain {
    text: String,
    /// Where a `\r` was left out before the `\n` that stands there.
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

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The replacement, moved from the indentation of the searched lines to that of the matched ones.
fn reindent(replace: &str, wanted: &[&str], matched: &str) -> String {
    if replace.trim().is_empty() {
        return String::new();
    }
    let pairs: Vec<(&str, &str)> = (wanted.iter().copied().zip(matched.lines()))
        .filter(|(line, _)| !line.trim().is_empty())
        .collect();
    let indents = |(a, b): &(&'_ str, &'_ str)| (indent_of(a).to_owned(), indent_of(b).to_owned());
    let (from, to) = pairs.first().map(indents).unwrap_or_default();
    let mut known: HashMap<String, String> = HashMap::from([(from.clone(), to.clone())]);
    for pair in pairs.iter().filter(|(a, b)| a.split_whitespace().eq(b.split_whitespace())) {
        let (from, to) = indents(pair);
        known.entry(from).or_insert(to);
    }
    let moved = replace.trim_matches('\n').lines().map(|line| match known.get(indent_of(line)) {
        Some(indent) if !line.trim().is_empty() => format!("{indent}{}", line.trim_start()),
        _ => move_line(line, &from, &to),
    });
    let end = if matched.ends_with('\n') { "\n" } else { "" };
    moved.collect::<Vec<_>>().join("\n") + end
}

/// Lines keep their distance from the first one, which may be the deeper one.
fn move_line(line: &str, from: &str, to: &str) -> String {
    if line.trim().is_empty() {
        return line.to_owned();
    }
    if let Some(more) = to.strip_suffix(from) {
        return format!("{more}{line}");
    }
    let rest = match from.strip_suffix(to) {
        Some(less) => line.strip_prefix(less).map(str::to_owned),
        None => line.strip_prefix(from).map(|rest| format!("{to}{rest}")),
    };
    rest.unwrap_or_else(|| line.to_owned())
}
