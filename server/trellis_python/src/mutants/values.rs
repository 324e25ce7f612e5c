//! Mutates whole conditions, and values that are returned, assigned or passed on.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged;

use super::{Maker, MutantKind, span};

impl<'a> Maker<'a> {
    pub(super) fn negate(&mut self, test: &'a Expr) {
        let text = self.text(test.range());
        self.push(span(test), format!("(not ({text}))"), MutantKind::Negation);
    }

    /// Mutates a whole condition.
    pub(super) fn condition(&mut self, test: &'a Expr) {
        let text = self.text(test.range());
        if !matches!(test, Expr::BooleanLiteral(_)) {
            self.negate(test);
            self.push(span(test), "True", MutantKind::Fixed);
            self.push(span(test), "False", MutantKind::Fixed);
        }
        // The object of an attribute access or subscript may be empty or `None`.
        for base in asked(test) {
            let name = self.text(base.range());
            self.push(span(test), format!("(not {name} or {text})"), MutantKind::Guard);
            self.push(span(test), format!("({name} and {text})"), MutantKind::Guard);
        }
        let at = test.range().start().to_usize();
        for name in self.names.variables("", at, 4) {
            if !text.contains(name.as_str()) {
                self.push(span(test), format!("({text} and {name})"), MutantKind::Guard);
                self.push(span(test), format!("({text} or not {name})"), MutantKind::Guard);
            }
        }
    }

    /// Adds one to an expression, and subtracts one.
    pub(super) fn nudge(&mut self, expr: &'a Expr, kind: MutantKind) {
        let text = match expr {
            Expr::Name(_) | Expr::Call(_) | Expr::Attribute(_) | Expr::Subscript(_) => {
                self.text(expr.range()).to_owned()
            }
            Expr::BinOp(_) => format!("({})", self.text(expr.range())),
            _ => return,
        };
        self.push(span(expr), format!("{text} + 1"), kind);
        self.push(span(expr), format!("{text} - 1"), kind);
    }

    /// Mutates a value that is returned or assigned.
    pub(super) fn value(&mut self, expr: &'a Expr) {
        let text = self.text(expr.range());
        let is_number = matches!(
            expr,
            Expr::BinOp(_)
                | Expr::Call(_)
                | Expr::Name(_)
                | Expr::Subscript(_)
                | Expr::Attribute(_)
        );
        if is_number {
            self.nudge(expr, MutantKind::OffByOne);
            for wrapped in [
                format!("max(0, {text})"),
                format!("abs({text})"),
                format!("({text}).copy()"),
                format!("({text} or [])"),
            ] {
                self.push(span(expr), wrapped, MutantKind::Wrap);
            }
        }
        if matches!(expr, Expr::Compare(_) | Expr::BoolOp(_)) {
            self.negate(expr);
        }
        self.with_another(expr);
        if let Expr::List(list) = expr
            && list.elts.is_empty()
        {
            self.push(span(expr), "[[]]", MutantKind::Constant);
        }
        if matches!(expr, Expr::Name(_)) && self.names.in_function() {
            self.push(span(expr), format!("await {text}"), MutantKind::Keyword);
        }
        if matches!(expr, Expr::Call(_)) {
            self.push(span(expr), format!("await {text}"), MutantKind::Keyword);
        }
    }

    /// Combines a result with a variable that may be its missing part.
    fn with_another(&mut self, expr: &'a Expr) {
        if expr.is_boolean_literal_expr() {
            for name in self.names.variables("", expr.range().start().to_usize(), 4) {
                self.push(span(expr), format!("not {name}"), MutantKind::Combine);
                self.push(span(expr), format!("{name} == 0"), MutantKind::Combine);
            }
            return;
        }
        if matches!(expr, Expr::Compare(_) | Expr::BoolOp(_) | Expr::StringLiteral(_)) {
            return;
        }
        let text = self.text(expr.range());
        for name in self.names.variables("", expr.range().start().to_usize(), 3) {
            let held = text
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == name.as_str());
            if matches!(expr, Expr::Name(_)) && held {
                continue;
            }
            for other in [
                format!("{text} + {name}"),
                format!("{text} - {name}"),
                format!("[{name}] + {text}"),
                format!("{text} + [{name}]"),
                format!("max({text}, {name})"),
                format!("min({text}, {name})"),
            ] {
                self.push(span(expr), other, MutantKind::Combine);
            }
            self.push(span(expr), name, MutantKind::Combine);
        }
    }
}

/// Returns the names and short chains whose attributes, items or length a condition uses.
fn asked(test: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut open = vec![test];
    while let Some(it) = open.pop() {
        let base = match it {
            Expr::Attribute(it) => Some(&*it.value),
            Expr::Subscript(it) => Some(&*it.value),
            Expr::Compare(it) => {
                open.push(&it.left);
                open.extend(&*it.comparators);
                None
            }
            Expr::UnaryOp(it) => {
                open.push(&it.operand);
                None
            }
            Expr::BoolOp(it) => {
                open.extend(&it.values);
                None
            }
            Expr::Call(it) => match &*it.func {
                Expr::Attribute(method) => Some(&*method.value),
                _ => it.arguments.args.first(),
            },
            _ => None,
        };
        if let Some(base) = base.filter(|it| matches!(it, Expr::Name(_) | Expr::Attribute(_))) {
            found.push(base);
        }
    }
    found.truncate(2);
    found
}
