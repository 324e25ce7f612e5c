//! Search/replace edits as models write them: exact first, then tolerant, never ambiguous.

use similar::TextDiff;

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
    #[error("the search text is empty")]
    EmptySearch,
    #[error("the search text is not in the file")]
    NotFound,
    #[error("the search text is there {} times, at lines {}", lines.len(), join(lines))]
    Ambiguous {
        /// 1-based lines where the candidates start.
        lines: Vec<usize>,
    },
    #[error("match {wanted} was asked for and there are {found}")]
    NoSuchOccurrence { wanted: usize, found: usize },
}

fn join(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Smallest likeness (0 to 1) at which lines are taken for the ones meant.
const LIKENESS: f32 = 0.8;

/// Applies one edit to a text. Tried in turn: the exact text; the same lines with other white space
/// (the replacement is indented as the match is); the most similar run of lines, if at least 0.8 alike.
pub fn search_replace(text: &str, edit: &SearchReplace) -> Result<String, EditRefused> {
    if edit.search.trim().is_empty() {
        return Err(EditRefused::EmptySearch);
    }
    let exact: Vec<(usize, usize)> =
        text.match_indices(&edit.search).map(|(at, found)| (at, at + found.len())).collect();
    if !exact.is_empty() {
        let chosen = choose(text, &exact, edit.occurrence)?;
        return Ok(splice(text, &chosen, |_| edit.replace.clone()));
    }
    let lines = Lines::of(text);
    let wanted: Vec<&str> = edit.search.trim_matches('\n').lines().collect();
    let found = match lines.same_but_for_space(&wanted) {
        found if found.is_empty() => lines.most_similar(&wanted),
        found => found,
    };
    let chosen = choose(text, &found, edit.occurrence)?;
    Ok(splice(text, &chosen, |matched| reindent(&edit.replace, &wanted, matched)))
}

fn choose(
    text: &str,
    found: &[(usize, usize)],
    occurrence: Option<usize>,
) -> Result<Vec<(usize, usize)>, EditRefused> {
    let line_of = |at: usize| text[..at].matches('\n').count() + 1;
    match (occurrence, found) {
        (_, []) => Err(EditRefused::NotFound),
        (Some(0), all) => Ok(all.to_vec()),
        (Some(n), all) => (all.get(n - 1).map(|one| vec![*one]))
            .ok_or(EditRefused::NoSuchOccurrence { wanted: n, found: all.len() }),
        (None, [one]) => Ok(vec![*one]),
        (None, many) => {
            Err(EditRefused::Ambiguous { lines: many.iter().map(|(at, _)| line_of(*at)).collect() })
        }
    }
}

fn splice(text: &str, ranges: &[(usize, usize)], with: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for &(start, end) in ranges {
        if start < done {
            continue; // tolerant matches may overlap; the earlier one was replaced
        }
        out.push_str(&text[done..start]);
        out.push_str(&with(&text[start..end]));
        done = end;
    }
    out.push_str(&text[done..]);
    out
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start().len()]
}

/// The replacement, moved from the indentation of the searched lines to that of the matched ones.
fn reindent(replace: &str, wanted: &[&str], matched: &str) -> String {
    if replace.trim().is_empty() {
        return String::new();
    }
    let mut pairs = wanted.iter().zip(matched.lines());
    let (from, to) = (pairs.find(|(line, _)| !line.trim().is_empty()))
        .map_or(("", ""), |(from, to)| (indent_of(from), indent_of(to)));
    let moved = replace.trim_matches('\n').lines().map(|line| move_line(line, from, to));
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

struct Lines<'t> {
    /// Start, end (behind the line break) and text without it.
    lines: Vec<(usize, usize, &'t str)>,
}

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut at = 0;
        let lines = text.split_inclusive('\n').map(|line| {
            let start = at;
            at += line.len();
            (start, at, line.trim_end_matches('\n'))
        });
        Lines { lines: lines.collect() }
    }

    fn windows(&self, length: usize) -> impl Iterator<Item = &[(usize, usize, &'t str)]> {
        self.lines.windows(length.max(1))
    }

    fn same_but_for_space(&self, wanted: &[&str]) -> Vec<(usize, usize)> {
        let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted: Vec<String> = wanted.iter().map(|line| squeeze(line)).collect();
        self.windows(wanted.len())
            .filter(|window| {
                window.iter().zip(&wanted).all(|((.., line), want)| squeeze(line) == *want)
            })
            .map(span)
            .collect()
    }

    /// The best run of lines, and every other that is as good.
    fn most_similar(&self, wanted: &[&str]) -> Vec<(usize, usize)> {
        let target = wanted.join("\n");
        let letters = Letters::of(&target);
        let scored: Vec<(f32, (usize, usize))> = (self.windows(wanted.len()))
            .filter_map(|window| {
                let text = window.iter().map(|(.., line)| *line).collect::<Vec<_>>().join("\n");
                // Nearly every window falls here; a diff of each would take seconds in a long file.
                let likely = letters.likeness(&Letters::of(&text)) >= LIKENESS;
                let ratio = || TextDiff::from_chars(target.as_str(), text.as_str()).ratio();
                likely.then(|| (ratio(), span(window)))
            })
            .collect();
        let best = scored.iter().map(|(score, _)| *score).fold(0.0, f32::max);
        if best < LIKENESS {
            return Vec::new();
        }
        scored.into_iter().filter(|(score, _)| *score >= best).map(|(_, range)| range).collect()
    }
}

fn span(window: &[(usize, usize, &str)]) -> (usize, usize) {
    let first = window.first().map_or(0, |(start, ..)| *start);
    (first, window.last().map_or(first, |(_, end, _)| *end))
}

/// How often each letter occurs (a few share a count): two texts are at most as alike as their letters.
struct Letters {
    counts: [u32; 128],
    total: u32,
}

impl Letters {
    fn of(text: &str) -> Self {
        let mut letters = Letters { counts: [0; 128], total: 0 };
        for c in text.chars() {
            letters.counts[c as usize % 128] += 1;
            letters.total += 1;
        }
        letters
    }

    fn likeness(&self, other: &Letters) -> f32 {
        let shared: u32 = self.counts.iter().zip(&other.counts).map(|(a, b)| a.min(b)).sum();
        2.0 * shared as f32 / (self.total + other.total).max(1) as f32
    }
}
