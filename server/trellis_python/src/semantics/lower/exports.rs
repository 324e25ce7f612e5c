//! Lowers `__all__`, `__slots__` and `__match_args__`, whose strings are names.

use ruff_python_ast::{Expr as Ast, Operator};

use super::Lower;
use super::exprs::is_identifier;
use crate::semantics::ir::*;
use crate::semantics::names::{KNOWN, Name};

impl Lower<'_> {
    /// Lowers an assignment to one of the three.
    pub(super) fn exports(&mut self, targets: &[Ast], value: &Ast) {
        let names = targets.iter().filter_map(Ast::as_name_expr);
        for name in names.map(|it| Name::of(it.id.as_str())).collect::<Vec<_>>() {
            if name == KNOWN.all && self.at_top() {
                self.module.all = Some(Vec::new());
                self.exported(value);
            } else if name == KNOWN.slots {
                self.slots(value, Role::Slot);
            } else if name == KNOWN.match_args {
                self.slots(value, Role::MatchArgument);
            }
        }
    }

    fn slots(&mut self, value: &Ast, role: fn(ClassId) -> Role) {
        let ScopeKind::Class(class) = self.module.scopes[self.scope.index()].kind else { return };
        let items: Vec<&Ast> = match value {
            Ast::Tuple(it) => it.elts.iter().collect(),
            Ast::List(it) => it.elts.iter().collect(),
            Ast::Set(it) => it.elts.iter().collect(),
            Ast::Dict(it) => it.items.iter().filter_map(|it| it.key.as_ref()).collect(),
            one => vec![one],
        };
        for text in items.into_iter().filter_map(Ast::as_string_literal_expr) {
            if let Some(range) = self.plain_content(text).filter(|it| is_identifier(self.text(*it)))
            {
                self.occurs(range, role(class));
            }
        }
    }

    /// Adds the entries of a list, a sum of lists, or another module's `__all__`.
    fn exported(&mut self, value: &Ast) {
        match value {
            Ast::List(it) => it.elts.iter().for_each(|it| self.export(it)),
            Ast::Tuple(it) => it.elts.iter().for_each(|it| self.export(it)),
            Ast::Starred(it) => self.exported(&it.value),
            Ast::BinOp(it) if it.op == Operator::Add => {
                self.exported(&it.left);
                self.exported(&it.right);
            }
            Ast::Attribute(it) if it.attr.as_str() == "__all__" => {
                let object = self.expr(&it.value);
                self.add_export(Export::AllOf(object));
            }
            Ast::Call(it) if it.arguments.args.len() == 1 => self.exported(&it.arguments.args[0]),
            _ => self.add_export(Export::Unknown),
        }
    }

    fn export(&mut self, item: &Ast) {
        match item {
            Ast::StringLiteral(text) => {
                self.add_export(Export::Name(Name::of(text.value.to_str())));
                if let Some(range) = self.plain_content(text) {
                    self.occurs(range, Role::Export);
                }
            }
            Ast::Starred(it) => self.exported(&it.value),
            _ => self.add_export(Export::Unknown),
        }
    }

    fn add_export(&mut self, export: Export) {
        self.module.all.get_or_insert_default().push(export);
    }

    /// Lowers `__all__ += …`.
    pub(super) fn exports_added(&mut self, target: &Ast, value: &Ast) {
        if is_all(target) && self.at_top() {
            self.exported(value);
        }
    }

    /// Lowers `__all__.append("x")`, `.extend(…)` and `.remove("x")`.
    pub(super) fn exports_call(&mut self, expr: &Ast) {
        let Some(call) = expr.as_call_expr() else { return };
        let Some(method) = call.func.as_attribute_expr() else { return };
        let Some(argument) = call.arguments.args.first().filter(|_| is_all(&method.value)) else {
            return;
        };
        match method.attr.as_str() {
            "append" => self.export(argument),
            "extend" => self.exported(argument),
            "remove" => {
                let Some(text) = argument.as_string_literal_expr() else { return };
                let gone = Export::Name(Name::of(text.value.to_str()));
                self.module.all.get_or_insert_default().retain(|it| *it != gone);
                if let Some(range) = self.plain_content(text) {
                    self.occurs(range, Role::Export);
                }
            }
            _ => {}
        }
    }
}

fn is_all(expr: &Ast) -> bool {
    expr.as_name_expr().is_some_and(|it| it.id.as_str() == "__all__")
}
