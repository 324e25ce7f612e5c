//! Renames a top-level name of one piece of text, scopes respected.

use std::collections::HashSet;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Identifier, Parameters, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::scope::bound_names;
use crate::syntax::{self, SyntaxError};

/// Renames the module-level name `from` to `to` wherever the text means it: definition, uses,
/// `global` statements. Functions that bind `from` themselves are left alone, unless `from` is a
/// pytest fixture, which is asked for by parameter name.
///
/// The caller has made sure that `to` is free.
pub fn rename(source: &str, from: &str, to: &str) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let fixture = parsed.suite().iter().any(|stmt| is_fixture(stmt, from));
    let mut finder = Finder { name: from, fixture, depth: 0, found: Vec::new() };
    finder.visit_body(parsed.suite());
    Ok(replace_ranges(source, finder.found, to))
}

/// Renames parameters and their uses inside one function text (top level of `source`).
pub(crate) fn rename_local(source: &str, from: &str, to: &str) -> Result<String, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let mut finder = Finder { name: from, fixture: true, depth: 0, found: Vec::new() };
    finder.visit_body(parsed.suite());
    Ok(replace_ranges(source, finder.found, to))
}

fn replace_ranges(source: &str, mut ranges: Vec<TextRange>, with: &str) -> String {
    ranges.sort_by_key(|range| range.start());
    ranges.dedup();
    let mut out = String::with_capacity(source.len());
    let mut done = 0;
    for range in ranges {
        out.push_str(&source[done..range.start().to_usize()]);
        out.push_str(with);
        done = range.end().to_usize();
    }
    out.push_str(&source[done..]);
    out
}

fn is_fixture(stmt: &Stmt, name: &str) -> bool {
    let Stmt::FunctionDef(def) = stmt else { return false };
    def.name.as_str() == name
        && (def.decorator_list.iter()).any(|decorator| {
            let target = match &decorator.expression {
                Expr::Call(call) => &*call.func,
                other => other,
            };
            match target {
                Expr::Name(name) => name.id.as_str() == "fixture",
                Expr::Attribute(attribute) => attribute.attr.as_str() == "fixture",
                _ => false,
            }
        })
}

struct Finder<'n> {
    name: &'n str,
    fixture: bool,
    depth: usize,
    found: Vec<TextRange>,
}

impl Finder<'_> {
    fn identifier(&mut self, identifier: &Identifier) {
        if identifier.as_str() == self.name {
            self.found.push(identifier.range());
        }
    }

    fn binds(&self, parameters: Option<&Parameters>, body: &[Stmt]) -> bool {
        let mut names: HashSet<String> = bound_names(body).into_iter().collect();
        let parameters = parameters.into_iter().flat_map(|all| all.iter());
        names.extend(parameters.map(|parameter| parameter.name().to_string()));
        names.contains(self.name) && !declares_global(body, self.name)
    }
}

fn declares_global(body: &[Stmt], name: &str) -> bool {
    body.iter().any(
        |stmt| matches!(stmt, Stmt::Global(global) if global.names.iter().any(|n| n.as_str() == name)),
    )
}

impl<'a> Visitor<'a> for Finder<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                if self.depth == 0 {
                    self.identifier(&def.name);
                }
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.visit_parameters(&def.parameters);
                def.returns.iter().for_each(|expr| self.visit_annotation(expr));
                if self.fixture || !self.binds(Some(&def.parameters), &def.body) {
                    self.depth += 1;
                    self.visit_body(&def.body);
                    self.depth -= 1;
                }
            }
            Stmt::ClassDef(def) => {
                if self.depth == 0 {
                    self.identifier(&def.name);
                }
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                def.arguments.iter().for_each(|arguments| self.visit_arguments(arguments));
                self.depth += 1;
                self.visit_body(&def.body);
                self.depth -= 1;
            }
            Stmt::Global(global) => global.names.iter().for_each(|name| self.identifier(name)),
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        if self.fixture {
            self.identifier(&parameter.name);
        }
        visitor::walk_parameter(self, parameter);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.id.as_str() == self.name => self.found.push(name.range),
            Expr::Lambda(lambda)
                if !self.fixture && self.binds(lambda.parameters.as_deref(), &[]) =>
            {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}
