//! The outline of a file as text and JSON.

use std::ops::Range;

use code::{Lines, Outline, SymbolKind, Unit};
use serde_json::{Value, json};

use super::shapes::stretch;

/// A text, what it defines, and where its lines are.
pub(crate) struct Sheet<'a> {
    source: &'a str,
    outline: &'a Outline,
    lines: Lines<'a>,
    /// Of each symbol, those right below it.
    children: Vec<Vec<usize>>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn of(source: &'a str, outline: &'a Outline) -> Sheet<'a> {
        let mut children = vec![Vec::new(); outline.symbols.len()];
        for (index, symbol) in outline.symbols.iter().enumerate() {
            if let Some(parent) = symbol.parent {
                children[parent].push(index);
            }
        }
        Sheet { source, outline, lines: Lines::of(source), children }
    }

    /// Symbols that are in no other.
    pub(crate) fn top(&self) -> impl Iterator<Item = usize> + '_ {
        let symbols = self.outline.symbols.iter().enumerate();
        symbols.filter(|(_, it)| it.parent.is_none()).map(|(index, _)| index)
    }

    pub(crate) fn text(&self, range: &Range<usize>) -> &'a str {
        &self.source[range.clone()]
    }

    /// Line and column of a symbol's name, from 1, in characters.
    pub(crate) fn position(&self, index: usize) -> (usize, usize) {
        let at = self.outline.symbols[index].name_range.start;
        let (line, column) = self.lines.position(at, Unit::Char);
        (line + 1, column + 1)
    }

    /// The line of the definition.
    pub(crate) fn preview(&self, index: usize) -> &'a str {
        let at = self.outline.symbols[index].name_range.start;
        let (line, _) = self.lines.position(at, Unit::Char);
        self.source[self.lines.line(line)].trim()
    }

    /// A symbol of the file at `path` that was looked for, as lines: where it is; its text, or its first line; what is
    /// in it, down to `depth` levels.
    pub(crate) fn found(&self, path: &str, index: usize, body: bool, depth: usize) -> Vec<String> {
        let symbol = &self.outline.symbols[index];
        let (row, column) = self.position(index);
        let shown = if body { self.text(&symbol.range) } else { self.preview(index) };
        let (kind, name) = (symbol.kind.as_str(), name_path(self.outline, index));
        let own = format!("{path}:{row}:{column}  {kind} {name}\n    {shown}");
        std::iter::once(own).chain(self.below(index, depth, 4)).collect()
    }

    /// `{name, namePath, kind, range, nameRange, signature}`; the signature of what has none is null.
    pub(crate) fn shape(&self, index: usize) -> Value {
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
    pub(crate) fn children(&self, index: usize, depth: usize) -> Vec<Value> {
        let below = if depth == 0 { &[][..] } else { &self.children[index] };
        below.iter().map(|it| self.tree(*it, depth - 1)).collect()
    }

    /// A symbol's shape with its `children` down to `depth` levels.
    pub(crate) fn tree(&self, index: usize, depth: usize) -> Value {
        let mut shape = self.shape(index);
        shape["children"] = self.children(index, depth).into();
        shape
    }

    /// One line for each symbol below another, indented by `margin` and more.
    pub(crate) fn below(&self, index: usize, depth: usize, margin: usize) -> Vec<String> {
        let below = if depth == 0 { &[][..] } else { &self.children[index] };
        below.iter().flat_map(|it| self.branch(*it, depth - 1, margin)).collect()
    }

    /// A line for a symbol, and below it those of what is in it.
    pub(crate) fn branch(&self, index: usize, depth: usize, margin: usize) -> Vec<String> {
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
pub(crate) fn name_path(outline: &Outline, index: usize) -> String {
    let names = outline.path(index).into_iter().map(|it| it.name.as_str());
    let nth = outline.symbols[index].nth;
    let number = if nth > 0 { format!("[{nth}]") } else { String::new() };
    names.collect::<Vec<_>>().join("/") + &number
}
