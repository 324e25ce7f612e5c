//! Lowers statements, and the flow between them.

use ruff_python_ast::{self as ast, ExceptHandler, Expr as Ast, Stmt};
use ruff_text_size::{Ranged, TextRange, TextSize};

use super::{Lower, UNREACHABLE};
use crate::semantics::ir::*;
use crate::semantics::names::Name;

impl Lower<'_> {
    pub(super) fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.statement(stmt);
            if let Some(ends) = self.tries.last_mut() {
                ends.push(self.flow);
            }
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => self.function(it),
            Stmt::ClassDef(it) => self.class(it),
            Stmt::Expr(it) => match &*it.value {
                Ast::StringLiteral(docstring) => self.doctests(docstring),
                value => {
                    self.expr(value);
                    self.exports_call(value);
                }
            },
            Stmt::Assign(it) => self.assign(it),
            Stmt::AnnAssign(it) => self.annotated_assign(it),
            Stmt::AugAssign(it) => self.augmented_assign(it),
            Stmt::TypeAlias(it) => self.type_alias(it),
            Stmt::Return(it) => self.returns(it),
            Stmt::Raise(it) => {
                it.exc.iter().chain(&it.cause).for_each(|it| {
                    let _ = self.expr(it);
                });
                self.flow = UNREACHABLE;
            }
            Stmt::Assert(it) => {
                let test = self.expr(&it.test);
                let holds = self.flow;
                self.flow = self.tested(test, false, holds);
                it.msg.iter().for_each(|it| {
                    let _ = self.expr(it);
                });
                self.flow = self.tested(test, true, holds);
            }
            Stmt::Delete(it) => it.targets.iter().for_each(|it| self.delete(it)),
            Stmt::If(it) => self.conditional(it),
            Stmt::While(it) => self.while_loop(it),
            Stmt::For(it) => self.for_loop(it),
            Stmt::Try(it) => self.try_block(it),
            Stmt::With(it) => self.with(it),
            Stmt::Match(it) => self.match_block(it),
            Stmt::Import(it) => it.names.iter().for_each(|it| self.import(it)),
            Stmt::ImportFrom(it) => self.import_from(it),
            Stmt::Global(it) => it.names.iter().for_each(|it| self.declared(it)),
            Stmt::Nonlocal(it) => it.names.iter().for_each(|it| self.declared(it)),
            Stmt::Break(_) => self.jump(|(behind, _)| behind),
            Stmt::Continue(_) => self.jump(|(_, head)| head),
            Stmt::Pass(_) | Stmt::IpyEscapeCommand(_) => {}
        }
    }

    fn assign(&mut self, it: &ast::StmtAssign) {
        self.exports(&it.targets, &it.value);
        self.marks(&it.targets, &it.value);
        self.listed_examples(&it.targets, &it.value);
        let place = match it.targets.as_slice() {
            [Ast::Name(name)] => {
                let name = self.name(name.range);
                self.module.bound(self.scope, name).map(Expectation::Symbol)
            }
            _ => None,
        };
        let value = match place {
            Some(place) => self.expected(&it.value, place),
            None => self.expr(&it.value),
        };
        it.targets.iter().for_each(|target| self.target(target, value));
    }

    fn annotated_assign(&mut self, it: &ast::StmtAnnAssign) {
        let annotation = self.annotation(&it.annotation);
        let is_alias = matches!(self.module.expr(annotation),
            Expr::Name(name, ..) | Expr::Attribute(_, name, _) if name.text() == "TypeAlias");
        let value = it.value.as_ref().map(|it| match is_alias {
            true => self.annotation(it),
            false => self.expected(it, Expectation::Annotation(annotation)),
        });
        let kind = match value {
            Some(value) if is_alias => BindingKind::TypeAlias(value),
            _ => BindingKind::Annotated(annotation, value),
        };
        if let Some(value) = &it.value {
            self.exports(std::slice::from_ref(&it.target), value);
        }
        match &*it.target {
            Ast::Name(name) if value.is_none() => self.declare_only(name.range, kind),
            Ast::Name(name) => {
                let _ = self.bind_at(name.range, kind);
            }
            Ast::Attribute(target) => self.attribute_target(target, kind, value),
            other => {
                let _ = self.expr(other);
            }
        }
    }

    /// Declares `name: annotation`, which assigns nothing: the flow continues unchanged.
    fn declare_only(&mut self, range: TextRange, kind: BindingKind) {
        let before = self.flow;
        self.bind_at(range, kind);
        self.flow = before;
    }

    fn augmented_assign(&mut self, it: &ast::StmtAugAssign) {
        let value = self.expr(&it.value);
        self.exports_added(&it.target, &it.value);
        let target = self.expr(&it.target);
        let result = self.push(Expr::Binary(target, value, super::exprs::dunder(it.op)));
        if let Some(key) = self.key_of(target) {
            self.assigned(key, Assigned::Value(result));
        }
        // `global_counter += 1` both reads and binds the name.
        if let Expr::Name(_, Some(symbol), _) = self.module.expr(target) {
            let range = it.target.range();
            self.add_binding(symbol, range, BindingKind::Other);
        }
    }

    fn returns(&mut self, it: &ast::StmtReturn) {
        let value = it.value.as_ref().map(|it| match self.function {
            Some(function) => self.expected(it, Expectation::Returned(function)),
            None => self.expr(it),
        });
        let value = value.unwrap_or_else(|| self.push(Expr::None));
        if let (Some(function), true) = (self.function, self.flow != UNREACHABLE) {
            self.module.functions[function.index()].returned.push(value);
        }
        self.flow = UNREACHABLE;
    }

    fn declared(&mut self, name: &ast::Identifier) {
        let number = self.name(name.range);
        if let Some(symbol) = self.module.bound(self.scope, number) {
            self.occurs(name.range, Role::Declared(symbol));
        }
    }

    // Branches

    fn conditional(&mut self, it: &ast::StmtIf) {
        let mut ends = Vec::new();
        let mut test = self.expr(&it.test);
        let mut before = self.flow;
        self.flow = self.tested(test, true, before);
        self.body(&it.body);
        ends.push(self.flow);
        let mut is_open = true;
        for clause in &it.elif_else_clauses {
            self.flow = self.tested(test, false, before);
            match &clause.test {
                Some(next) => {
                    test = self.expr(next);
                    before = self.flow;
                    self.flow = self.tested(test, true, before);
                }
                None => is_open = false,
            }
            self.body(&clause.body);
            ends.push(self.flow);
        }
        if is_open {
            let otherwise = self.tested(test, false, before);
            ends.push(otherwise);
        }
        self.flow = self.join(ends);
    }

    fn while_loop(&mut self, it: &ast::StmtWhile) {
        let (head, flow) = self.open_join(vec![self.flow]);
        self.flow = flow;
        let test = self.expr(&it.test);
        let before = self.flow;
        let forever = matches!(&*it.test, Ast::BooleanLiteral(it) if it.value);
        self.flow = self.tested(test, true, before);
        let breaks = self.loop_body(&it.body, head);
        let out = if forever { UNREACHABLE } else { self.tested(test, false, before) };
        self.after_loop(out, &it.orelse, breaks);
    }

    fn for_loop(&mut self, it: &ast::StmtFor) {
        let target = match &*it.target {
            Ast::Name(name) => {
                let name = self.name(name.range);
                self.module.bound(self.scope, name)
            }
            _ => None,
        };
        let iter = match target {
            Some(symbol) => self.expected(&it.iter, Expectation::Iterated(symbol)),
            None => self.expr(&it.iter),
        };
        let (head, flow) = self.open_join(vec![self.flow]);
        self.flow = flow;
        let element = self.push(Expr::Element(iter, it.is_async));
        self.target(&it.target, element);
        let breaks = self.loop_body(&it.body, head);
        self.after_loop(flow, &it.orelse, breaks);
    }

    /// Lowers a loop body, joins its end to the head, and returns the flows of its `break`s.
    fn loop_body(&mut self, body: &[Stmt], head: u32) -> Vec<FlowId> {
        let behind = self.module.joins.len() as u32;
        self.module.joins.push(Vec::new());
        self.loops.push((behind, head));
        self.body(body);
        self.loops.pop();
        if self.flow != UNREACHABLE {
            self.module.joins[head as usize].push(self.flow);
        }
        std::mem::take(&mut self.module.joins[behind as usize])
    }

    fn after_loop(&mut self, out: FlowId, orelse: &[Stmt], mut ends: Vec<FlowId>) {
        self.flow = out;
        self.body(orelse);
        ends.push(self.flow);
        self.flow = self.join(ends);
    }

    fn jump(&mut self, to: impl Fn((u32, u32)) -> u32) {
        if let (Some(around), true) = (self.loops.last(), self.flow != UNREACHABLE) {
            let row = to(*around) as usize;
            self.module.joins[row].push(self.flow);
        }
        self.flow = UNREACHABLE;
    }

    fn try_block(&mut self, it: &ast::StmtTry) {
        self.tries.push(vec![self.flow]);
        self.body(&it.body);
        let anywhere = self.tries.pop().unwrap_or_default();
        let raised = self.join(anywhere.clone());
        self.body(&it.orelse);
        let mut ends = vec![self.flow];
        for ExceptHandler::ExceptHandler(handler) in &it.handlers {
            self.flow = raised;
            self.handler(handler, it.is_star);
            ends.push(self.flow);
        }
        if let Some(around) = self.tries.last_mut() {
            around.extend(anywhere);
        }
        let normal = self.join(ends.clone());
        if it.finalbody.is_empty() {
            self.flow = normal;
            return;
        }
        // `finally` also runs after an exception; the code below it runs only after normal
        // completion.
        self.flow = if normal == UNREACHABLE { raised } else { normal };
        self.body(&it.finalbody);
        if normal == UNREACHABLE {
            self.flow = UNREACHABLE;
        }
    }

    fn handler(&mut self, handler: &ast::ExceptHandlerExceptHandler, is_star: bool) {
        let kind = handler.type_.as_ref().map(|it| self.expr(it));
        if let Some(name) = &handler.name {
            let value = match kind {
                Some(kind) if is_star => Expr::GroupOf(kind),
                Some(kind) => Expr::InstanceOf(kind),
                _ => Expr::Unknown,
            };
            let value = self.push(value);
            self.bind(name, BindingKind::Value(value));
        }
        self.body(&handler.body);
    }

    fn with(&mut self, it: &ast::StmtWith) {
        for item in &it.items {
            let manager = self.expr(&item.context_expr);
            if let Some(target) = &item.optional_vars {
                let entered = self.push(Expr::Entered(manager, it.is_async));
                self.target(target, entered);
            }
        }
        self.body(&it.body);
    }

    // Imports

    fn import(&mut self, alias: &ast::Alias) {
        let path = self.module_path(0, Some(&alias.name));
        match &alias.asname {
            Some(name) => {
                self.path_parts(&alias.name, path, 0);
                self.bind(name, BindingKind::ImportAs(path));
            }
            None => {
                let first =
                    self.text(alias.name.range).split('.').next().unwrap_or_default().trim();
                let range = TextRange::at(alias.name.start(), TextSize::of(first));
                if !range.is_empty() {
                    self.bind_at(range, BindingKind::Import(path));
                    self.path_parts(&alias.name, path, 1);
                }
            }
        }
    }

    fn import_from(&mut self, it: &ast::StmtImportFrom) {
        let path = self.module_path(it.level, it.module.as_ref());
        it.module.iter().for_each(|it| self.path_parts(it, path, 0));
        for alias in &it.names {
            if alias.name.as_str() == "*" {
                self.module.stars.push((self.scope, path));
                continue;
            }
            if alias.name.range.is_empty() {
                continue;
            }
            let member = self.name(alias.name.range);
            match &alias.asname {
                None => {
                    let _ = self.bind(&alias.name, BindingKind::From(path, member));
                }
                Some(name) => {
                    self.occurs(alias.name.range, Role::Member(path));
                    let same = name.as_str() == alias.name.as_str();
                    let kind = if same {
                        BindingKind::From(path, member)
                    } else {
                        BindingKind::FromAs(path, member)
                    };
                    self.bind(name, kind);
                }
            }
        }
    }

    fn module_path(&mut self, level: u32, name: Option<&ast::Identifier>) -> ModulePath {
        // There may be white space around the dots.
        let text: String = name.map_or("", |it| it.as_str()).split_whitespace().collect();
        ModulePath { level, name: Name::of(&text) }
    }

    /// Records the words of a module's path, from the n-th on.
    fn path_parts(&mut self, name: &ast::Identifier, path: ModulePath, from: u32) {
        let mut at = name.start();
        for (index, part) in self.text(name.range).split('.').enumerate() {
            let lead = part.len() - part.trim_start().len();
            let start = at + TextSize::new(lead as u32);
            if index as u32 >= from {
                self.occurs(
                    TextRange::at(start, TextSize::of(part.trim())),
                    Role::Part(path, index as u32),
                );
            }
            at += TextSize::of(part) + TextSize::new(1);
        }
    }
}
