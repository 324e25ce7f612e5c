//! Splits a file into small pieces, statements without the statements inside them, and compares two
//! versions piece by piece. Layout and comments do not count.

use ruff_python_ast::token::TokenKind;
use ruff_python_ast::{
    ElifElseClause, ExceptHandler, ExceptHandlerExceptHandler, MatchCase, ModModule, Stmt,
    StmtFunctionDef,
};
use ruff_python_parser::Parsed;
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use super::checks;
use crate::syntax::full_range;

/// Syntax node of a piece.
#[derive(Clone, Copy)]
pub(super) enum Node<'a> {
    Stmt(&'a Stmt),
    Elif(&'a ElifElseClause),
    Handler(&'a ExceptHandlerExceptHandler),
    Case(&'a MatchCase),
}

pub(super) struct Piece<'a> {
    /// Index in [`Pieces::functions`] of the enclosing function.
    pub(super) function: usize,
    /// Tokens of the piece; for a node with a body, those before the body.
    head: String,
    /// The same tokens without literals.
    pub(super) masked: String,
    pub(super) node: Node<'a>,
}

pub(super) struct Function<'a> {
    /// `Class.method`; a repeated definition gets a number. Empty for the module.
    pub(super) path: String,
    /// `None` for the module.
    pub(super) def: Option<&'a StmtFunctionDef>,
}

/// The pieces and functions of a file.
pub(super) struct Pieces<'a> {
    pub(super) functions: Vec<Function<'a>>,
    pub(super) all: Vec<Piece<'a>>,
}

/// Two versions of a file.
pub(super) struct Change<'l, 'a> {
    pub(super) before: &'l Pieces<'a>,
    pub(super) after: &'l Pieces<'a>,
    /// Pieces of `before` that were removed, by function path.
    gone: FxHashMap<&'l str, Vec<&'l Piece<'a>>>,
    /// Pieces of `after` that were added.
    new: Vec<&'l Piece<'a>>,
}

impl<'a> Pieces<'a> {
    pub(super) fn of(source: &'a str, parsed: &'a Parsed<ModModule>) -> Pieces<'a> {
        let module = Function { path: String::new(), def: None };
        let mut walk = Walk {
            source,
            parsed,
            pieces: Pieces { functions: vec![module], all: Vec::new() },
            names: Vec::new(),
            seen: FxHashMap::default(),
        };
        walk.body(parsed.suite(), 0);
        walk.pieces
    }

    pub(super) fn path(&self, piece: &Piece<'a>) -> &str {
        &self.functions[piece.function].path
    }

    fn key<'l>(&'l self, piece: &'l Piece<'a>) -> (&'l str, &'l str) {
        (self.path(piece), &piece.head)
    }
}

impl<'l, 'a> Change<'l, 'a> {
    pub(super) fn of(before: &'l Pieces<'a>, after: &'l Pieces<'a>) -> Change<'l, 'a> {
        let same = |(a, b): &(&Piece<'a>, &Piece<'a>)| before.key(a) == after.key(b);
        let ahead = before.all.iter().zip(&after.all).take_while(same).count();
        let (old, new) = (&before.all[ahead..], &after.all[ahead..]);
        let behind = old.iter().rev().zip(new.iter().rev()).take_while(same).count();
        let (old, new) = (&old[..old.len() - behind], &new[..new.len() - behind]);
        let (old, new): (Vec<&Piece<'a>>, Vec<&Piece<'a>>) =
            (old.iter().collect(), new.iter().collect());
        // Pieces that stayed in their function are matched first, then those that moved to another
        // one.
        let (old, new) = without_common(old, new, |it| before.key(it), |it| after.key(it));
        let (old, new) = without_common(old, new, |it| &it.head, |it| &it.head);
        let mut gone: FxHashMap<&str, Vec<&Piece<'a>>> = FxHashMap::default();
        old.into_iter().for_each(|it| gone.entry(before.path(it)).or_default().push(it));
        Change { before, after, gone, new }
    }

    /// Returns the added pieces in source order.
    pub(super) fn added(&self) -> impl Iterator<Item = &'l Piece<'a>> + '_ {
        self.new.iter().copied()
    }

    /// Returns the pieces removed from the function with this path.
    pub(super) fn gone(&self, path: &str) -> &[&'l Piece<'a>] {
        self.gone.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns whether an added piece differs from a removed one only in literals.
    pub(super) fn only_literals_differ(&self, piece: &Piece<'a>) -> bool {
        self.gone(self.after.path(piece)).iter().any(|it| it.masked == piece.masked)
    }

    /// Returns the changed functions that exist in both versions: old, new and path.
    pub(super) fn functions(&self) -> Vec<(&'a StmtFunctionDef, &'a StmtFunctionDef, &'l str)> {
        let changed: FxHashSet<&str> =
            self.gone.keys().copied().chain(self.added().map(|it| self.after.path(it))).collect();
        let old: FxHashMap<&str, &'a StmtFunctionDef> = self
            .before
            .functions
            .iter()
            .filter_map(|it| it.def.map(|def| (it.path.as_str(), def)))
            .collect();
        let both = self.after.functions.iter().filter(|it| changed.contains(it.path.as_str()));
        both.filter_map(|it| Some((*old.get(it.path.as_str())?, it.def?, it.path.as_str())))
            .collect()
    }
}

