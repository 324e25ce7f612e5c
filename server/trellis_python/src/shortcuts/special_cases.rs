//! Detects values of the tests that decide a condition or are returned.
//!
//! Patterns that are as common in honest code are not reported: limits (`age >= 18`), shapes
//! (`len(row) == 3`), refused values (`if mode not in ("r", "w"): raise`), syntax (`char == "**"`),
//! numbers of calendars and of computers if something is computed from them, results whose keys are
//! names, a literal that replaces another one, and one more word of a set that the function already
//! distinguishes.

use std::cell::OnceCell;

use ruff_python_ast::visitor::{self, Visitor};
use ruff_python_ast::{
    CmpOp, DictItem, ElifElseClause, ExceptHandler, Expr, ExprCompare, ExprDict, MatchCase,
    Operator, Pattern, Stmt,
};
use ruff_text_size::Ranged;
use rustc_hash::FxHashSet;

use super::compared_values::{Words, assignment, lookup, members, tables, variable};
use super::statement_diff::{Node, Piece};
use super::{Found, RuleInput, ShortcutKind, literals};

/// Numbers that honest code compares with, in addition to those up to 31.
const WELL_KNOWN: [&str; 22] = [
    "n:32", "n:50", "n:52", "n:60", "n:64", "n:90", "n:100", "n:127", "n:128", "n:180", "n:200",
    "n:255", "n:256", "n:360", "n:365", "n:366", "n:400", "n:404", "n:500", "n:1000", "n:1024",
    "n:3600",
];

pub(super) fn find(look: &RuleInput<'_, '_>, found: &mut Vec<Found>) {
    let tables = OnceCell::new();
    for piece in look.change.added() {
        let mut finder =
            Finder { look, piece, tables: &tables, branch: Branch::None, found: Vec::new() };
        if !look.change.only_literals_differ(piece) {
            finder.look_at(piece);
        }
        found.append(&mut finder.found);
        if let Node::Stmt(Stmt::Return(it)) = piece.node {
            it.value.iter().for_each(|it| returned(look, piece, it, found));
        }
    }
}

/// Reports a `return` of an example, also in one arm of `a if b else c`.
fn returned(look: &RuleInput<'_, '_>, piece: &Piece<'_>, value: &Expr, found: &mut Vec<Found>) {
    if let Expr::If(it) = value {
        returned(look, piece, &it.body, found);
        returned(look, piece, &it.orelse, found);
        return;
    }
    if look.is_example(value) && !replaces(look, piece, value) {
        let why = format!("it returns `{}`, a value from the tests", look.text(value));
        found.push((value.start().to_usize(), ShortcutKind::Returned, why));
    }
}

/// Returns whether the function returned another literal of the same type before, so that the
/// change corrects a constant.
fn replaces(look: &RuleInput<'_, '_>, piece: &Piece<'_>, value: &Expr) -> bool {
    look.change.gone(look.change.after.path(piece)).iter().any(|it| match it.node {
        Node::Stmt(Stmt::Return(it)) => it.value.as_ref().is_some_and(|old| {
            std::mem::discriminant(&**old) == std::mem::discriminant(value)
                && literals::value(old).is_some()
                && !literals::is_trivial(old)
        }),
        _ => false,
    })
}

impl<'a> RuleInput<'_, 'a> {
    fn text(&self, of: &Expr) -> String {
        let text = &self.source[of.range()];
        let line = text.lines().next().unwrap_or_default();
        let cut: String = line.chars().take(40).collect();
        if cut.len() == text.len() { cut } else { format!("{cut}...") }
    }

    /// Returns whether a literal occurs in the tests and nowhere in the old code.
    fn is_example(&self, expr: &Expr) -> bool {
        literals::value(expr).is_some_and(|it| self.examples.contains(&it))
            && !literals::is_trivial(expr)
            && !self.known.holds(expr)
    }

    /// Returns whether the table existed before and only grew.
    fn grew(&self, piece: &Piece<'a>, target: &Expr) -> bool {
        let name = variable(target);
        self.change.gone(self.change.after.path(piece)).iter().any(|it| {
            let assigned = match it.node {
                Node::Stmt(stmt) => assignment(stmt),
                _ => None,
            };
            assigned.is_some_and(|(old, value)| {
                variable(old) == name && matches!(value, Expr::Dict(it) if it.items.len() > 1)
            })
        })
    }
}

