//! Detects removed checks: exceptions, assertions and bodies that a change drops.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{ExceptHandlerExceptHandler, Expr, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::statement_diff::{Node, Pieces};
use super::{Found, RuleInput, ShortcutKind};

/// Exceptions whose `raise` is not a check.
const NO_CHECKS: [&str; 3] = ["NotImplementedError", "StopIteration", "StopAsyncIteration"];
/// Functions that only report an exception.
const REPORTING_FUNCTIONS: [&str; 11] = [
    "print",
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "exception",
    "critical",
    "log",
    "str",
    "repr",
];

pub(super) fn find(look: &RuleInput<'_, '_>, found: &mut Vec<Found>) {
    for piece in look.change.added() {
        let path = look.change.after.path(piece);
        if let Some(what) = swallowing(piece.node)
            && !look.change.gone(path).iter().any(|it| swallowing(it.node).is_some())
        {
            let why = format!("`{what}` silences every exception");
            found.push((start(piece.node), ShortcutKind::Swallowed, why));
        }
    }
    for (old, new, path) in look.change.functions() {
        let at = new.name.start().to_usize();
        if is_emptied(old, new) {
            let why = format!("`{path}` no longer does anything");
            found.push((at, ShortcutKind::Emptied, why));
        } else if let Some((kind, why)) = loss(look, old, new, path) {
            found.push((at, kind, why));
        }
    }
}

fn start(node: Node<'_>) -> usize {
    match node {
        Node::Stmt(it) => it.start().to_usize(),
        Node::Elif(it) => it.start().to_usize(),
        Node::Handler(it) => it.start().to_usize(),
        Node::Case(it) => it.start().to_usize(),
    }
}

/// Returns the source form in which a piece drops every exception, if it does.
fn swallowing(node: Node<'_>) -> Option<String> {
    match node {
        Node::Handler(it) if swallows(it) => Some(match it.type_.as_deref() {
            None => "except:".to_owned(),
            Some(Expr::Name(name)) => format!("except {}:", name.id),
            Some(_) => "except Exception:".to_owned(),
        }),
        Node::Stmt(Stmt::With(it)) => it.items.iter().find_map(|it| match &it.context_expr {
            Expr::Call(call) if last_name(&call.func) == Some("suppress") => {
                let broad = call.arguments.args.iter().find(|it| is_broad(it))?;
                Some(format!("suppress({})", last_name(broad)?))
            }
            _ => None,
        }),
        _ => None,
    }
}

/// Returns whether a handler catches every exception, and neither raises one nor keeps it.
pub(super) fn swallows(handler: &ExceptHandlerExceptHandler) -> bool {
    if !handler.type_.as_deref().is_none_or(is_broad) {
        return false;
    }
    let name = handler.name.as_ref().map(|it| it.as_str());
    let mut kept = Kept { name, kept: false };
    handler.body.iter().for_each(|it| kept.visit_stmt(it));
    !kept.kept
}

fn is_broad(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(it) => it.elts.iter().any(is_broad),
        other => matches!(last_name(other), Some("Exception" | "BaseException")),
    }
}

/// Detects whether a handler uses the exception for more than a log message.
struct Kept<'a> {
    name: Option<&'a str>,
    kept: bool,
}

impl<'a> Visitor<'a> for Kept<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.kept |= matches!(stmt, Stmt::Raise(_));
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) => self.kept |= Some(it.id.as_str()) == self.name,
            Expr::Call(it) => {
                let called = last_name(&it.func).unwrap_or_default();
                self.kept |= matches!(called, "exit" | "_exit" | "abort" | "fail");
                if REPORTING_FUNCTIONS.contains(&called) {
                    return;
                }
            }
            _ => {}
        }
        visitor::walk_expr(self, expr);
    }
}

/// Returns whether a function body that did something now has only constants.
fn is_emptied(old: &StmtFunctionDef, new: &StmtFunctionDef) -> bool {
    new.body.iter().all(is_nothing) && !old.body.iter().all(is_nothing) && !is_stub(old)
}

fn is_nothing(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(it) => super::literals::value(&it.value).is_some(),
        Stmt::Return(it) => it.value.as_ref().is_none_or(|it| super::literals::value(it).is_some()),
        _ => false,
    }
}

/// Returns whether a function only raises `NotImplementedError`, with an optional docstring.
fn is_stub(def: &StmtFunctionDef) -> bool {
    def.body.iter().all(|stmt| match stmt {
        Stmt::Raise(it) => it.exc.as_deref().and_then(raised) == Some("NotImplementedError"),
        other => is_nothing(other),
    })
}

