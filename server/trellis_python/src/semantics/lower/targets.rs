//! Lowers assignment targets: the left side of `=`, and targets of `for`, `with … as` and `del`.

use ruff_python_ast::{self as ast, Expr as Ast};
use ruff_text_size::Ranged;

use super::Lower;
use crate::semantics::ir::*;

impl Lower<'_> {
    /// Assigns a value to a target.
    pub(super) fn target(&mut self, target: &Ast, value: ExprId) {
        match target {
            Ast::Name(it) => {
                if !it.range.is_empty() {
                    self.bind_at(it.range, BindingKind::Value(value));
                }
            }
            Ast::Attribute(it) => self.attribute_target(it, BindingKind::Value(value), Some(value)),
            Ast::Tuple(it) => self.unpack(&it.elts, value),
            Ast::List(it) => self.unpack(&it.elts, value),
            Ast::Starred(it) => self.target(&it.value, value),
            Ast::Subscript(_) => self.item_target(target, value),
            other => {
                let _ = self.expr(other);
            }
        }
    }

    /// Assigns `object[index] = …`.
    fn item_target(&mut self, target: &Ast, value: ExprId) {
        let item = self.expr(target);
        self.module.stores.push((item, value));
        if let (Expr::Subscript(object, ..), Some(key)) =
            (self.module.expr(item), self.key_of(item))
        {
            let stored = self.push(Expr::Stored(object, value));
            self.assigned(key, Assigned::Value(stored));
        }
    }

    fn unpack(&mut self, targets: &[Ast], value: ExprId) {
        let starred = targets.iter().position(Ast::is_starred_expr);
        for (index, target) in targets.iter().enumerate() {
            let part = match starred {
                Some(star) if index == star => Expr::Rest(value),
                Some(star) if index > star => {
                    Expr::Part(value, index as i32 - targets.len() as i32)
                }
                _ => Expr::Part(value, index as i32),
            };
            let part = self.push(part);
            self.target(target, part);
        }
    }

    /// Assigns `object.name = …`. On `self`, the assignment creates an attribute of the class.
    pub(super) fn attribute_target(
        &mut self,
        it: &ast::ExprAttribute,
        kind: BindingKind,
        value: Option<ExprId>,
    ) {
        let object = self.expr(&it.value);
        let range = it.attr.range();
        if range.is_empty() {
            return;
        }
        let name = self.name(range);
        let expr = self.push(Expr::Attribute(object, name, self.flow));
        self.occurs(range, Role::Attribute(expr));
        if let Some((class, on_instance)) = self.own_class(object) {
            let scope = self.module.class(class).scope;
            let symbol = self.symbol_in(scope, name);
            let only = on_instance && {
                let it = self.module.symbol(symbol);
                it.bindings.is_empty() || it.on_instance
            };
            self.add_binding(symbol, range, kind);
            self.module.symbols[symbol.index()].on_instance = only;
        }
        self.module.stores.extend(value.map(|value| (expr, value)));
        if let (Some(key), Some(value)) = (self.key_of(expr), value) {
            self.assigned(key, Assigned::Value(value));
        }
    }

    /// Returns the class whose `self` (flag true) or `cls` (flag false) an expression is.
    fn own_class(&self, object: ExprId) -> Option<(ClassId, bool)> {
        let Expr::Name(_, Some(symbol), _) = self.module.expr(object) else { return None };
        let first = *self.module.symbol(symbol).bindings.first()?;
        let BindingKind::Parameter(function, 0) = self.module.binding(first).kind else {
            return None;
        };
        let function = self.module.function(function);
        let class = function.class?;
        let decorated = |name: &str| {
            let mut all = function.decorators.iter();
            all.any(|it| matches!(self.module.expr(*it), Expr::Name(it, ..) if it.text() == name))
        };
        if decorated("staticmethod") {
            return None;
        }
        let of_class = decorated("classmethod")
            || function.name.is_some_and(|it| matches!(it.text(), "__new__" | "__init_subclass__"));
        Some((class, !of_class))
    }

    /// Lowers `del target`.
    pub(super) fn delete(&mut self, target: &Ast) {
        match target {
            Ast::Tuple(it) => it.elts.iter().for_each(|it| self.delete(it)),
            Ast::List(it) => it.elts.iter().for_each(|it| self.delete(it)),
            other => {
                let expr = self.expr(other);
                if let Some(key) = self.key_of(expr) {
                    self.assigned(key, Assigned::Unknown);
                }
            }
        }
    }
}
