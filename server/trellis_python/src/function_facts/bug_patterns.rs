//! Detects constructs that are often wrong.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{CmpOp, ExceptHandler, Expr, Stmt, StmtFunctionDef};

use crate::syntax::blocks;

/// Returns the oddities in a statement's own expressions.
pub(super) fn of_statement(stmt: &Stmt) -> Vec<String> {
    let mut found = match stmt {
        Stmt::If(it) => of_condition(&it.test),
        Stmt::While(it) => of_condition(&it.test),
        Stmt::Return(it) => it.value.as_deref().map(of_condition).unwrap_or_default(),
        Stmt::Assign(it) => of_condition(&it.value),
        Stmt::Expr(it) => of_condition(&it.value),
        _ => Vec::new(),
    };
    match stmt {
        Stmt::Try(it) => {
            for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                let silent = matches!(handler.body.as_slice(), [Stmt::Pass(_)]);
                if handler.type_.is_none() {
                    found.push("a bare `except` catches everything".to_owned());
                } else if silent {
                    found.push("an exception is silently ignored".to_owned());
                }
            }
        }
        Stmt::Assign(it) => {
            if let [target] = it.targets.as_slice()
                && same(target, &it.value)
            {
                found.push("something is assigned to itself".to_owned());
            }
        }
        Stmt::Expr(it) if matches!(&*it.value, Expr::Compare(_) | Expr::BinOp(_)) => {
            found.push("the value is computed and discarded".to_owned());
        }
        Stmt::For(it) if changes_what_it_walks(&it.iter, &it.body) => {
            found.push("the loop changes what it iterates over".to_owned());
        }
        _ => {}
    }
    found
}

/// Returns the oddities in a condition or another expression.
pub(super) fn of_condition(expr: &Expr) -> Vec<String> {
    let mut finder = Finder(Vec::new());
    finder.visit_expr(expr);
    finder.0
}

struct Finder(Vec<String>);

impl<'a> Visitor<'a> for Finder {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Compare(it) = expr {
            let sides = std::iter::once(&*it.left).chain(it.comparators.iter());
            for (op, right) in it.ops.iter().zip(&it.comparators) {
                let literal = matches!(right, Expr::NumberLiteral(_) | Expr::StringLiteral(_));
                if matches!(op, CmpOp::Is | CmpOp::IsNot) && literal {
                    self.0.push("`is` compares with a literal".to_owned());
                }
            }
            let sides: Vec<&Expr> = sides.collect();
            if sides.windows(2).any(|pair| same(pair[0], pair[1])) {
                self.0.push("something is compared with itself".to_owned());
            }
        }
        if let Expr::BoolOp(it) = expr
            && it.values.windows(2).any(|pair| same(&pair[0], &pair[1]))
        {
            self.0.push("both sides of a condition are the same".to_owned());
        }
        walk_expr(self, expr);
    }
}

/// Returns the oddities of a whole function; they are attributed to its header.
pub(super) fn of_function(def: &StmtFunctionDef) -> Vec<String> {
    let mut found = Vec::new();
    for default in def.parameters.iter().filter_map(|it| it.default()) {
        let fresh = matches!(default, Expr::List(_) | Expr::Dict(_) | Expr::Set(_))
            || matches!(default, Expr::Call(call) if is_container(&call.func));
        if fresh {
            found.push("a default value is shared by all calls".to_owned());
        }
    }
    let mut read = Read::default();
    def.body.iter().for_each(|it| read.visit_stmt(it));
    let is_stub = def.body.iter().all(|it| {
        matches!(it, Stmt::Pass(_) | Stmt::Raise(_))
            || matches!(it, Stmt::Expr(it) if it.value.is_string_literal_expr() || it.value.is_ellipsis_literal_expr())
    });
    for parameter in def.parameters.iter() {
        let name = parameter.name().as_str();
        let meant = !name.starts_with('_') && !matches!(name, "self" | "cls" | "args" | "kwargs");
        if meant && !is_stub && !read.0.contains(&name) {
            found.push(format!("the parameter `{name}` is never used"));
        }
    }
    let mut returns = (false, false);
    count_returns(&def.body, &mut returns);
    if returns.0 && !ends(&def.body) && !returns.1 {
        found.push("some paths through it return nothing".to_owned());
    }
    found
}

