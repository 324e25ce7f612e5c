//! Edits in which lines of `...` stand for lines that stay: such a line is in the search and in the
//! replacement, and the pieces between them are edits of their own.

use super::levels::opens_block;
use super::partial_code::indent_of;
use super::places::{self, Place};
use super::search::{EditRefused, Planned, SearchReplace};

/// Splits an edit at its lines of dots. Returns nothing if the search and the replacement do not
/// have the same number of them, or if a place of new lines is not given.
pub(super) fn pieces(edit: &SearchReplace) -> Vec<SearchReplace> {
    let [search, replace] = [&edit.search, &edit.replace].map(|it| split(it));
    let is_unclear = |(search, replace): (&String, &String)| is_blank(search) && !is_blank(replace);
    let dots = search.len() == replace.len() && search.len() > 1;
    if !dots || search.iter().zip(&replace).any(is_unclear) {
        return Vec::new();
    }
    let pieces = search.into_iter().zip(replace).filter(|(search, _)| !is_blank(search));
    let piece = |(search, replace)| SearchReplace { search, replace, ..edit.clone() };
    pieces.map(piece).collect()
}

fn split(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for line in text.lines() {
        match (line.trim(), pieces.last_mut()) {
            ("..." | "# ..." | "#...", _) | (_, None) => pieces.push(String::new()),
            (_, Some(piece)) => *piece += &format!("{line}\n"),
        }
    }
    pieces
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Finds the pieces in their order; `None` if one of them is not there. The first one has to be
/// unique, each other one in what is after the piece before.
pub(super) fn places<'e>(
    text: &str,
    pieces: &'e [SearchReplace],
) -> Result<Option<Vec<Planned<'e>>>, EditRefused> {
    let mut found: Vec<Planned<'e>> = Vec::new();
    for piece in pieces {
        let start = found.last().map_or(0, |(it, _)| it.range.end);
        let mut here = places::same(&text[start..], piece);
        here.iter_mut().for_each(|it| it.range = it.range.start + start..it.range.end + start);
        if here.len() > 1 {
            return Err(places::ambiguous(text, &here));
        }
        let Some(place) = here.pop() else { return Ok(None) };
        if found.last().is_some_and(|(above, _)| !is_in_block(text, above, &place)) {
            return Ok(None);
        }
        found.push((place, piece));
    }
    Ok((!found.is_empty()).then_some(found))
}

/// Returns whether a deeper piece after one that opens a block is in this block.
fn is_in_block(text: &str, above: &Place, place: &Place) -> bool {
    let depth = |line: &&str| indent_of(line).len();
    let [outer, inner] = [above, place].map(|it| code_lines(&text[it.range.clone()]));
    let outer = outer.iter().rev().min_by_key(|it| depth(it)).filter(|it| opens_block(it));
    let (Some(outer), Some(inner)) = (outer, inner.first()) else { return true };
    let between = code_lines(&text[above.range.end..place.range.start]);
    depth(inner) <= depth(outer)
        || between.iter().all(|it| depth(it) > depth(outer) || continues_statement(it))
}

fn code_lines(text: &str) -> Vec<&str> {
    text.lines().filter(|it| !is_blank(it)).collect()
}

/// Returns whether a line belongs to the statement of a line above that is as deep.
fn continues_statement(line: &str) -> bool {
    let line = line.trim_start();
    let starts = ["else", "elif", "except", "finally", ")", "]", "}", "#"];
    starts.into_iter().any(|it| line.starts_with(it))
}