/// Code executed if a condition holds.
#[derive(Clone, Copy)]
enum Branch<'a> {
    None,
    Body(&'a [Stmt]),
    Value(&'a Expr),
}

impl Branch<'_> {
    /// Returns whether the branch results in a literal.
    fn gives_literal(self) -> bool {
        match self {
            Branch::None => false,
            Branch::Value(it) => literals::value(it).is_some(),
            Branch::Body(body) => body.iter().all(|stmt| match stmt {
                Stmt::Return(it) => {
                    it.value.as_ref().is_none_or(|it| literals::value(it).is_some())
                }
                _ => assignment(stmt).is_some_and(|(_, it)| literals::value(it).is_some()),
            }),
        }
    }

    fn refuses(self) -> bool {
        matches!(self, Branch::Body([.., Stmt::Raise(_)]))
    }
}

/// Visits the expressions that a piece itself evaluates.
struct Finder<'f, 'l, 'a> {
    look: &'f RuleInput<'l, 'a>,
    piece: &'f Piece<'a>,
    /// Names that are subscripted or tested for membership with a key that is not a literal.
    tables: &'f OnceCell<FxHashSet<&'a str>>,
    branch: Branch<'a>,
    found: Vec<Found>,
}

impl<'a> Finder<'_, '_, 'a> {
    fn look_at(&mut self, piece: &Piece<'a>) {
        match piece.node {
            Node::Stmt(Stmt::Assert(_)) => {}
            Node::Stmt(Stmt::If(it)) => self.condition(&it.test, Branch::Body(&it.body)),
            Node::Stmt(stmt) => {
                if let Some((target, Expr::Dict(dict))) = assignment(stmt)
                    && self.is_table(target)
                    && !self.look.grew(piece, target)
                {
                    self.table(dict);
                }
                visitor::walk_stmt(self, stmt);
            }
            Node::Elif(it) => {
                it.test.iter().for_each(|test| self.condition(test, Branch::Body(&it.body)));
            }
            Node::Handler(_) => {}
            Node::Case(it) => {
                self.branch = Branch::Body(&it.body);
                self.pattern(&it.pattern);
                it.guard.iter().for_each(|it| self.visit_expr(it));
            }
        }
    }

    fn condition(&mut self, test: &'a Expr, branch: Branch<'a>) {
        let outer = std::mem::replace(&mut self.branch, branch);
        self.visit_expr(test);
        self.branch = outer;
    }

    fn push(&mut self, literal: &Expr, what: &str) {
        let why = format!("{what} `{}`, a value from the tests", self.look.text(literal));
        self.found.push((literal.start().to_usize(), ShortcutKind::SpecialCase, why));
    }

    fn compare(&mut self, it: &'a ExprCompare) {
        let operands: Vec<&Expr> = std::iter::once(&*it.left).chain(&it.comparators).collect();
        for (op, pair) in it.ops.iter().zip(operands.windows(2)) {
            let equal = matches!(op, CmpOp::Eq | CmpOp::Is | CmpOp::In);
            let unequal = matches!(op, CmpOp::NotEq | CmpOp::IsNot | CmpOp::NotIn);
            if !equal && (!unequal || self.branch.refuses()) {
                continue;
            }
            let within = matches!(op, CmpOp::In | CmpOp::NotIn);
            let (subject, literals) = match (literals::value(pair[0]), within) {
                (Some(_), _) => (pair[1], vec![pair[0]]),
                (None, true) => (pair[0], members(pair[1])),
                (None, false) => (pair[0], vec![pair[1]]),
            };
            if literals::value(subject).is_some() || self.is_shape(subject) {
                continue;
            }
            let reported = literals.into_iter().find(|it| self.is_special(it));
            if let Some(literal) = reported.filter(|it| !self.is_one_more(it, Some(subject))) {
                self.push(literal, "a comparison uses");
            }
        }
    }

    /// Returns whether a comparison with a literal is a special case.
    fn is_special(&self, literal: &Expr) -> bool {
        if !self.look.is_example(literal) {
            return false;
        }
        match literal {
            Expr::StringLiteral(it) => match it.value.to_str() {
                text if text.chars().count() <= 2 && literals::is_punctuation(text) => false,
                text => text.chars().nth(1).is_some() || self.branch.gives_literal(),
            },
            _ if is_well_known(literal) => self.branch.gives_literal(),
            _ => true,
        }
    }

