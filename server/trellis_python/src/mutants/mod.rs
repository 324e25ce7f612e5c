//! Generates mutants: small edits of one expression or statement that could fix a bug.
//!
//! The operators are those of mutation testing (Offutt et al. 1996), of the most common
//! one-statement bugs (Karampatsis and Sutton 2020) and of repair templates (Kim et al. 2013).
//! Other code runs the tests that show whether a mutant fixes a bug.

mod calls;
mod expressions;
mod loss;
mod names;
mod operators;
mod same;
mod statements;
mod undefined;
mod values;
mod weakness;

use std::collections::BTreeMap;
use std::ops::Range;

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_parameters, walk_stmt};
use ruff_python_ast::{Decorator, Expr, Parameters, Stmt};
use ruff_text_size::{Ranged, TextRange};

use crate::lines::{Lines, Unit};
use crate::syntax::{self, SyntaxError};
pub use loss::Loss;
use names::Names;
pub use weakness::Weakness;

/// Kind of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MutantKind {
    /// `<` to `<=`, `>` to `>=` and back: the end of a range.
    Boundary,
    /// Another comparison.
    Comparison,
    /// Another arithmetic or bitwise operator, or exchanged operands.
    Operator,
    /// `and` to `or` and back.
    Logic,
    /// A negated condition, or a removed `not`.
    Negation,
    /// Another number or truth value.
    Constant,
    /// One more or one less.
    OffByOne,
    /// Two arguments of a call exchanged, one removed, or one added.
    Arguments,
    /// A name in scope instead of one that is defined nowhere.
    Undefined,
    /// Another variable of the same scope.
    Name,
    /// Another method, function or attribute of the same kind.
    Sibling,
    /// Another string that the module uses.
    Text,
    /// A removed part of an expression.
    Operand,
    /// An expression wrapped in `abs`, a copy, a default or a clamp.
    Wrap,
    /// `=` to `+=`, `break` to `continue`, `return` to `yield`, an added `await`.
    Keyword,
    /// An added condition on a value.
    Guard,
    /// An endless loop changed to end when a variable is used up.
    Loop,
    /// A result combined with a nearby variable.
    Combine,
    /// A moved statement: into or out of a loop, or before its neighbor.
    Move,
    /// A condition that always or never holds.
    Fixed,
    /// A removed statement.
    Delete,
    /// An added statement, built from nearby code.
    Insert,
}

/// The probability of each kind, from 0 to 1, that the edit is what the author would have written.
/// An edit of a single operator points at the bug; removing statements makes tests pass for many
/// wrong reasons (Qi et al. 2015), and so does adding them.
const PLAUSIBILITY: [(MutantKind, f64); 22] = [
    (MutantKind::Boundary, 0.95),
    (MutantKind::Comparison, 0.75),
    (MutantKind::Operator, 0.85),
    (MutantKind::Logic, 0.85),
    (MutantKind::Negation, 0.8),
    (MutantKind::Constant, 0.85),
    (MutantKind::OffByOne, 0.75),
    (MutantKind::Arguments, 0.8),
    (MutantKind::Undefined, 0.97),
    (MutantKind::Name, 0.65),
    (MutantKind::Sibling, 0.8),
    (MutantKind::Text, 0.6),
    (MutantKind::Operand, 0.5),
    (MutantKind::Wrap, 0.6),
    (MutantKind::Keyword, 0.7),
    (MutantKind::Guard, 0.55),
    (MutantKind::Loop, 0.5),
    (MutantKind::Combine, 0.4),
    (MutantKind::Move, 0.6),
    (MutantKind::Fixed, 0.35),
    (MutantKind::Delete, 0.35),
    (MutantKind::Insert, 0.3),
];

impl MutantKind {
    /// Returns the probability that an edit of this kind is the right fix if it passes the tests,
    /// between 0 and 1.
    pub fn plausibility(self) -> f64 {
        PLAUSIBILITY.iter().find(|(kind, _)| *kind == self).map_or(0.0, |(_, it)| *it)
    }
}

/// One edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// The changed line, or the line of the statement that the edit is added to; from 1.
    pub line: u32,
    /// Kind of the edit.
    pub kind: MutantKind,
    /// Byte range of the source that is replaced.
    pub range: Range<usize>,
    /// Replacement text.
    pub replacement: String,
}

/// Longest text shown in a description, in characters.
const SHOWN: usize = 60;

impl Mutant {
    /// Returns the source with the edit; `None` if the result is not valid Python or equals the
    /// source.
    pub fn apply(&self, source: &str) -> Option<String> {
        let (before, after) = (source.get(..self.range.start)?, source.get(self.range.end..)?);
        let text = format!("{before}{}{after}", self.replacement);
        (text != source && syntax::check(&text).is_ok()).then_some(text)
    }

