//! Definitions of a module that decide which tests are collected from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ruff_python_ast::{
    Decorator, Expr, Stmt, StmtAnnAssign, StmtAssign, StmtClassDef, StmtFunctionDef, StmtImport,
    StmtImportFrom,
};
use ruff_text_size::{Ranged, TextSize};

use crate::lines::{Lines, Unit};
use crate::syntax::{self, SyntaxError, blocks};
use crate::test_discovery::{callee, is_fixture, last_name};

/// A module, as an `import` statement names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleName {
    /// Number of leading dots.
    pub level: u32,
    /// Dotted name after the dots; may be empty.
    pub name: String,
}

/// The names that a module binds, as far as they matter for its tests.
#[derive(Clone, Debug, Default)]
pub struct TestModule {
    pub(super) names: Names,
    /// Modules of `from module import *`.
    pub(super) stars: Vec<ModuleName>,
    /// Paths in `collect_ignore` of a `conftest.py`.
    pub ignored: Vec<String>,
    /// Patterns in `collect_ignore_glob` of a `conftest.py`.
    pub ignored_patterns: Vec<String>,
}

pub(super) type Names = BTreeMap<String, Binding>;

/// Lines of a definition, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestLines {
    /// Line of the name.
    pub first: u32,
    pub last: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Binding {
    Function {
        lines: TestLines,
        /// A decorator makes several cases of the function.
        has_cases: bool,
    },
    Class(Arc<Class>),
    /// `import module`, or `from module import name`.
    Import {
        module: ModuleName,
        name: Option<String>,
    },
    /// Another name, with dots.
    Alias(String),
    /// `True` or `False`.
    Flag(bool),
    /// A value that is no test.
    Other,
}

#[derive(Debug)]
pub(super) struct Class {
    pub(super) lines: TestLines,
    /// A decorator makes several cases of every test.
    pub(super) has_cases: bool,
    /// Dotted names of the bases.
    pub(super) bases: Vec<String>,
    pub(super) members: Names,
}

impl TestModule {
    /// Reads a module; fails if its text is not valid Python.
    pub fn of(source: &str) -> Result<TestModule, SyntaxError> {
        let module = syntax::parse(source)?;
        let mut reader = Reader { lines: Lines::of(source), stars: Vec::new() };
        let names = reader.names(module.suite());
        let list = |name| texts_of(module.suite(), name);
        Ok(TestModule {
            names,
            stars: reader.stars,
            ignored: list("collect_ignore"),
            ignored_patterns: list("collect_ignore_glob"),
        })
    }
}

struct Reader<'a> {
    lines: Lines<'a>,
    stars: Vec<ModuleName>,
}

