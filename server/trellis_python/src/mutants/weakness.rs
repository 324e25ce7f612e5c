//! Reasons for which an edit says little about a bug, although the tests pass with it.
//!
//! Few tests leave many wrong programs that pass. An edit of one operator, boundary, number or name
//! is what an author gets wrong; one that leaves something out, adds something or calls something
//! else has more often found a gap in the tests.

use std::ops::Range;

use ruff_python_ast::Number;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{CmpOp, Expr, Stmt};
use ruff_text_size::Ranged;

use super::{Mutant, MutantKind, operators, span};
use crate::syntax;

/// Reason for which an edit is weak evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weakness {
    /// A statement, a call or a part of an expression is left out.
    Removed,
    /// A statement, a condition or a part of an expression is added.
    Added,
    /// Another function or method is called, or another exception is named.
    Called,
    /// The new value has nothing to do with the old one.
    Value,
    /// The course of the code is another one.
    Course,
    /// Operands stand together that do not belong together.
    Operands,
}

impl Weakness {
    /// Describes the reason in words: "it leaves something out".
    pub fn describe(self) -> &'static str {
        match self {
            Weakness::Removed => "it leaves something out",
            Weakness::Added => "it adds something",
            Weakness::Called => "it uses another function, method or exception",
            Weakness::Value => "its new value has nothing to do with the old one",
            Weakness::Course => "it changes the course of the code",
            Weakness::Operands => "its operands hardly belong together",
        }
    }
}

impl Mutant {
    /// Returns the reason for which the edit is weak evidence; `None` if an author might well have
    /// written what it changes.
    pub fn weakness(&self, source: &str) -> Option<Weakness> {
        let old = source.get(self.range.clone()).unwrap_or_default();
        match self.kind {
            MutantKind::Undefined | MutantKind::Logic | MutantKind::Negation => None,
            MutantKind::Boundary | MutantKind::Comparison | MutantKind::Operator => {
                self.odd_operator(source)
            }
            MutantKind::Constant => (!is_near(old, &self.replacement)).then_some(Weakness::Value),
            MutantKind::OffByOne => self.odd_step(source, old),
            MutantKind::Arguments => odd_arguments(old, &self.replacement),
            MutantKind::Name => self.repeats(source),
            MutantKind::Sibling => self.odd_sibling(source, old),
            MutantKind::Text => Some(Weakness::Value),
            MutantKind::Operand | MutantKind::Delete => Some(Weakness::Removed),
            MutantKind::Wrap | MutantKind::Guard | MutantKind::Combine | MutantKind::Insert => {
                Some(Weakness::Added)
            }
            MutantKind::Fixed => Some(Weakness::Value),
            // A lost result and a coroutine that nobody awaits are faults wherever they stand.
            MutantKind::Keyword if matches!(self.replacement.trim(), "return" | "await") => None,
            MutantKind::Keyword | MutantKind::Loop | MutantKind::Move => Some(Weakness::Course),
        }
    }

    /// Judges another operator by its operands.
    fn odd_operator(&self, source: &str) -> Option<Weakness> {
        if self.replacement.starts_with(|it: char| it.is_alphanumeric() || it == '(')
            && self.kind == MutantKind::Operator
        {
            // Exchanged operands, or other parentheses.
            return None;
        }
        let around = Around::of(source, &self.range)?;
        let new = self.replacement.trim();
        let orders = new.starts_with(['<', '>']);
        let is_odd = match around.operator {
            _ if around.operands.iter().any(is_text) => true,
            Some(CmpOp::Eq | CmpOp::NotEq) if orders => {
                new.contains(' ') || !around.operands.iter().any(is_number)
            }
            Some(CmpOp::Eq | CmpOp::NotEq) => !matches!(new, "==" | "!="),
            Some(CmpOp::In | CmpOp::NotIn) => !matches!(new, "in" | "not in"),
            _ => false,
        };
        is_odd.then_some(Weakness::Operands)
    }

    /// Judges one more or one less: it belongs to an index, a bound, a comparison or an argument.
    fn odd_step(&self, source: &str, old: &str) -> Option<Weakness> {
        if self.replacement.is_empty() {
            let is_one = matches!(old.trim(), "1" | "-1" | "0");
            return (!is_one).then_some(Weakness::Removed);
        }
        let mut finder = WholeValue { range: &self.range, found: None };
        let parsed = syntax::parse(source).ok()?;
        parsed.suite().iter().for_each(|it| finder.visit_stmt(it));
        let is_odd = finder.found.is_some_and(|it| !it.is_bin_op_expr());
        is_odd.then_some(Weakness::Added)
    }

    /// Judges a name by the parts of the same expression: none should stand there twice.
    fn repeats(&self, source: &str) -> Option<Weakness> {
        let text = self.apply(source)?;
        let edited = self.range.start..self.range.start + self.replacement.len();
        let parsed = syntax::parse(&text).ok()?;
        let mut finder = Repeats { source: &text, edited, found: false };
        parsed.suite().iter().for_each(|it| finder.visit_stmt(it));
        finder.found.then_some(Weakness::Operands)
    }

    /// Judges another method, function or attribute.
    fn odd_sibling(&self, source: &str, old: &str) -> Option<Weakness> {
        let is_called = source[self.range.end..].trim_start().starts_with('(');
        let is_attribute = source[..self.range.start].trim_end().ends_with('.');
        let is_near = match is_called {
            true => operators::are_opposite(old, &self.replacement),
            false => is_attribute,
        };
        (!is_near).then_some(Weakness::Called)
    }
}

