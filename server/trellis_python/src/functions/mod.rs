//! The functions of a file, as whoever writes tests for one or shows them to a person wants to know them.

mod external_uses;

use std::ops::Range;

use crate::lines::{Lines, Unit};
use crate::outline::{Outline, Symbol, SymbolKind};
use crate::syntax::{SyntaxError, line_start};

pub use external_uses::{ExternalResource, ExternalUse, Uses, uses};

/// A function or method as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its own name.
    pub name: String,
    /// The name path that means it and no other of its file: `/Cart/total`, `/f[1]`.
    pub name_path: String,
    /// The names from the outermost around it to its own, joined by dots: `Cart.total`.
    pub qualified_name: String,
    /// Names of the classes around a method, joined by dots; none for others.
    pub class: Option<String>,
    /// From `async` or `def` to before the colon.
    pub signature: String,
    /// What the docstring says: without quotes and margin, escapes as they are written.
    pub docstring: Option<String>,
    /// The lines of its body with their margin, the docstring among them; empty where it is nested, so that all of a
    /// file's texts together are never longer than the file.
    pub body: String,
    /// All of it, decorators included, from the start of its first line; empty where it is nested.
    pub source: String,
    /// Each with its `@`.
    pub decorators: Vec<String>,
    /// `async def`.
    pub is_async: bool,
    /// Stands in the body of a function, where nobody outside can call it by name.
    pub is_nested: bool,
    /// Its number, from 0, among those of its name in the same scope.
    pub nth: usize,
    /// The line of its name, from 1.
    pub line: u32,
    /// The column of its name, from 1, in characters.
    pub column: u32,
    /// Its first line, a decorator's if it has any.
    pub first_line: u32,
    /// Its last line.
    pub end_line: u32,
}

impl Function {
    /// Whether it is a function of a class, properties among them.
    pub fn is_method(&self) -> bool {
        self.class.is_some()
    }

    /// Whether it only declares a way to be called: `@overload`.
    pub fn is_overload(&self) -> bool {
        self.decorators.iter().any(|it| matches!(it.rsplit(['.', '@']).next(), Some("overload")))
    }
}

/// The functions of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// In the order of the text; those in classes and in other functions too.
    pub functions: Vec<Function>,
    /// Where the text is no Python; what lies around such places is understood all the same.
    pub errors: Vec<SyntaxError>,
}

impl Functions {
    /// The functions of a module, broken or not.
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
        docstring: symbol.docstring.clone().map(|it| documented(&source[it])),
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

/// With the margin of its first line, unless something else stands before it there.
fn whole_lines(source: &str, range: &Range<usize>) -> Range<usize> {
    let start = line_start(source, range.start);
    let is_margin = source[start..range.start].trim().is_empty();
    if is_margin { start..range.end } else { range.clone() }
}

/// A string literal's text without quotes, and without the margin that all lines but the first share.
fn documented(literal: &str) -> String {
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