impl Reader<'_> {
    fn names(&mut self, body: &[Stmt]) -> Names {
        let mut names = Names::new();
        self.bind_all(body, &mut names);
        names
    }

    fn bind_all(&mut self, body: &[Stmt], names: &mut Names) {
        body.iter().for_each(|it| self.bind(it, names));
    }

    fn bind(&mut self, stmt: &Stmt, names: &mut Names) {
        match stmt {
            Stmt::FunctionDef(def) => {
                names.insert(def.name.to_string(), self.function(def));
            }
            Stmt::ClassDef(def) => {
                names.insert(def.name.to_string(), self.class(def));
            }
            Stmt::Import(it) => bind_import(it, names),
            Stmt::ImportFrom(it) => self.bind_import_from(it, names),
            Stmt::Assign(StmtAssign { targets, value, .. }) => {
                targets.iter().for_each(|it| self.bind_value(it, value, names));
            }
            Stmt::AnnAssign(StmtAnnAssign { target, value: Some(value), .. }) => {
                self.bind_value(target, value, names);
            }
            Stmt::Delete(it) => {
                for name in it.targets.iter().filter_map(Expr::as_name_expr) {
                    names.remove(name.id.as_str());
                }
            }
            Stmt::If(it) if is_main_guard(&it.test) => {}
            // Blocks such as `if` do not open a scope.
            _ => blocks(stmt).into_iter().for_each(|it| self.bind_all(it, names)),
        }
    }

    fn function(&self, def: &StmtFunctionDef) -> Binding {
        let is_property = |it: &Decorator| {
            last_name(callee(&it.expression)).is_some_and(|it| it.ends_with("property"))
        };
        match is_fixture(def) || def.decorator_list.iter().any(is_property) {
            true => Binding::Other,
            false => Binding::Function {
                lines: self.lines(def.name.start(), def.end()),
                has_cases: has_cases(&def.decorator_list),
            },
        }
    }

    fn class(&mut self, def: &StmtClassDef) -> Binding {
        let bases = def.bases().iter().filter_map(dotted).collect();
        let mut members = self.names(&def.body);
        let is_dataclass = |it: &Decorator| last_name(callee(&it.expression)) == Some("dataclass");
        if def.decorator_list.iter().any(is_dataclass) {
            members.entry("__init__".to_owned()).or_insert(Binding::Other);
        }
        let lines = self.lines(def.name.start(), def.end());
        let has_cases = has_cases(&def.decorator_list);
        Binding::Class(Arc::new(Class { lines, has_cases, bases, members }))
    }

    fn bind_import_from(&mut self, it: &StmtImportFrom, names: &mut Names) {
        let name = it.module.as_ref().map(ToString::to_string).unwrap_or_default();
        let module = ModuleName { level: it.level, name };
        for alias in &it.names {
            if alias.name.as_str() == "*" {
                self.stars.push(module.clone());
                continue;
            }
            let bound = alias.asname.as_ref().unwrap_or(&alias.name).to_string();
            let name = Some(alias.name.to_string());
            names.insert(bound, Binding::Import { module: module.clone(), name });
        }
    }

    fn bind_value(&self, target: &Expr, value: &Expr, names: &mut Names) {
        let Expr::Name(target) = target else { return };
        let binding = match value {
            Expr::Lambda(it) => {
                Binding::Function { lines: self.lines(target.start(), it.end()), has_cases: false }
            }
            Expr::BooleanLiteral(it) => Binding::Flag(it.value),
            _ => dotted(value).map_or(Binding::Other, Binding::Alias),
        };
        names.insert(target.id.to_string(), binding);
    }

    fn lines(&self, start: TextSize, end: TextSize) -> TestLines {
        let line = |at: TextSize| self.lines.position(at.to_usize(), Unit::Utf8).0 as u32 + 1;
        TestLines { first: line(start), last: line(end) }
    }
}

fn bind_import(it: &StmtImport, names: &mut Names) {
    for alias in &it.names {
        let full = alias.name.as_str();
        let first = full.split('.').next().unwrap_or(full);
        let (bound, name) = match &alias.asname {
            Some(bound) => (bound.as_str(), full),
            None => (first, first),
        };
        let module = ModuleName { level: 0, name: name.to_owned() };
        names.insert(bound.to_owned(), Binding::Import { module, name: None });
    }
}

/// Returns a name with dots: `unittest.TestCase`.
fn dotted(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Name(name) => Some(name.id.to_string()),
        Expr::Attribute(it) => Some(format!("{}.{}", dotted(&it.value)?, it.attr)),
        // `Base[int]` has the methods of `Base`.
        Expr::Subscript(it) => dotted(&it.value),
        _ => None,
    }
}

fn has_cases(decorators: &[Decorator]) -> bool {
    decorators.iter().any(|it| last_name(callee(&it.expression)) == Some("parametrize"))
}

/// Returns whether a condition is `__name__ == "__main__"`.
fn is_main_guard(test: &Expr) -> bool {
    let compared = test.as_compare_expr().and_then(|it| it.left.as_name_expr());
    compared.is_some_and(|it| it.id == "__name__")
}

/// Returns the literal texts of a list that a module binds unconditionally.
fn texts_of(body: &[Stmt], name: &str) -> Vec<String> {
    let is = |it: &Expr| it.as_name_expr().is_some_and(|it| it.id == name);
    let values = body.iter().filter_map(|stmt| match stmt {
        Stmt::Assign(it) if it.targets.iter().any(is) => Some(&it.value),
        Stmt::AugAssign(it) if is(&it.target) => Some(&it.value),
        _ => None,
    });
    let elements = values.filter_map(|it| it.as_list_expr()).flat_map(|it| &it.elts);
    let texts = elements.filter_map(|it| it.as_string_literal_expr());
    texts.map(|it| it.value.to_str().to_owned()).collect()
}
