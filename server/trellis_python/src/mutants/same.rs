//! Brings edits into one form by which those of the same effect are recognized.

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{BoolOp, CmpOp, Expr, Number, Operator, UnaryOp};

use super::{Mutant, span};
use crate::syntax;

impl Mutant {
    /// Returns the edited text in a form that is equal for edits of the same effect, on whole
    /// numbers: `a >= b`, `not a < b` and `a > b - 1` have one. `None` if the result is not valid
    /// Python.
    pub fn effect(&self, source: &str) -> Option<String> {
        let text = self.apply(source)?;
        let parsed = syntax::parse(&text).ok()?;
        let mut conditions = Conditions { source: &text, found: Vec::new() };
        parsed.suite().iter().for_each(|it| conditions.visit_stmt(it));
        conditions.found.sort_by_key(|(range, _)| range.start);
        let (mut out, mut at) = (String::new(), 0);
        for (range, form) in conditions.found {
            out += text.get(at..range.start)?;
            out += &form;
            at = range.end;
        }
        out += text.get(at..)?;
        // What is left to differ is the layout.
        Some(out.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// Finds the outermost conditions of a text, each with its form.
struct Conditions<'s> {
    source: &'s str,
    found: Vec<(std::ops::Range<usize>, String)>,
}

impl<'a> Visitor<'a> for Conditions<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        let is_condition = match expr {
            Expr::Compare(_) | Expr::BoolOp(_) => true,
            Expr::UnaryOp(it) => it.op == UnaryOp::Not,
            _ => false,
        };
        match is_condition {
            true => self.found.push((self.outer(span(expr)), self.form(expr, false))),
            false => walk_expr(self, expr),
        }
    }
}

impl Conditions<'_> {
    /// Widens a range by the parentheses around it.
    fn outer(&self, mut range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        loop {
            let before = self.source[..range.start].trim_end_matches(' ');
            let after = self.source[range.end..].trim_start_matches(' ');
            let is_call = |it: char| it.is_alphanumeric() || "_)]".contains(it);
            match before.strip_suffix('(') {
                Some(rest) if after.starts_with(')') && !rest.ends_with(is_call) => {
                    range = rest.len()..self.source.len() - after.len() + 1;
                }
                _ => return range,
            }
        }
    }

    fn form(&self, expr: &Expr, negated: bool) -> String {
        match expr {
            Expr::UnaryOp(it) if it.op == UnaryOp::Not => self.form(&it.operand, !negated),
            Expr::BoolOp(it) => {
                let parts: Vec<String> =
                    it.values.iter().map(|it| self.form(it, negated)).collect();
                let word = if (it.op == BoolOp::And) == negated { " or " } else { " and " };
                format!("({})", parts.join(word))
            }
            Expr::Compare(it) if it.ops.len() == 1 => {
                let op = if negated { it.ops[0].negate() } else { it.ops[0] };
                self.comparison(&it.left, op, &it.comparators[0])
            }
            _ if negated => format!("(not {})", self.plain(expr)),
            _ => self.plain(expr),
        }
    }

    fn comparison(&self, left: &Expr, op: CmpOp, right: &Expr) -> String {
        let (mut left, mut right) = (self.sum(left), self.sum(right));
        if matches!(op, CmpOp::Gt | CmpOp::GtE) {
            (left, right) = (right, left);
        }
        let is_strict = matches!(op, CmpOp::Gt | CmpOp::Lt);
        match op {
            CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE => {
                let more = right.1 - left.1 - i64::from(is_strict);
                format!("({} <= {} + {more})", left.0, right.0)
            }
            _ => format!("({} + {} {op} {} + {})", left.0, left.1, right.0, right.1),
        }
    }

    /// Returns an expression as a text and the whole number that is added to it.
    fn sum(&self, expr: &Expr) -> (String, i64) {
        match expr {
            Expr::NumberLiteral(_) => match whole(expr) {
                Some(it) => (String::new(), it),
                None => (self.plain(expr), 0),
            },
            Expr::BinOp(it) if matches!(it.op, Operator::Add | Operator::Sub) => {
                let Some(more) = whole(&it.right) else { return (self.plain(expr), 0) };
                let (rest, own) = self.sum(&it.left);
                (rest, if it.op == Operator::Add { own + more } else { own - more })
            }
            _ => (self.plain(expr), 0),
        }
    }

    fn plain(&self, expr: &Expr) -> String {
        self.source[span(expr)].to_owned()
    }
}

fn whole(expr: &Expr) -> Option<i64> {
    let Expr::NumberLiteral(it) = expr else { return None };
    let Number::Int(value) = &it.value else { return None };
    value.as_i64().filter(|it| it.abs() < 1 << 40)
}
