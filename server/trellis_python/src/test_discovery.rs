//! Finds the tests that pytest would collect from a module, as far as its text shows.

use std::collections::BTreeSet;

use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};

use crate::syntax::{self, SyntaxError};

/// A test function or test class at the top level of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDefinition {
    pub name: String,
    /// Number of test functions, regardless of their number of cases.
    pub functions: usize,
    /// Number of cases: each row of a literal `parametrize` list is one; a list that is not literal
    /// counts as one row.
    pub cases: usize,
}

/// Returns the tests of a module, in order. A name defined twice is collected once, with its last
/// definition.
pub fn tests(source: &str) -> Result<Vec<TestDefinition>, SyntaxError> {
    let module = syntax::parse(source)?;
    let mut out: Vec<TestDefinition> = Vec::new();
    for definition in module.suite().iter().filter_map(definition) {
        out.retain(|it| it.name != definition.name);
        out.push(definition);
    }
    Ok(out)
}

fn definition(stmt: &Stmt) -> Option<TestDefinition> {
    let (name, functions, cases) = match stmt {
        Stmt::FunctionDef(def) if is_test(def) => (&def.name, 1, rows(&def.decorator_list)),
        Stmt::ClassDef(def) if is_test_class(def) => {
            let methods = def.body.iter().filter_map(Stmt::as_function_def_stmt);
            let tests: Vec<&StmtFunctionDef> = methods.filter(|it| is_test(it)).collect();
            let cases: usize = tests.iter().map(|it| rows(&it.decorator_list)).sum();
            let names: BTreeSet<&str> = tests.iter().map(|it| it.name.as_str()).collect();
            (&def.name, names.len(), cases * rows(&def.decorator_list))
        }
        _ => return None,
    };
    Some(TestDefinition { name: name.to_string(), functions, cases })
}

/// Returns whether a function is a test. A fixture named `test_data` is not.
pub(crate) fn is_test(def: &StmtFunctionDef) -> bool {
    def.name.starts_with("test") && !is_fixture(def)
}

pub(crate) fn is_fixture(def: &StmtFunctionDef) -> bool {
    let fixture = |it: &Decorator| last_name(callee(&it.expression)) == Some("fixture");
    def.decorator_list.iter().any(fixture)
}

/// Returns whether pytest collects a class: by its name, or as a subclass of unittest's `TestCase`.
pub(crate) fn is_test_class(def: &StmtClassDef) -> bool {
    let bases = def.arguments.iter().flat_map(|it| &it.args);
    let mut names = bases.filter_map(last_name);
    def.name.starts_with("Test") || names.any(|name| name.ends_with("TestCase"))
}

pub(crate) fn callee(expr: &Expr) -> &Expr {
    expr.as_call_expr().map_or(expr, |call| &call.func)
}

/// Returns the last component of a dotted name: `fixture` of `pytest.fixture`.
pub(crate) fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// Returns the number of cases: the product of the list lengths of all `parametrize` decorators.
fn rows(decorators: &[Decorator]) -> usize {
    let calls = decorators.iter().filter_map(|it| it.expression.as_call_expr());
    let parametrize = calls.filter(|call| last_name(&call.func) == Some("parametrize"));
    parametrize
        .map(|call| call.arguments.find_argument_value("argvalues", 1).map_or(1, length))
        .product()
}

fn length(list: &Expr) -> usize {
    let elements = match list {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        Expr::Set(set) => &set.elts,
        _ => return 1,
    };
    elements.len()
}
