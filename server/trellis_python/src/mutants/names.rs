//! Collects nearby variables, attributes, functions and strings that could be meant instead of
//! another.

use std::collections::BTreeMap;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

/// Names and the offsets of their occurrences.
#[derive(Default)]
struct Occurrences(BTreeMap<String, Vec<usize>>);

impl Occurrences {
    fn add(&mut self, name: &str, at: usize) {
        self.0.entry(name.to_owned()).or_default().push(at);
    }

    /// Returns up to `most` names except `but`, the nearest first.
    fn nearest(&self, but: &str, at: usize, most: usize) -> Vec<String> {
        let distance = |places: &Vec<usize>| places.iter().map(|it| it.abs_diff(at)).min();
        let others = self.0.iter().filter(|(name, _)| *name != but);
        let mut found: Vec<_> =
            others.map(|(name, places)| (distance(places), name.clone())).collect();
        found.sort();
        found.into_iter().take(most).map(|(_, name)| name).collect()
    }
}

/// The names of one scope.
#[derive(Default)]
struct Scope {
    /// Name of the function; empty for the module.
    name: String,
    variables: Occurrences,
    parameters: Vec<String>,
}

/// The names of a module by scope and kind.
pub(super) struct Names {
    scopes: Vec<Scope>,
    /// Attributes by receiver, and by whether they are called.
    attributes: BTreeMap<(String, bool), Occurrences>,
    /// Functions and methods by their number of parameters.
    functions: BTreeMap<usize, Occurrences>,
    arity: BTreeMap<String, usize>,
    strings: Occurrences,
}

impl Names {
    pub(super) fn of(source: &str, body: &[Stmt]) -> Names {
        let mut collector = Collector { source, ..Collector::default() };
        body.iter().for_each(|it| collector.visit_stmt(it));
        let module = Scope { variables: bound(body), ..Scope::default() };
        Names {
            scopes: vec![module],
            attributes: collector.attributes,
            functions: collector.functions,
            arity: collector.arity,
            strings: collector.strings,
        }
    }

    pub(super) fn enter(&mut self, def: &StmtFunctionDef) {
        let mut variables = bound(&def.body);
        let mut parameters = Vec::new();
        for it in def.parameters.iter() {
            let name = it.name().as_str();
            if !matches!(name, "self" | "cls") {
                parameters.push(name.to_owned());
                variables.add(name, it.range().start().to_usize());
            }
        }
        self.scopes.push(Scope { name: def.name.to_string(), variables, parameters });
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
    }

    /// Returns whether a call of this name calls an enclosing function.
    pub(super) fn is_recursion(&self, called: &str) -> bool {
        self.scopes.iter().any(|it| it.name == called)
    }

    pub(super) fn in_function(&self) -> bool {
        self.scopes.len() > 1
    }

    pub(super) fn parameters(&self) -> Vec<String> {
        self.scopes.last().map(|it| it.parameters.clone()).unwrap_or_default()
    }

    /// Returns whether a name is a variable of the innermost scope.
    pub(super) fn is_variable(&self, name: &str) -> bool {
        self.scopes.last().is_some_and(|it| it.variables.0.contains_key(name))
    }

    pub(super) fn variables(&self, but: &str, at: usize, most: usize) -> Vec<String> {
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        scope.variables.nearest(but, at, most)
    }

    pub(super) fn attributes(&self, of: &str, called: bool, but: &str, at: usize) -> Vec<String> {
        let known = self.attributes.get(&(of.to_owned(), called));
        known.map(|it| it.nearest(but, at, 4)).unwrap_or_default()
    }

    /// Returns functions of the module with the same number of parameters as `like`.
    pub(super) fn functions(&self, like: &str, at: usize) -> Vec<String> {
        let known = self.arity.get(like).and_then(|it| self.functions.get(it));
        known.map(|it| it.nearest(like, at, 3)).unwrap_or_default()
    }

    pub(super) fn strings(&self, but: &str, at: usize) -> Vec<String> {
        self.strings.nearest(but, at, 4)
    }
}

/// Returns the names that a body binds, with their occurrences.
fn bound(body: &[Stmt]) -> Occurrences {
    let mut finder = Finder::default();
    body.iter().for_each(|it| finder.visit_stmt(it));
    let Finder { stored, mut seen } = finder;
    seen.0.retain(|name, _| stored.0.contains_key(name));
    seen
}

#[derive(Default)]
struct Finder {
    stored: Occurrences,
    seen: Occurrences,
}

impl<'a> Visitor<'a> for Finder {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(it) = expr {
            let at = it.range.start().to_usize();
            self.seen.add(&it.id, at);
            if !it.ctx.is_load() {
                self.stored.add(&it.id, at);
            }
        }
        walk_expr(self, expr);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}
}

#[derive(Default)]
struct Collector<'s> {
    source: &'s str,
    attributes: BTreeMap<(String, bool), Occurrences>,
    functions: BTreeMap<usize, Occurrences>,
    arity: BTreeMap<String, usize>,
    strings: Occurrences,
}

impl Collector<'_> {
    fn attribute(&mut self, expr: &Expr, called: bool) {
        let Expr::Attribute(it) = expr else { return };
        let of = self.source[it.value.range().to_std_range()].to_owned();
        let at = it.attr.range.start().to_usize();
        self.attributes.entry((of, called)).or_default().add(&it.attr, at);
    }
}

impl<'a> Visitor<'a> for Collector<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::FunctionDef(def) = stmt {
            let count = def.parameters.len();
            let at = def.name.range.start().to_usize();
            self.functions.entry(count).or_default().add(&def.name, at);
            self.arity.insert(def.name.to_string(), count);
        }
        let documents = matches!(stmt, Stmt::Expr(it) if it.value.is_string_literal_expr());
        if !documents {
            walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(it) => {
                self.attribute(&it.func, true);
                if let Expr::Attribute(method) = &*it.func {
                    self.visit_expr(&method.value);
                } else {
                    self.visit_expr(&it.func);
                }
                it.arguments.args.iter().for_each(|it| self.visit_expr(it));
                it.arguments.keywords.iter().for_each(|it| self.visit_expr(&it.value));
                return;
            }
            Expr::Attribute(_) => self.attribute(expr, false),
            Expr::StringLiteral(it) => {
                let text = &self.source[it.range.to_std_range()];
                if text.len() <= 40 && !text.contains('\n') {
                    self.strings.add(text, it.range.start().to_usize());
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}
}
