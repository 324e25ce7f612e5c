//! Collects facts on the functions and statements of a file, for fault localization.

mod bug_patterns;
mod empty_functions;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use ruff_python_ast::visitor::{Visitor, walk_expr};
use ruff_python_ast::{ExceptHandler, Expr, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use crate::imports::imports_of;
use crate::lines::{Lines, Unit};
use crate::syntax::{self, SyntaxError, blocks, full_range};

pub use empty_functions::does_nothing;

/// The functions and statements of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Functions in source order; an outer function precedes the functions inside it.
    pub functions: Vec<FunctionFact>,
    /// Statements in source order, including headers of compound statements, without docstrings and
    /// imports.
    pub statements: Vec<StatementFact>,
    /// Names that imports bind anywhere in the file.
    pub imports: BTreeSet<String>,
}

/// A function or method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionFact {
    /// Name with the enclosing classes and functions: `Cart.total`.
    pub name: String,
    /// First line, from 1; the line of the first decorator if there is one.
    pub first: u32,
    /// Line of the `def`.
    pub header: u32,
    /// Last line.
    pub last: u32,
    /// Last identifiers of the called expressions: `total` for `cart.total()`.
    pub calls: BTreeSet<String>,
}

impl FunctionFact {
    /// Returns the lines of the body; of a function on one line, that line.
    pub fn body(&self) -> RangeInclusive<u32> {
        self.last.min(self.header + 1)..=self.last
    }
}

/// Kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementKind {
    /// A header with a condition: `if`, `elif`, `while`, `case`.
    Condition,
    /// `for` and `with`.
    Header,
    /// `return` and `yield`.
    Return,
    /// A statement that binds a name or attribute.
    Assignment,
    /// An expression evaluated for its effect.
    Call,
    /// `except`.
    Handler,
    /// `raise`.
    Raise,
    /// `def` and `class`: default values, decorators, bases.
    Definition,
    /// `pass`, `break`, `try` and similar.
    Other,
}

/// A statement, or the header of a compound statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementFact {
    /// First line, from 1.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// Kind of the statement.
    pub kind: StatementKind,
    /// Index in [`FileFacts::functions`] of the innermost enclosing function.
    pub function: Option<usize>,
    /// Names and attributes that the statement reads.
    pub reads: BTreeSet<String>,
    /// The attributes among them.
    pub attributes: BTreeSet<String>,
    /// Names and attributes that the statement binds.
    pub binds: BTreeSet<String>,
    /// Names and attributes whose values a call may change: the last name of its receiver; for a
    /// call of a plain name, its arguments.
    pub changes: BTreeSet<String>,
    /// First line of each body, for conditions and loops.
    pub branches: Vec<u32>,
    /// Number of operators, calls, subscripts and literals: places where something can be wrong.
    pub parts: u32,
    /// The same number by line, without lines that have none.
    pub parts_of_lines: BTreeMap<u32, u32>,
    /// Suspicious constructs in the statement, as fragments of sentences.
    pub oddities: Vec<String>,
}

impl FileFacts {
    /// Computes the facts of a module. Fails if the text is not valid Python.
    pub fn of(source: &str) -> Result<FileFacts, SyntaxError> {
        let parsed = syntax::parse(source)?;
        let mut walk = Walk {
            lines: Lines::of(source),
            facts: FileFacts::default(),
            names: Vec::new(),
            inner: None,
        };
        walk.body(parsed.suite());
        walk.facts.statements.sort_by_key(|it| it.first);
        Ok(walk.facts)
    }

    /// Returns the index of the innermost function around a line.
    pub fn function_at(&self, line: u32) -> Option<usize> {
        self.functions.iter().rposition(|it| it.first <= line && line <= it.last)
    }

    /// Returns the index of the statement that a line belongs to.
    pub fn statement_at(&self, line: u32) -> Option<usize> {
        self.statements.iter().rposition(|it| it.first <= line && line <= it.last)
    }
}

