//! What pytest would collect from a test module, as far as its text tells.

use std::collections::BTreeSet;

use ruff_python_ast::{Decorator, Expr, Stmt, StmtClassDef, StmtFunctionDef};

use crate::syntax::{self, SyntaxError};

/// A test function, or a class of them, at the top level of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestDefinition {
    pub name: String,
    /// Test functions it is or holds, each however many cases it has.
    pub functions: usize,
    /// Cases it holds: each row of a literal `parametrize` list is one; lists that are not literal
    /// count as one row.
    pub cases: usize,
}

/// The tests of a module, in order. A name defined twice is collected once, as it was defined last.
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

/// A fixture may be called `test_data`; it is none.
pub(crate) fn is_test(def: &StmtFunctionDef) -> bool {
    def.name.starts_with("test") && !is_fixture(def)
}

pub(crate) fn is_fixture(def: &StmtFunctionDef) -> bool {
    let fixture = |it: &Decorator| last_name(callee(&it.expression)) == Some("fixture");
    def.decorator_list.iter().any(fixture)
}

/// pytest goes by the name; of unittest's classes it takes all.
pub(crate) fn is_test_class(def: &StmtClassDef) -> bool {
    let bases = def.arguments.iter().flat_map(|it| &it.args);
    let mut names = bases.filter_map(last_name);
    def.name.starts_with("Test") || names.any(|name| name.ends_with("TestCase"))
}

fn callee(expr: &Expr) -> &Expr {
    expr.as_call_expr().map_or(expr, |call| &call.func)
}

/// `fixture` of `pytest.fixture`.
pub(crate) fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(name) => Some(name.id.as_str()),
        Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
        _ => None,
    }
}

/// The product of the lists of all `parametrize` decorators.
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
