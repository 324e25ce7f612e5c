//! Compares returned literals with the function's annotation.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{Expr, Number, Operator, Stmt, StmtFunctionDef, UnaryOp};
use ruff_text_size::Ranged;

use super::statement_diff::{Node, Pieces};
use super::{Found, RuleInput, ShortcutKind, literals};
use crate::syntax;

/// Type of a literal or display.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Int,
    Float,
    Complex,
    Bool,
    Str,
    Bytes,
    None,
    List,
    Tuple,
    Set,
    Dict,
}

pub(super) fn find(look: &RuleInput<'_, '_>, found: &mut Vec<Found>) {
    let (before, after) = (look.change.before, look.change.after);
    for piece in look.change.added() {
        let Node::Stmt(Stmt::Return(it)) = piece.node else { continue };
        let Some(def) = after.functions[piece.function].def else { continue };
        let Some((annotation, value)) = def.returns.as_deref().zip(it.value.as_deref()) else {
            continue;
        };
        if accepts(annotation, value) || is_generator(def) {
            continue;
        }
        // The function already returned this type before, against its annotation.
        if returns(before, after.path(piece), value) {
            continue;
        }
        let text = |it: &Expr| &look.source[it.range()];
        let why =
            format!("it returns `{}`, but its annotation says `{}`", text(value), text(annotation));
        found.push((value.start().to_usize(), ShortcutKind::WrongType, why));
    }
}

/// Returns whether a function returns a value of the same type as `value`.
fn returns(pieces: &Pieces<'_>, path: &str, value: &Expr) -> bool {
    let wanted = of(value);
    let inside = pieces.all.iter().filter(|it| pieces.path(it) == path);
    let mut values = inside.filter_map(|it| match it.node {
        Node::Stmt(Stmt::Return(it)) => it.value.as_deref(),
        _ => None,
    });
    values.any(|it| of(it) == wanted)
}

fn of(value: &Expr) -> Option<Type> {
    Some(match value {
        Expr::NumberLiteral(it) => match it.value {
            Number::Int(_) => Type::Int,
            Number::Float(_) => Type::Float,
            Number::Complex { .. } => Type::Complex,
        },
        Expr::UnaryOp(it) if it.op == UnaryOp::USub && it.operand.is_number_literal_expr() => {
            return of(&it.operand);
        }
        Expr::BooleanLiteral(_) => Type::Bool,
        Expr::StringLiteral(_) | Expr::FString(_) => Type::Str,
        Expr::BytesLiteral(_) => Type::Bytes,
        Expr::NoneLiteral(_) => Type::None,
        Expr::List(_) => Type::List,
        Expr::Tuple(_) => Type::Tuple,
        Expr::Set(_) => Type::Set,
        Expr::Dict(_) => Type::Dict,
        _ => return None,
    })
}

/// Returns whether an annotation accepts a value. Unknown values and annotations are accepted.
fn accepts(annotation: &Expr, value: &Expr) -> bool {
    let Some(it) = of(value) else { return true };
    match annotation {
        Expr::StringLiteral(text) => quoted(text.value.to_str(), value),
        Expr::NoneLiteral(_) => it == Type::None,
        Expr::BinOp(either) if either.op == Operator::BitOr => {
            accepts(&either.left, value) || accepts(&either.right, value)
        }
        Expr::Subscript(of) => generic(name(&of.value), arguments(&of.slice), it, value),
        other => plain(name(other), it),
    }
}

fn quoted(annotation: &str, value: &Expr) -> bool {
    let Ok(parsed) = syntax::parse(annotation) else { return true };
    match &parsed.suite()[..] {
        [Stmt::Expr(it)] if !it.value.is_string_literal_expr() => accepts(&it.value, value),
        _ => true,
    }
}

fn name(expr: &Expr) -> &str {
    match expr {
        Expr::Name(it) => it.id.as_str(),
        Expr::Attribute(it) => it.attr.as_str(),
        _ => "",
    }
}

fn arguments(slice: &Expr) -> &[Expr] {
    match slice {
        Expr::Tuple(it) => &it.elts,
        other => std::slice::from_ref(other),
    }
}

fn plain(name: &str, it: Type) -> bool {
    match name {
        "int" => matches!(it, Type::Int | Type::Bool),
        "float" => matches!(it, Type::Float | Type::Int | Type::Bool),
        "complex" => matches!(it, Type::Complex | Type::Float | Type::Int | Type::Bool),
        "bool" => it == Type::Bool,
        "str" => it == Type::Str,
        "bytes" => it == Type::Bytes,
        "list" | "List" => it == Type::List,
        "tuple" | "Tuple" => it == Type::Tuple,
        "set" | "Set" => it == Type::Set,
        "dict" | "Dict" => it == Type::Dict,
        _ => true,
    }
}

fn generic(name: &str, inner: &[Expr], it: Type, value: &Expr) -> bool {
    let any = || inner.iter().any(|each| accepts(each, value));
    match name {
        "Optional" => it == Type::None || any(),
        "Union" => any(),
        "Annotated" => inner.first().is_none_or(|first| accepts(first, value)),
        "Literal" => {
            let wanted = literals::value(value);
            wanted.is_none() || inner.iter().any(|each| literals::value(each) == wanted)
        }
        _ => plain(name, it) && elements(name, inner, value),
    }
}

/// Checks the elements of a display against the arguments of a generic type.
fn elements(name: &str, inner: &[Expr], value: &Expr) -> bool {
    match (name, value, inner) {
        ("list" | "List", Expr::List(it), [of]) => it.elts.iter().all(|each| accepts(of, each)),
        ("set" | "Set", Expr::Set(it), [of]) => it.elts.iter().all(|each| accepts(of, each)),
        ("tuple" | "Tuple", Expr::Tuple(it), [of, Expr::EllipsisLiteral(_)]) => {
            it.elts.iter().all(|each| accepts(of, each))
        }
        ("tuple" | "Tuple", Expr::Tuple(it), _) => {
            let starred = |each: &Expr| each.is_starred_expr();
            if it.elts.iter().any(starred) || inner.iter().any(starred) || inner.is_empty() {
                return true;
            }
            it.elts.len() == inner.len()
                && it.elts.iter().zip(inner).all(|(each, of)| accepts(of, each))
        }
        ("dict" | "Dict", Expr::Dict(it), [key, of]) => it.items.iter().all(|each| {
            each.key.as_ref().is_none_or(|it| accepts(key, it) && accepts(of, &each.value))
        }),
        _ => true,
    }
}

fn is_generator(def: &StmtFunctionDef) -> bool {
    let mut yields = Yields(false);
    def.body.iter().for_each(|it| yields.visit_stmt(it));
    yields.0
}

struct Yields(bool);

impl<'a> Visitor<'a> for Yields {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
            visitor::walk_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.0 |= matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_));
        if !expr.is_lambda_expr() {
            visitor::walk_expr(self, expr);
        }
    }
}
