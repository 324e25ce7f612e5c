//! Blanks text that misleads the parser about everything after it: conflict markers, quotes and
//! brackets left open.

use std::borrow::Cow;
use std::ops::Range;

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{ModModule, PySourceType};
use ruff_python_parser::{Parsed, parse_unchecked_source};
use ruff_text_size::Ranged;

use crate::syntax::line_end;

/// A blanked text of the same length, its tree, and each blanked offset with its error message.
pub(super) struct RecoveredTree<'s> {
    pub(super) text: Cow<'s, str>,
    pub(super) parsed: Parsed<ModModule>,
    pub(super) blanked: Vec<(usize, &'static str)>,
}

/// Number of strings on each side of the first error that are tried as the unclosed one. Each try
/// parses the file.
const TRIES: usize = 3;

impl<'s> RecoveredTree<'s> {
    fn with(
        &self,
        spots: &[usize],
        why: &'static str,
        blank: fn(&str, usize) -> Range<usize>,
    ) -> RecoveredTree<'s> {
        let mut text = self.text.to_string().into_bytes();
        spots.iter().for_each(|at| text[blank(&self.text, *at)].fill(b' '));
        let text = String::from_utf8(text).unwrap_or_else(|_| self.text.to_string());
        let spots = spots.iter().map(|at| (*at, why));
        let blanked = self.blanked.iter().copied().chain(spots).collect();
        RecoveredTree { parsed: parse(&text), text: Cow::Owned(text), blanked }
    }

    fn errors(&self) -> usize {
        self.parsed.errors().len()
    }
}

/// Blanks conflict markers, and the unclosed quote and brackets if that adds no errors. `parsed` is
/// the tree of the unchanged text, which has errors.
pub(super) fn recovered(source: &str, parsed: Parsed<ModModule>) -> RecoveredTree<'_> {
    let mut best = RecoveredTree { text: Cow::Borrowed(source), parsed, blanked: Vec::new() };
    let markers = conflict_markers(source);
    if !markers.is_empty() {
        best = best.with(&markers, "a git merge conflict is left here", rest_of_line);
    }
    let quotes = near_first_error(&best, swallowers(&best));
    let tried =
        quotes.into_iter().map(|at| best.with(&[at], "a quote is not closed", rest_of_line));
    if let Some(other) =
        tried.min_by_key(RecoveredTree::errors).filter(|it| it.errors() <= best.errors())
    {
        best = other;
    }
    let open = open_brackets(&best);
    let closed =
        (!open.is_empty()).then(|| best.with(&open, "a bracket is not closed", |_, at| at..at + 1));
    closed.filter(|it| it.errors() <= best.errors()).unwrap_or(best)
}

fn parse(text: &str) -> Parsed<ModModule> {
    parse_unchecked_source(text, PySourceType::Python)
}

/// Returns the starts of the conflict marker lines that git writes into a file.
fn conflict_markers(source: &str) -> Vec<usize> {
    let mut at = 0;
    let mut markers = Vec::new();
    let mut open = false;
    for line in source.split_inclusive('\n') {
        let text = line.trim_end();
        open |= text.starts_with("<<<<<<< ");
        let between = text == "=======" || text.starts_with("||||||| ");
        if text.starts_with("<<<<<<< ") || text.starts_with(">>>>>>> ") || (open && between) {
            markers.push(at);
        }
        open &= !text.starts_with(">>>>>>> ");
        at += line.len();
    }
    markers
}

/// Returns the spots around the first error: errors begin in the text after the unclosed string.
fn near_first_error(tree: &RecoveredTree<'_>, spots: Vec<usize>) -> Vec<usize> {
    let first = tree.parsed.errors().iter().map(|it| it.location.start().to_usize()).min();
    let behind = spots.partition_point(|it| Some(*it) <= first);
    spots[behind.saturating_sub(TRIES)..spots.len().min(behind + TRIES)].to_vec()
}

/// Returns the offsets of opening triple quotes whose text has lines that look like definitions, in
/// a file with an unterminated string: from the unclosed string on, the quotes are paired wrongly.
fn swallowers(tree: &RecoveredTree<'_>) -> Vec<usize> {
    let unclosed = tree.parsed.errors().iter().any(|it| {
        let text = it.error.to_string();
        text.contains("missing closing quote") || text.contains("nterminated triple-quoted")
    });
    if !unclosed {
        return Vec::new();
    }
    let mut opening = 0;
    let mut found = Vec::new();
    for token in tree.parsed.tokens().iter() {
        let text = &tree.text[token.start().to_usize()..token.end().to_usize()];
        match token.kind() {
            TokenKind::FStringStart | TokenKind::TStringStart => {
                opening = token.start().to_usize();
                continue;
            }
            TokenKind::FStringMiddle | TokenKind::TStringMiddle => {}
            TokenKind::String | TokenKind::Unknown => opening = token.start().to_usize(),
            _ => continue,
        }
        if text.lines().skip(1).any(looks_like_definition) {
            found.push(opening);
        }
    }
    found.dedup();
    found
}

fn looks_like_definition(line: &str) -> bool {
    let line = line.trim();
    let word = line.strip_prefix("async ").unwrap_or(line);
    let named = |rest: &str| rest.starts_with(|c: char| c == '_' || c.is_alphabetic());
    (word.strip_prefix("def ").is_some_and(|rest| named(rest) && rest.contains('(')))
        || (line.strip_prefix("class ").is_some_and(named) && line.ends_with(':'))
}

/// Returns the offsets of brackets that are not closed: a line inside them starts with a keyword
/// that no expression contains, or the file ends. The parser continues after such a bracket, but
/// ignores line breaks.
fn open_brackets(tree: &RecoveredTree<'_>) -> Vec<usize> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    let mut line_starts = true;
    for token in tree.parsed.tokens().iter() {
        let kind = token.kind();
        match kind {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => {
                open.push((kind, token.start().to_usize()));
            }
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                if let Some(at) = open.iter().rposition(|(opening, _)| closes(kind, *opening)) {
                    found.extend(open.drain(at..).skip(1).map(|(_, at)| at));
                }
            }
            // The parser noticed the open bracket here by itself.
            TokenKind::Newline => open.clear(),
            _ if line_starts && starts_statement(kind) => {
                found.extend(open.drain(..).map(|(_, at)| at));
            }
            _ => {}
        }
        line_starts = matches!(kind, TokenKind::NonLogicalNewline | TokenKind::Comment)
            || (line_starts && kind == TokenKind::Async);
    }
    found.sort_unstable();
    found
}

fn closes(closing: TokenKind, opening: TokenKind) -> bool {
    use TokenKind::{Lbrace, Lpar, Lsqb, Rbrace, Rpar, Rsqb};
    matches!((opening, closing), (Lpar, Rpar) | (Lsqb, Rsqb) | (Lbrace, Rbrace))
}

/// Returns whether a keyword cannot occur in an expression.
fn starts_statement(kind: TokenKind) -> bool {
    use TokenKind as T;
    matches!(
        kind,
        T::Def
            | T::Class
            | T::Return
            | T::Import
            | T::While
            | T::Try
            | T::With
            | T::Raise
            | T::Del
            | T::Pass
            | T::Break
            | T::Continue
            | T::Global
            | T::Nonlocal
            | T::Assert
            | T::EndOfFile
    )
}

/// Returns the range from an offset to the end of the text on its line.
fn rest_of_line(text: &str, at: usize) -> Range<usize> {
    at..at + text[at..line_end(text, at)].trim_end().len()
}
