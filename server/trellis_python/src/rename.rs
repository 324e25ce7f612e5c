//! Renames a top-level name within one text, following Python's scopes.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Alias, ExceptHandler, Expr, ExprCall, Identifier, Parameters, Pattern, Stmt, StmtClassDef,
    StmtFunctionDef,
};
use ruff_text_size::{Ranged, TextRange, TextSize};

use crate::scope::locals_of;
use crate::syntax::{self, SyntaxError};
use crate::test_discovery::last_name;

/// Renames the module-level name `from` to `to` in definitions, uses, imports and `global`
/// statements. Functions and classes that bind `from` themselves are not changed, unless `from` is
/// a pytest fixture, which tests request by parameter name.
///
/// The caller ensures that `to` is free.
pub fn rename(source: &str, from: &str, to: &str) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let fixture = parsed.suite().iter().any(|stmt| is_fixture(stmt, from));
    Ok(Finder { fixture, ..Finder::new(source, from, to) }.renamed(parsed.suite()))
}

/// Renames parameters and their uses inside one function text (top level of `source`).
pub(crate) fn rename_local(source: &str, from: &str, to: &str) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(source)?;
    Ok(Finder { fixture: true, ..Finder::new(source, from, to) }.renamed(parsed.suite()))
}

fn is_fixture(stmt: &Stmt, name: &str) -> bool {
    let Stmt::FunctionDef(def) = stmt else { return false };
    def.name.as_str() == name
        && (def.decorator_list.iter()).any(|decorator| {
            let target = match &decorator.expression {
                Expr::Call(call) => &*call.func,
                other => other,
            };
            last_name(target) == Some("fixture")
        })
}

struct Finder<'n> {
    source: &'n str,
    name: &'n str,
    to: &'n str,
    /// True if parameters and locals of the name are renamed, too.
    fixture: bool,
    depth: usize,
    /// True directly inside a class.
    in_class: bool,
    /// True directly inside a class that binds the name itself.
    shadowed: bool,
    found: Vec<(TextRange, String)>,
}

impl<'n> Finder<'n> {
    fn new(source: &'n str, name: &'n str, to: &'n str) -> Self {
        let (depth, found) = (0, Vec::new());
        Finder { source, name, to, fixture: false, depth, in_class: false, shadowed: false, found }
    }

    fn renamed(mut self, body: &[Stmt]) -> String {
        self.visit_body(body);
        self.found.sort_by_key(|(range, _)| range.start());
        self.found.dedup();
        let mut out = String::with_capacity(self.source.len());
        let mut done = 0;
        for (range, with) in &self.found {
            out.push_str(&self.source[done..range.start().to_usize()]);
            out.push_str(with);
            done = range.end().to_usize();
        }
        out.push_str(&self.source[done..]);
        out
    }

    fn replace(&mut self, range: TextRange) {
        self.found.push((range, self.to.to_owned()));
    }

    /// Renames a name that the scope binds other than by an expression.
    fn binding(&mut self, identifier: &Identifier) {
        if identifier.as_str() == self.name && !self.shadowed {
            self.replace(identifier.range());
        }
    }

    /// Renames the name of a function or class at module level, never of a method.
    fn definition(&mut self, identifier: &Identifier) {
        if self.depth == 0 || (self.fixture && !self.in_class) {
            self.binding(identifier);
        }
    }

    fn binds(&self, parameters: Option<&Parameters>, body: &[Stmt]) -> bool {
        let mut parameters = parameters.into_iter().flat_map(|all| all.iter());
        parameters.any(|parameter| parameter.name().as_str() == self.name)
            || locals_of(body).contains(self.name)
    }

    fn inside(&mut self, in_class: bool, shadowed: bool, visit: impl FnOnce(&mut Self)) {
        let before = (self.in_class, self.shadowed);
        (self.in_class, self.shadowed) = (in_class, shadowed);
        self.depth += 1;
        visit(self);
        self.depth -= 1;
        (self.in_class, self.shadowed) = before;
    }

    fn function(&mut self, def: &StmtFunctionDef) {
        self.definition(&def.name);
        def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        def.type_params.iter().for_each(|types| self.visit_type_params(types));
        self.visit_parameters(&def.parameters);
        def.returns.iter().for_each(|expr| self.visit_annotation(expr));
        if self.fixture || !self.binds(Some(&def.parameters), &def.body) {
            self.inside(false, false, |finder| finder.visit_body(&def.body));
        }
    }

    fn class(&mut self, def: &StmtClassDef) {
        self.definition(&def.name);
        def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
        def.type_params.iter().for_each(|types| self.visit_type_params(types));
        def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
        let shadowed = locals_of(&def.body).contains(self.name);
        self.inside(true, shadowed, |finder| finder.visit_body(&def.body));
    }

    /// Renames an import's bound name. `import name` becomes `import name as …`.
    fn import(&mut self, alias: &Alias) {
        match &alias.asname {
            Some(name) => self.binding(name),
            None if alias.name.as_str() == self.name && !self.shadowed => {
                let end = TextRange::empty(alias.range.end());
                self.found.push((end, format!(" as {}", self.to)));
            }
            None => {}
        }
    }

    /// Renames fixture and parameter names that pytest takes as strings.
    fn fixture_names(&mut self, call: &ExprCall) {
        let arguments = &call.arguments.args;
        let named = match last_name(&call.func) {
            Some("usefixtures") => &arguments[..],
            Some("getfixturevalue" | "parametrize") => &arguments[..arguments.len().min(1)],
            _ => &[],
        };
        for argument in named {
            match argument {
                Expr::List(list) => list.elts.iter().for_each(|it| self.words(it)),
                Expr::Tuple(tuple) => tuple.elts.iter().for_each(|it| self.words(it)),
                other => self.words(other),
            }
        }
    }

    fn words(&mut self, expr: &Expr) {
        let Expr::StringLiteral(literal) = expr else { return };
        let start = literal.range().start().to_usize();
        let text = &self.source[start..literal.range().end().to_usize()];
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let found: Vec<usize> = (text.match_indices(self.name))
            .filter(|(at, name)| {
                !text[..*at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word)
            })
            .map(|(at, _)| start + at)
            .collect();
        for at in found {
            let length = TextSize::of(self.name);
            self.replace(TextRange::at(TextSize::new(at as u32), length));
        }
    }
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.function(def),
            Stmt::ClassDef(def) => self.class(def),
            Stmt::Global(global) => global.names.iter().for_each(|name| self.binding(name)),
            Stmt::Nonlocal(nonlocal) => nonlocal.names.iter().for_each(|name| self.binding(name)),
            Stmt::Import(import) => import.names.iter().for_each(|alias| self.import(alias)),
            Stmt::ImportFrom(import) => import.names.iter().for_each(|alias| self.import(alias)),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        if self.fixture {
            self.binding(&parameter.name);
        }
        visitor::walk_parameter(self, parameter);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        inner.name.iter().for_each(|name| self.binding(name));
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let captured = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        captured.into_iter().for_each(|name| self.binding(name));
        visitor::walk_pattern(self, pattern);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.id.as_str() == self.name => {
                if !self.shadowed {
                    self.replace(name.range);
                }
            }
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                if self.fixture || !self.binds(lambda.parameters.as_deref(), &[]) {
                    self.inside(false, false, |finder| finder.visit_expr(&lambda.body));
                }
            }
            Expr::Call(call) if self.fixture => {
                self.fixture_names(call);
                visitor::walk_expr(self, expr);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
