//! Computes the call graph of a whole workspace at once; each file is visited once.

use std::collections::{BTreeMap, BTreeSet};

use ruff_python_ast::Stmt;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{FileId, Index, Located};
use crate::lines::Unit;
use crate::outline::{Outline, Symbol, SymbolKind};
use crate::semantics::{Eval, ExprId, Module, Occurrence, Role, Target, ask_each};
use crate::syntax;

/// All functions and methods of a workspace, or all definitions, and the uses between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Definitions by path, then by position.
    pub nodes: Vec<CallNode>,
    /// Uses, each pair once, by caller, then by callee.
    pub edges: Vec<CallEdge>,
}

/// A function, method, property or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallNode {
    /// Location in the index.
    pub symbol: Located,
    /// Path of the file.
    pub path: String,
    /// Unambiguous name path `/Class/method`, with a number if the file has several of that name.
    pub name_path: String,
    /// `Class.method`.
    pub name: String,
    /// Kind of the symbol, never a bound name.
    pub kind: SymbolKind,
    /// Text from `def` or `class` up to the colon, as written.
    pub signature: String,
    /// Docstring without quotes and margin; empty if there is none.
    pub docstring: String,
    /// First line, from 1, decorators included.
    pub first: u32,
    /// Last line.
    pub last: u32,
    /// Functions and classes inside it that are not nodes.
    pub inner: Vec<InnerDefinition>,
}

/// A function or class inside a node of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InnerDefinition {
    /// `function.inner`.
    pub name: String,
    /// Kind of the symbol, never a bound name.
    pub kind: SymbolKind,
    /// Text from `def` or `class` up to the colon, as written.
    pub signature: String,
    /// First line, from 1, decorators included.
    pub first: u32,
    /// Last line.
    pub last: u32,
}

/// A use of a function: a call, or a mention that passes the function on. Creating an object uses
/// the methods that the class then runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEdge {
    /// Index of the caller in [`Calls::nodes`].
    pub caller: usize,
    /// Index of the used function.
    pub callee: usize,
    /// The reason why the use is only possible; `None` if it is certain.
    pub uncertainty: Option<&'static str>,
}

const SEVERAL: &str = "one of several: the object before the dot may have several types";

/// Returns the call graph of an index: its functions, those inside functions too. Unresolved uses,
/// and uses outside functions, give no edge.
pub fn calls(index: &Index) -> Calls {
    graph(index, |_| true, &|outline, symbol| is_function(&outline.symbols[symbol]))
}

/// Returns the functions, methods and classes of the files that `is_wanted` accepts, by path; not
/// those inside a function. Uses in inner functions count for the one around them; creating an
/// object uses its class. Base classes, and uses in the body of a class, are uses by the class.
pub fn definition_graph(index: &Index, is_wanted: impl Fn(&str) -> bool) -> Calls {
    graph(index, is_wanted, &|outline, symbol| {
        let path = outline.path(symbol);
        let around = path.split_last().map_or(&[][..], |(_, around)| around);
        let it = &outline.symbols[symbol];
        let is_definition = is_function(it) || it.kind == SymbolKind::Class;
        is_definition && around.iter().all(|it| it.kind == SymbolKind::Class)
    })
}

/// Predicate on the symbols of an outline that are nodes of a graph.
type IsNode<'a> = &'a (dyn Fn(&Outline, usize) -> bool + Sync);

fn graph(index: &Index, is_wanted: impl Fn(&str) -> bool, is_node: IsNode<'_>) -> Calls {
    let is_source = |it: &FileId| !is_doubled(index, *it) && is_wanted(index.path(*it));
    let mut files: Vec<FileId> = index.files().filter(is_source).collect();
    files.sort_by_key(|it| index.path(*it));
    let nodes: Vec<CallNode> = ask_each(index, &files, |_, file| nodes_of(index, file, is_node));
    // Nodes by the position of their names, and by their location in the outline.
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
                let caller =
                    by_symbol.get(&node_around(&index.outline(file), file, at, is_node)?)?;
                Some(CallEdge { caller: *caller, callee, uncertainty })
            })
            .collect()
    });
    // One certain use makes the edge certain.
    let mut edges: BTreeMap<(usize, usize), Option<&'static str>> = BTreeMap::new();
    for it in found {
        let known = edges.entry((it.caller, it.callee)).or_insert(it.uncertainty);
        *known = known.and(it.uncertainty);
    }
    let edge = |((caller, callee), uncertainty)| CallEdge { caller, callee, uncertainty };
    Calls { nodes, edges: edges.into_iter().map(edge).collect() }
}

/// Returns whether a file is a stub with a source file beside it, which the stub only repeats.
fn is_doubled(index: &Index, file: FileId) -> bool {
    let source = index.path(file).strip_suffix(".pyi").map(|it| format!("{it}.py"));
    source.is_some_and(|it| index.file(&it).is_some())
}

