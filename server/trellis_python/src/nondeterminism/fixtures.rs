//! The fixtures that tests ask for: those of a plug-in may be anything.

use std::collections::BTreeSet;

use ruff_python_ast::{Expr, ExprCall, StmtFunctionDef};

use crate::test_discovery::{callee, is_fixture, is_test, last_name};

/// Parameters of tests that are no fixtures, and fixtures of pytest that are the same in each run,
/// but for the names of temporary folders.
const OF_PYTEST: &[&str] = &[
    "capfd",
    "capfdbinary",
    "caplog",
    "capsys",
    "capsysbinary",
    "cls",
    "doctest_namespace",
    "monkeypatch",
    "pytestconfig",
    "record_property",
    "record_testsuite_property",
    "record_xml_attribute",
    "recwarn",
    "request",
    "self",
    "subtests",
    "tmp_path",
    "tmp_path_factory",
    "tmpdir",
    "tmpdir_factory",
];

/// The fixtures that the tests of some files ask for and define.
#[derive(Default)]
pub(super) struct FixtureUses {
    asked: BTreeSet<String>,
    known: BTreeSet<String>,
}

impl FixtureUses {
    /// Takes in the parameters of a test or fixture.
    pub(super) fn function(&mut self, def: &StmtFunctionDef) {
        let of_fixture = is_fixture(def);
        if of_fixture {
            self.known.insert(def.name.to_string());
        }
        // `unittest.mock.patch` passes values to parameters of any name.
        let patches = |it: &Expr| dotted_names(callee(it)).any(|it| it == "patch");
        let is_patched = def.decorator_list.iter().any(|it| patches(&it.expression));
        if of_fixture || is_test(def) && !is_patched {
            let asked = def.parameters.iter_non_variadic_params();
            let asked = asked.filter(|it| it.default.is_none());
            self.asked.extend(asked.map(|it| it.parameter.name.to_string()));
        }
    }

    /// Takes in the names that a mark or the decorator of a fixture gives.
    pub(super) fn call(&mut self, call: &ExprCall) {
        let arguments = &call.arguments;
        match last_name(&call.func) {
            Some("parametrize") => {
                let names = arguments.find_argument_value("argnames", 0);
                self.known.extend(names.into_iter().flat_map(strings));
            }
            Some("fixture") => {
                let name = arguments.find_keyword("name").map(|it| &it.value);
                self.known.extend(name.into_iter().flat_map(strings));
            }
            Some("usefixtures") => self.asked.extend(arguments.args.iter().flat_map(strings)),
            _ => {}
        }
    }

    /// Returns whether a fixture comes from elsewhere.
    pub(super) fn has_foreign(&self) -> bool {
        self.asked.difference(&self.known).any(|it| !OF_PYTEST.contains(&it.as_str()))
    }
}

/// Returns the names of `a.b.c`, last first.
fn dotted_names(expr: &Expr) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(expr), |it| Some(&*it.as_attribute_expr()?.value))
        .filter_map(last_name)
}

/// Returns the names in `"a, b"`, `["a", "b"]` or `("a", "b")`.
fn strings(expr: &Expr) -> Vec<String> {
    let elements = match expr {
        Expr::List(it) => &it.elts[..],
        Expr::Tuple(it) => &it.elts[..],
        other => std::slice::from_ref(other),
    };
    let texts = elements.iter().filter_map(Expr::as_string_literal_expr);
    texts.flat_map(|it| it.value.to_str().split(',').map(|it| it.trim().to_owned())).collect()
}
