//! Nests symbols by indentation, for files in which the parser had to guess the structure.
//!
//! For the parser, a line indented too little ends a class, and a line indented too much makes the
//! following code its child. Columns are more reliable: measured with stray indentation in the
//! middle of 68 files, the parser's nesting is right for 70 % of the definitions, that of the
//! columns for almost all.

use std::collections::HashMap;

use ruff_python_ast::Stmt;

use super::{Symbol, SymbolKind};
use crate::syntax::{blocks, full_range, line_start};
use crate::tree::{Tree, is_space};

/// A definition whose body is still open, or another statement that closes the definitions it is
/// outside of.
struct Open {
    column: usize,
    /// The symbol, if the statement is a definition.
    symbol: Option<usize>,
}

/// Sets the parents of symbols according to their indentation. Parents extend to the end of their
/// children.
pub(super) fn nest(tree: &Tree<'_>, symbols: &mut Vec<Symbol>) {
    let mut starts = Vec::new();
    starts_of(tree.body(), &mut starts);
    starts.sort_unstable();
    let by_start: HashMap<usize, usize> = (symbols.iter().enumerate())
        .filter(|(_, it)| it.header.is_some())
        .map(|(index, it)| (it.range.start, index))
        .collect();
    let mut open: Vec<Open> = Vec::new();
    let mut parents: HashMap<usize, Option<usize>> = HashMap::new();
    for start in starts {
        if let Some(column) = column(tree.text(), start) {
            while open.last().is_some_and(|it| it.column >= column) {
                open.pop();
            }
            parents.insert(start, open.iter().rev().find_map(|it| it.symbol));
            open.push(Open { column, symbol: by_start.get(&start).copied() });
        }
    }
    for symbol in symbols.iter_mut() {
        symbol.parent = parents.get(&symbol.range.start).copied().unwrap_or(symbol.parent);
    }
    settle(symbols);
}

fn starts_of(body: &[Stmt], starts: &mut Vec<usize>) {
    for stmt in body {
        starts.push(full_range(stmt).start().to_usize());
        blocks(stmt).into_iter().for_each(|block| starts_of(block, starts));
    }
}

/// Returns the indentation of a statement, with tabs to the next multiple of 8. `None` for a
/// statement that does not begin its line; such a statement keeps the parser's nesting.
fn column(source: &str, start: usize) -> Option<usize> {
    let indent = &source[line_start(source, start)..start];
    let wider = |width: usize, c| match c {
        '\t' => width / 8 * 8 + 8,
        ' ' => width + 1,
        _ => width,
    };
    is_space(indent).then(|| indent.chars().fold(0, wider))
}

/// Updates kinds, numbers and ranges after a change of parents. Names bound inside functions are
/// removed.
fn settle(symbols: &mut Vec<Symbol>) {
    let kind_of = |symbols: &[Symbol], parent: Option<usize>| parent.map(|it| symbols[it].kind);
    for index in 0..symbols.len() {
        let around = kind_of(symbols, symbols[index].parent);
        symbols[index].kind = kind_in(symbols[index].kind, around);
    }
    let is_local = |it: &Symbol| {
        let around = kind_of(symbols, it.parent);
        it.header.is_none() && !matches!(around, None | Some(SymbolKind::Class))
    };
    let kept: Vec<bool> = symbols.iter().map(|it| !is_local(it)).collect();
    let moved: Vec<usize> = (kept.iter())
        .scan(0, |next, keep| {
            *next += usize::from(*keep);
            Some(next.wrapping_sub(1))
        })
        .collect();
    let mut index = 0;
    symbols.retain(|_| {
        index += 1;
        kept[index - 1]
    });
    let mut seen: HashMap<(Option<usize>, String), usize> = HashMap::new();
    for symbol in symbols.iter_mut() {
        symbol.parent = symbol.parent.map(|it| moved[it]);
        let count = seen.entry((symbol.parent, symbol.name.clone())).or_default();
        symbol.nth = *count;
        *count += 1;
    }
    for index in (0..symbols.len()).rev() {
        let end = symbols[index].range.end;
        if let Some(parent) = symbols[index].parent {
            symbols[parent].range.end = symbols[parent].range.end.max(end);
        }
    }
}

fn kind_in(kind: SymbolKind, around: Option<SymbolKind>) -> SymbolKind {
    let in_class = around == Some(SymbolKind::Class);
    match kind {
        SymbolKind::Function | SymbolKind::Method if in_class => SymbolKind::Method,
        SymbolKind::Function | SymbolKind::Method | SymbolKind::Property if !in_class => {
            SymbolKind::Function
        }
        SymbolKind::Variable | SymbolKind::Attribute if in_class => SymbolKind::Attribute,
        SymbolKind::Variable | SymbolKind::Attribute => SymbolKind::Variable,
        other => other,
    }
}