/// Returns the check that a function has lost, if any.
fn loss(
    look: &RuleInput<'_, '_>,
    old: &StmtFunctionDef,
    new: &StmtFunctionDef,
    path: &str,
) -> Option<(ShortcutKind, String)> {
    let gone: Vec<Option<&str>> =
        look.change.gone(path).iter().filter_map(|it| check(it.node)).collect();
    if gone.is_empty() || is_handed_on(look, path) {
        return None;
    }
    let documented = [docstring(old), docstring(new)];
    let still = raised_in(look.change.after, path);
    let broken = gone.iter().flatten().find(|it| {
        !still.contains(*it) && documented.iter().flatten().any(|text| promises(text, it))
    });
    if let Some(exception) = broken {
        let why = format!("`{path}` documents `{exception}`, but no longer raises it");
        return Some((ShortcutKind::BrokenPromise, why));
    }
    let new = look.change.added().filter(|it| look.change.after.path(it) == path);
    let instead = new.filter(|it| check(it.node).is_some() || guards(it.node)).count();
    let one = gone.iter().flatten().next().map_or("assert".to_owned(), |it| format!("raise {it}"));
    (gone.len() > instead)
        .then(|| (ShortcutKind::CheckGone, format!("`{path}` no longer has the check `{one}`")))
}

/// Returns the check that a node makes: a `raise`, with the name of the exception if it has one, or
/// an `assert`.
fn check(node: Node<'_>) -> Option<Option<&str>> {
    match node {
        Node::Stmt(Stmt::Assert(_)) => Some(None),
        Node::Stmt(Stmt::Raise(it)) => {
            let name = it.exc.as_deref().and_then(raised);
            (!name.is_some_and(|it| NO_CHECKS.contains(&it))).then_some(name)
        }
        _ => None,
    }
}

/// Returns whether a node is a condition under which an exception is raised.
fn guards(node: Node<'_>) -> bool {
    let raises = |body: &[Stmt]| body.iter().any(Stmt::is_raise_stmt);
    match node {
        Node::Stmt(Stmt::If(it)) => raises(&it.body),
        Node::Elif(it) => raises(&it.body),
        Node::Handler(it) => raises(&it.body),
        Node::Case(it) => raises(&it.body),
        _ => false,
    }
}

/// Returns whether a function newly calls a helper that checks.
fn is_handed_on(look: &RuleInput<'_, '_>, path: &str) -> bool {
    let after = look.change.after;
    let checking: FxHashSet<&str> = after
        .all
        .iter()
        .filter(|it| check(it.node).is_some() && after.path(it) != path)
        .filter_map(|it| after.functions[it.function].def.map(|it| it.name.as_str()))
        .collect();
    let mut called = Called(FxHashSet::default());
    for piece in look.change.added().filter(|it| after.path(it) == path) {
        match piece.node {
            Node::Stmt(it) => called.visit_stmt(it),
            Node::Elif(it) => it.test.iter().for_each(|it| called.visit_expr(it)),
            Node::Handler(_) | Node::Case(_) => {}
        }
    }
    called.0.iter().any(|it| checking.contains(it))
}

struct Called<'a>(FxHashSet<&'a str>);

impl<'a> Visitor<'a> for Called<'a> {
    fn visit_body(&mut self, _: &'a [Stmt]) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Call(it) = expr {
            self.0.extend(last_name(&it.func));
        }
        visitor::walk_expr(self, expr);
    }
}

/// Returns the exceptions that a function raises.
fn raised_in<'a>(pieces: &Pieces<'a>, path: &str) -> FxHashSet<&'a str> {
    let inside = pieces.all.iter().filter(|it| pieces.path(it) == path);
    inside.filter_map(|it| check(it.node).flatten()).collect()
}

fn raised(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Call(it) => last_name(&it.func),
        other => last_name(other),
    }
}

fn last_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(it) => Some(it.id.as_str()),
        Expr::Attribute(it) => Some(it.attr.as_str()),
        _ => None,
    }
}

fn docstring(def: &StmtFunctionDef) -> Option<&str> {
    match def.body.first()? {
        Stmt::Expr(it) => it.value.as_string_literal_expr().map(|it| it.value.to_str()),
        _ => None,
    }
}

/// Returns whether a docstring says that an exception is raised: `Raises:` of any style, `:raises
/// X:`, or a sentence such as "raise X if". Callers ask only for exceptions that were in fact
/// raised.
fn promises(text: &str, exception: &str) -> bool {
    let mut words = text.split(|it: char| !it.is_alphanumeric() && it != '_');
    let mut says = false;
    words.any(|it| {
        says |= it.to_ascii_lowercase().starts_with("rais") || it == "except" || it == "exception";
        says && it == exception
    })
}
