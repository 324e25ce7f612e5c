//! Errors that Python's compiler finds in a text that parses, such as `return` outside of a
//! function, `await` outside of an `async` one, or a late `from __future__`.

use std::cell::RefCell;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Parameters, PythonVersion, Stmt,
};
use ruff_python_parser::semantic_errors::{
    LazyImportContext, SemanticSyntaxChecker, SemanticSyntaxContext, SemanticSyntaxError,
};
use ruff_text_size::{Ranged, TextRange};

use crate::syntax::lower_first;

/// Returns the errors with their byte offsets.
pub(super) fn compile_errors(source: &str, body: &[Stmt]) -> Vec<(usize, String)> {
    let mut module = Scope::of(Kind::Module);
    module.declared(body);
    let (checker, scopes) = (SemanticSyntaxChecker::new(), vec![module]);
    let mut compiler = Compiler { source, checker, scopes, found: RefCell::default() };
    compiler.visit_body(body);
    compiler.found.into_inner()
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Module,
    Class,
    Function {
        is_async: bool,
    },
    Lambda,
    Generator,
    /// A comprehension with brackets.
    Comprehension {
        is_async: bool,
    },
}

/// A scope of names.
struct Scope {
    kind: Kind,
    /// Number of loops around the statement.
    loops: usize,
    parameters: Vec<String>,
    /// Names that a `global` statement declares.
    globals: Vec<(String, TextRange)>,
    /// Names that are bound.
    bound: Vec<String>,
}

impl Scope {
    fn of(kind: Kind) -> Scope {
        Scope { kind, loops: 0, parameters: Vec::new(), globals: Vec::new(), bound: Vec::new() }
    }

    fn with_parameters(mut self, parameters: Option<&Parameters>) -> Scope {
        let all = parameters.into_iter().flat_map(Parameters::iter);
        self.parameters = all.map(|it| it.name().to_string()).collect();
        self
    }

    /// Notes the names that the statements of the scope bind or declare.
    fn declared(&mut self, body: &[Stmt]) {
        self.visit_body(body);
    }
}

impl<'a> Visitor<'a> for Scope {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(it) => self.bound.push(it.name.to_string()),
            Stmt::ClassDef(it) => self.bound.push(it.name.to_string()),
            Stmt::Global(it) => {
                self.globals.extend(it.names.iter().map(|name| (name.to_string(), it.range())));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) if it.ctx != ExprContext::Load => self.bound.push(it.id.to_string()),
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_alias(&mut self, alias: &'a ruff_python_ast::Alias) {
        let name = alias.asname.as_ref().unwrap_or(&alias.name);
        self.bound.extend(name.split('.').next().map(str::to_owned));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        self.bound.extend(it.name.as_ref().map(|name| name.to_string()));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a ruff_python_ast::Pattern) {
        use ruff_python_ast::Pattern::{MatchAs, MatchMapping, MatchStar};
        let name = match pattern {
            MatchAs(it) => it.name.as_ref(),
            MatchStar(it) => it.name.as_ref(),
            MatchMapping(it) => it.rest.as_ref(),
            _ => None,
        };
        self.bound.extend(name.map(|it| it.to_string()));
        visitor::walk_pattern(self, pattern);
    }
}

/// A walk in the order of the compiler.
struct Compiler<'s> {
    source: &'s str,
    checker: SemanticSyntaxChecker,
    scopes: Vec<Scope>,
    found: RefCell<Vec<(usize, String)>>,
}

impl Compiler<'_> {
    fn check(&mut self, look: impl FnOnce(&mut SemanticSyntaxChecker, &Self)) {
        let mut checker = std::mem::take(&mut self.checker);
        look(&mut checker, self);
        self.checker = checker;
    }

    fn within(&mut self, scope: Scope, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(scope);
        walk(self);
        self.scopes.pop();
    }

    fn current(&self) -> Option<&Scope> {
        self.scopes.last()
    }

    /// Returns scopes from the inside out, without comprehensions.
    fn outwards(&self) -> impl Iterator<Item = &Scope> {
        let is_named = |it: &&Scope| !matches!(it.kind, Kind::Comprehension { .. });
        self.scopes.iter().rev().filter(is_named)
    }

    fn in_loop(&mut self, body: &[Stmt]) {
        let count = |compiler: &mut Self, by: isize| {
            if let Some(it) = compiler.scopes.last_mut() {
                it.loops = it.loops.saturating_add_signed(by);
            }
        };
        count(self, 1);
        self.visit_body(body);
        count(self, -1);
    }

    /// Walks a comprehension, whose first iterable belongs to the scope around it.
    fn comprehension(&mut self, kind: Kind, generators: &[Comprehension], values: &[&Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        self.within(Scope::of(kind), |it| {
            for (place, generator) in generators.iter().enumerate() {
                it.visit_expr(&generator.target);
                if place > 0 {
                    it.visit_expr(&generator.iter);
                }
                generator.ifs.iter().for_each(|test| it.visit_expr(test));
            }
            values.iter().for_each(|value| it.visit_expr(value));
        });
    }

    /// Notes a handler of all exceptions that is not the last.
    fn handlers(&self, handlers: &[ExceptHandler]) {
        let all = handlers.iter().rev().skip(1);
        let bare = all.filter(|ExceptHandler::ExceptHandler(it)| it.type_.is_none());
        let why = "`except:` has to be the last handler";
        let found = bare.map(|it| (it.start().to_usize(), why.to_owned()));
        self.found.borrow_mut().extend(found);
    }
}

