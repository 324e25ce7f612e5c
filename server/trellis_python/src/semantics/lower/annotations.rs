//! Lowers annotations, whose strings are types.

use ruff_python_ast::{Expr as Ast, ExprStringLiteral};
use ruff_python_parser::parse_string_annotation;

use super::Lower;
use super::exprs::dunder;
use crate::semantics::ir::*;

impl Lower<'_> {
    /// Lowers an expression in which strings are types.
    pub(super) fn annotation(&mut self, expr: &Ast) -> ExprId {
        let lowered = match expr {
            Ast::StringLiteral(it) => return self.string_annotation(it),
            Ast::Subscript(it) => {
                let value = self.expr(&it.value);
                let index = match (self.last_name(value), &*it.slice) {
                    (Some("Literal"), slice) => self.expr(slice),
                    (Some("Annotated"), Ast::Tuple(all)) => self.annotated(&all.elts),
                    (_, slice) => self.annotation(slice),
                };
                Expr::Subscript(value, index, self.flow)
            }
            Ast::Tuple(it) => Expr::Tuple(self.annotations(&it.elts)),
            Ast::List(it) => Expr::List(self.annotations(&it.elts)),
            Ast::BinOp(it) => {
                let (left, right) = (self.annotation(&it.left), self.annotation(&it.right));
                Expr::Binary(left, right, dunder(it.op))
            }
            Ast::Starred(it) => Expr::Starred(self.annotation(&it.value)),
            _ => return self.expr(expr),
        };
        self.push(lowered)
    }

    fn annotations(&mut self, items: &[Ast]) -> List {
        let items: Vec<ExprId> = items.iter().map(|it| self.annotation(it)).collect();
        self.push_list(&items)
    }

    /// Lowers the arguments of `Annotated[type, anything, …]`.
    fn annotated(&mut self, items: &[Ast]) -> ExprId {
        let mut all = items.iter();
        let first: Vec<ExprId> = all.next().map(|it| self.annotation(it)).into_iter().collect();
        let rest: Vec<ExprId> = all.map(|it| self.expr(it)).collect();
        let list = self.push_list(&[first, rest].concat());
        self.push(Expr::Tuple(list))
    }

    fn last_name(&self, expr: ExprId) -> Option<&'static str> {
        match self.module.expr(expr) {
            Expr::Name(name, ..) | Expr::Attribute(_, name, _) => Some(name.text()),
            _ => None,
        }
    }

    pub(super) fn string_annotation(&mut self, it: &ExprStringLiteral) -> ExprId {
        let parsed = self
            .plain_content(it)
            .and_then(|_| parse_string_annotation(self.source, it.as_single_part_string()?).ok());
        match parsed {
            // A string that is not an expression contains no names.
            None => self.push(Expr::String),
            Some(parsed) => self.annotation(parsed.expr()),
        }
    }
}
