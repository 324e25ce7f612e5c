//! Finds the names that a piece of Python binds, and those that it uses without binding them.
//!
//! Follows the language reference, "Naming and binding": a name bound anywhere in a function body
//! is local to all of it, functions inside a class do not see names of the class body, and a
//! comprehension has its own scope, except for its first iterable.

use std::collections::{BTreeSet, HashSet};

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    Comprehension, ExceptHandler, Expr, ExprContext, Parameters, Pattern, Stmt, TypeParam,
    TypeParams,
};

use crate::standard_library;
use crate::syntax::{self, SyntaxError};

/// Returns the names bound in the scope of these statements, in order of first appearance. Nested
/// functions and classes contribute only their own names.
pub(crate) fn bound_names(body: &[Stmt]) -> Vec<String> {
    let mut binder = Binder::default();
    binder.visit_body(body);
    binder.names
}

/// Returns the names local to a function or class body: bound in it and not declared `global` or
/// `nonlocal`.
pub(crate) fn locals_of(body: &[Stmt]) -> HashSet<String> {
    let mut binder = Binder::default();
    binder.visit_body(body);
    let outside = binder.declared_outside;
    binder.names.into_iter().filter(|name| !outside.contains(name)).collect()
}

#[derive(Default)]
struct Binder {
    names: Vec<String>,
    declared_outside: HashSet<String>,
}

impl Binder {
    fn bind(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }
}

impl<'a> Visitor<'a> for Binder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => self.bind(def.name.as_str()),
            Stmt::ClassDef(def) => self.bind(def.name.as_str()),
            Stmt::Global(global) => {
                self.declared_outside.extend(global.names.iter().map(ToString::to_string));
            }
            Stmt::Nonlocal(nonlocal) => {
                self.declared_outside.extend(nonlocal.names.iter().map(ToString::to_string));
            }
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let imports = crate::imports::imports_of(stmt).unwrap_or_default();
                imports.iter().filter_map(|import| import.bound()).for_each(|name| self.bind(name));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            // `del name` makes a name local, but assigns no value.
            Expr::Name(name) if name.ctx == ExprContext::Store => self.bind(name.id.as_str()),
            Expr::Lambda(_) => {}
            _ => visitor::walk_expr(self, expr),
        }
    }

    /// Skips the targets, which are local to the comprehension. A walrus inside it still binds
    /// outside.
    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.visit_expr(&comprehension.iter);
        comprehension.ifs.iter().for_each(|test| self.visit_expr(test));
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.bind(name.as_str());
        }
        visitor::walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let captured = match pattern {
            Pattern::MatchAs(inner) => inner.name.as_ref(),
            Pattern::MatchStar(inner) => inner.name.as_ref(),
            Pattern::MatchMapping(inner) => inner.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = captured {
            self.bind(name.as_str());
        }
        visitor::walk_pattern(self, pattern);
    }
}

/// Returns the names that a module uses and that neither it nor Python's builtins define. A star
/// import may define any name; callers must handle that.
pub fn unresolved(source: &str) -> Result<BTreeSet<String>, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let mut uses = Uses::default();
    uses.enter(locals_of(parsed.suite()), Scope::Function, |uses| uses.visit_body(parsed.suite()));
    uses.free.retain(|name| !standard_library::is_builtin(name));
    Ok(uses.free)
}

#[derive(Clone, Copy, PartialEq)]
enum Scope {
    /// A function, a comprehension, or the module.
    Function,
    /// A class, whose names only its own statements see.
    Class,
    /// Type parameters with their header. Code in it still sees the names of an enclosing class.
    Header,
}

#[derive(Default)]
struct Uses {
    scopes: Vec<(HashSet<String>, Scope)>,
    free: BTreeSet<String>,
}

impl Uses {
    fn enter(&mut self, names: HashSet<String>, scope: Scope, inside: impl FnOnce(&mut Self)) {
        self.scopes.push((names, scope));
        inside(self);
        self.scopes.pop();
    }

    fn name(&mut self, name: &str) {
        let mut class_seen = true;
        let found = self.scopes.iter().rev().any(|(names, scope)| {
            let visible = *scope != Scope::Class || class_seen;
            class_seen &= *scope == Scope::Header;
            visible && names.contains(name)
        });
        if !found {
            self.free.insert(name.to_owned());
        }
    }

    /// Visits type parameters, their bounds, and the header that may use them.
    fn header(&mut self, types: Option<&TypeParams>, inside: impl FnOnce(&mut Self)) {
        self.enter(type_parameter_names(types), Scope::Header, |uses| {
            types.into_iter().for_each(|types| uses.visit_type_params(types));
            inside(uses);
        });
    }

    fn function(&mut self, parameters: Option<&Parameters>, body: &[Stmt], result: Option<&Expr>) {
        let mut names = locals_of(body);
        let parameters = parameters.into_iter().flat_map(|all| all.iter());
        names.extend(parameters.map(|parameter| parameter.name().to_string()));
        self.enter(names, Scope::Function, |uses| {
            uses.visit_body(body);
            result.into_iter().for_each(|expr| uses.visit_expr(expr));
        });
    }