/// Returns whether one of the parts of a comprehension is asynchronous.
fn is_async(generators: &[Comprehension]) -> bool {
    generators.iter().any(|it| it.is_async)
}

impl<'a> Visitor<'a> for Compiler<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.check(|checker, context| checker.visit_stmt(stmt, context));
        match stmt {
            Stmt::FunctionDef(it) => {
                it.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                it.type_params.iter().for_each(|all| self.visit_type_params(all));
                self.visit_parameters(&it.parameters);
                it.returns.iter().for_each(|returned| self.visit_annotation(returned));
                let kind = Kind::Function { is_async: it.is_async };
                let mut scope = Scope::of(kind).with_parameters(Some(&it.parameters));
                scope.declared(&it.body);
                self.within(scope, |compiler| compiler.visit_body(&it.body));
            }
            Stmt::ClassDef(it) => {
                it.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                it.type_params.iter().for_each(|all| self.visit_type_params(all));
                it.arguments.iter().for_each(|all| self.visit_arguments(all));
                let mut scope = Scope::of(Kind::Class);
                scope.declared(&it.body);
                self.within(scope, |compiler| compiler.visit_body(&it.body));
            }
            Stmt::For(it) => {
                self.visit_expr(&it.iter);
                self.visit_expr(&it.target);
                self.in_loop(&it.body);
                self.visit_body(&it.orelse);
            }
            Stmt::While(it) => {
                self.visit_expr(&it.test);
                self.in_loop(&it.body);
                self.visit_body(&it.orelse);
            }
            Stmt::Try(it) => {
                self.handlers(&it.handlers);
                visitor::walk_stmt(self, stmt);
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.check(|checker, context| checker.visit_expr(expr, context));
        match expr {
            Expr::Lambda(it) => {
                it.parameters.iter().for_each(|all| self.visit_parameters(all));
                let scope = Scope::of(Kind::Lambda).with_parameters(it.parameters.as_deref());
                self.within(scope, |compiler| compiler.visit_expr(&it.body));
            }
            Expr::Generator(it) => {
                self.comprehension(Kind::Generator, &it.generators, &[&it.elt]);
            }
            Expr::ListComp(it) => {
                let kind = Kind::Comprehension { is_async: is_async(&it.generators) };
                self.comprehension(kind, &it.generators, &[&it.elt]);
            }
            Expr::SetComp(it) => {
                let kind = Kind::Comprehension { is_async: is_async(&it.generators) };
                self.comprehension(kind, &it.generators, &[&it.elt]);
            }
            Expr::DictComp(it) => {
                let kind = Kind::Comprehension { is_async: is_async(&it.generators) };
                let values: Vec<&Expr> =
                    it.key.iter().map(|key| &**key).chain([&*it.value]).collect();
                self.comprehension(kind, &it.generators, &values);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

impl SemanticSyntaxContext for Compiler<'_> {
    fn future_annotations_or_stub(&self) -> bool {
        false
    }

    fn lazy_import_context(&self) -> Option<LazyImportContext> {
        None
    }

    /// The newest version refuses least.
    fn python_version(&self) -> PythonVersion {
        PythonVersion::PY314
    }

    fn source(&self) -> &str {
        self.source
    }

    fn global(&self, name: &str) -> Option<TextRange> {
        let declared = &self.current()?.globals;
        declared.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    fn has_nonlocal_binding(&self, name: &str) -> bool {
        let is_function = |it: &&Scope| matches!(it.kind, Kind::Function { .. } | Kind::Lambda);
        let mut around = self.outwards().skip(1).filter(is_function);
        let binds = |it: &Scope| it.bound.iter().chain(&it.parameters).any(|known| known == name);
        name == "__class__" || around.any(binds)
    }

    fn in_async_context(&self) -> bool {
        let mut scopes = self.outwards().filter(|it| it.kind != Kind::Generator);
        scopes.next().is_some_and(|it| it.kind == Kind::Function { is_async: true })
    }

    fn in_await_allowed_context(&self) -> bool {
        let of =
            |it: &Scope| matches!(it.kind, Kind::Function { .. } | Kind::Lambda | Kind::Generator);
        self.outwards().next().is_some_and(of)
    }

    fn in_yield_allowed_context(&self) -> bool {
        let of = |it: &Scope| matches!(it.kind, Kind::Function { .. } | Kind::Lambda);
        self.current().is_some_and(of)
    }

    fn in_sync_comprehension(&self) -> bool {
        self.scopes.iter().any(|it| it.kind == Kind::Comprehension { is_async: false })
    }

    fn in_class_body_comprehension(&self) -> bool {
        let mut around = self.outwards().filter(|it| it.kind != Kind::Generator);
        around.next().is_some_and(|it| it.kind == Kind::Class)
    }

    fn in_module_scope(&self) -> bool {
        self.current().is_some_and(|it| it.kind == Kind::Module)
    }

    fn in_function_scope(&self) -> bool {
        self.current().is_some_and(|it| matches!(it.kind, Kind::Function { .. }))
    }

    fn in_generator_context(&self) -> bool {
        self.scopes.iter().any(|it| it.kind == Kind::Generator)
    }

    fn in_notebook(&self) -> bool {
        false
    }

    fn report_semantic_error(&self, error: SemanticSyntaxError) {
        let why = lower_first(&error.to_string());
        self.found.borrow_mut().push((error.range.start().to_usize(), why));
    }

    fn in_loop_context(&self) -> bool {
        self.current().is_some_and(|it| it.loops > 0)
    }

    fn is_bound_parameter(&self, name: &str) -> bool {
        self.current().is_some_and(|it| it.parameters.iter().any(|known| known == name))
    }
}
