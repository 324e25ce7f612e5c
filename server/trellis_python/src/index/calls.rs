//! Functions and who uses whom, of a whole workspace at once: each file is asked once.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{FileId, Index, Located};
use crate::lines::Unit;
use crate::outline::{Outline, Symbol, SymbolKind};
use crate::semantics::{Eval, ExprId, Module, Occurrence, Role, Target, ask_each};
use crate::syntax;

/// Every function and method of a workspace, and which of them uses which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// By path, then by place.
    pub nodes: Vec<CallNode>,
    /// Each pair once, by caller, then by callee.
    pub edges: Vec<CallEdge>,
}

/// A function, method or property; those inside functions too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// Where it is in the index.
    pub symbol: Located,
    /// Its file.
    pub path: String,
    /// `/Class/method`, with a number where the file has several of the name: means this one and no other.
    pub name_path: String,
    /// `Class.method`.
    pub name: String,
    /// What it is: never a class or a bound name.
    pub kind: SymbolKind,
    /// From `def` to before the colon, as it is written.
    pub signature: String,
    /// Without quotes and margin; empty if there is none.
    pub docstring: String,
    /// Its first line, from 1; decorators belong to it.
    pub first: u32,
    /// Its last line.
    pub last: u32,
}

/// One function calls another, or names it to hand it on. Making an object calls what the class runs then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdge {
    /// Who uses, by its place in [`Calls::nodes`].
    pub caller: usize,
    /// What is used.
    pub callee: usize,
    /// Why it is only possible; `None`: it is certain.
    pub uncertainty: Option<&'static str>,
}

const SEVERAL: &str = "one of several: the object before the dot may have several types";

/// All of them. Uses that nobody can resolve, and those outside of functions, give no edge.
pub fn calls(index: &Index) -> Calls {
    let mut files: Vec<FileId> = index.files().filter(|it| !is_doubled(index, *it)).collect();
    files.sort_by_key(|it| index.path(*it));
    let nodes: Vec<CallNode> = ask_each(index, &files, |_, file| nodes_of(index, file));
    // Functions by where their names stand, and by their place in the outline.
    let mut by_name: FxHashMap<(FileId, usize), usize> = FxHashMap::default();
    let mut by_symbol: FxHashMap<Located, usize> = FxHashMap::default();
    for (number, node) in nodes.iter().enumerate() {
        let outline = index.outline(node.symbol.file);
        let at = outline.symbols[node.symbol.symbol].name_range.start;
        by_name.insert((node.symbol.file, at), number);
        by_symbol.insert(node.symbol, number);
    }

    let known = |file: FileId, at: usize| by_name.get(&(file, at)).copied();
    let found = ask_each(index, &files, |eval, file| {
        uses_of(eval, file, &known)
            .into_iter()
            .filter_map(|(at, callee, uncertainty)| {
                let caller = by_symbol.get(&function_around(&index.outline(file), file, at)?)?;
                Some(CallEdge { caller: *caller, callee, uncertainty })
            })
            .collect()
    });
    // One certain use is enough.
    let mut edges: BTreeMap<(usize, usize), Option<&'static str>> = BTreeMap::new();
    for it in found {
        let known = edges.entry((it.caller, it.callee)).or_insert(it.uncertainty);
        *known = known.and(it.uncertainty);
    }
    let edge = |((caller, callee), uncertainty)| CallEdge { caller, callee, uncertainty };
    Calls { nodes, edges: edges.into_iter().map(edge).collect() }
}

/// A stub beside its source says nothing of its own.
fn is_doubled(index: &Index, file: FileId) -> bool {
    let source = index.path(file).strip_suffix(".pyi").map(|it| format!("{it}.py"));
    source.is_some_and(|it| index.file(&it).is_some())
}