    fn comprehension(&mut self, generators: &[Comprehension], results: &[&Expr]) {
        if let Some(first) = generators.first() {
            self.visit_expr(&first.iter);
        }
        let mut targets = Binder::default();
        generators.iter().for_each(|generator| targets.visit_expr(&generator.target));
        self.enter(targets.names.into_iter().collect(), Scope::Function, |uses| {
            for (index, generator) in generators.iter().enumerate() {
                if index > 0 {
                    uses.visit_expr(&generator.iter);
                }
                generator.ifs.iter().for_each(|test| uses.visit_expr(test));
            }
            results.iter().for_each(|expr| uses.visit_expr(expr));
        });
    }
}

fn type_parameter_names(params: Option<&TypeParams>) -> HashSet<String> {
    let params = params.into_iter().flat_map(|all| all.type_params.iter());
    params
        .map(|param| match param {
            TypeParam::TypeVar(param) => param.name.to_string(),
            TypeParam::TypeVarTuple(param) => param.name.to_string(),
            TypeParam::ParamSpec(param) => param.name.to_string(),
        })
        .collect()
}

impl<'a> Visitor<'a> for Uses {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.header(def.type_params.as_deref(), |uses| {
                    uses.visit_parameters(&def.parameters);
                    def.returns.iter().for_each(|expr| uses.visit_annotation(expr));
                    uses.function(Some(&def.parameters), &def.body, None);
                });
            }
            Stmt::ClassDef(def) => {
                def.decorator_list.iter().for_each(|decorator| self.visit_decorator(decorator));
                self.header(def.type_params.as_deref(), |uses| {
                    def.arguments.iter().for_each(|arguments| uses.visit_arguments(arguments));
                    uses.enter(locals_of(&def.body), Scope::Class, |uses| {
                        uses.visit_body(&def.body)
                    });
                });
            }
            Stmt::TypeAlias(alias) => {
                let parameters = alias.type_params.as_deref();
                self.header(parameters, |uses| uses.visit_expr(&alias.value));
            }
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.name(name.id.as_str()),
            Expr::Lambda(lambda) => {
                lambda.parameters.iter().for_each(|parameters| self.visit_parameters(parameters));
                self.function(lambda.parameters.as_deref(), &[], Some(&lambda.body));
            }
            Expr::ListComp(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::SetComp(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::Generator(comp) => self.comprehension(&comp.generators, &[&comp.elt]),
            Expr::DictComp(comp) => {
                let results: Vec<&Expr> =
                    comp.key.iter().map(|key| &**key).chain([&*comp.value]).collect();
                self.comprehension(&comp.generators, &results);
            }
            _ => visitor::walk_expr(self, expr),
        }
    }
}

/// Returns every identifier that the code uses or mentions in a string that could be an annotation.
/// Imports and comments do not count. A name outside this set is certainly unused.
pub fn identifiers(source: &str) -> Result<HashSet<String>, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let mut mentions = Mentions::default();
    mentions.visit_body(parsed.suite());
    Ok(mentions.0)
}

/// Returns the names and attributes that the code uses, without those it defines or imports.
pub fn words(source: &str) -> Result<HashSet<String>, SyntaxError> {
    struct Words(HashSet<String>);
    impl<'a> Visitor<'a> for Words {
        fn visit_expr(&mut self, expr: &'a Expr) {
            let word = match expr {
                Expr::Name(name) => Some(name.id.to_string()),
                Expr::Attribute(attribute) => Some(attribute.attr.to_string()),
                // Strings count for `getattr(model, "fit")` and `patch.object(Model, "fit")`.
                Expr::StringLiteral(string) => Some(string.value.to_string()),
                _ => None,
            };
            self.0.extend(word);
            visitor::walk_expr(self, expr);
        }
    }
    let mut words = Words(HashSet::new());
    words.visit_body(syntax::parse(source)?.suite());
    Ok(words.0)
}

#[derive(Default)]
struct Mentions(HashSet<String>);

impl<'a> Visitor<'a> for Mentions {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => {
                self.0.insert(name.id.to_string());
            }
            Expr::StringLiteral(string) => self.words(string.value.to_str()),
            _ => visitor::walk_expr(self, expr),
        }
    }

    fn visit_parameter(&mut self, parameter: &'a ruff_python_ast::Parameter) {
        // pytest passes fixtures by parameter name.
        self.0.insert(parameter.name.to_string());
        visitor::walk_parameter(self, parameter);
    }
}

impl Mentions {
    /// Adds the words of a string. Forward references (`"List[Node]"`) and entries of `__all__` are
    /// short; longer strings are prose.
    fn words(&mut self, text: &str) {
        const LONGEST_ANNOTATION: usize = 120;
        if text.len() <= LONGEST_ANNOTATION {
            let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            self.0.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
        }
    }
}