fn is_container(func: &Expr) -> bool {
    matches!(func, Expr::Name(it) if matches!(it.id.as_str(), "list" | "dict" | "set"))
}

#[derive(Default)]
struct Read<'a>(Vec<&'a str>);

impl<'a> Visitor<'a> for Read<'a> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Name(it) = expr
            && !it.ctx.is_store()
        {
            self.0.push(it.id.as_str());
        }
        walk_expr(self, expr);
    }
}

/// Records whether a body returns a value, and whether it returns nothing on purpose or yields.
fn count_returns(body: &[Stmt], found: &mut (bool, bool)) {
    for stmt in body {
        match stmt {
            Stmt::Return(it) => match &it.value {
                Some(value) if !value.is_none_literal_expr() => found.0 = true,
                _ => found.1 = true,
            },
            Stmt::Expr(it) if matches!(&*it.value, Expr::Yield(_) | Expr::YieldFrom(_)) => {
                found.1 = true;
            }
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => {}
            _ => blocks(stmt).into_iter().for_each(|it| count_returns(it, found)),
        }
    }
}

/// Returns whether no path reaches the end of a body.
fn ends(body: &[Stmt]) -> bool {
    match body.last() {
        Some(Stmt::Return(_) | Stmt::Raise(_)) => true,
        Some(Stmt::If(it)) => {
            it.elif_else_clauses.last().is_some_and(|last| last.test.is_none())
                && ends(&it.body)
                && it.elif_else_clauses.iter().all(|clause| ends(&clause.body))
        }
        Some(Stmt::While(it)) => {
            matches!(&*it.test, Expr::BooleanLiteral(it) if it.value) && !has_break(&it.body)
        }
        Some(Stmt::With(it)) => ends(&it.body),
        Some(Stmt::Try(it)) => {
            let handled = it.handlers.iter().all(|ExceptHandler::ExceptHandler(it)| ends(&it.body));
            ends(&it.finalbody) || handled && (ends(&it.body) || ends(&it.orelse))
        }
        Some(Stmt::Match(it)) => it.cases.iter().all(|case| ends(&case.body)),
        _ => false,
    }
}

fn has_break(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Break(_) => true,
        Stmt::For(_) | Stmt::While(_) => false,
        _ => blocks(stmt).into_iter().any(has_break),
    })
}

/// Returns whether the body of a loop over a name adds to that name or removes from it.
fn changes_what_it_walks(iter: &Expr, body: &[Stmt]) -> bool {
    let Expr::Name(walked) = iter else { return false };
    body.iter().any(|stmt| {
        let changes = matches!(stmt, Stmt::Expr(it) if matches!(&*it.value, Expr::Call(call)
            if matches!(&*call.func, Expr::Attribute(method)
                if matches!(method.attr.as_str(), "remove" | "pop" | "append" | "insert" | "add")
                    && matches!(&*method.value, Expr::Name(of) if of.id == walked.id))));
        changes || blocks(stmt).into_iter().any(|it| changes_what_it_walks(iter, it))
    })
}

/// Returns whether two expressions are the same name or attribute, whose value no call in between
/// can change.
fn same(a: &Expr, b: &Expr) -> bool {
    match (a, b) {
        (Expr::Name(a), Expr::Name(b)) => a.id == b.id,
        (Expr::Attribute(a), Expr::Attribute(b)) => {
            a.attr.as_str() == b.attr.as_str() && same(&a.value, &b.value)
        }
        _ => false,
    }
}