    /// Describes the edit in words: "changing `<` to `<=`".
    pub fn describe(&self, source: &str) -> String {
        let old = shown(source.get(self.range.clone()).unwrap_or_default());
        let new = shown(&self.replacement);
        match self.kind {
            MutantKind::Delete => format!("leaving out `{old}`"),
            MutantKind::Move => format!("moving `{old}`"),
            _ if old.is_empty() => format!("adding `{new}`"),
            _ if new.is_empty() => format!("leaving out `{old}`"),
            _ => format!("changing `{old}` to `{new}`"),
        }
    }
}

fn shown(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let cut: String = text.chars().take(SHOWN).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

/// Returns all mutants of the wanted lines in source order, each edit once. Some do not give valid
/// Python: [`Mutant::apply`] returns `None` for those. Fails if the source itself is not valid
/// Python.
pub fn mutants(source: &str, wanted: impl Fn(u32) -> bool) -> Result<Vec<Mutant>, SyntaxError> {
    let parsed = syntax::parse(source)?;
    let mut maker = Maker {
        source,
        lines: Lines::of(source),
        names: Names::of(source, parsed.suite()),
        undefined: undefined::undefined(source),
        out: Vec::new(),
        loops: 0,
    };
    maker.block(parsed.suite());
    parsed.suite().iter().for_each(|it| maker.visit_stmt(it));
    let mut out = maker.out;
    out.retain(|it| wanted(it.line) && source[it.range.clone()] != it.replacement);
    let place = |it: &Mutant| (it.range.start, it.range.end);
    out.sort_by(|a, b| {
        place(a)
            .cmp(&place(b))
            .then_with(|| b.kind.plausibility().total_cmp(&a.kind.plausibility()))
            .then_with(|| a.replacement.cmp(&b.replacement))
    });
    let mut seen = std::collections::HashSet::new();
    out.retain(|it| seen.insert((it.range.clone(), it.replacement.clone())));
    Ok(out)
}

/// Walks a syntax tree and collects mutants.
struct Maker<'a> {
    source: &'a str,
    lines: Lines<'a>,
    names: Names,
    /// Names that could be meant by undefined ones, by the offset of those.
    undefined: BTreeMap<usize, Vec<String>>,
    out: Vec<Mutant>,
    /// Number of loops around the statement inside its function.
    loops: usize,
}

impl<'a> Maker<'a> {
    fn text(&self, range: TextRange) -> &'a str {
        &self.source[range.to_std_range()]
    }

    fn push(&mut self, range: Range<usize>, replacement: impl Into<String>, kind: MutantKind) {
        self.push_at(range.start, range, replacement, kind);
    }

    /// Adds a mutant whose reported line is that of the offset `at`.
    fn push_at(
        &mut self,
        at: usize,
        range: Range<usize>,
        replacement: impl Into<String>,
        kind: MutantKind,
    ) {
        let line = self.lines.position(at, Unit::Utf8).0 as u32 + 1;
        self.out.push(Mutant { line, kind, range, replacement: replacement.into() });
    }
}

impl<'a> Visitor<'a> for Maker<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.statement(stmt);
        if !stmt.is_function_def_stmt() {
            syntax::blocks(stmt).into_iter().for_each(|it| self.block(it));
        }
        match stmt {
            Stmt::FunctionDef(def) => {
                self.names.enter(def);
                let loops = std::mem::take(&mut self.loops);
                self.function(def);
                self.block(&def.body);
                walk_parameters(self, &def.parameters);
                def.body.iter().for_each(|it| self.visit_stmt(it));
                self.loops = loops;
                self.names.leave();
            }
            Stmt::For(_) | Stmt::While(_) => {
                self.loops += 1;
                walk_stmt(self, stmt);
                self.loops -= 1;
            }
            // A docstring has no effect on execution.
            Stmt::Expr(it) if it.value.is_string_literal_expr() => {}
            Stmt::Import(_) | Stmt::ImportFrom(_) => {}
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        self.expression(expr);
        walk_expr(self, expr);
    }

    fn visit_annotation(&mut self, _: &'a Expr) {}

    fn visit_decorator(&mut self, _: &'a Decorator) {}

    fn visit_parameters(&mut self, parameters: &'a Parameters) {
        walk_parameters(self, parameters);
    }
}

/// Returns the byte range of a node.
fn span(it: &impl Ranged) -> Range<usize> {
    it.range().to_std_range()
}
