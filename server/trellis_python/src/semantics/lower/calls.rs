//! Lowers calls.

use ruff_python_ast::{self as ast, Expr as Ast};

use super::Lower;
use super::strings::is_dict;
use crate::semantics::ir::*;
use crate::semantics::names::KNOWN;

impl Lower<'_> {
    pub(super) fn call(&mut self, it: &ast::ExprCall, expectation: ExpectationId) -> ExprId {
        let function = self.expr(&it.func);
        let expr = self.push(Expr::Unknown);
        let mut given = Vec::new();
        for (index, argument) in it.arguments.args.iter().enumerate() {
            let (value, kind) = match argument {
                Ast::Starred(it) => (self.expr(&it.value), ArgumentKind::Starred),
                Ast::StringLiteral(text) if index == 0 && self.takes_type(function) => {
                    (self.string_annotation(text), ArgumentKind::Positional)
                }
                Ast::StringLiteral(_) if index == 0 => {
                    (self.key_expr(argument), ArgumentKind::Positional)
                }
                _ => {
                    let place = Expectation::Argument(expr, index as u32);
                    (self.expected(argument, place), ArgumentKind::Positional)
                }
            };
            given.push(Argument { value, kind });
        }
        for keyword in &it.arguments.keywords {
            given.push(self.keyword(keyword, expr));
        }
        for (index, argument) in given.iter().enumerate() {
            if let Expr::Lambda(lambda) = self.module.expr(argument.value) {
                self.module.functions[lambda.index()].argument_of = Some((expr, index as u32));
            }
        }
        let start = self.module.arguments.len() as u32;
        let length = given.len() as u32;
        self.module.arguments.extend_from_slice(&given);
        let call = Call { function, arguments: List { start, length }, scope: self.scope };
        self.module.calls.push(call);
        self.module.exprs[expr.index()] = Expr::Call(self.module.calls.len() as u32 - 1);
        self.strings_of_call(it, function, &given);
        if is_dict(it) {
            self.keyword_names(it, Quoted::Entry(expectation));
        }
        expr
    }

    fn keyword(&mut self, keyword: &ast::Keyword, call: ExprId) -> Argument {
        let is_type = keyword.arg.as_ref().is_some_and(|it| it == "bound");
        let value = match &keyword.value {
            Ast::StringLiteral(text) if is_type => self.string_annotation(text),
            other => {
                let name = keyword.arg.as_ref().map(|it| self.name(it.range));
                let place = match name {
                    Some(name) => Expectation::Keyword(call, name),
                    None => Expectation::Unpacked(call),
                };
                self.expected(other, place)
            }
        };
        let kind = match &keyword.arg {
            None => ArgumentKind::Keywords,
            Some(name) => {
                self.occurs(name.range, Role::Keyword(call));
                ArgumentKind::Keyword(self.name(name.range))
            }
        };
        Argument { value, kind }
    }

    /// Returns whether a function takes a type as a string, as in `cast("Node", x)`.
    fn takes_type(&self, function: ExprId) -> bool {
        match self.module.expr(function) {
            Expr::Name(name, ..) | Expr::Attribute(_, name, _) => name == KNOWN.cast,
            _ => false,
        }
    }
}
