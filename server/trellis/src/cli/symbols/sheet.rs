//! The outline of a file as text and JSON.

use super::place::stretch;
use std::ops::Range;

use code::{Outline, SymbolKind};
use serde_json::{Value, json};

use code::{Lines, Unit};

/// A text, what it defines, and where its lines are.
pub(super) struct Sheet<'a> {
    source: &'a str,
    outline: &'a Outline,
    lines: Lines<'a>,
    /// Of each symbol, those right below it.
    children: Vec<Vec<usize>>,
}

impl<'a> Sheet<'a> {
    pub(super) fn of(source: &'a str, outline: &'a Outline) -> Sheet<'a> {
        let mut children = vec![Vec::new(); outline.symbols.len()];
        for (index, symbol) in outline.symbols.iter().enumerate() {
            if let Some(parent) = symbol.parent {
                children[parent].push(index);
            }
        }
        Sheet { source, outline, lines: Lines::of(source), children }
    }

    /// Symbols that are in no other.
    pub(super) fn top(&self) -> impl Iterator<Item = usize> + '_ {
        let symbols = self.outline.symbols.iter().enumerate();
        symbols.filter(|(_, it)| it.parent.is_none()).map(|(index, _)| index)
    }

    pub(super) fn text(&self, range: &Range<usize>) -> &'a str {
        &self.source[range.clone()]
    }

    /// Line and column of a symbol's name, from 1, in characters.
    pub(super) fn position(&self, index: usize) -> (usize, usize) {
        let at = self.outline.symbols[index].name_range.start;
        let (line, column) = self.lines.position(at, Unit::Char);
        (line + 1, column + 1)
    }

    /// The line of the definition.
    pub(super) fn preview(&self, index: usize) -> &'a str {
        let at = self.outline.symbols[index].name_range.start;
        let (line, _) = self.lines.position(at, Unit::Char);
        self.source[self.lines.line(line)].trim()
    }

    /// `{name, namePath, kind, range, nameRange, signature}`; the signature of what has none is null.
    pub(super) fn shape(&self, index: usize) -> Value {
        let symbol = &self.outline.symbols[index];
        json!({
            "name": symbol.name,
            "namePath": name_path(self.outline, index),
            "kind": symbol.kind.as_str(),
            "range": stretch(&self.lines, &symbol.range),
            "nameRange": stretch(&self.lines, &symbol.name_range),
            "signature": symbol.header.as_ref().map(|it| self.text(it)),
        })
    }

    /// Shapes of what is below a symbol, each with its own `children`, down to `depth` levels.
    pub(super) fn children(&self, index: usize, depth: usize) -> Vec<Value> {
        let below = if depth == 0 { &[][..] } else { &self.children[index] };
        below.iter().map(|it| self.tree(*it, depth - 1)).collect()
    }

    /// A symbol's shape with its `children` down to `depth` levels.
    pub(super) fn tree(&self, index: usize, depth: usize) -> Value {
        let mut shape = self.shape(index);
        shape["children"] = self.children(index, depth).into();
        shape
    }

    /// One line for each symbol below another, indented by `margin` and more.
    pub(super) fn below(&self, index: usize, depth: usize, margin: usize) -> Vec<String> {
        let below = if depth == 0 { &[][..] } else { &self.children[index] };
        below.iter().flat_map(|it| self.branch(*it, depth - 1, margin)).collect()
    }

    /// A line for a symbol, and below it those of what is in it.
    pub(super) fn branch(&self, index: usize, depth: usize, margin: usize) -> Vec<String> {
        let symbol = &self.outline.symbols[index];
        let (line, column) = self.position(index);
        let kind = symbol.kind.as_str();
        let path = name_path(self.outline, index);
        let shown = match (&symbol.header, symbol.kind) {
            (Some(header), _) => self.text(header).split_whitespace().collect::<Vec<_>>().join(" "),
            (None, SymbolKind::Variable | SymbolKind::Attribute) => self.preview(index).to_owned(),
            (None, _) => symbol.name.clone(),
        };
        let own = format!("{:margin$}{line}:{column}  {kind} {path}  {shown}", "");
        let below = self.below(index, depth, margin + 4);
        std::iter::once(own).chain(below).collect()
    }
}

/// `Class/name`, `name[1]` for the second of that name in its scope.
pub(super) fn name_path(outline: &Outline, index: usize) -> String {
    let names = outline.path(index).into_iter().map(|it| it.name.as_str());
    let nth = outline.symbols[index].nth;
    let number = if nth > 0 { format!("[{nth}]") } else { String::new() };
    names.collect::<Vec<_>>().join("/") + &number
}
