//! Turns test functions into methods of one class, so that tests of several subjects in one file
//! keep their names.

use std::collections::HashSet;

use ruff_python_ast::{Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::class_body::indented;
use crate::fragment::{Fragment, Item, ItemKind};
use crate::scope::{unresolved, words};
use crate::syntax::{self, SyntaxError};
use crate::test_discovery::{self, is_test, is_test_class};

const INDENT: &str = "    ";

/// Returns whether an item is a pytest fixture.
pub fn is_fixture(item: &Item) -> bool {
    item.kind == ItemKind::Function
        && function(&item.text, test_discovery::is_fixture) == Some(true)
}

/// Moves the test functions of a module into a class at its end, and the fixtures too if
/// `with_fixtures`. `None` if the module has no test functions, has test classes, or if the move
/// could change the meaning of a name.
pub fn in_test_class(
    fragment: &Fragment,
    class: &str,
    with_fixtures: bool,
) -> Result<Option<Fragment>, SyntaxError> {
    let moves = |item: &Item| {
        item.kind == ItemKind::Function
            && (function(&item.text, is_test) == Some(true) || (with_fixtures && is_fixture(item)))
    };
    let (moved, rest): (Vec<Item>, Vec<Item>) = fragment.items.iter().cloned().partition(moves);
    if moved.is_empty() || rest.iter().any(holds_tests) || !can_move(&moved, &rest)? {
        return Ok(None);
    }
    let mut methods = Vec::new();
    for item in &moved {
        let Some(method) = with_self(&item.text)? else { return Ok(None) };
        methods.push(indented(&method, INDENT)?);
    }
    let text = format!("class {class}:\n{}", methods.join("\n\n"));
    let class = Item { kind: ItemKind::Class, names: vec![class.to_owned()], text };
    let items = rest.into_iter().chain([class]).collect();
    Ok(Some(Fragment { items, ..fragment.clone() }))
}

/// Applies `what` to the function that the text defines.
fn function<T>(text: &str, what: impl Fn(&StmtFunctionDef) -> T) -> Option<T> {
    let module = syntax::parse(text).ok()?;
    module.suite().first().and_then(Stmt::as_function_def_stmt).map(what)
}

fn holds_tests(item: &Item) -> bool {
    item.kind == ItemKind::Class
        && syntax::parse(&item.text).is_ok_and(|module| {
            module.suite().iter().filter_map(Stmt::as_class_def_stmt).any(is_test_class)
        })
}

/// Returns whether the items can move: no other code uses their names, and they use no private name
/// (`__x`), whose meaning changes inside a class.
fn can_move(moved: &[Item], rest: &[Item]) -> Result<bool, SyntaxError> {
    let names: HashSet<&str> = moved.iter().flat_map(|it| &it.names).map(String::as_str).collect();
    if names.len() < moved.len() {
        return Ok(false);
    }
    for item in moved.iter().chain(rest) {
        if unresolved(&item.text)?.iter().any(|name| names.contains(name.as_str())) {
            return Ok(false);
        }
    }
    for item in moved {
        let is_private = |it: &String| it.starts_with("__") && !it.ends_with("__");
        if words(&item.text)?.iter().any(is_private) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns a function's text with `self` added before its parameters; `None` if it already has a
/// parameter of that name.
fn with_self(text: &str) -> Result<Option<String>, SyntaxError> {
    let module = syntax::parse(text)?;
    let Some(def) = module.suite().first().and_then(Stmt::as_function_def_stmt) else {
        return Ok(None);
    };
    if def.parameters.iter().any(|it| it.name().as_str() == "self") {
        return Ok(None);
    }
    let at = def.parameters.range().start().to_usize() + 1;
    let separator = if def.parameters.is_empty() { "" } else { ", " };
    Ok(Some(format!("{}self{separator}{}", &text[..at], &text[at..])))
}
