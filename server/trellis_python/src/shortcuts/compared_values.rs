//! Finds the values that code compares and looks up.

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{CmpOp, ElifElseClause, ExceptHandler, Expr, MatchCase, Pattern, Stmt};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::literals;
use super::statement_diff::{Node, Pieces};

/// Detects whether a subject is compared with string literals.
pub(super) struct Words<'w> {
    pub(super) source: &'w str,
    /// Source text of the subject; `None` looks for cases of a `match`.
    pub(super) subject: Option<&'w str>,
    pub(super) found: bool,
}

impl Words<'_> {
    pub(super) fn look_at(&mut self, node: Node<'_>) {
        match node {
            Node::Stmt(it) => visitor::walk_stmt(self, it),
            Node::Elif(it) => it.test.iter().for_each(|it| self.visit_expr(it)),
            Node::Case(it) => {
                self.found |= self.subject.is_none()
                    && matches!(&it.pattern, Pattern::MatchValue(it) if is_word(&it.value));
            }
            Node::Handler(_) => {}
        }
    }
}

impl<'a> Visitor<'a> for Words<'_> {
    fn visit_body(&mut self, _: &'a [Stmt]) {}
    fn visit_elif_else_clause(&mut self, _: &'a ElifElseClause) {}
    fn visit_except_handler(&mut self, _: &'a ExceptHandler) {}
    fn visit_match_case(&mut self, _: &'a MatchCase) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::Compare(it) = expr
            && Some(&self.source[it.left.range()]) == self.subject
        {
            let right = it.comparators.iter();
            self.found |= right.flat_map(|it| [vec![it], members(it)].concat()).any(is_word);
        }
        visitor::walk_expr(self, expr);
    }
}

fn is_word(expr: &Expr) -> bool {
    expr.is_string_literal_expr() && !literals::is_trivial(expr)
}

/// Returns the names that are subscripted or tested for membership with a key that is not a
/// literal.
pub(super) fn tables<'a>(pieces: &Pieces<'a>) -> FxHashSet<&'a str> {
    let mut asked = Asked(FxHashSet::default());
    for piece in &pieces.all {
        match piece.node {
            Node::Stmt(stmt) => visitor::walk_stmt(&mut asked, stmt),
            Node::Elif(it) => it.test.iter().for_each(|it| asked.visit_expr(it)),
            Node::Handler(_) | Node::Case(_) => {}
        }
    }
    asked.0
}

struct Asked<'a>(FxHashSet<&'a str>);

impl<'a> Visitor<'a> for Asked<'a> {
    fn visit_body(&mut self, _: &'a [Stmt]) {}
    fn visit_elif_else_clause(&mut self, _: &'a ElifElseClause) {}
    fn visit_except_handler(&mut self, _: &'a ExceptHandler) {}
    fn visit_match_case(&mut self, _: &'a MatchCase) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Some((table, key)) = lookup(expr)
            && literals::value(key).is_none()
        {
            self.0.extend(variable(table));
        }
        visitor::walk_expr(self, expr);
    }
}

/// Returns the table and the key of `table[key]`, `table.get(key)` or `key in table`.
pub(super) fn lookup(expr: &Expr) -> Option<(&Expr, &Expr)> {
    match expr {
        Expr::Subscript(it) if it.ctx.is_load() => Some((&*it.value, &*it.slice)),
        Expr::Call(it) => match &*it.func {
            Expr::Attribute(func) if func.attr.as_str() == "get" => {
                Some((&*func.value, it.arguments.args.first()?))
            }
            _ => None,
        },
        Expr::Compare(it) => {
            let within = matches!(&*it.ops, [CmpOp::In | CmpOp::NotIn]);
            within.then(|| it.comparators.first()).flatten().map(|right| (right, &*it.left))
        }
        _ => None,
    }
}

/// Returns the values that `x in …` compares `x` with.
pub(super) fn members(container: &Expr) -> Vec<&Expr> {
    match container {
        Expr::Tuple(it) => it.elts.iter().collect(),
        Expr::List(it) => it.elts.iter().collect(),
        Expr::Set(it) => it.elts.iter().collect(),
        Expr::StringLiteral(_) => vec![container],
        _ => Vec::new(),
    }
}

/// Returns the single target and the value of an assignment.
pub(super) fn assignment(stmt: &Stmt) -> Option<(&Expr, &Expr)> {
    match stmt {
        Stmt::Assign(it) => match it.targets.as_slice() {
            [target] => Some((target, &*it.value)),
            _ => None,
        },
        Stmt::AnnAssign(it) => Some((&*it.target, it.value.as_deref()?)),
        _ => None,
    }
}

/// Returns the name of a variable, or of an attribute.
pub(super) fn variable(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Name(it) => Some(it.id.as_str()),
        Expr::Attribute(it) => Some(it.attr.as_str()),
        _ => None,
    }
}