fn nodes_of(index: &Index, file: FileId) -> Vec<CallNode> {
    let Some(text) = index.text(file) else { return Vec::new() };
    let (outline, lines) = (index.outline(file), index.lines(file, &text));
    let line = |at: usize| lines.position(at, Unit::Utf8).0 as u32 + 1;
    let node = |(symbol, it): (usize, &Symbol)| {
        let names: Vec<&str> = outline.path(symbol).iter().map(|it| it.name.as_str()).collect();
        CallNode {
            symbol: Located { file, symbol },
            path: index.path(file).to_owned(),
            name_path: outline.name_path(symbol),
            name: names.join("."),
            kind: it.kind,
            signature: it.header.clone().map_or_else(String::new, |at| text[at].to_owned()),
            docstring: it.docstring.clone().map_or_else(String::new, |at| content(&text[at])),
            first: line(it.range.start),
            last: line(it.range.end),
        }
    };
    outline.symbols.iter().enumerate().filter(|(_, it)| is_function(it)).map(node).collect()
}

pub(super) fn is_function(it: &Symbol) -> bool {
    matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Property)
}

/// The innermost function around an offset, its decorators and header included.
pub(super) fn function_around(outline: &Outline, file: FileId, at: usize) -> Option<Located> {
    let around = |it: &Symbol| is_function(it) && it.range.contains(&at);
    let symbol = outline.symbols.iter().rposition(around)?;
    Some(Located { file, symbol })
}

/// Where a file uses functions, and which. `known`: the function whose name stands at an offset of a file.
pub(super) fn uses_of<F: Ord + Copy>(
    eval: &Eval<'_>,
    file: FileId,
    known: &impl Fn(FileId, usize) -> Option<F>,
) -> Vec<(usize, F, Option<&'static str>)> {
    let module = eval.module(file);
    let called = called(module);
    let mut found = Vec::new();
    for it in &module.occurrences {
        let (Role::Name(expr) | Role::Attribute(expr)) = it.role else { continue };
        if module.binds_at(it.at) {
            continue;
        }
        eval.refresh();
        let meaning = eval.meaning(file, it);
        let functions: BTreeSet<Vec<F>> = eval
            .with_counterparts(meaning.targets.clone())
            .into_iter()
            .map(|target| functions_of(eval, target, called.contains(&expr), known))
            .filter(|it| !it.is_empty())
            .collect();
        let uncertainty = meaning.uncertainty.map(|it| it.reason());
        let uncertainty = uncertainty.or((functions.len() > 1).then_some(SEVERAL));
        let all = functions.into_iter().flatten();
        found.extend(all.map(|callee| (at(it), callee, uncertainty)));
    }
    found
}

fn at(it: &Occurrence) -> usize {
    it.range().start
}

/// What is called, decorators among it.
fn called(module: &Module) -> FxHashSet<ExprId> {
    let functions = module.functions.iter().flat_map(|it| &it.decorators);
    let classes = module.classes.iter().flat_map(|it| &it.decorators);
    let calls = module.calls.iter().map(|it| it.function);
    calls.chain(functions.copied()).chain(classes.copied()).collect()
}

/// The functions that a target is the name of; of a class that is called, what makes its objects.
fn functions_of<F>(
    eval: &Eval<'_>,
    target: Target,
    is_called: bool,
    known: &impl Fn(FileId, usize) -> Option<F>,
) -> Vec<F> {
    let named = |target: Target| -> Vec<F> {
        let places = eval.definitions(target).into_iter();
        places.filter_map(|it| known(it.file, it.range.start)).collect()
    };
    let functions = named(target);
    if !functions.is_empty() || !is_called {
        return functions;
    }
    eval.makers(target).into_iter().flat_map(named).collect()
}

/// What a docstring says, as `inspect.cleandoc` has it.
fn content(literal: &str) -> String {
    let Ok(parsed) = syntax::parse(literal) else { return String::new() };
    let Some(Stmt::Expr(it)) = parsed.suite().first() else { return String::new() };
    let Some(literal) = it.value.as_string_literal_expr() else { return String::new() };
    let mut lines = literal.value.to_str().lines();
    let first = lines.next().unwrap_or_default().trim_start();
    let rest: Vec<&str> = lines.collect();
    // Of one byte each, so that a cut goes through no character.
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let margin = rest.iter().filter(|it| !it.trim().is_empty()).map(indent).min().unwrap_or(0);
    let cut = |line: &&str| line.get(margin..).unwrap_or_default().trim_end().to_owned();
    let all: Vec<String> = std::iter::once(first.to_owned()).chain(rest.iter().map(cut)).collect();
    all.join("\n").trim().to_owned()
}