struct Walk<'a> {
    lines: Lines<'a>,
    facts: FileFacts,
    names: Vec<String>,
    inner: Option<usize>,
}

impl Walk<'_> {
    fn line(&self, offset: usize) -> u32 {
        self.lines.position(offset, Unit::Utf8).0 as u32 + 1
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.statement(stmt));
    }

    fn statement(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => return self.function(stmt, def),
            Stmt::ClassDef(def) => return self.class(def),
            Stmt::Import(_) | Stmt::ImportFrom(_) => {
                let imports = imports_of(stmt).into_iter().flatten();
                self.facts.imports.extend(imports.filter_map(|it| it.bound().map(str::to_owned)));
                return;
            }
            Stmt::Expr(it) if it.value.is_string_literal_expr() => return,
            _ => {}
        }
        self.fact(stmt);
        if let Stmt::If(it) = stmt {
            for clause in &it.elif_else_clauses {
                if let Some(test) = &clause.test {
                    let mut fact =
                        self.blank(clause.range.start().to_usize(), test.range().end().to_usize());
                    fact.kind = StatementKind::Condition;
                    fact.branches.extend(clause.body.first().map(|it| self.start(it)));
                    fact.read(test, &self.lines);
                    fact.oddities.extend(bug_patterns::of_condition(test));
                    self.facts.statements.push(fact);
                }
            }
        }
        blocks(stmt).into_iter().for_each(|it| self.body(it));
    }

    fn start(&self, stmt: &Stmt) -> u32 {
        self.line(full_range(stmt).start().to_usize())
    }

    fn class(&mut self, def: &StmtClassDef) {
        if let Some(arguments) = &def.arguments {
            let end = arguments.range.end().to_usize();
            let mut fact = self.blank(def.name.range.start().to_usize(), end);
            fact.kind = StatementKind::Definition;
            fact.binds.insert(def.name.to_string());
            let keywords = arguments.keywords.iter().map(|it| &it.value);
            for it in arguments.args.iter().chain(keywords) {
                fact.read(it, &self.lines);
            }
            // Bases may stand in a wrong order.
            fact.parts += arguments.args.len().saturating_sub(1) as u32;
            self.facts.statements.push(fact);
        }
        self.names.push(def.name.to_string());
        self.body(&def.body);
        self.names.pop();
    }

    fn function(&mut self, stmt: &Stmt, def: &StmtFunctionDef) {
        self.names.push(def.name.to_string());
        let mut calls = Calls::default();
        def.body.iter().for_each(|it| calls.visit_stmt(it));
        self.facts.functions.push(FunctionFact {
            name: self.names.join("."),
            first: self.start(stmt),
            header: self.line(def.name.range.start().to_usize()),
            last: self.line(stmt.range().end().to_usize()),
            calls: calls.0,
        });
        let header = self.line(def.name.range.start().to_usize());
        let mut fact =
            self.blank(def.name.range.start().to_usize(), def.parameters.range.end().to_usize());
        (fact.first, fact.kind) = (header, StatementKind::Definition);
        let outer = self.inner.replace(self.facts.functions.len() - 1);
        fact.function = self.inner;
        for default in def.parameters.iter().filter_map(|it| it.default()) {
            fact.read(default, &self.lines);
        }
        fact.oddities.extend(bug_patterns::of_function(def));
        self.facts.statements.push(fact);
        self.body(&def.body);
        self.inner = outer;
        self.names.pop();
    }

    fn blank(&self, start: usize, end: usize) -> StatementFact {
        StatementFact {
            first: self.line(start),
            last: self.line(end),
            kind: StatementKind::Other,
            function: self.inner,
            reads: BTreeSet::new(),
            attributes: BTreeSet::new(),
            binds: BTreeSet::new(),
            changes: BTreeSet::new(),
            branches: Vec::new(),
            parts: 0,
            parts_of_lines: BTreeMap::new(),
            oddities: Vec::new(),
        }
    }

    fn fact(&mut self, stmt: &Stmt) {
        let header = header_end(stmt).unwrap_or_else(|| stmt.range().end().to_usize());
        let mut fact = self.blank(stmt.range().start().to_usize(), header);
        fact.kind = kind(stmt);
        for block in blocks(stmt).into_iter().filter(|_| has_branches(stmt)) {
            let first = block.first().map(|it| self.start(it));
            fact.branches.extend(first);
        }
        expressions(stmt).into_iter().for_each(|it| fact.read(it, &self.lines));
        for target in targets(stmt) {
            fact.bind(target);
        }
        if let Stmt::Expr(it) = stmt {
            fact.changes = changed_by_call(&it.value);
        }
        fact.oddities.extend(bug_patterns::of_statement(stmt));
        self.facts.statements.push(fact);
        if let Stmt::Try(it) = stmt {
            it.handlers.iter().for_each(|it| self.handler(it));
        }
    }

    fn handler(&mut self, ExceptHandler::ExceptHandler(it): &ExceptHandler) {
        let start = it.range.start().to_usize();
        let end = it.type_.as_ref().map_or(start, |it| it.range().end().to_usize());
        let mut fact = self.blank(start, end);
        fact.kind = StatementKind::Handler;
        if let Some(caught) = &it.type_ {
            fact.read(caught, &self.lines);
        }
        self.facts.statements.push(fact);
    }
}

