//! Lists the functions of a file for writing tests or for display.

mod external_uses;

use std::ops::Range;

use crate::lines::{Lines, Unit};
use crate::outline::{Outline, Symbol, SymbolKind};
use crate::syntax::{SyntaxError, line_start};

pub use external_uses::{ExternalResource, ExternalUse, Uses, uses};

/// A function or method as written in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name without enclosing symbols.
    pub name: String,
    /// Name path that matches only this function of its file: `/Cart/total`, `/f[1]`.
    pub name_path: String,
    /// Names from the outermost enclosing symbol to the function, joined by dots: `Cart.total`.
    pub qualified_name: String,
    /// Names of the classes around a method, joined by dots; `None` for other functions.
    pub class: Option<String>,
    /// Text from `async` or `def` up to the colon.
    pub signature: String,
    /// Text of the docstring without quotes and margin; escapes are not decoded.
    pub docstring: Option<String>,
    /// Lines of the body with their margin, including the docstring. Empty for a nested function,
    /// so that all texts of a file together are never longer than the file.
    pub body: String,
    /// The whole function, decorators included, from the start of its first line. Empty for a
    /// nested function.
    pub source: String,
    /// Decorators, each with its `@`.
    pub decorators: Vec<String>,
    /// True for `async def`.
    pub is_async: bool,
    /// True inside the body of another function, where code outside cannot call it by name.
    pub is_nested: bool,
    /// Number, from 0, among the functions of the same name in the same scope.
    pub nth: usize,
    /// Line of the name, from 1.
    pub line: u32,
    /// Column of the name, from 1, in characters.
    pub column: u32,
    /// First line; the line of the first decorator if there is one.
    pub first_line: u32,
    /// Last line.
    pub end_line: u32,
}

impl Function {
    /// Returns whether the function belongs to a class; properties count.
    pub fn is_method(&self) -> bool {
        self.class.is_some()
    }

    /// Returns whether the function only declares a signature: `@overload`.
    pub fn is_overload(&self) -> bool {
        self.decorators.iter().any(|it| matches!(it.rsplit(['.', '@']).next(), Some("overload")))
    }
}

/// The functions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// Functions in source order, including those in classes and in other functions.
    pub functions: Vec<Function>,
    /// Syntax errors. The functions also include those around an error.
    pub errors: Vec<SyntaxError>,
}

impl Functions {
    /// Lists the functions of a module, even if it has syntax errors.
    pub fn of(source: &str) -> Functions {
        let outline = Outline::of(source);
        let lines = Lines::of(source);
        let is_function = |it: &&usize| is_function(outline.symbols[**it].kind);
        let all: Vec<usize> = (0..outline.symbols.len()).collect();
        let functions = all.iter().filter(is_function);
        let functions = functions.map(|index| function(source, &lines, &outline, *index)).collect();
        Functions { functions, errors: outline.errors }
    }
}

fn is_function(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Property)
}

fn function(source: &str, lines: &Lines<'_>, outline: &Outline, index: usize) -> Function {
    let path = outline.path(index);
    let symbol = &outline.symbols[index];
    let around = &path[..path.len() - 1];
    let signature = symbol.header.clone().map_or("", |it| &source[it]);
    let line = |offset: usize| lines.position(offset, Unit::Utf8).0 as u32 + 1;
    let join = |path: &[&Symbol]| path.iter().map(|it| &*it.name).collect::<Vec<_>>().join(".");
    let in_class = around.last().is_some_and(|it| it.kind == SymbolKind::Class);
    let is_nested = around.iter().any(|it| is_function(it.kind));
    let text = |range: &Range<usize>| match is_nested {
        true => String::new(),
        false => source[whole_lines(source, range)].to_owned(),
    };
    Function {
        name: symbol.name.clone(),
        name_path: outline.name_path(index),
        qualified_name: join(&path),
        class: in_class.then(|| join(around)),
        signature: signature.to_owned(),
        docstring: symbol.documentation(source),
        body: symbol.body.as_ref().map(text).unwrap_or_default(),
        source: text(&symbol.range),
        decorators: symbol.decorators.iter().map(|it| source[it.clone()].to_owned()).collect(),
        is_async: signature.starts_with("async"),
        is_nested,
        nth: symbol.nth,
        line: symbol.place.line + 1,
        column: symbol.place.chars + 1,
        first_line: line(symbol.range.start),
        end_line: line(symbol.range.end),
    }
}

/// Extends a range by the margin of its first line, unless other text precedes it there.
fn whole_lines(source: &str, range: &Range<usize>) -> Range<usize> {
    let start = line_start(source, range.start);
    let is_margin = source[start..range.start].trim().is_empty();
    if is_margin { start..range.end } else { range.clone() }
}

/// Returns a string literal's text without quotes and without the margin common to all lines but
/// the first; escapes are not decoded.
pub(crate) fn documented(literal: &str) -> String {
    let bare = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|it| bare.starts_with(it));
    let Some(quotes) = quotes else { return literal.to_owned() };
    let inner = &bare[quotes.len()..];
    let inner = inner.strip_suffix(quotes).unwrap_or(inner);
    let margin = |line: &str| line.len() - line.trim_start().len();
    let rest = inner.lines().skip(1).filter(|it| !it.trim().is_empty());
    let least = rest.map(margin).min().unwrap_or(0);
    let lines = inner.lines().enumerate().map(|(at, line)| match at {
        0 => line.trim_start(),
        _ => line.get(least..).unwrap_or("").trim_end(),
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}
