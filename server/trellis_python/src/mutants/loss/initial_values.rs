//! Finds edits of the truth values and `None` that variables and attributes start with.

use std::ops::Range;

use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::Ranged;

use crate::syntax;

/// Returns the target of the assignment whose plain value an edit of a range changes, and whether
/// the statement is one of the body itself.
pub(super) fn changed<'s>(
    source: &'s str,
    body: &[Stmt],
    edited: &Range<usize>,
) -> Option<(&'s str, bool)> {
    let mut open: Vec<&Stmt> = body.iter().collect();
    while let Some(stmt) = open.pop() {
        if !contains(stmt, edited) {
            continue;
        }
        let target = match stmt {
            Stmt::Assign(it) => {
                it.targets.iter().find_map(|target| edited_target(target, &it.value, edited))
            }
            Stmt::AnnAssign(it) => {
                it.value.as_ref().and_then(|value| edited_target(&it.target, value, edited))
            }
            _ => None,
        };
        if let Some(target) = target {
            let is_top = body.iter().any(|it| std::ptr::eq(it, stmt));
            return Some((&source[target.range().to_std_range()], is_top));
        }
        open.extend(syntax::blocks(stmt).into_iter().flatten());
    }
    None
}

/// Returns the target, or the part of it, whose value is an edited literal.
fn edited_target<'a>(target: &'a Expr, value: &Expr, edited: &Range<usize>) -> Option<&'a Expr> {
    if edited.is_empty() || !contains(value, edited) {
        return None;
    }
    match (target, value) {
        (Expr::Tuple(targets), Expr::Tuple(values)) => {
            let mut parts = targets.elts.iter().zip(&values.elts);
            parts.find_map(|(target, value)| edited_target(target, value, edited))
        }
        (Expr::Name(_) | Expr::Attribute(_), Expr::BooleanLiteral(_) | Expr::NoneLiteral(_)) => {
            Some(target)
        }
        _ => None,
    }
}

fn contains(outer: &impl Ranged, inner: &Range<usize>) -> bool {
    let outer = outer.range().to_std_range();
    outer.start <= inner.start && inner.end <= outer.end
}
