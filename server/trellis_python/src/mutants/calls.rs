//! Mutates calls, indexes and slices.

use ruff_python_ast::{Expr, ExprCall, ExprSlice, ExprSubscript, Number};
use ruff_text_size::Ranged;

use super::{Maker, MutantKind, operators, span};

impl<'a> Maker<'a> {
    pub(super) fn call(&mut self, it: &'a ExprCall) {
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
        // Removes the call: the argument or the receiver alone may be the intended value.
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

    /// Mutates an argument of a recursive call: adds or subtracts another variable.
    fn reduced(&mut self, argument: &'a Expr) {
        let Expr::Name(name) = argument else { return };
        for other in self.names.variables(&name.id, argument.range().start().to_usize(), 4) {
            for operator in ["-", "+"] {
                let text = format!("{} {operator} {other}", name.id);
                self.push(span(argument), text, MutantKind::Combine);
            }
        }
    }

    /// Mutates calls whose options are often wrong.
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

    pub(super) fn subscript(&mut self, it: &'a ExprSubscript) {
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
}
