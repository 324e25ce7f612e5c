//! Collects the names that a body binds before the body is lowered: a name bound anywhere in a
//! scope belongs to all of it (language reference, "Naming and binding").

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandler, Expr, ExprContext, Identifier, Pattern, Stmt};
use ruff_text_size::Ranged;

/// Bound names in order of first binding, and names declared `global` or `nonlocal`.
#[derive(Default)]
pub(super) struct Bound<'a> {
    pub(super) names: Vec<&'a str>,
    pub(super) globals: Vec<&'a str>,
    pub(super) nonlocals: Vec<&'a str>,
}

impl<'a> Bound<'a> {
    pub(super) fn of(body: &'a [Stmt]) -> Bound<'a> {
        let mut bound = Bound::default();
        bound.visit_body(body);
        bound
    }

    pub(super) fn of_expr(expr: &'a Expr) -> Bound<'a> {
        let mut bound = Bound::default();
        bound.visit_expr(expr);
        bound
    }

    fn add(&mut self, name: &'a Identifier) {
        self.names.push(name.as_str());
    }
}

impl<'a> Visitor<'a> for Bound<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                self.add(&def.name);
                def.decorator_list.iter().for_each(|it| self.visit_decorator(it));
                def.parameters
                    .iter()
                    .filter_map(|it| it.default())
                    .for_each(|it| self.visit_expr(it));
            }
            Stmt::ClassDef(def) => {
                self.add(&def.name);
                def.decorator_list.iter().for_each(|it| self.visit_decorator(it));
                def.arguments.iter().for_each(|it| self.visit_arguments(it));
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    let first = alias.name.split('.').next().unwrap_or_default();
                    self.names.push(alias.asname.as_ref().map_or(first, |it| it.as_str()));
                }
            }
            Stmt::ImportFrom(import) => {
                let names = import.names.iter().map(|it| it.asname.as_ref().unwrap_or(&it.name));
                names.filter(|it| it.as_str() != "*").for_each(|it| self.add(it));
            }
            Stmt::Global(it) => self.globals.extend(it.names.iter().map(|it| it.as_str())),
            Stmt::Nonlocal(it) => self.nonlocals.extend(it.names.iter().map(|it| it.as_str())),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx != ExprContext::Load && !name.range().is_empty() => {
                self.names.push(name.id.as_str());
            }
            Expr::Lambda(lambda) => {
                let parameters = lambda.parameters.iter().flat_map(|it| it.iter());
                parameters.filter_map(|it| it.default()).for_each(|it| self.visit_expr(it));
            }
            // Targets belong to the comprehension; names bound by `:=` inside it do not.
            Expr::ListComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::SetComp(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::Generator(it) => self.comprehension(&it.generators, &[&it.elt]),
            Expr::DictComp(it) => {
                let results: Vec<&Expr> =
                    it.key.iter().map(|it| &**it).chain([&*it.value]).collect();
                self.comprehension(&it.generators, &results);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(it) = handler;
        it.name.iter().for_each(|it| self.add(it));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(it) => &it.name,
            Pattern::MatchStar(it) => &it.name,
            Pattern::MatchMapping(it) => &it.rest,
            _ => &None,
        };
        name.iter().for_each(|it| self.add(it));
        visitor::walk_pattern(self, pattern);
    }
}

impl<'a> Bound<'a> {
    fn comprehension(
        &mut self,
        generators: &'a [ruff_python_ast::Comprehension],
        results: &[&'a Expr],
    ) {
        for generator in generators {
            self.visit_expr(&generator.iter);
            generator.ifs.iter().for_each(|it| self.visit_expr(it));
        }
        results.iter().for_each(|it| self.visit_expr(it));
    }
}
