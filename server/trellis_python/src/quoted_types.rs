//! Finds the names in annotations that are written in quotes.

use std::collections::BTreeSet;

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::{Visitor, walk_annotation, walk_expr};

use crate::syntax::{self, SyntaxError};

/// Returns the names that a module uses in quoted annotations, such as `Basket` of `"list[Basket]"`.
/// Text that is not Python is left out.
pub fn quoted_types(source: &str) -> Result<BTreeSet<String>, SyntaxError> {
    let mut annotations = Annotations::default();
    annotations.visit_body(syntax::parse(source)?.suite());
    Ok(annotations.found)
}

#[derive(Default)]
struct Annotations {
    found: BTreeSet<String>,
}

impl<'a> Visitor<'a> for Annotations {
    fn visit_annotation(&mut self, annotation: &'a Expr) {
        let mut quoted = Quoted::default();
        quoted.visit_expr(annotation);
        for text in quoted.texts {
            if let Ok(parsed) = syntax::parse(&text) {
                let mut names = Names { found: &mut self.found };
                names.visit_body(parsed.suite());
            }
        }
        walk_annotation(self, annotation);
    }
}

/// String literals of an annotation, except those of `Literal[…]`.
#[derive(Default)]
struct Quoted {
    texts: Vec<String>,
}

impl<'a> Visitor<'a> for Quoted {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::StringLiteral(it) => self.texts.push(it.value.to_str().to_owned()),
            Expr::Subscript(it) if is_literal(&it.value) => {}
            _ => walk_expr(self, expr),
        }
    }
}

fn is_literal(expr: &Expr) -> bool {
    crate::test_discovery::last_name(expr) == Some("Literal")
}

struct Names<'n> {
    found: &'n mut BTreeSet<String>,
}

impl<'a> Visitor<'a> for Names<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(it) = expr {
            self.found.insert(it.id.to_string());
        }
        walk_expr(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_are_found_and_values_are_not() {
        let source = "def f(a: \"Basket\", b: list[\"Price | None\"], c: Literal[\"x\"], d: str = \"y\") -> \"dict[str, dt.Day]\": ...\n";
        let found: Vec<String> = quoted_types(source).expect("Python").into_iter().collect();
        assert_eq!(found, ["Basket", "Price", "dict", "dt", "str"]);
    }
}
