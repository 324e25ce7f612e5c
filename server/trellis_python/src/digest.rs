//! Summarizes a module: headers and promises of its definitions, with the bodies of selected ones
//! only.

use std::ops::Range;

use crate::lines::{Lines, Unit};
use crate::outline::{Outline, Symbol, SymbolKind};

/// Largest number of lines shown of a bound name's value.
const VALUE_LINES: usize = 3;

/// Summarizes the definitions of a module, or of a part of one, in source order: headers with
/// types, decorators, the first paragraph and the errors section of each docstring, fields, bound
/// names. A definition for which `in_full` holds is shown in full. Text that does not parse is
/// returned unchanged.
pub fn digest(source: &str, in_full: impl Fn(&Symbol) -> bool) -> String {
    let outline = Outline::of(source);
    if !outline.errors.is_empty() {
        return source.to_owned();
    }
    let mut out =
        Writer { source, outline: &outline, lines: Lines::of(source), text: String::new() };
    for (index, symbol) in outline.symbols.iter().enumerate() {
        if symbol.parent.is_none() {
            out.symbol(index, "", &in_full);
        }
    }
    out.text
}

/// Summarizes one definition at the top of a module, without any body; `None` if no definition has
/// that name.
pub fn interface(source: &str, name: &str) -> Option<String> {
    let outline = Outline::of(source);
    let index = (0..outline.symbols.len()).rev().find(|it| {
        let symbol = &outline.symbols[*it];
        symbol.parent.is_none() && symbol.name == name
    })?;
    let mut out =
        Writer { source, outline: &outline, lines: Lines::of(source), text: String::new() };
    out.symbol(index, "", &|_| false);
    Some(out.text)
}

struct Writer<'a> {
    source: &'a str,
    outline: &'a Outline,
    lines: Lines<'a>,
    text: String,
}

impl Writer<'_> {
    fn symbol(&mut self, index: usize, indent: &str, in_full: &impl Fn(&Symbol) -> bool) {
        let symbol = &self.outline.symbols[index];
        match &symbol.header {
            _ if in_full(symbol) => {
                self.space(indent);
                self.lines_of(symbol.range.clone(), usize::MAX);
            }
            None => self.lines_of(symbol.range.clone(), VALUE_LINES),
            Some(header) => self.definition(index, header.clone(), indent, in_full),
        }
    }

    fn definition(
        &mut self,
        index: usize,
        header: Range<usize>,
        indent: &str,
        in_full: &impl Fn(&Symbol) -> bool,
    ) {
        let symbol = &self.outline.symbols[index];
        self.space(indent);
        for decorator in &symbol.decorators {
            self.line(indent, &self.source[decorator.clone()]);
        }
        self.line(indent, &format!("{}:", &self.source[header]));
        let inner = format!("{indent}    ");
        let promise = symbol.docstring.clone().map(|it| promise(&self.source[it]));
        let promise = promise.filter(|it| !it.is_empty());
        if let Some(promise) = &promise {
            self.line(&inner, &format!("\"\"\"{}\"\"\"", promise.join(&format!("\n{inner}"))));
        }
        let before = self.text.len();
        if symbol.kind == SymbolKind::Class {
            let is_child = |it: &usize| self.outline.symbols[*it].parent == Some(index);
            let children: Vec<usize> = (0..self.outline.symbols.len()).filter(is_child).collect();
            children.into_iter().for_each(|it| self.symbol(it, &inner, in_full));
        }
        if self.text.len() == before && (promise.is_none() || symbol.kind != SymbolKind::Class) {
            self.line(&inner, "...");
        }
    }

    /// Writes an empty line before a top-level definition.
    fn space(&mut self, indent: &str) {
        if indent.is_empty() && !self.text.is_empty() {
            self.text.push('\n');
        }
    }

    fn line(&mut self, indent: &str, text: &str) {
        self.text += &format!("{indent}{text}\n");
    }

    /// Writes whole lines of the source, at most `most` of them.
    fn lines_of(&mut self, range: Range<usize>, most: usize) {
        let line = |offset| self.lines.position(offset, Unit::Char).0;
        let (first, last) = (line(range.start), line(range.end.max(range.start + 1) - 1));
        let all: Vec<&str> = self.source.lines().skip(first).take(last + 1 - first).collect();
        let shown = all.iter().take(most).map(|it| format!("{it}\n"));
        let text: String = shown.collect();
        // One statement may bind two names; its lines are written once.
        if !self.text.ends_with(&text) {
            self.text += &text;
            if all.len() > most {
                let indent = &all[0][..all[0].len() - all[0].trim_start().len()];
                self.text += &format!("{indent}    …\n");
            }
        }
    }
}

/// Returns the docstring lines that a caller needs: the first paragraph and the section on errors.
fn promise(docstring: &str) -> Vec<String> {
    let text = docstring.trim_start_matches(|it: char| it.is_ascii_alphabetic());
    let text =
        ["\"\"\"", "'''", "\"", "'"].iter().find_map(|it| text.strip_prefix(it)?.strip_suffix(it));
    let lines: Vec<&str> = text.unwrap_or(docstring).lines().map(str::trim).collect();
    let mut out: Vec<String> = (lines.iter().skip_while(|it| it.is_empty()))
        .take_while(|it| !it.is_empty())
        .map(|it| (*it).to_owned())
        .collect();
    let is_raises = |it: &&str| {
        let head = it.trim_end_matches(':').to_ascii_lowercase();
        matches!(head.as_str(), "raises" | "raise") || head.starts_with(":raises")
    };
    let at = lines.iter().position(is_raises);
    if let Some(at) = at.filter(|it| *it >= out.len()) {
        out.extend(lines[at..].iter().take_while(|it| !it.is_empty()).map(|it| (*it).to_owned()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROJECT: &str = "\
\"\"\"A shop.\"\"\"
from dataclasses import dataclass

RATES = {
    'a': 1,
    'b': 2,
    'c': 3,
}
LIMIT: int = 5


@dataclass(frozen=True)
class Item:
    \"\"\"A thing.

    More of it.
    \"\"\"

    sku: str
    price: int = 0

    def total(
        self, count: int = 1
    ) -> int:
        \"\"\"Its price.

        Long words.

        Raises:
            ValueError: below one.
        \"\"\"
        return self.price * count


def named(a, b):
    return a + b


def other(it: Item) -> str:
    '''Text.'''
    return str(it)
";

    #[test]
    fn definitions_stand_with_what_they_promise() {
        let wanted = "\
RATES = {
    'a': 1,
    'b': 2,
    …
LIMIT: int = 5

@dataclass(frozen=True)
class Item:
    \"\"\"A thing.\"\"\"
    sku: str
    price: int = 0
    def total(
        self, count: int = 1
    ) -> int:
        \"\"\"Its price.
        Raises:
        ValueError: below one.\"\"\"
        ...

def named(a, b):
    return a + b

def other(it: Item) -> str:
    \"\"\"Text.\"\"\"
    ...
";
        assert_eq!(digest(PROJECT, |it| it.name == "named"), wanted);
        assert_eq!(digest("def (", |_| false), "def (");
        let other = "def other(it: Item) -> str:\n    \"\"\"Text.\"\"\"\n    ...\n";
        assert_eq!(interface(PROJECT, "other").as_deref(), Some(other));
        assert_eq!(interface(PROJECT, "total"), None, "a method is no part of the module");
    }
}
