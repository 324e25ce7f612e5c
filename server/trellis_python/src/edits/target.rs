//! Finds the symbol that an edit names, with the text that belongs to it.

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::refused::{Candidate, Refused};
use crate::name_path::NamePath;
use crate::outline::{Outline, Symbol};
use crate::syntax::{
    blocks, full_range, line_break, line_content_end, line_end, line_of, line_start,
};
use crate::tree::{StatementPosition, Tree, is_space};

/// Selects a symbol of a file.
#[derive(Clone, Copy, Debug)]
pub enum SymbolSelector<'a> {
    /// The only symbol with this name path.
    Named(&'a NamePath),
    /// The symbol whose name starts at this byte.
    At(usize),
}

impl<'a> From<&'a NamePath> for SymbolSelector<'a> {
    fn from(path: &'a NamePath) -> Self {
        SymbolSelector::Named(path)
    }
}

impl From<&Symbol> for SymbolSelector<'_> {
    fn from(symbol: &Symbol) -> Self {
        SymbolSelector::At(symbol.name_range.start)
    }
}

/// A parsed file and its outline.
pub(super) struct File<'s> {
    pub(super) tree: Tree<'s>,
    pub(super) outline: Outline,
}

/// A symbol and its position.
pub(super) struct Target<'f> {
    pub(super) file: &'f File<'f>,
    pub(super) symbol: &'f Symbol,
    /// A name path that matches only this symbol.
    pub(super) path: String,
    pub(super) place: StatementPosition<'f>,
}

impl<'s> File<'s> {
    pub(super) fn of(source: &'s str) -> Result<File<'s>, Refused> {
        let tree = Tree::of(source).map_err(|error| Refused::TooDeep { error })?;
        let outline = Outline::of_tree(&tree);
        Ok(File { tree, outline })
    }

    /// Returns the one symbol that matches the selector.
    pub(super) fn target(&self, which: SymbolSelector<'_>) -> Result<Target<'_>, Refused> {
        let fits = |index: &usize| match which {
            SymbolSelector::Named(path) => path.matches(&self.outline.path(*index), false),
            SymbolSelector::At(at) => self.outline.symbols[*index].name_range.start == at,
        };
        let found: Vec<usize> = (0..self.outline.symbols.len()).filter(fits).collect();
        let index = match found[..] {
            [one] => one,
            [] => return Err(self.not_found(which)),
            _ => return Err(self.ambiguous(which, &found)),
        };
        let symbol = &self.outline.symbols[index];
        let path = self.outline.name_path(index);
        let place = self.tree.place(symbol.name_range.start);
        let place = place.ok_or_else(|| self.not_intact(symbol, &path))?;
        let target = Target { file: self, symbol, path, place };
        target.require_intact()?;
        Ok(target)
    }

    fn not_found(&self, which: SymbolSelector<'_>) -> Refused {
        let symbols = 0..self.outline.symbols.len();
        let known = symbols.take(10).map(|it| self.outline.name_path(it)).collect();
        Refused::NotFound { symbol: shown(which), known }
    }

    fn ambiguous(&self, which: SymbolSelector<'_>, found: &[usize]) -> Refused {
        let candidate = |index: &usize| Candidate {
            line: line_of(self.tree.source, self.outline.symbols[*index].name_range.start),
            text: self.outline.name_path(*index),
        };
        let candidates = found.iter().map(candidate).collect();
        Refused::Ambiguous { symbol: shown(which), candidates }
    }

    fn not_intact(&self, symbol: &Symbol, path: &str) -> Refused {
        let line = line_of(self.tree.source, symbol.name_range.start);
        Refused::NotIntact { symbol: path.to_owned(), line }
    }
}

fn shown(which: SymbolSelector<'_>) -> String {
    match which {
        SymbolSelector::Named(path) => format!("`{path}`"),
        SymbolSelector::At(at) => format!("symbol at byte {at}"),
    }
}

impl<'f> Target<'f> {
    pub(super) fn source(&self) -> &'f str {
        self.file.tree.source
    }

    pub(super) fn stmt(&self) -> &'f Stmt {
        self.place.stmt()
    }

    /// Returns the offset of the symbol's first byte, decorators included.
    pub(super) fn start(&self) -> usize {
        full_range(self.stmt()).start().to_usize()
    }

    /// Returns the end of the symbol with the comment on its last line and, for a definition, the
    /// more deeply indented comments below it.
    pub(super) fn end(&self) -> usize {
        let tree = &self.file.tree;
        let end = self.stmt().end().to_usize();
        let mut end =
            tree.newline_from(end).unwrap_or_else(|| line_content_end(self.source(), end));
        if self.symbol.header.is_some() {
            let margin = self.margin().len();
            let below = tree.comment_lines(end, tree.code_from(end));
            let inner = below.iter().take_while(|(line, at)| at - line > margin);
            end = inner.last().map_or(end, |(_, at)| line_content_end(self.source(), *at));
        }
        end
    }

    /// Returns the start of the symbol's first line, after a byte order mark.
    pub(super) fn line(&self) -> usize {
        first_byte(self.source(), line_start(self.source(), self.start()))
    }