fn nodes_of(index: &Index, file: FileId, is_node: IsNode<'_>) -> Vec<CallNode> {
    let Some(text) = index.text(file) else { return Vec::new() };
    let (outline, lines) = (index.outline(file), index.lines(file, &text));
    let line = |at: usize| lines.position(at, Unit::Utf8).0 as u32 + 1;
    let mut nodes: Vec<CallNode> = Vec::new();
    let mut counts: FxHashMap<(Option<usize>, &str), usize> = FxHashMap::default();
    for it in &outline.symbols {
        *counts.entry((it.parent, &it.name)).or_default() += 1;
    }
    // Place of the node that each symbol is, or is inside of.
    let mut places: Vec<Option<usize>> = Vec::with_capacity(outline.symbols.len());
    for (symbol, it) in outline.symbols.iter().enumerate() {
        let around = it.parent.and_then(|parent| places[parent]);
        let names: Vec<&str> = outline.path(symbol).iter().map(|it| it.name.as_str()).collect();
        let definition = InnerDefinition {
            name: names.join("."),
            kind: it.kind,
            signature: it.header.clone().map_or_else(String::new, |at| text[at].to_owned()),
            first: line(it.range.start),
            last: line(it.range.end),
        };
        if is_node(&outline, symbol) {
            let docstring = it.docstring.clone().map_or_else(String::new, |at| content(&text[at]));
            let number = match counts[&(it.parent, it.name.as_str())] {
                1 => String::new(),
                _ => format!("[{}]", it.nth),
            };
            let name_path = format!("/{}{number}", names.join("/"));
            let location = Located { file, symbol };
            nodes.push(node(index, location, definition, (name_path, docstring)));
            places.push(Some(nodes.len() - 1));
        } else {
            let is_definition = is_function(it) || it.kind == SymbolKind::Class;
            if let Some(place) = around.filter(|_| is_definition) {
                nodes[place].inner.push(definition);
            }
            places.push(around);
        }
    }
    nodes
}

fn node(
    index: &Index,
    symbol: Located,
    definition: InnerDefinition,
    (name_path, docstring): (String, String),
) -> CallNode {
    let InnerDefinition { name, kind, signature, first, last } = definition;
    CallNode {
        symbol,
        path: index.path(symbol.file).to_owned(),
        name_path,
        name,
        kind,
        signature,
        docstring,
        first,
        last,
        inner: Vec::new(),
    }
}

pub(super) fn is_function(it: &Symbol) -> bool {
    matches!(it.kind, SymbolKind::Function | SymbolKind::Method | SymbolKind::Property)
}

/// Returns the innermost function around an offset, its decorators and header included.
pub(super) fn function_around(outline: &Outline, file: FileId, at: usize) -> Option<Located> {
    node_around(outline, file, at, &|outline, symbol| is_function(&outline.symbols[symbol]))
}

/// Returns the innermost node around an offset. Symbols are in source order, so the last one that
/// begins before the offset is inside of all that contain it, if not one of them.
fn node_around(outline: &Outline, file: FileId, at: usize, is_node: IsNode<'_>) -> Option<Located> {
    let begun = outline.symbols.partition_point(|it| it.range.start <= at);
    let parent = |it: &usize| outline.symbols[*it].parent;
    let mut around = std::iter::successors(begun.checked_sub(1), parent);
    let contains = |it: &usize| outline.symbols[*it].range.contains(&at) && is_node(outline, *it);
    let symbol = around.find(contains)?;
    Some(Located { file, symbol })
}

/// Returns the uses of functions in a file: offset, function and doubt. `known` returns the
/// function whose name is at an offset of a file.
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

/// Returns the expressions that are called, decorators included.
fn called(module: &Module) -> FxHashSet<ExprId> {
    let functions = module.functions.iter().flat_map(|it| &it.decorators);
    let classes = module.classes.iter().flat_map(|it| &it.decorators);
    let calls = module.calls.iter().map(|it| it.function);
    calls.chain(functions.copied()).chain(classes.copied()).collect()
}

/// Returns the functions that a target names. For a called class, returns the methods that create
/// its objects.
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
    eval.constructors(target).into_iter().flat_map(named).collect()
}

/// Replaces tabs by spaces up to the next column that is a multiple of eight.
fn expanded(text: &str) -> String {
    let mut column = 0;
    let mut out = String::with_capacity(text.len());
    for it in text.chars() {
        let width = if it == '\t' { 8 - column % 8 } else { 1 };
        match it {
            '\t' => out.extend(std::iter::repeat_n(' ', width)),
            _ => out.push(it),
        }
        column = if it == '\n' { 0 } else { column + width };
    }
    out
}

/// Returns a docstring's text, as `inspect.cleandoc` does.
fn content(literal: &str) -> String {
    let Ok(parsed) = syntax::parse(literal) else { return String::new() };
    let Some(Stmt::Expr(it)) = parsed.suite().first() else { return String::new() };
    let Some(literal) = it.value.as_string_literal_expr() else { return String::new() };
    let text = expanded(literal.value.to_str());
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_start();
    let rest: Vec<&str> = lines.collect();
    // Only one-byte white space counts, so that a cut never splits a character.
    let indent = |line: &&str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let margin = rest.iter().filter(|it| !it.trim().is_empty()).map(indent).min().unwrap_or(0);
    let cut = |line: &&str| line.get(margin..).unwrap_or_default().trim_end().to_owned();
    let all: Vec<String> = std::iter::once(first.to_owned()).chain(rest.iter().map(cut)).collect();
    all.join("\n").trim().to_owned()
}
