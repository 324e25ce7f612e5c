//! Changes the indentation of code, except inside strings.

use std::collections::HashSet;
use std::ops::Range;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{BytesLiteral, FString, ModModule, Stmt, StringLiteral, TString};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextRange};

use crate::fragment::is_string;

/// Changes the start of every code line of a range, except blank lines and the inside of multi-line
/// strings; docstrings move with their code. The range starts at a line start.
pub(crate) fn shift(
    source: &str,
    range: Range<usize>,
    strings: &StringLines<'_>,
    change: impl Fn(&str) -> String,
) -> String {
    let mut at = range.start;
    let lines = source[range].split_inclusive('\n').map(|line| {
        let inside = strings.hold(at);
        at += line.len();
        if inside || line.trim().is_empty() { line.to_owned() } else { change(line) }
    });
    lines.collect()
}

/// The lines that start inside a string literal other than a docstring.
pub(crate) struct StringLines<'s> {
    source: &'s str,
    inside: HashSet<usize>,
}

impl<'s> StringLines<'s> {
    pub(crate) fn of(source: &'s str, module: &Parsed<ModModule>) -> Self {
        let mut strings = StringLines { source, inside: HashSet::new() };
        strings.visit_body(&module.syntax().body);
        strings
    }

    /// Returns whether the line that starts at `at` starts inside a string.
    pub(crate) fn hold(&self, at: usize) -> bool {
        self.inside.contains(&at)
    }

    fn add(&mut self, range: TextRange) {
        let start = range.start().to_usize();
        let text = &self.source[start..range.end().to_usize()];
        self.inside.extend(text.match_indices('\n').map(|(at, _)| start + at + 1));
    }
}

impl<'a> Visitor<'a> for StringLines<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !is_string(stmt) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_string_literal(&mut self, literal: &'a StringLiteral) {
        self.add(literal.range());
    }

    fn visit_bytes_literal(&mut self, literal: &'a BytesLiteral) {
        self.add(literal.range());
    }

    fn visit_f_string(&mut self, literal: &'a FString) {
        self.add(literal.range());
    }

    fn visit_t_string(&mut self, literal: &'a TString) {
        self.add(literal.range());
    }
}
