//! Mutates one statement, and its place in a block.

use ruff_python_ast::{
    ExceptHandler, Expr, Stmt, StmtAssign, StmtAugAssign, StmtExpr, StmtFunctionDef, StmtIf,
};
use ruff_text_size::Ranged;

use super::{Maker, MutantKind, operators, span};
use crate::syntax;

impl<'a> Maker<'a> {
    pub(super) fn statement(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::If(it) => self.branches(it),
            Stmt::While(it) => {
                self.condition(&it.test);
                self.loop_condition(&it.test);
            }
            Stmt::For(it) => self.walked(&it.iter),
            Stmt::Assert(it) => self.condition(&it.test),
            Stmt::Return(it) => self.returned(it.value.as_deref()),
            Stmt::Assign(it) => self.assigned(it),
            Stmt::AnnAssign(it) => it.value.iter().for_each(|value| self.value(value)),
            Stmt::AugAssign(it) => self.added_to(it),
            Stmt::Break(_) => self.instead(stmt, &["continue", "return"]),
            Stmt::Continue(_) => self.instead(stmt, &["break", "return"]),
            Stmt::Pass(_) if self.loops > 0 => self.instead(stmt, &["continue", "break"]),
            Stmt::Expr(it) => self.evaluated(it),
            Stmt::Try(it) => {
                for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                    if let Some(kind) = &handler.type_ {
                        self.push(span(&**kind), "Exception", MutantKind::Sibling);
                    }
                }
            }
            Stmt::Raise(it) => {
                if let Some(Expr::Call(call)) = it.exc.as_deref() {
                    for other in ["ValueError", "KeyError", "TypeError", "IndexError"] {
                        self.push(span(&*call.func), other, MutantKind::Sibling);
                    }
                }
            }
            _ => {}
        }
        if may_be_left_out(stmt) {
            self.push(span(stmt), "pass", MutantKind::Delete);
        }
    }

    fn returned(&mut self, value: Option<&'a Expr>) {
        let Some(value) = value else { return };
        self.value(value);
        for other in ["None", "True", "False", "[]", "0"] {
            self.push(span(value), other, MutantKind::Fixed);
        }
    }

    fn assigned(&mut self, it: &'a StmtAssign) {
        self.value(&it.value);
        let [target] = it.targets.as_slice() else { return };
        let range = span(target).end..span(&*it.value).start;
        for other in [" += ", " -= "] {
            self.push(range.clone(), other, MutantKind::Keyword);
        }
        self.target(target);
        if let Expr::Name(name) = target {
            let value = self.text(it.value.range());
            for best in ["max", "min"] {
                let text = format!("{best}({}, {value})", name.id);
                self.push(span(&*it.value), text, MutantKind::Wrap);
            }
        }
    }

    fn added_to(&mut self, it: &'a StmtAugAssign) {
        let range = span(&*it.target).end..span(&*it.value).start;
        self.push(range.clone(), " = ", MutantKind::Keyword);
        for other in operators::arithmetic(it.op) {
            self.push(range.clone(), format!(" {other}= "), MutantKind::Operator);
        }
        self.nudge(&it.value, MutantKind::OffByOne);
        self.target(&it.target);
    }

    fn evaluated(&mut self, it: &'a StmtExpr) {
        let start = span(it).start;
        match &*it.value {
            Expr::StringLiteral(_) => {}
            Expr::Yield(inner) => {
                let Some(value) = &inner.value else { return };
                let text = self.text(value.range());
                self.push(span(it), format!("yield from {text}"), MutantKind::Keyword);
                self.value(value);
            }
            Expr::YieldFrom(inner) => {
                let text = self.text(inner.value.range());
                self.push(span(it), format!("yield {text}"), MutantKind::Keyword);
            }
            _ => {
                for word in ["return ", "await "] {
                    self.push(start..start, word, MutantKind::Keyword);
                }
            }
        }
    }

    /// Replaces the target of an assignment.
    fn target(&mut self, target: &'a Expr) {
        if let Expr::Name(name) = target {
            let at = name.range.start().to_usize();
            for other in self.names.variables(&name.id, at, 3) {
                self.push(span(name), other, MutantKind::Name);
            }
        }
        if let Expr::Subscript(it) = target {
            self.nudge(&it.slice, MutantKind::OffByOne);
        }
        if let Expr::Attribute(it) = target {
            let (of, at) = (self.text(it.value.range()), it.attr.range.start().to_usize());
            for other in self.names.attributes(of, false, &it.attr, at) {
                self.push(span(&it.attr), other, MutantKind::Sibling);
            }
        }
    }

    fn instead(&mut self, stmt: &'a Stmt, others: &[&str]) {
        for other in others {
            self.push(span(stmt), *other, MutantKind::Keyword);
        }
    }

    fn branches(&mut self, it: &'a StmtIf) {
        self.condition(&it.test);
        for clause in &it.elif_else_clauses {
            if let Some(test) = &clause.test {
                self.condition(test);
                let start = clause.range.start().to_usize();
                self.push(start..start + "elif".len(), "if", MutantKind::Keyword);
            }
        }
    }

    /// Mutates `while True` to end when a variable is used up.
    fn loop_condition(&mut self, test: &'a Expr) {
        if !matches!(test, Expr::BooleanLiteral(it) if it.value) {
            return;
        }
        let at = test.range().start().to_usize();
        for name in self.names.variables("", at, 8) {
            self.push(span(test), name, MutantKind::Loop);
        }
    }

    /// Wraps the iterable of a loop: a copy, sorted, reversed, or without an end.
    fn walked(&mut self, iter: &'a Expr) {
        let text = self.text(iter.range());
        if matches!(iter, Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) | Expr::Subscript(_)) {
            for other in [
                format!("list({text})"),
                format!("sorted({text})"),
                format!("reversed({text})"),
                format!("set({text})"),
                format!("{text}[1:]"),
                format!("{text}[:-1]"),
            ] {
                self.push(span(iter), other, MutantKind::Wrap);
            }
        }
        for name in self.names.variables(text, iter.range().start().to_usize(), 4) {
            if matches!(iter, Expr::Name(_) | Expr::Attribute(_)) {
                self.push(span(iter), format!("{text}[{name}:]"), MutantKind::Combine);
            }
        }
        for name in self.names.variables(text, iter.range().start().to_usize(), 6) {
            self.push(span(iter), name, MutantKind::Name);
        }
    }

    /// Adds guards at the beginning of a function for parameter values that need special treatment.
    pub(super) fn function(&mut self, def: &'a StmtFunctionDef) {
        let documents =
            |it: &&Stmt| matches!(it, Stmt::Expr(it) if it.value.is_string_literal_expr());
        let Some(first) = def.body.iter().find(|it| !documents(it)) else { return };
        for name in self.names.parameters() {
            for answer in [name.as_str(), "None", "[]", "0", "False", "True"] {
                for test in [format!("not {name}"), format!("{name} is None")] {
                    self.before(first, &format!("if {test}: return {answer}"), MutantKind::Guard);
                }
            }
            for fresh in ["[]", "{}", "set()"] {
                let line = format!("if {name} is None: {name} = {fresh}");
                self.before(first, &line, MutantKind::Guard);
            }
        }
    }

    /// Moves and repeats the statements of a block.
    pub(super) fn block(&mut self, block: &'a [Stmt]) {
        for pair in block.windows(2) {
            self.exchanged(&pair[0], &pair[1]);
            self.moved_in(&pair[0], &pair[1]);
        }
        for stmt in block {
            self.moved_out(stmt);
            self.repeated(stmt, block);
        }
    }

    fn exchanged(&mut self, first: &'a Stmt, second: &'a Stmt) {
        let plain = |it: &Stmt| {
            !matches!(
                it,
                Stmt::FunctionDef(_) | Stmt::ClassDef(_) | Stmt::Import(_) | Stmt::ImportFrom(_)
            )
        };
        let documents = matches!(first, Stmt::Expr(it) if it.value.is_string_literal_expr());
        if !plain(first) || !plain(second) || documents {
            return;
        }
        let between = &self.source[span(first).end..span(second).start];
        let swapped = format!("{}{between}{}", self.text(second.range()), self.text(first.range()));
        let range = span(first).start..span(second).end;
        self.push_at(span(second).start, range, swapped, MutantKind::Move);
    }

    /// Moves the last statement of a loop or branch after it.
    fn moved_out(&mut self, stmt: &'a Stmt) {
        let body = match stmt {
            Stmt::For(it) => &it.body,
            Stmt::While(it) => &it.body,
            Stmt::If(it) => &it.body,
            _ => return,
        };
        let (Some(outer), Some(last)) = (self.indent(stmt), body.last()) else { return };
        let Some(inner) = self.indent(last).filter(|_| body.len() > 1) else { return };
        let range = syntax::line_start(self.source, span(last).start)
            ..syntax::line_end(self.source, span(last).end);
        let moved: String = self.source[range.clone()]
            .split_inclusive('\n')
            .map(|line| match line.strip_prefix(inner) {
                Some(rest) => format!("{outer}{rest}"),
                None => line.to_owned(),
            })
            .collect();
        self.push_at(span(last).start, range, moved, MutantKind::Move);
    }

    /// Moves the statement after a loop or a branch into it.
    fn moved_in(&mut self, stmt: &'a Stmt, next: &'a Stmt) {
        let body = match stmt {
            Stmt::For(it) => &it.body,
            Stmt::While(it) => &it.body,
            Stmt::If(it) => it.elif_else_clauses.last().map_or(&it.body, |last| &last.body),
            _ => return,
        };
        let (Some(outer), Some(last)) = (self.indent(next), body.last()) else { return };
        let Some(inner) = self.indent(last) else { return };
        let range = syntax::line_start(self.source, span(next).start)
            ..syntax::line_end(self.source, span(next).end);
        let moved: String = self.source[range.clone()]
            .split_inclusive('\n')
            .map(|line| match line.strip_prefix(outer) {
                Some(rest) if !line.trim().is_empty() => format!("{inner}{rest}"),
                _ => line.to_owned(),
            })
            .collect();
        self.push_at(span(next).start, range, moved, MutantKind::Move);
    }

    /// Adds statements built from existing ones, before and after this one: state that is not
    /// advanced, a result that is not kept.
    fn repeated(&mut self, stmt: &'a Stmt, block: &'a [Stmt]) {
        if !self.names.in_function() {
            self.kept_results(stmt);
            return;
        }
        let is_last = block.last().is_some_and(|it| std::ptr::eq(it, stmt));
        let body = match stmt {
            Stmt::For(it) => &it.body,
            Stmt::While(it) => &it.body,
            _ => {
                if is_last {
                    self.kept_results(stmt);
                }
                return;
            }
        };
        let at = span(stmt).start;
        let Some(last) = body.last() else { return };
        let variables = self.names.variables("", at, 5);
        for one in &variables {
            for other in variables.iter().filter(|it| *it != one) {
                for place in body {
                    self.before(place, &format!("{one} = {other}"), MutantKind::Insert);
                }
                self.behind(last, &format!("{one} = {other}"), MutantKind::Insert);
            }
            self.before(&body[0], &format!("if not {one}: continue"), MutantKind::Guard);
            self.before(&body[0], &format!("if not {one}: break"), MutantKind::Guard);
        }
        self.collected(stmt, body);
    }

    /// Adds calls that collect a variable of a loop, inside and after the loop.
    fn collected(&mut self, stmt: &'a Stmt, body: &'a [Stmt]) {
        let Some(last) = body.last() else { return };
        let at = span(stmt).start;
        let calls = methods(body).into_iter().take(3);
        for call in calls {
            let receiver = self.text(call.0);
            for name in self.names.variables(receiver, at, 5) {
                for method in ["append", "add", "update"] {
                    if method == call.1 || method == "add" && call.1 != "append" {
                        let line = format!("{receiver}.{method}({name})");
                        self.behind(stmt, &line, MutantKind::Insert);
                        self.behind(last, &line, MutantKind::Insert);
                    }
                }
            }
        }
        let sets = self.names.variables("", at, 6);
        for of in &sets {
            for name in sets.iter().filter(|it| *it != of) {
                for method in ["add", "append", "update"] {
                    let line = format!("{of}.{method}({name})");
                    self.behind(last, &line, MutantKind::Insert);
                    self.behind(stmt, &line, MutantKind::Insert);
                }
            }
        }
    }

    fn kept_results(&mut self, stmt: &'a Stmt) {
        let Stmt::Expr(it) = stmt else { return };
        if let Expr::Call(call) = &*it.value
            && let Some(Expr::Name(first)) = call.arguments.args.first()
        {
            let start = span(stmt).start;
            self.push(start..start, format!("{} = ", first.id), MutantKind::Keyword);
        }
    }

    fn before(&mut self, stmt: &'a Stmt, line: &str, kind: MutantKind) {
        let Some(indent) = self.indent(stmt) else { return };
        let at = syntax::full_range(stmt).start().to_usize();
        self.push(at..at, format!("{line}\n{indent}"), kind);
    }

    fn behind(&mut self, stmt: &'a Stmt, line: &str, kind: MutantKind) {
        let Some(indent) = self.indent(stmt) else { return };
        let at = span(stmt).end;
        self.push_at(at, at..at, format!("\n{indent}{line}"), kind);
    }

    /// Returns the white space before a statement that begins its line.
    fn indent(&self, stmt: &Stmt) -> Option<&'a str> {
        let at = syntax::full_range(stmt).start().to_usize();
        let before = &self.source[syntax::line_start(self.source, at)..at];
        before.trim().is_empty().then_some(before)
    }
}

/// Returns whether a statement can be removed on its own. Definitions, imports and statements that
/// contain others cannot; a docstring has no effect.
fn may_be_left_out(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(it) => !it.value.is_string_literal_expr(),
        Stmt::FunctionDef(_)
        | Stmt::ClassDef(_)
        | Stmt::Pass(_)
        | Stmt::Import(_)
        | Stmt::ImportFrom(_)
        | Stmt::Try(_)
        | Stmt::With(_) => false,
        _ => true,
    }
}

/// Returns the receivers and names of the methods that the statements of a body call.
fn methods(body: &[Stmt]) -> Vec<(ruff_text_size::TextRange, &str)> {
    let mut found = Vec::new();
    let mut open: Vec<&Stmt> = body.iter().collect();
    while let Some(stmt) = open.pop() {
        if let Stmt::Expr(it) = stmt
            && let Expr::Call(call) = &*it.value
            && let Expr::Attribute(method) = &*call.func
        {
            found.push((method.value.range(), method.attr.as_str()));
        }
        open.extend(syntax::blocks(stmt).into_iter().flatten());
    }
    found
}