fn has_branches(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If(_) | Stmt::While(_) | Stmt::For(_))
}

fn kind(stmt: &Stmt) -> StatementKind {
    match stmt {
        Stmt::If(_) | Stmt::While(_) | Stmt::Match(_) | Stmt::Assert(_) => StatementKind::Condition,
        Stmt::For(_) | Stmt::With(_) => StatementKind::Header,
        Stmt::Return(_) => StatementKind::Return,
        Stmt::Expr(it) if matches!(&*it.value, Expr::Yield(_) | Expr::YieldFrom(_)) => {
            StatementKind::Return
        }
        // A declaration holds nothing that could be wrong.
        Stmt::AnnAssign(it) if it.value.is_none() => StatementKind::Other,
        Stmt::Assign(_) | Stmt::AugAssign(_) | Stmt::AnnAssign(_) => StatementKind::Assignment,
        Stmt::Expr(_) => StatementKind::Call,
        Stmt::Raise(_) => StatementKind::Raise,
        _ => StatementKind::Other,
    }
}

/// Returns the end of a compound statement's header; `None` for other statements.
fn header_end(stmt: &Stmt) -> Option<usize> {
    let end = match stmt {
        Stmt::If(it) => it.test.range().end(),
        Stmt::While(it) => it.test.range().end(),
        Stmt::For(it) => it.iter.range().end(),
        Stmt::With(it) => it.items.last()?.range().end(),
        Stmt::Match(it) => it.subject.range().end(),
        Stmt::Try(it) => return Some(it.range.start().to_usize() + "try".len()),
        _ => return None,
    };
    Some(end.to_usize())
}

/// Returns the expressions that a statement evaluates, without those in its bodies.
fn expressions(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::If(it) => vec![&it.test],
        Stmt::While(it) => vec![&it.test],
        Stmt::For(it) => vec![&it.iter],
        Stmt::With(it) => it.items.iter().map(|it| &it.context_expr).collect(),
        Stmt::Match(it) => vec![&it.subject],
        Stmt::Return(it) => it.value.iter().map(|it| &**it).collect(),
        Stmt::Assign(it) => it.targets.iter().chain([&*it.value]).collect(),
        Stmt::AugAssign(it) => vec![&it.target, &it.value],
        Stmt::AnnAssign(it) => it.value.iter().map(|it| &**it).chain([&*it.target]).collect(),
        Stmt::Expr(it) => vec![&it.value],
        Stmt::Raise(it) => it.exc.iter().map(|it| &**it).collect(),
        Stmt::Assert(it) => vec![&it.test],
        Stmt::Delete(it) => it.targets.iter().collect(),
        _ => Vec::new(),
    }
}

