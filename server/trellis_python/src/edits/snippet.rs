//! Normalizes the indentation of a new text and lays it out for its place in the file.

use std::ops::Range;

use ruff_python_ast::Stmt;
use ruff_text_size::Ranged;

use super::refused::Refused;
use crate::reindent::{StringLines, shift};
use crate::syntax::{self, SyntaxError, blocks, full_range, line_start};
use crate::tree::{Tree, is_space};

/// Python statements at the left margin, `\n` between lines, no blank lines around them.
pub(super) struct Snippet {
    pub(super) text: String,
}

/// Indentation and line breaks of the destination.
pub(super) struct Style<'a> {
    /// White space before the text's lines.
    pub(super) margin: &'a str,
    /// White space of one indentation level in the file.
    pub(super) unit: &'a str,
    /// Line break between lines.
    pub(super) line_break: &'a str,
}

impl Snippet {
    /// Parses a text as people and models send it: indented as a whole, indented except for its
    /// first line (cut out of the file after its margin), or not indented. `margin` is the margin
    /// of the replaced symbol, `unit` one indentation level of the file.
    pub(super) fn parse(text: &str, margin: &str, unit: &str) -> Result<Snippet, Refused> {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let text = text.trim_start_matches('\u{feff}').trim_end();
        let blank = text.len() - text.trim_start().len();
        let text = &text[line_start(text, blank)..];
        if text.is_empty() {
            return Err(Refused::Empty);
        }
        let text = if text.starts_with([' ', '\t']) {
            dedented(text)
        } else {
            at_margin(text, &[margin, &format!("{margin}{unit}")], unit)
        };
        Ok(Snippet { text: text.map_err(|error| Refused::Unparsable { error })? })
    }

    pub(super) fn tree(&self) -> Result<Tree<'_>, Refused> {
        Tree::of(&self.text).map_err(|error| Refused::Unparsable { error })
    }

    /// Lays out a part of the snippet (whole lines) in a style, with the file's indentation levels.
    pub(super) fn laid_out(
        &self,
        range: Range<usize>,
        style: &Style<'_>,
    ) -> Result<String, Refused> {
        let tree = self.tree()?;
        let strings = StringLines::of(&self.text, tree.module());
        let old = unit_of(&tree).filter(|old| *old != style.unit);
        let releveled = |line: &str| match old {
            Some(old) => relevel(line, old, style.unit),
            None => line.to_owned(),
        };
        let all = shift(&self.text, 0..self.text.len(), &strings, releveled);
        let same = Tree::of(&all).is_ok_and(|it| shape(&it) == shape(&tree));
        let moved = shift(&self.text, range, &strings, |line| {
            let line = if same { releveled(line) } else { line.to_owned() };
            format!("{}{line}", style.margin)
        });
        Ok(moved.replace('\n', style.line_break))
    }
}

/// Dedents a text whose first line is at the left margin. If the other lines are indented as they
/// would be after one of these margins, the text was cut out there.
fn at_margin(text: &str, margins: &[&str], unit: &str) -> Result<String, SyntaxError> {
    let margins = margins.iter().copied().filter(|it| !it.is_empty());
    let behind = |margin: &str| dedented(&format!("{margin}{text}"));
    let error = match Tree::of(text) {
        Ok(tree) if tree.wounds.is_empty() => {
            let inner =
                tree.body().first().and_then(|it| margin_of(&tree, blocks(it).first()?.first()?));
            let cut = margins.clone().find(|it| inner == Some(&format!("{it}{unit}")));
            return Ok(cut.and_then(|it| behind(it).ok()).unwrap_or_else(|| text.to_owned()));
        }
        Ok(_) => syntax::parse(text).err(),
        Err(error) => Some(error),
    };
    let others = text.lines().skip(1).filter(|it| !it.trim().is_empty()).map(indent_of);
    let least = others.min_by_key(|it| it.len()).filter(|it| !it.is_empty());
    let found = least.into_iter().chain(margins).find_map(|it| behind(it).ok());
    found.ok_or_else(|| error.unwrap_or_else(|| syntax::syntax_error_at(text, 0, "no Python")))
}

/// Moves an indented text to the left margin.
fn dedented(text: &str) -> Result<String, SyntaxError> {
    const BLOCK: &str = "if 1:\n";
    let inner = format!("{BLOCK}{text}");
    let module = syntax::parse(&inner).map_err(|e| SyntaxError { line: e.line.max(2) - 1, ..e })?;
    let code = text.lines().find(|it| !it.trim_start().starts_with('#')).unwrap_or(text);
    let margin = indent_of(code);
    let strings = StringLines::of(&inner, &module);
    let out = shift(&inner, BLOCK.len()..inner.len(), &strings, |line| {
        // Docstrings and comments may be indented less than the code.
        line.strip_prefix(margin).unwrap_or_else(|| line.trim_start_matches([' ', '\t'])).to_owned()
    });
    syntax::parse(&out)?;
    Ok(out)
}

fn indent_of(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn relevel(line: &str, old: &str, new: &str) -> String {
    let mut rest = line;
    let mut out = String::new();
    while let Some(inner) = rest.strip_prefix(old) {
        out.push_str(new);
        rest = inner;
    }
    out + rest
}

/// Returns the white space that most blocks of a text add to the indentation of the surrounding
/// block.
pub(super) fn unit_of<'t>(tree: &'t Tree<'_>) -> Option<&'t str> {
    let mut units: Vec<(&str, usize)> = Vec::new();
    for_each_block(tree.body(), &mut |outer, block, _| {
        let [outer, inner] = [outer, &block[0]].map(|it| margin_of(tree, it));
        let added = outer.zip(inner).and_then(|(outer, inner)| inner.strip_prefix(outer));
        if let Some(added) = added.filter(|it| !it.is_empty()) {
            match units.iter_mut().find(|(unit, _)| *unit == added) {
                Some((_, count)) => *count += 1,
                None => units.push((added, 1)),
            }
        }
    });
    // Reversed, because `max_by_key` returns the last maximum and the first is wanted.
    units.into_iter().rev().max_by_key(|(_, count)| *count).map(|(unit, _)| unit)
}

/// Returns the white space before a statement that begins its line.
fn margin_of<'t>(tree: &'t Tree<'_>, stmt: &Stmt) -> Option<&'t str> {
    let start = full_range(stmt).start().to_usize();
    let before = &tree.text()[line_start(tree.text(), start)..start];
    is_space(before).then(|| before.trim_start_matches(['\u{feff}', '\u{c}']))
}

/// Returns the structure of the statements: the number in each block and the block's depth, in
/// order.
fn shape(tree: &Tree<'_>) -> Vec<(usize, usize)> {
    let mut shape = vec![(tree.body().len(), tree.wounds.len())];
    for_each_block(tree.body(), &mut |_, block, depth| shape.push((block.len(), depth)));
    shape
}

fn for_each_block<'t>(body: &'t [Stmt], visit: &mut dyn FnMut(&'t Stmt, &'t [Stmt], usize)) {
    fn walk<'t>(
        body: &'t [Stmt],
        depth: usize,
        visit: &mut dyn FnMut(&'t Stmt, &'t [Stmt], usize),
    ) {
        for stmt in body {
            for block in blocks(stmt) {
                visit(stmt, block, depth);
                walk(block, depth + 1, visit);
            }
        }
    }
    walk(body, 0, visit);
}

/// Returns the end of the last statement.
pub(super) fn code_end(tree: &Tree<'_>) -> usize {
    tree.body().last().map_or(0, |it| it.end().to_usize())
}