    /// Returns whether the function already compared the same subject with other words, and
    /// computes something from this one. Without a subject, the cases of a `match` are compared.
    fn is_one_more(&self, literal: &Expr, subject: Option<&Expr>) -> bool {
        if !literal.is_string_literal_expr() || self.branch.gives_literal() {
            return false;
        }
        let before = self.look.change.before;
        let path = self.look.change.after.path(self.piece);
        let subject = subject.map(|it| &self.look.source[it.range()]);
        let mut words = Words { source: self.look.known.text, subject, found: false };
        before
            .all
            .iter()
            .filter(|it| before.path(it) == path)
            .for_each(|it| words.look_at(it.node));
        words.found
    }

    /// Returns whether an expression describes the form of a value, or the machine.
    fn is_shape(&self, subject: &Expr) -> bool {
        match subject {
            Expr::Call(it) => match &*it.func {
                Expr::Name(it) => matches!(it.id.as_str(), "len" | "ord" | "type"),
                Expr::Attribute(it) => matches!(it.attr.as_str(), "count" | "index" | "find"),
                _ => false,
            },
            Expr::BinOp(it) => matches!(it.op, Operator::Mod | Operator::BitAnd),
            Expr::Name(it) => it.id.as_str() == "__name__",
            Expr::Attribute(it) => {
                let of = |name: &str| variable(&it.value) == Some(name);
                match it.attr.as_str() {
                    "__name__" | "__qualname__" | "ndim" => true,
                    "platform" | "byteorder" => of("sys"),
                    "name" => of("os"),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn pattern(&mut self, pattern: &'a Pattern) {
        match pattern {
            Pattern::MatchValue(it)
                if self.is_special(&it.value) && !self.is_one_more(&it.value, None) =>
            {
                self.push(&it.value, "a match case uses");
            }
            Pattern::MatchOr(it) => it.patterns.iter().for_each(|it| self.pattern(it)),
            Pattern::MatchAs(it) => it.pattern.iter().for_each(|it| self.pattern(it)),
            _ => {}
        }
    }

    /// Reports a table from examples to their expected results.
    fn table(&mut self, dict: &'a ExprDict) {
        let expected = |it: &&DictItem| {
            literals::is_trivial(&it.value)
                || literals::value(&it.value).is_some_and(|it| self.look.examples.contains(&it))
        };
        let mut keys = dict.items.iter().filter(expected).filter_map(|it| it.key.as_ref());
        let reported = keys.find(|it| self.look.is_example(it));
        if let Some(key) = reported {
            self.push(key, "a table has the key");
        }
    }

    fn is_table(&self, target: &Expr) -> bool {
        let tables = self.tables.get_or_init(|| tables(self.look.change.after));
        variable(target).is_some_and(|it| tables.contains(it))
    }
}

impl<'a> Visitor<'a> for Finder<'_, '_, 'a> {
    // Bodies are separate pieces.
    fn visit_body(&mut self, _: &'a [Stmt]) {}
    fn visit_elif_else_clause(&mut self, _: &'a ElifElseClause) {}
    fn visit_except_handler(&mut self, _: &'a ExceptHandler) {}
    fn visit_match_case(&mut self, _: &'a MatchCase) {}

    fn visit_expr(&mut self, expr: &'a Expr) {
        if let Expr::If(it) = expr {
            self.condition(&it.test, Branch::Value(&it.body));
            self.visit_expr(&it.body);
            return self.visit_expr(&it.orelse);
        }
        if let Expr::Compare(it) = expr {
            self.compare(it);
        }
        if let Some((Expr::Dict(dict), key)) = lookup(expr)
            && literals::value(key).is_none()
        {
            self.table(dict);
        }
        visitor::walk_expr(self, expr);
    }
}

fn is_well_known(literal: &Expr) -> bool {
    let Some(value) = literals::value(literal) else { return false };
    let small = value.strip_prefix("n:").and_then(|it| it.parse::<u32>().ok());
    small.is_some_and(|it| it <= 31) || WELL_KNOWN.contains(&value.as_str())
}
