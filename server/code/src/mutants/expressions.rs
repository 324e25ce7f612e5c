//! Mutants of one expression.

use ruff_python_ast::{
    BoolOp, CmpOp, Expr, ExprAttribute, ExprBinOp, ExprBoolOp, ExprCall, ExprCompare, ExprSlice,
    ExprSubscript, Number, Operator, UnaryOp,
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

    /// Elements of a tuple, an index of several parts among them, the other way around.
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

    /// Between two operands stands the operator, perhaps with parentheses.
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
            // A base case that leaves its neighbour out.
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
        // Texts and lists are added in an order as well.
        if operators::is_ordered(it.op) || it.op == Operator::Add {
            self.push(span(it), format!("{right} {old} {left}"), MutantKind::Operator);
        }
        // A product of a sum: the parentheses may be what was forgotten.
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

    fn negate(&mut self, test: &'a Expr) {
        let text = self.text(test.range());
        self.push(span(test), format!("(not ({text}))"), MutantKind::Negation);
    }

    /// A condition as a whole.
    pub(super) fn condition(&mut self, test: &'a Expr) {
        let text = self.text(test.range());
        if !matches!(test, Expr::BooleanLiteral(_)) {
            self.negate(test);
            self.push(span(test), "True", MutantKind::Fixed);
            self.push(span(test), "False", MutantKind::Fixed);
        }
        // What is asked for an attribute or an item may be nothing at all.
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
        if !self.names.is_variable(name) {
            return;
        }
        let at = expr.range().start().to_usize();
        for other in self.names.variables(name, at, 6) {
            self.push(span(expr), other, MutantKind::Name);
        }
    }

    fn attribute(&mut self, it: &'a ExprAttribute, called: bool) {
        let (of, at) = (self.text(it.value.range()), it.attr.range.start().to_usize());
        for other in self.names.attributes(of, called, &it.attr, at) {
            self.push(span(&it.attr), other, MutantKind::Sibling);
        }
    }

    fn call(&mut self, it: &'a ExprCall) {
        let called = match &*it.func {
            Expr::Name(name) => {
                for other in self.names.functions(&name.id, name.range.start().to_usize()) {
                    self.push(span(name), other, MutantKind::Sibling);
                }
                Some((span(name), name.id.as_str()))
            }
            Expr::Attribute(method) => {
                self.attribute(method, true);
                for other in
                    self.names.functions(&method.attr, method.attr.range.start().to_usize())
                {
                    self.push(span(&method.attr), other, MutantKind::Sibling);
                }
                Some((span(&method.attr), method.attr.as_str()))
            }
            _ => None,
        };
        if let Some((range, name)) = called {
            for other in operators::siblings(name) {
                self.push(range.clone(), other, MutantKind::Sibling);
            }
            self.known_call(it, name);
        }
        self.arguments(it);
    }

    fn arguments(&mut self, it: &'a ExprCall) {
        let args = &it.arguments.args;
        for pair in args.windows(2) {
            let (first, second) = (&pair[0], &pair[1]);
            let between =
                &self.source[first.range().end().to_usize()..second.range().start().to_usize()];
            let swapped =
                format!("{}{between}{}", self.text(second.range()), self.text(first.range()));
            let range = first.range().start().to_usize()..second.range().end().to_usize();
            self.push(range, swapped, MutantKind::Arguments);
            let range = first.range().end().to_usize()..second.range().end().to_usize();
            self.push(range, "", MutantKind::Arguments);
            let range = first.range().start().to_usize()..second.range().start().to_usize();
            self.push(range, "", MutantKind::Arguments);
        }
        for keyword in &it.arguments.keywords {
            let range = span(keyword);
            let before = self.source[..range.start].trim_end();
            let start = before.strip_suffix(',').map_or(range.start, str::len);
            self.push_at(range.start, start..range.end, "", MutantKind::Arguments);
        }
        args.iter().for_each(|arg| self.nudge(arg, MutantKind::OffByOne));
        if matches!(&*it.func, Expr::Name(name) if self.names.is_recursion(&name.id)) {
            args.iter().for_each(|arg| self.reduced(arg));
        }
        // Not called, or called for nothing: the argument may be what is meant.
        if let ([only], []) = (&**args, it.arguments.keywords.as_slice())
            && matches!(&*it.func, Expr::Name(_))
            && !only.is_starred_expr()
        {
            let inner = self.text(only.range());
            self.push(span(it), format!("({inner})"), MutantKind::Operand);
        }
        if let (Expr::Attribute(method), []) = (&*it.func, &**args) {
            let inner = self.text(method.value.range());
            self.push(span(it), inner, MutantKind::Operand);
        }
    }

    /// What a function hands to itself: less by something that it has computed.
    fn reduced(&mut self, argument: &'a Expr) {
        let Expr::Name(name) = argument else { return };
        for other in self.names.variables(&name.id, argument.range().start().to_usize(), 4) {
            for operator in ["-", "+"] {
                let text = format!("{} {operator} {other}", name.id);
                self.push(span(argument), text, MutantKind::Combine);
            }
        }
    }

    /// Calls whose options are often wrong.
    fn known_call(&mut self, it: &'a ExprCall, name: &str) {
        let end = it.range().end().to_usize() - 1;
        let has = |option: &str| {
            it.arguments.keywords.iter().any(|it| it.arg.as_ref().is_some_and(|it| it == option))
        };
        let count = it.arguments.args.len();
        match (name, count) {
            ("range", 1) => {
                let start = it.arguments.args[0].range().start().to_usize();
                self.push(start..start, "1, ", MutantKind::OffByOne);
            }
            ("sorted", 1) | ("sort", 0) if !has("reverse") => {
                let comma = if count == 0 && it.arguments.keywords.is_empty() { "" } else { ", " };
                self.push(end..end, format!("{comma}reverse=True"), MutantKind::Arguments);
            }
            ("len", 1) => {
                self.push(
                    it.range().end().to_usize()..it.range().end().to_usize(),
                    " - 1",
                    MutantKind::OffByOne,
                );
                self.push(
                    it.range().end().to_usize()..it.range().end().to_usize(),
                    " + 1",
                    MutantKind::OffByOne,
                );
            }
            ("get", 1) => {
                for default in ["0", "[]", "\"\"", "{}"] {
                    self.push(end..end, format!(", {default}"), MutantKind::Arguments);
                }
            }
            ("enumerate", 1) => self.push(end..end, ", 1", MutantKind::Arguments),
            ("pop", 0) => self.push(end..end, "0", MutantKind::Arguments),
            ("round", 1) => self.push(end..end, ", 2", MutantKind::Arguments),
            _ => {}
        }
    }

    fn subscript(&mut self, it: &'a ExprSubscript) {
        match &*it.slice {
            Expr::Slice(slice) => self.slice(slice),
            Expr::Tuple(parts) => {
                parts.elts.iter().for_each(|part| self.nudge(part, MutantKind::OffByOne));
            }
            Expr::NumberLiteral(number) => {
                if let Number::Int(value) = &number.value
                    && value.as_u8() == Some(0)
                {
                    self.push(span(number), "-1", MutantKind::OffByOne);
                }
            }
            index => {
                self.nudge(index, MutantKind::OffByOne);
                let (of, key) = (self.text(it.value.range()), self.text(index.range()));
                self.push(span(it), format!("{of}.get({key}, 0)"), MutantKind::Wrap);
                self.push(span(it), format!("{of}.get({key})"), MutantKind::Wrap);
            }
        }
    }

    fn slice(&mut self, it: &'a ExprSlice) {
        for bound in [&it.lower, &it.upper].into_iter().flatten() {
            self.nudge(bound, MutantKind::OffByOne);
        }
        let (start, end) = (it.range.start().to_usize(), it.range.end().to_usize());
        if it.lower.is_none() {
            self.push(start..start, "1", MutantKind::OffByOne);
        } else if let Some(lower) = &it.lower {
            self.push(span(&**lower), "", MutantKind::OffByOne);
        }
        match &it.upper {
            None if it.step.is_none() => self.push(end..end, "-1", MutantKind::OffByOne),
            None => {}
            Some(upper) => self.push(span(&**upper), "", MutantKind::OffByOne),
        }
    }

    /// One more, one less.
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

    /// A value that is returned or assigned.
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

    /// A result that lacks a part, which is at hand as a variable.
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

/// What a condition asks for attributes, items or a length: names and short chains.
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
