//! Finds definitions that only exist at run time, which no reading of the code can list.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, ExprCall, Stmt};
use ruff_text_size::Ranged;

use crate::lines::{Lines, Unit};
use crate::tree::Tree;

/// Words without which a text has no such definitions.
const WORDS: [&str; 4] = ["globals(", "exec(", "setattr(", "type("];

/// Returns the lines, from 1, on which a text makes names of modules or classes at run time:
/// `exec(…)`, `globals()[…] = …`, `setattr(sys.modules[…], …)`, `type("Name", …, …)`.
pub fn dynamic_definitions(text: &str) -> Vec<u32> {
    if !WORDS.iter().any(|it| text.contains(it)) {
        return Vec::new();
    }
    let Ok(tree) = Tree::of(text) else { return Vec::new() };
    let mut found = Found::default();
    tree.body().iter().for_each(|stmt| found.visit_stmt(stmt));
    let lines = Lines::of(text);
    let line = |at: &usize| lines.position(*at, Unit::Utf8).0 as u32 + 1;
    let mut out: Vec<u32> = found.offsets.iter().map(line).collect();
    out.sort_unstable();
    out.dedup();
    out
}

#[derive(Default)]
struct Found {
    offsets: Vec<usize>,
}

impl Visitor<'_> for Found {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let targets = match stmt {
            Stmt::Assign(it) => &it.targets[..],
            _ => &[],
        };
        if targets.iter().any(is_global) {
            self.offsets.push(stmt.start().to_usize());
        }
        visitor::walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &Expr) {
        if let Expr::Call(call) = expr
            && defines(call)
        {
            self.offsets.push(expr.start().to_usize());
        }
        visitor::walk_expr(self, expr);
    }
}

fn is_call_of(expr: &Expr, name: &str) -> bool {
    let Expr::Call(call) = expr else { return false };
    matches!(&*call.func, Expr::Name(it) if it.id == name)
}

/// Returns whether an expression is `globals()[…]`.
fn is_global(target: &Expr) -> bool {
    matches!(target, Expr::Subscript(it) if is_call_of(&it.value, "globals"))
}

fn defines(call: &ExprCall) -> bool {
    let arguments = &call.arguments.args;
    match &*call.func {
        Expr::Name(it) => match it.id.as_str() {
            "exec" => true,
            "type" => arguments.len() == 3,
            "setattr" => arguments.first().is_some_and(is_module),
            _ => false,
        },
        Expr::Attribute(it) => it.attr.as_str() == "update" && is_call_of(&it.value, "globals"),
        _ => false,
    }
}

/// Returns whether an expression is `sys.modules[…]`.
fn is_module(expr: &Expr) -> bool {
    let Expr::Subscript(it) = expr else { return false };
    matches!(&*it.value, Expr::Attribute(it) if it.attr.as_str() == "modules")
}