/// Returns whether a value is a truth value exchanged for the other, a whole number one more or one
/// less, or one with the other sign.
fn is_near(old: &str, new: &str) -> bool {
    let number = |text: &str| text.replace('_', "").parse::<i64>().ok();
    match (number(old), number(new)) {
        (Some(old), Some(new)) => old.abs_diff(new) == 1 || (old != 0 && old == -new),
        _ => matches!((old, new), ("True", "False") | ("False", "True")),
    }
}

/// Judges changed arguments: only exchanged ones have as many letters as before.
fn odd_arguments(old: &str, new: &str) -> Option<Weakness> {
    let sorted = |text: &str| {
        let mut letters: Vec<char> = text.chars().collect();
        letters.sort_unstable();
        letters
    };
    match new.len().cmp(&old.len()) {
        std::cmp::Ordering::Less => Some(Weakness::Removed),
        std::cmp::Ordering::Greater => Some(Weakness::Added),
        std::cmp::Ordering::Equal => (sorted(old) != sorted(new)).then_some(Weakness::Value),
    }
}

/// Returns whether an expression is evidently a text.
fn is_text(it: &Expr) -> bool {
    match it {
        Expr::StringLiteral(_) | Expr::FString(_) | Expr::BytesLiteral(_) => true,
        Expr::Call(it) => matches!(&*it.func, Expr::Name(name) if name.id == "str"),
        _ => false,
    }
}

/// Returns whether an expression is evidently a number.
fn is_number(it: &Expr) -> bool {
    match it {
        Expr::NumberLiteral(it) => !matches!(it.value, Number::Complex { .. }),
        Expr::UnaryOp(it) => is_number(&it.operand),
        Expr::BinOp(it) => is_number(&it.left) || is_number(&it.right),
        Expr::Call(it) => matches!(&*it.func, Expr::Name(name) if name.id == "len"),
        _ => false,
    }
}

/// The operands of the operator at a place.
struct Around<'s> {
    range: &'s Range<usize>,
    /// The comparison that stands there, if it is one.
    operator: Option<CmpOp>,
    operands: Vec<Expr>,
}

impl<'s> Around<'s> {
    fn of(source: &str, range: &'s Range<usize>) -> Option<Around<'s>> {
        let parsed = syntax::parse(source).ok()?;
        let mut around = Around { range, operator: None, operands: Vec::new() };
        parsed.suite().iter().for_each(|it| around.visit_stmt(it));
        Some(around)
    }

    /// Takes two operands if the place is between them.
    fn take(&mut self, left: &Expr, right: &Expr, operator: Option<CmpOp>) {
        if span(left).end <= self.range.start && self.range.start < span(right).start {
            self.operands = vec![left.clone(), right.clone()];
            self.operator = operator;
        }
    }
}

impl<'a> Visitor<'a> for Around<'_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Compare(it) => {
                let lefts = std::iter::once(&*it.left).chain(&it.comparators);
                for ((left, op), right) in lefts.zip(&it.ops).zip(&it.comparators) {
                    self.take(left, right, Some(*op));
                }
            }
            Expr::BinOp(it) => self.take(&it.left, &it.right, None),
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Finds the expression at a place that is all that a statement assigns or returns.
struct WholeValue<'s> {
    range: &'s Range<usize>,
    found: Option<Expr>,
}

impl<'a> Visitor<'a> for WholeValue<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let value = match stmt {
            Stmt::Return(it) => it.value.as_deref(),
            Stmt::Assign(it) => Some(&*it.value),
            Stmt::AugAssign(it) => Some(&*it.value),
            Stmt::AnnAssign(it) => it.value.as_deref(),
            _ => None,
        };
        if let Some(value) = value.filter(|it| span(*it) == *self.range) {
            self.found = Some(value.clone());
        }
        walk_stmt(self, stmt);
    }
}

/// Finds an edited expression whose parts are equal.
struct Repeats<'s> {
    source: &'s str,
    edited: Range<usize>,
    found: bool,
}

impl Repeats<'_> {
    fn compare(&mut self, parts: &[&Expr]) {
        let holds = |it: &&&Expr| {
            span(**it).start <= self.edited.start && self.edited.end <= span(**it).end
        };
        let text = |it: &Expr| {
            let text = &self.source[span(it)];
            text.trim_start_matches("not ").trim_start_matches('-').to_owned()
        };
        let Some(own) = parts.iter().find(holds) else { return };
        let same = |it: &&&Expr| it.range() != own.range() && text(it) == text(own);
        self.found |= parts.iter().any(|it| same(&it));
    }
}

impl<'a> Visitor<'a> for Repeats<'_> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if let Stmt::Assign(it) = stmt
            && let [target] = it.targets.as_slice()
        {
            self.compare(&[target, &it.value]);
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::BoolOp(it) => self.compare(&it.values.iter().collect::<Vec<_>>()),
            Expr::BinOp(it) => self.compare(&[&it.left, &it.right]),
            Expr::Compare(it) => {
                let all: Vec<&Expr> = std::iter::once(&*it.left).chain(&it.comparators).collect();
                self.compare(&all);
            }
            Expr::Call(it) => self.compare(&it.arguments.args.iter().collect::<Vec<_>>()),
            Expr::Tuple(it) => self.compare(&it.elts.iter().collect::<Vec<_>>()),
            _ => {}
        }
        walk_expr(self, expr);
    }
}