/// Removes from both lists the elements that occur in both, with multiplicity.
fn without_common<'p, P, K: std::hash::Hash + Eq>(
    old: Vec<&'p P>,
    new: Vec<&'p P>,
    old_key: impl Fn(&'p P) -> K,
    new_key: impl Fn(&'p P) -> K,
) -> (Vec<&'p P>, Vec<&'p P>) {
    let mut counts: FxHashMap<K, usize> = FxHashMap::default();
    new.iter().for_each(|it| *counts.entry(new_key(it)).or_default() += 1);
    let mut common: FxHashMap<K, usize> = FxHashMap::default();
    let mut take = |it: &&'p P| match counts.get_mut(&old_key(it)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            *common.entry(old_key(it)).or_default() += 1;
            false
        }
        _ => true,
    };
    let old = old.into_iter().filter(&mut take).collect();
    let mut stays = |it: &&'p P| match common.get_mut(&new_key(it)) {
        Some(left) if *left > 0 => {
            *left -= 1;
            false
        }
        _ => true,
    };
    (old, new.into_iter().filter(&mut stays).collect())
}

struct Walk<'a> {
    source: &'a str,
    parsed: &'a Parsed<ModModule>,
    pieces: Pieces<'a>,
    names: Vec<&'a str>,
    seen: FxHashMap<String, usize>,
}

impl<'a> Walk<'a> {
    fn body(&mut self, body: &'a [Stmt], function: usize) {
        body.iter().for_each(|stmt| self.statement(stmt, function));
    }

    fn statement(&mut self, stmt: &'a Stmt, function: usize) {
        let start = full_range(stmt).start();
        let end = |body: &'a [Stmt]| body.first().map_or(stmt.end(), |it| full_range(it).start());
        let node = Node::Stmt(stmt);
        match stmt {
            Stmt::FunctionDef(def) => {
                self.push(node, start, end(&def.body), function);
                self.function(def);
            }
            Stmt::ClassDef(def) => {
                self.push(node, start, end(&def.body), function);
                self.names.push(&def.name);
                self.body(&def.body, function);
                self.names.pop();
            }
            Stmt::If(it) => {
                self.push(node, start, end(&it.body), function);
                self.body(&it.body, function);
                for clause in &it.elif_else_clauses {
                    if clause.test.is_some() {
                        let end = end(&clause.body);
                        self.push(Node::Elif(clause), clause.start(), end, function);
                    }
                    self.body(&clause.body, function);
                }
            }
            Stmt::While(it) => {
                self.push(node, start, end(&it.body), function);
                self.body(&it.body, function);
                self.body(&it.orelse, function);
            }
            Stmt::For(it) => {
                self.push(node, start, end(&it.body), function);
                self.body(&it.body, function);
                self.body(&it.orelse, function);
            }
            Stmt::With(it) => {
                self.push(node, start, end(&it.body), function);
                self.body(&it.body, function);
            }
            Stmt::Try(it) => {
                self.body(&it.body, function);
                for ExceptHandler::ExceptHandler(handler) in &it.handlers {
                    let end = end(&handler.body);
                    self.push(Node::Handler(handler), handler.start(), end, function);
                    self.body(&handler.body, function);
                }
                self.body(&it.orelse, function);
                self.body(&it.finalbody, function);
            }
            Stmt::Match(it) => {
                let end_of_subject = it.subject.end();
                self.push(node, start, end_of_subject, function);
                for case in &it.cases {
                    self.push(Node::Case(case), case.start(), end(&case.body), function);
                    self.body(&case.body, function);
                }
            }
            _ => self.push(node, start, stmt.end(), function),
        }
    }

    fn function(&mut self, def: &'a StmtFunctionDef) {
        self.names.push(&def.name);
        let mut path = self.names.join(".");
        let count = self.seen.entry(path.clone()).or_default();
        *count += 1;
        if *count > 1 {
            path = format!("{path}[{}]", *count - 1);
        }
        self.pieces.functions.push(Function { path, def: Some(def) });
        let number = self.pieces.functions.len() - 1;
        self.body(&def.body, number);
        self.names.pop();
    }

    fn push(&mut self, node: Node<'a>, start: TextSize, end: TextSize, function: usize) {
        let (mut head, mut masked) = self.tokens(start, end);
        // A handler's effect on exceptions depends on its body.
        if let Node::Handler(it) = node
            && checks::swallows(it)
        {
            head.push_str(" swallows");
            masked.push_str(" swallows");
        }
        self.pieces.all.push(Piece { function, head, masked, node });
    }

    fn tokens(&self, start: TextSize, end: TextSize) -> (String, String) {
        let (mut head, mut masked) = (String::new(), String::new());
        let tokens = self.parsed.tokens();
        let first = tokens.partition_point(|it| it.start() < start);
        for token in tokens[first..].iter().take_while(|it| it.start() < end) {
            let text = &self.source[token.range()];
            match token.kind() {
                TokenKind::Comment
                | TokenKind::Newline
                | TokenKind::NonLogicalNewline
                | TokenKind::Indent
                | TokenKind::Dedent => continue,
                TokenKind::Int | TokenKind::Float | TokenKind::Complex | TokenKind::String => {
                    masked.push('#');
                }
                _ => masked.push_str(text),
            }
            masked.push(' ');
            head.push_str(text);
            head.push(' ');
        }
        (head, masked)
    }
}