fn targets(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::Assign(it) => it.targets.iter().collect(),
        Stmt::AugAssign(it) => vec![&it.target],
        Stmt::AnnAssign(it) => vec![&it.target],
        Stmt::For(it) => vec![&it.target],
        _ => Vec::new(),
    }
}

fn changed_by_call(expr: &Expr) -> BTreeSet<String> {
    let Expr::Call(call) = expr else { return BTreeSet::new() };
    let last = |it: &Expr| match it {
        Expr::Name(it) => Some(it.id.to_string()),
        Expr::Attribute(it) => Some(it.attr.to_string()),
        _ => None,
    };
    match &*call.func {
        Expr::Attribute(it) => last(&it.value).into_iter().collect(),
        Expr::Name(_) => call.arguments.args.iter().filter_map(last).collect(),
        _ => BTreeSet::new(),
    }
}

impl StatementFact {
    fn read(&mut self, expr: &Expr, lines: &Lines<'_>) {
        Reads { fact: self, lines }.visit_expr(expr);
    }

    fn bind(&mut self, target: &Expr) {
        let mut open = vec![target];
        while let Some(it) = open.pop() {
            match it {
                Expr::Name(it) => {
                    self.binds.insert(it.id.to_string());
                }
                Expr::Attribute(it) => {
                    self.binds.insert(it.attr.to_string());
                }
                Expr::Tuple(it) => open.extend(&it.elts),
                Expr::List(it) => open.extend(&it.elts),
                Expr::Starred(it) => open.push(&it.value),
                Expr::Subscript(it) => open.push(&it.value),
                _ => {}
            }
        }
    }
}

struct Reads<'f, 'l> {
    fact: &'f mut StatementFact,
    lines: &'f Lines<'l>,
}

impl<'a> Visitor<'a> for Reads<'_, '_> {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(it) if it.ctx.is_load() => {
                self.fact.reads.insert(it.id.to_string());
            }
            Expr::Attribute(it) if it.ctx.is_load() => {
                self.fact.reads.insert(it.attr.to_string());
                self.fact.attributes.insert(it.attr.to_string());
            }
            Expr::BinOp(_)
            | Expr::Compare(_)
            | Expr::BoolOp(_)
            | Expr::UnaryOp(_)
            | Expr::Call(_)
            | Expr::Subscript(_)
            | Expr::If(_)
            | Expr::NumberLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::StringLiteral(_) => {
                let at = operator(expr);
                let line = self.lines.position(at, Unit::Utf8).0 as u32 + 1;
                let parts = 1 + pattern_parts(expr);
                self.fact.parts += parts;
                *self.fact.parts_of_lines.entry(line).or_default() += parts;
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Returns the number of operators of a regular expression, as far as it is a raw string; 6 at most.
fn pattern_parts(expr: &Expr) -> u32 {
    let Expr::StringLiteral(it) = expr else { return 0 };
    let raw = it.value.iter().filter(|it| it.flags.prefix().is_raw());
    let operators = raw.flat_map(|it| it.value.chars()).filter(|it| r"\[({*+?|^$.".contains(*it));
    operators.take(6).count() as u32
}

/// Returns the offset of an expression's operation: the end of its first operand.
fn operator(expr: &Expr) -> usize {
    let at = match expr {
        Expr::BinOp(it) => it.left.range().end(),
        Expr::Compare(it) => it.left.range().end(),
        Expr::Call(it) => it.func.range().end(),
        Expr::Subscript(it) => it.value.range().end(),
        other => other.range().start(),
    };
    at.to_usize()
}

/// Collects the names of called functions.
#[derive(Default)]
struct Calls(BTreeSet<String>);

impl<'a> Visitor<'a> for Calls {
    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Call(it) => match &*it.func {
                Expr::Name(name) => {
                    self.0.insert(name.id.to_string());
                }
                Expr::Attribute(method) => {
                    self.0.insert(method.attr.to_string());
                }
                _ => {}
            },
            // Properties are called without parentheses.
            Expr::Attribute(it) if it.ctx.is_load() => {
                self.0.insert(it.attr.to_string());
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
