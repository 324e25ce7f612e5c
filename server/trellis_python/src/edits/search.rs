//! Applies search/replace edits written by people and models: exact match first, then tolerant,
//! never ambiguous.

use super::elided;
use super::levels::FileLevels;
use super::partial_code::{indent_of, is_cut_out};
use super::places::{self, Fit, Place};
use super::plain_text::Plain;
use super::refused::Candidate;
use super::text_edits::{TextEdit, TextEdits};
use super::tolerant_replace::{Conflict, replaced};
use crate::syntax::line_of;

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
                "the match is not exact: the text found is {} % alike, and only what changes \
                 between search and replacement was changed",
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
pub(super) const NAMED: usize = 20;

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
///
/// If the exact text is not there and both texts have as many lines of `...`, these stand for lines
/// that stay: each piece between them has to be there once, in order.
///
/// A search that ends with a line break or has several lines is whole lines: it is never found in
/// the middle of a line. Any other search is a whole line, if there is one, else a part of a line.
pub fn search_replace(text: &str, edit: &SearchReplace) -> Result<Replaced, EditRefused> {
    if edit.search.trim().is_empty() {
        return Err(EditRefused::EmptySearch);
    }
    let plain = Plain::of(text);
    let edit = with_line_feeds(edit);
    let pieces = elided::pieces(&edit);
    let (found, likeness) = found(&plain.text, &edit, &pieces)?;
    let file = FileLevels::of(&plain.text);
    let edits = found.into_iter().map(|(place, edit)| match new_text(&file, &place, edit) {
        Ok(new) => Ok(plain.edit(&place.range, &new)),
        Err(conflict) => Err(uncertain(&plain.text, &place, likeness, conflict)),
    });
    let edits: Vec<TextEdit> = edits.collect::<Result<_, EditRefused>>()?;
    let edits = TextEdits::new(text, edits).map_err(|_| EditRefused::NotFound)?;
    Ok(Replaced { edits, likeness })
}

fn with_line_feeds(edit: &SearchReplace) -> SearchReplace {
    let [search, replace] = [&edit.search, &edit.replace].map(|it| it.replace("\r\n", "\n"));
    SearchReplace { search, replace, ..edit.clone() }
}

/// A place and the edit to make there.
pub(super) type Planned<'e> = (Place, &'e SearchReplace);

/// Returns the places that an edit changes, each with the edit to make there, and the likeness of
/// what was found.
fn found<'e>(
    text: &str,
    edit: &'e SearchReplace,
    pieces: &'e [SearchReplace],
) -> Result<(Vec<Planned<'e>>, f32), EditRefused> {
    let (mut found, mut likeness) = (places::same(text, edit), 1.0);
    let may_elide = found.is_empty() && matches!(edit.occurrence, None | Some(1));
    if may_elide && let Some(elided) = elided::places(text, pieces)? {
        return Ok((elided, likeness));
    }
    if found.is_empty() {
        (found, likeness) = places::alike(text, &edit.search);
    }
    let chosen = places::choose(text, found, edit.occurrence)?;
    Ok((chosen.into_iter().map(|it| (it, edit)).collect(), likeness))
}

/// Returns the text that replaces a place.
fn new_text(
    file: &FileLevels<'_>,
    Place { range, fit }: &Place,
    SearchReplace { search, replace, .. }: &SearchReplace,
) -> Result<String, Conflict> {
    let there = &file.text[range.clone()];
    let merged = |wanted: &[&str], new: &[&str]| replaced(wanted, new, file, range);
    match fit {
        Fit::Exact | Fit::Part => Ok(replace.clone()),
        Fit::Indented => {
            let margin = indent_of(there);
            if is_cut_out(margin, search, replace) {
                return Ok(format!("{margin}{replace}"));
            }
            merged(&all_lines(search), &all_lines(replace))
        }
        Fit::Alike if places::is_part(search, there) => Err(Conflict::at(0, there)),
        Fit::Alike if replace.trim().is_empty() => merged(&places::lines(search), &[]),
        Fit::Alike => merged(&places::lines(search), &places::lines(replace)),
    }
}

fn all_lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

fn uncertain(
    text: &str,
    Place { range, .. }: &Place,
    likeness: f32,
    Conflict { line, text: there }: Conflict,
) -> EditRefused {
    let first = line_of(text, range.start);
    let last = first + text[range.clone()].lines().count().saturating_sub(1);
    EditRefused::Uncertain { first, last, likeness, line: first + line, text: there }
}
