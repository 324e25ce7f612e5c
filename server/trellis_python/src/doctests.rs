//! Doctests: examples of interactive sessions in the strings of a module.

use std::collections::BTreeMap;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{self, Visitor};

use crate::syntax::{self, SyntaxError};

/// Doctest examples by the qualified name of the definition around them; empty for a module.
pub type Doctests = BTreeMap<String, Vec<String>>;

/// Returns the examples in docstrings and other strings, each with its prompts and its expected
/// output, as [`doctest`](https://docs.python.org/3/library/doctest.html) reads them: without the
/// indentation, up to a blank line or the next example.
pub fn doctests(source: &str) -> Result<Doctests, SyntaxError> {
    let mut found = Finder::default();
    found.visit_body(syntax::parse(source)?.suite());
    Ok(found.doctests)
}

#[derive(Default)]
struct Finder {
    /// Names of the definitions around the current place.
    names: Vec<String>,
    doctests: Doctests,
}

impl Visitor<'_> for Finder {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let name = match stmt {
            Stmt::FunctionDef(it) => Some(it.name.to_string()),
            Stmt::ClassDef(it) => Some(it.name.to_string()),
            _ => None,
        };
        let depth = self.names.len();
        self.names.extend(name);
        visitor::walk_stmt(self, stmt);
        self.names.truncate(depth);
    }

    fn visit_string_literal(&mut self, literal: &ruff_python_ast::StringLiteral) {
        let examples = examples(&literal.value);
        if !examples.is_empty() {
            self.doctests.entry(self.names.join(".")).or_default().extend(examples);
        }
    }
}

/// Returns the examples of a string.
fn examples(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut indent = None;
    for line in text.lines() {
        let plain = line.trim_start();
        if plain.starts_with(">>>") {
            indent = Some(line.len() - plain.len());
            found.push(plain.to_owned());
        } else if let (Some(indent), Some(example)) = (indent, found.last_mut())
            && !plain.is_empty()
        {
            example.push('\n');
            example.push_str(line.get(indent..).unwrap_or(plain));
        } else {
            indent = None;
        }
    }
    found
}