    /// Returns the text before the symbol on its line: white space, if the symbol begins its line.
    pub(super) fn margin(&self) -> &'f str {
        let before = &self.source()[self.line()..self.start()];
        // A form feed resets the indentation to zero.
        before.rsplit('\u{c}').next().unwrap_or(before)
    }

    /// Returns the start of the first comment right above the symbol, or the start of the symbol's
    /// line if there is none.
    pub(super) fn comments(&self) -> usize {
        let (source, tree, line) = (self.source(), &self.file.tree, self.line());
        let above = tree.comment_lines(tree.code_before(self.start()), line);
        let mut start = line;
        for (line, at) in above.into_iter().rev() {
            let line = first_byte(source, line);
            let attached = line_end(source, at) == start && source[line..at] == *self.margin();
            if !attached || is_preamble(source, at) {
                break;
            }
            start = line;
        }
        start
    }

    /// Returns whether nothing but white space precedes the symbol on its line.
    pub(super) fn begins_line(&self) -> bool {
        let from = self.file.tree.code_before(self.start());
        let first = self.file.tree.source[..self.start()].trim_start_matches('\u{feff}');
        let alone = from == 0 || self.file.tree.line_ends_between(from, self.start());
        (alone || first.trim().is_empty()) && is_space(&self.source()[self.line()..self.start()])
    }

    /// Returns whether no other statement follows the symbol on its line.
    pub(super) fn ends_line(&self) -> bool {
        self.next().is_none_or(|next| {
            let (end, start) = (self.stmt().end(), full_range(next).start());
            self.file.tree.line_ends_between(end.to_usize(), start.to_usize())
        })
    }

    pub(super) fn shared_line(&self) -> Refused {
        let line = line_of(self.source(), self.start());
        Refused::SharedLine { symbol: self.path.clone(), line }
    }

    pub(super) fn previous(&self) -> Option<&'f Stmt> {
        self.place.index.checked_sub(1).map(|it| &self.place.body[it])
    }

    pub(super) fn next(&self) -> Option<&'f Stmt> {
        self.place.body.get(self.place.index + 1)
    }

    pub(super) fn inner(&self) -> &'f [Stmt] {
        blocks(self.stmt()).into_iter().next().unwrap_or(&[])
    }

    /// Returns the other names that the symbol's statement binds.
    pub(super) fn also_bound(&self) -> Vec<&'f str> {
        let symbols = self.file.outline.symbols.iter();
        let others = symbols.filter(|it| it.header.is_none() && it.range == self.symbol.range);
        others.filter(|it| *it != self.symbol).map(|it| it.name.as_str()).collect()
    }

    pub(super) fn not_intact(&self) -> Refused {
        self.file.not_intact(self.symbol, &self.path)
    }

    /// Refuses a symbol whose end is uncertain: in a file with errors the parser may have guessed
    /// it wrongly, unless the indentation confirms it.
    fn require_intact(&self) -> Result<(), Refused> {
        let tree = &self.file.tree;
        if tree.wounds.is_empty() {
            return Ok(());
        }
        let (start, end, width) = (self.start(), self.end(), self.margin().len());
        let next = tree.code_from(end);
        let behind = next - line_start(self.source(), next);
        let goes_on = next < self.source().len() && next > end && behind > width;
        if self.symbol.header.is_none() {
            let wounded = tree.wounds.iter().any(|it| (start..=end).contains(it));
            let long = self.source()[start..end].contains(['\n', '\r']);
            return if wounded && (long || goes_on) { Err(self.not_intact()) } else { Ok(()) };
        }
        let body = self.inner().first().ok_or_else(|| self.not_intact())?;
        let inner = line_end(self.source(), full_range(body).start().to_usize());
        let ends_early = |line: usize| {
            let text = &self.source()[line..line_content_end(self.source(), line)];
            let code = text.trim_start();
            !code.is_empty()
                && !code.starts_with('#')
                && text.len() - code.len() <= width
                && !tree.is_inside_token(line)
        };
        if goes_on || lines(self.source(), inner, end).any(ends_early) {
            return Err(self.not_intact());
        }
        Ok(())
    }
}

/// Returns the starts of the lines from `from` (a line start) up to `to`.
fn lines(source: &str, from: usize, to: usize) -> impl Iterator<Item = usize> {
    let next = move |at: &usize| Some(line_end(source, *at)).filter(|it| *it > *at);
    std::iter::successors(Some(from), next).take_while(move |it| *it < to)
}

/// Returns the start of a line, after a byte order mark on the first line.
fn first_byte(source: &str, line: usize) -> usize {
    if line == 0 && source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { line }
}

/// Returns whether the comment at `at` is a `#!` line or an encoding declaration, which belong to
/// the file and not to the statement below them.
fn is_preamble(source: &str, at: usize) -> bool {
    let comment = &source[at..line_content_end(source, at)];
    let line = line_of(source, at);
    let coding = comment.split_once("coding").is_some_and(|(_, it)| it.starts_with([':', '=']));
    (line == 1 && comment.starts_with("#!")) || (line <= 2 && coding)
}

/// Returns the line break of the offset's line, or of the line before if it is the last line.
pub(super) fn line_break_near(source: &str, at: usize) -> &str {
    let here = line_break(&source[line_content_end(source, at)..]);
    if !here.is_empty() {
        return here;
    }
    let start = line_start(source, at);
    let before = source[..start].trim_end_matches(['\n', '\r']).len();
    Some(line_break(&source[before..])).filter(|it| !it.is_empty()).unwrap_or("\n")
}
