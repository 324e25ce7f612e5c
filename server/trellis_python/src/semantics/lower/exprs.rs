//! Lowers expressions.

use ruff_python_ast::{
    self as ast, BoolOp, CmpOp, Comprehension, Expr as Ast, InterpolatedStringElement, Operator,
    UnaryOp,
};

use super::bound::Bound;
use super::strings::NOTHING;
use super::{Lower, UNREACHABLE};
use crate::semantics::ir::*;
use crate::semantics::names::Name;

impl Lower<'_> {
    pub(super) fn expr(&mut self, expr: &Ast) -> ExprId {
        let expectation = std::mem::replace(&mut self.expectation, NOTHING);
        let lowered = match expr {
            Ast::Name(it) => return self.name_expr(it),
            Ast::Attribute(it) => return self.attribute(it),
            Ast::Call(it) => return self.call(it, expectation),
            Ast::BoolOp(it) => self.bool_op(it),
            Ast::If(it) => self.if_else(it, expectation),
            Ast::Named(it) => return self.walrus(it),
            Ast::Lambda(it) => Expr::Lambda(self.lambda(it)),
            Ast::Subscript(it) => self.subscript(it),
            Ast::Await(it) => Expr::Await(self.expr(&it.value)),
            Ast::Starred(it) => Expr::Starred(self.expr(&it.value)),
            Ast::UnaryOp(it) => {
                let operand = self.expr(&it.operand);
                if it.op == UnaryOp::Not { Expr::Not(operand) } else { Expr::Unary(operand) }
            }
            Ast::BinOp(it) => {
                match it.op {
                    Operator::Add => self.sum(&it.left, &it.right),
                    Operator::Mod => self.template(&it.left, ('%', '%'), Some(&it.right)),
                    _ => {}
                }
                let (left, right) = (self.expr(&it.left), self.expr(&it.right));
                Expr::Binary(left, right, dunder(it.op))
            }
            Ast::Compare(it) => self.compare(it),
            Ast::Tuple(it) => Expr::Tuple(self.listed(&it.elts, expectation)),
            Ast::List(it) => Expr::List(self.listed(&it.elts, expectation)),
            Ast::Set(it) => Expr::Set(self.listed(&it.elts, expectation)),
            Ast::Dict(it) => self.dict(it, expectation),
            Ast::ListComp(it) => Expr::ListComp(
                self.comprehension(&it.generators, |lower| lower.element(&it.elt, expectation)),
            ),
            Ast::SetComp(it) => {
                Expr::SetComp(self.comprehension(&it.generators, |it2| it2.expr(&it.elt)))
            }
            Ast::Generator(it) => {
                Expr::Generator(self.comprehension(&it.generators, |it2| it2.expr(&it.elt)))
            }
            Ast::DictComp(it) => {
                let (key, value) = self.comprehension(&it.generators, |lower| {
                    let key = it.key.as_ref().map(|key| lower.expr(key));
                    let value = lower.expr(&it.value);
                    (key.unwrap_or(value), value)
                });
                Expr::DictComp(key, value)
            }
            Ast::Yield(it) => return self.yields(it.value.as_deref()),
            Ast::YieldFrom(it) => {
                let value = self.expr(&it.value);
                if let Some(function) = self.function {
                    self.module.functions[function.index()].delegated.push(value);
                }
                Expr::Delegated(value)
            }
            Ast::FString(it) => {
                self.interpolated_names(it);
                it.value.elements().for_each(|it| self.interpolated(it));
                Expr::String
            }
            Ast::TString(it) => {
                it.value.elements().for_each(|it| self.interpolated(it));
                Expr::Unknown
            }
            Ast::StringLiteral(it) => {
                self.plain_string(it);
                Expr::String
            }
            Ast::BytesLiteral(_) => Expr::Bytes,
            Ast::NumberLiteral(it) => match &it.value {
                ast::Number::Int(number) => Expr::Int(number.as_i32()),
                _ => Expr::Float,
            },
            Ast::BooleanLiteral(_) => Expr::Bool,
            Ast::NoneLiteral(_) => Expr::None,
            Ast::EllipsisLiteral(_) => Expr::Ellipsis,
            Ast::Slice(it) => {
                let parts = [&it.lower, &it.upper, &it.step];
                parts.into_iter().flatten().for_each(|it| {
                    let _ = self.expr(it);
                });
                Expr::Slice
            }
            Ast::IpyEscapeCommand(_) => Expr::Unknown,
        };
        self.push(lowered)
    }

    fn listed(&mut self, items: &[Ast], expectation: ExpectationId) -> List {
        let items: Vec<ExprId> = items.iter().map(|it| self.element(it, expectation)).collect();
        self.push_list(&items)
    }

    fn element(&mut self, item: &Ast, of: ExpectationId) -> ExprId {
        if of == NOTHING { self.expr(item) } else { self.expected(item, Expectation::Element(of)) }
    }

    fn name_expr(&mut self, it: &ast::ExprName) -> ExprId {
        if it.range.is_empty() {
            return self.push(Expr::Unknown);
        }
        let name = self.name(it.range);
        let symbol = self.lookup(name);
        let expr = self.push(Expr::Name(name, symbol, self.flow));
        self.occurs(it.range, Role::Name(expr));
        expr
    }

    fn attribute(&mut self, it: &ast::ExprAttribute) -> ExprId {
        let object = self.expr(&it.value);
        if it.attr.range.is_empty() {
            return self.push(Expr::Unknown);
        }
        let name = self.name(it.attr.range);
        let expr = self.push(Expr::Attribute(object, name, self.flow));
        self.occurs(it.attr.range, Role::Attribute(expr));
        expr
    }

    fn walrus(&mut self, it: &ast::ExprNamed) -> ExprId {
        let value = self.expr(&it.value);
        let Ast::Name(name) = &*it.target else { return value };
        // `:=` in a comprehension binds in the scope around it.
        let inner = self.scope;
        while self.module.scopes[self.scope.index()].kind == ScopeKind::Comprehension {
            self.scope = self.module.scopes[self.scope.index()].parent.unwrap_or(super::MODULE);
        }
        if !name.range.is_empty() {
            self.bind_at(name.range, BindingKind::Value(value));
            if let Some(last) = self.module.occurrences.last_mut() {
                last.scope = inner;
            }
        }
        self.scope = inner;
        // Read back as a name, so that a test of the expression narrows the name.
        if name.range.is_empty() {
            return value;
        }
        let name = self.name(name.range);
        let symbol = self.lookup(name);
        self.push(Expr::Name(name, symbol, self.flow))
    }

    fn bool_op(&mut self, it: &ast::ExprBoolOp) -> Expr {
        let is_and = it.op == BoolOp::And;
        let mut parts = Vec::new();
        let mut ends = Vec::new();
        for value in &it.values {
            let part = self.expr(value);
            parts.push(part);
            ends.push(self.flow);
            self.flow = self.tested(part, is_and, self.flow);
        }
        self.flow = self.rejoin(&ends);
        let list = self.push_list(&parts);
        if is_and { Expr::And(list) } else { Expr::Or(list) }
    }

    /// Joins the flows after operands of which only the first certainly ran. If no other operand
    /// assigned anything, the flow is that of the first.
    fn rejoin(&mut self, ends: &[FlowId]) -> FlowId {
        let first = ends.first().copied().unwrap_or(UNREACHABLE);
        let since = &self.module.flows[first.index().min(self.module.flows.len() - 1)..];
        let quiet = !since.iter().skip(1).any(|it| matches!(it, Flow::Assigned { .. }));
        if quiet { first } else { self.join(ends.to_vec()) }
    }

    fn if_else(&mut self, it: &ast::ExprIf, expectation: ExpectationId) -> Expr {
        let test = self.expr(&it.test);
        let before = self.flow;
        self.flow = self.tested(test, true, before);
        self.expectation = expectation;
        let body = self.expr(&it.body);
        let first = self.flow;
        self.flow = self.tested(test, false, before);
        self.expectation = expectation;
        let orelse = self.expr(&it.orelse);
        let ends = [before, first, self.flow];
        self.flow = self.rejoin(&ends);
        Expr::Either(self.push_list(&[body, orelse]))
    }

    fn subscript(&mut self, it: &ast::ExprSubscript) -> Expr {
        let value = self.expr(&it.value);
        let index = if self.is_generic_alias(value) {
            self.annotation(&it.slice)
        } else {
            self.key_string(&it.slice, value);
            self.key_expr(&it.slice)
        };
        Expr::Subscript(value, index, self.flow)
    }

    /// Returns whether a subscript is a generic alias outside annotations, such as `List["Node"]`,
    /// in which strings are types.
    fn is_generic_alias(&self, value: ExprId) -> bool {
        let (Expr::Name(name, ..) | Expr::Attribute(_, name, _)) = self.module.expr(value) else {
            return false;
        };
        const GENERIC: [&str; 24] = [
            "List",
            "Dict",
            "Set",
            "FrozenSet",
            "Tuple",
            "Optional",
            "Union",
            "Type",
            "Callable",
            "Iterable",
            "Iterator",
            "Sequence",
            "Mapping",
            "MutableMapping",
            "Generic",
            "Awaitable",
            "Generator",
            "list",
            "dict",
            "set",
            "tuple",
            "type",
            "Deque",
            "DefaultDict",
        ];
        GENERIC.contains(&name.text())
    }

    fn compare(&mut self, it: &ast::ExprCompare) -> Expr {
        let (left, place) = self.pending(&it.left);
        let others: Vec<ExprId> = it
            .comparators
            .iter()
            .map(|it| self.expected(it, Expectation::Compared(left)))
            .collect();
        if let ([CmpOp::In | CmpOp::NotIn], [of]) = (&*it.ops, others.as_slice()) {
            self.key_string(&it.left, *of);
        }
        if let (Some(place), Some(other)) = (place, others.first()) {
            self.module.expectations[place.index()] = Expectation::Compared(*other);
        }
        let op = match it.ops.first() {
            Some(CmpOp::Is) => Comparison::Is,
            Some(CmpOp::IsNot) => Comparison::IsNot,
            Some(CmpOp::Eq) => Comparison::Equal,
            Some(CmpOp::NotEq) => Comparison::NotEqual,
            Some(CmpOp::Lt) => Comparison::Less,
            Some(CmpOp::LtE) => Comparison::LessEqual,
            Some(CmpOp::Gt) => Comparison::Greater,
            Some(CmpOp::GtE) => Comparison::GreaterEqual,
            Some(CmpOp::In) => Comparison::In,
            _ => Comparison::Other,
        };
        let op = if others.len() == 1 { op } else { Comparison::Other };
        Expr::Compare(op, left, others.first().copied().unwrap_or(left))
    }

    fn dict(&mut self, it: &ast::ExprDict, expectation: ExpectationId) -> Expr {
        let mut items = Vec::new();
        for item in &it.items {
            let key = item.key.as_ref().map(|it| {
                self.entry_string(it, expectation);
                self.key_expr(it)
            });
            let value = self.entry_value(item, expectation);
            match key {
                Some(key) => items.extend([key, value]),
                None => items.extend(self.entries(value)),
            }
        }
        Expr::Dict(self.push_list(&items))
    }

    fn entry_value(&mut self, item: &ast::DictItem, of: ExpectationId) -> ExprId {
        if of == NOTHING {
            return self.expr(&item.value);
        }
        let key = match &item.key {
            Some(Ast::StringLiteral(key)) => Some(Name::of(key.value.to_str())),
            _ => None,
        };
        self.expected(&item.value, Expectation::Value(of, key))
    }

    /// Returns some key and some value of `other` in `{**other}`.
    fn entries(&mut self, other: ExprId) -> [ExprId; 2] {
        let key = self.push(Expr::Element(other, false));
        [key, self.push(Expr::Subscript(other, key, self.flow))]
    }

    pub(super) fn comprehension<T>(
        &mut self,
        generators: &[Comprehension],
        result: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (outer, before) = (self.scope, self.flow);
        let inner = self.open(ScopeKind::Comprehension);
        for (index, generator) in generators.iter().enumerate() {
            self.scope = if index == 0 { outer } else { inner };
            let iter = self.expr(&generator.iter);
            self.scope = inner;
            self.declare(&Bound::of_expr(&generator.target));
            let element = self.push(Expr::Element(iter, generator.is_async));
            self.target(&generator.target, element);
            for test in &generator.ifs {
                let test = self.expr(test);
                self.flow = self.tested(test, true, self.flow);
            }
        }
        let result = result(self);
        self.scope = outer;
        // A name bound by `:=` inside the comprehension may be bound after it.
        self.flow = self.rejoin(&[before, self.flow]);
        result
    }

    fn yields(&mut self, value: Option<&Ast>) -> ExprId {
        let value = value.map(|it| self.expr(it));
        let value = value.unwrap_or_else(|| self.push(Expr::None));
        let Some(function) = self.function else { return self.push(Expr::Unknown) };
        self.module.functions[function.index()].yielded.push(value);
        self.push(Expr::Sent(function))
    }

    fn interpolated(&mut self, element: &InterpolatedStringElement) {
        if let InterpolatedStringElement::Interpolation(it) = element {
            self.expr(&it.expression);
            let spec = it.format_spec.iter().flat_map(|it| it.elements.iter());
            spec.for_each(|it| self.interpolated(it));
        }
    }
}

pub(super) fn is_identifier(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c == '_' || c.is_alphanumeric())
}

/// Returns the method that an operator calls.
pub(super) fn dunder(op: Operator) -> Name {
    Name::of(match op {
        Operator::Add => "__add__",
        Operator::Sub => "__sub__",
        Operator::Mult => "__mul__",
        Operator::MatMult => "__matmul__",
        Operator::Div => "__truediv__",
        Operator::Mod => "__mod__",
        Operator::Pow => "__pow__",
        Operator::LShift => "__lshift__",
        Operator::RShift => "__rshift__",
        Operator::BitOr => "__or__",
        Operator::BitXor => "__xor__",
        Operator::BitAnd => "__and__",
        Operator::FloorDiv => "__floordiv__",
    })
}
