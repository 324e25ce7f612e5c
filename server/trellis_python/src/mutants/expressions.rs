//! Mutates one expression.

use ruff_python_ast::{
    BoolOp, CmpOp, Expr, ExprAttribute, ExprBinOp, ExprBoolOp, ExprCompare, Number, Operator,
    UnaryOp,
};
use ruff_text_size::Ranged;

use super::{Maker, MutantKind, operators, span};

impl<'a> Maker<'a> {
    pub(super) fn expression(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(it) => self.comparison(it),
            Expr::BinOp(it) => self.arithmetic(it),
            Expr::BoolOp(it) => self.logic(it),
            Expr::UnaryOp(it) => {
                if matches!(it.op, UnaryOp::Not | UnaryOp::USub | UnaryOp::Invert) {
                    let operand = it.range.start().to_usize() + it.op.as_str().len()
                        ..it.range.end().to_usize();
                    let inner = self.source[operand].trim().to_owned();
                    let kind = match it.op {
                        UnaryOp::Not => MutantKind::Negation,
                        _ => MutantKind::Operator,
                    };
                    self.push(span(it), inner, kind);
                }
            }
            Expr::NumberLiteral(it) => self.number(expr, &it.value),
            Expr::BooleanLiteral(it) => {
                let other = if it.value { "False" } else { "True" };
                self.push(span(it), other, MutantKind::Constant);
            }
            Expr::StringLiteral(_) => self.string(expr),
            Expr::Name(it) if it.ctx.is_load() => self.name(expr, it.id.as_str()),
            Expr::Attribute(it) if it.ctx.is_load() => self.attribute(it, false),
            Expr::Call(it) => self.call(it),
            Expr::Subscript(it) if it.ctx.is_load() => self.subscript(it),
            Expr::If(it) => {
                self.condition(&it.test);
                let (body, other) = (self.text(it.body.range()), self.text(it.orelse.range()));
                self.push(span(it), body, MutantKind::Operand);
                self.push(span(it), other, MutantKind::Operand);
            }
            Expr::ListComp(it) => self.generators(&it.generators),
            Expr::SetComp(it) => self.generators(&it.generators),
            Expr::DictComp(it) => self.generators(&it.generators),
            Expr::Generator(it) => self.generators(&it.generators),
            Expr::Tuple(it) => self.exchanged_elements(&it.elts),
            Expr::Lambda(it) => self.value(&it.body),
            Expr::Await(it) => {
                let inner = self.text(it.value.range());
                self.push(span(it), inner, MutantKind::Keyword);
            }
            _ => {}
        }
    }

    /// Exchanges neighboring elements of a tuple or of an index with several parts.
    fn exchanged_elements(&mut self, elements: &'a [Expr]) {
        for pair in elements.windows(2) {
            let (first, second) = (span(&pair[0]), span(&pair[1]));
            let between = &self.source[first.end..second.start];
            let swapped =
                format!("{}{between}{}", &self.source[second.clone()], &self.source[first.clone()]);
            self.push(first.start..second.end, swapped, MutantKind::Arguments);
        }
    }

    fn generators(&mut self, generators: &'a [ruff_python_ast::Comprehension]) {
        for it in generators {
            it.ifs.iter().for_each(|test| self.condition(test));
            let end = it.range.end().to_usize();
            if let (Expr::Name(name), []) = (&it.target, it.ifs.as_slice()) {
                self.push(end..end, format!(" if {}", name.id), MutantKind::Guard);
            }
        }
    }

    /// Returns the range of the operator between two operands, around which there may be
    /// parentheses.
    fn operator_between(
        &mut self,
        left: &Expr,
        right: &Expr,
        old: &str,
    ) -> Option<std::ops::Range<usize>> {
        let (start, end) = (left.range().end().to_usize(), right.range().start().to_usize());
        let at = start + self.source.get(start..end)?.find(old)?;
        Some(at..at + old.len())
    }

    fn comparison(&mut self, it: &'a ExprCompare) {
        let lefts = std::iter::once(&*it.left).chain(it.comparators.iter());
        for ((left, op), right) in lefts.zip(&it.ops).zip(&it.comparators) {
            let Some(range) = self.operator_between(left, right, op.as_str()) else { continue };
            for (other, kind) in operators::comparisons(*op) {
                self.push(range.clone(), *other, *kind);
            }
            // A base case may wrongly leave out the neighboring number.
            if let (CmpOp::Eq, Expr::NumberLiteral(number)) = (op, right)
                && let Number::Int(value) = &number.value
                && let Some(value) = value.as_i64()
            {
                let wider = format!("<= {}", value.saturating_add(1));
                self.push(range.start..span(number).end, wider, MutantKind::Boundary);
            }
            for side in [left, right] {
                self.nudge(side, MutantKind::OffByOne);
            }
        }
    }

    fn arithmetic(&mut self, it: &'a ExprBinOp) {
        let old = it.op.as_str();
        let Some(range) = self.operator_between(&it.left, &it.right, old) else { return };
        for other in operators::arithmetic(it.op) {
            self.push(range.clone(), *other, MutantKind::Operator);
        }
        let left = self.source[it.range.start().to_usize()..range.start].trim();
        let right = self.source[range.end..it.range.end().to_usize()].trim();
        self.push(span(it), left, MutantKind::Operand);
        self.push(span(it), right, MutantKind::Operand);
        // The order of operands also matters for adding strings and lists.
        if operators::is_ordered(it.op) || it.op == Operator::Add {
            self.push(span(it), format!("{right} {old} {left}"), MutantKind::Operator);
        }
        // In a product that contains a sum, the parentheses may be missing.
        if let Expr::BinOp(inner) = &*it.left
            && self.source.as_bytes()[it.range.start().to_usize()] != b'('
            && let Some(first) = self.operator_between(&inner.left, &inner.right, inner.op.as_str())
        {
            let head = self.source[it.range.start().to_usize()..first.end].to_owned();
            let tail = &self.source[first.end..it.range.end().to_usize()];
            self.push(span(it), format!("{head} ({})", tail.trim()), MutantKind::Operator);
        }
        if let Expr::BinOp(inner) = &*it.right
            && self.operator_between(&inner.left, &inner.right, inner.op.as_str()).is_some()
        {
            let start = it.range.start().to_usize();
            let middle = inner.left.range().end().to_usize();
            let (head, tail) =
                (&self.source[start..middle], &self.source[middle..it.range.end().to_usize()]);
            self.push(span(it), format!("({head}){tail}"), MutantKind::Operator);
        }
    }

    fn logic(&mut self, it: &'a ExprBoolOp) {
        let (old, new) = match it.op {
            BoolOp::And => ("and", "or"),
            BoolOp::Or => ("or", "and"),
        };
        for pair in it.values.windows(2) {
            if let Some(range) = self.operator_between(&pair[0], &pair[1], old) {
                self.push(range.clone(), new, MutantKind::Logic);
                let (start, end) = (it.range.start().to_usize(), it.range.end().to_usize());
                let (left, right) =
                    (&self.source[start..range.start], &self.source[range.end..end]);
                self.push(span(it), left.trim(), MutantKind::Operand);
                self.push(span(it), right.trim(), MutantKind::Operand);
            }
        }
        it.values.iter().for_each(|value| self.negate(value));
    }

    fn number(&mut self, expr: &'a Expr, value: &Number) {
        let others: Vec<String> = match value {
            Number::Int(it) => match it.as_i64() {
                Some(0) => vec!["1".to_owned(), "-1".to_owned()],
                Some(1) => vec!["0".to_owned(), "2".to_owned(), "-1".to_owned()],
                Some(it) => vec![
                    it.saturating_add(1).to_string(),
                    it.saturating_sub(1).to_string(),
                    "0".to_owned(),
                    "1".to_owned(),
                    it.saturating_mul(10).to_string(),
                    (it / 10).to_string(),
                ],
                None => Vec::new(),
            },
            Number::Float(it) => [it + 1.0, it - 1.0, it * 10.0, it / 10.0, 0.0, 1.0]
                .iter()
                .map(|other| format!("{other:?}"))
                .collect(),
            Number::Complex { .. } => Vec::new(),
        };
        for other in others {
            self.push(span(expr), other, MutantKind::Constant);
        }
    }

    fn string(&mut self, expr: &'a Expr) {
        let text = self.text(expr.range());
        if text.contains('\n') {
            return;
        }
        if text.len() == 2 {
            self.push(span(expr), "\" \"", MutantKind::Constant);
        } else {
            self.push(span(expr), "\"\"", MutantKind::Constant);
        }
        for other in self.names.strings(text, expr.range().start().to_usize()) {
            self.push(span(expr), other, MutantKind::Text);
        }
    }

    fn name(&mut self, expr: &'a Expr, name: &str) {
        let at = expr.range().start().to_usize();
        for other in self.undefined.remove(&at).unwrap_or_default() {
            self.push(span(expr), other, MutantKind::Undefined);
        }
        if !self.names.is_variable(name) {
            return;
        }
        for other in self.names.variables(name, at, 6) {
            self.push(span(expr), other, MutantKind::Name);
        }
    }

    pub(super) fn attribute(&mut self, it: &'a ExprAttribute, called: bool) {
        let (of, at) = (self.text(it.value.range()), it.attr.range.start().to_usize());
        for other in self.names.attributes(of, called, &it.attr, at) {
            self.push(span(&it.attr), other, MutantKind::Sibling);
        }
    }
}
