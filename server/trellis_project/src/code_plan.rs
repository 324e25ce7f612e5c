//! Plan of an existing repository, derived from its code.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use serde_json::Value;
use trellis_plan::{DerivedEdge, DerivedNode, DerivedPart, Grouping, Kind, repository_plan};
use trellis_python::{
    CallNode, FileId, Index, InnerDefinition, SymbolKind, belongs_to_tests, definition_graph,
    dynamic_definitions,
};

/// A repository as a plan.
#[derive(Clone, Debug)]
pub struct CodePlan {
    /// The planning graph, in the dialect `rpg`.
    pub graph: Value,
    /// The number of files.
    pub files: usize,
    /// The number of functions, methods and classes.
    pub definitions: usize,
    /// Dependencies that are certain.
    pub certain: usize,
    /// Dependencies that are only possible.
    pub possible: usize,
    /// Test files that were left out.
    pub tests: usize,
    /// Parts of the code that the plan cannot hold, as sentences.
    pub notes: Vec<String>,
}

impl CodePlan {
    /// Adds docstrings of a model, by id, to nodes that have none; `described` marks them.
    pub fn describe(&mut self, docstrings: &BTreeMap<String, String>) {
        let nodes = self.graph["nodes"].as_array_mut().into_iter().flatten();
        for node in nodes.filter_map(Value::as_object_mut) {
            let id = node.get("id").and_then(Value::as_str).unwrap_or_default();
            let text = docstrings.get(id).filter(|_| !node.contains_key("docstring"));
            if let Some(text) = text {
                node.insert("docstring".to_owned(), text.as_str().into());
                node.insert("described".to_owned(), "model".into());
            }
        }
    }
}

/// Options of a plan that is derived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodePlanOptions {
    /// Files of tests are part of the plan.
    pub with_tests: bool,
    pub grouping: Grouping,
}

/// Derives the plan of all files of an index.
pub fn code_plan(index: &Index, project: &str, options: CodePlanOptions) -> CodePlan {
    let sources = Sources::of(index, options.with_tests);
    let paths: Vec<&str> = sources.paths.iter().copied().collect();
    let graph = definition_graph(index, |path| sources.paths.contains(path));
    let mut merged = Merged::default();
    let places: Vec<usize> = graph.nodes.iter().map(|it| merged.add(it)).collect();
    let mut edges: BTreeMap<(usize, usize), Option<&'static str>> = BTreeMap::new();
    for it in &graph.edges {
        // One certain use makes the dependency certain.
        let known = edges.entry((places[it.caller], places[it.callee])).or_insert(it.uncertainty);
        *known = known.and(it.uncertainty);
    }
    let edge = |((caller, callee), uncertainty)| DerivedEdge { caller, callee, uncertainty };
    let edges: Vec<DerivedEdge<'_>> = edges.into_iter().map(edge).collect();
    let nodes: Vec<DerivedNode<'_>> = merged.nodes.iter().map(|it| it.derived()).collect();
    let graph = repository_plan(project, &paths, &nodes, &edges, options.grouping);
    let (certain, possible) = dependencies(&graph);
    let mut notes = unparsed(index, &paths);
    notes.extend(merged.note());
    notes.extend(dynamic(index, &paths));
    let (files, definitions, tests) = (paths.len(), nodes.len(), sources.tests);
    CodePlan { files, definitions, certain, possible, tests, notes, graph }
}

/// Files of a plan.
struct Sources<'a> {
    paths: BTreeSet<&'a str>,
    /// Number of test files that were left out.
    tests: usize,
}

impl<'a> Sources<'a> {
    fn of(index: &'a Index, with_tests: bool) -> Sources<'a> {
        let all = index.files().filter(|it| index.path(*it).ends_with(".py"));
        let (tests, others): (Vec<FileId>, Vec<FileId>) =
            all.partition(|it| !with_tests && is_of_tests(index, *it));
        Sources { paths: others.iter().map(|it| index.path(*it)).collect(), tests: tests.len() }
    }
}

/// Returns whether a file belongs to tests. Some libraries have a module `test` that helps those
/// who test: outside of folders of tests, it has to define a test.
fn is_of_tests(index: &Index, file: FileId) -> bool {
    let path = index.path(file);
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_in_doubt = matches!(name, "test.py" | "tests.py");
    if !is_in_doubt || belongs_to_tests(&format!("{folder}/module.py")) {
        return belongs_to_tests(path);
    }
    index.outline(file).symbols.iter().any(|it| it.header.is_some() && it.name.starts_with("test"))
}

/// Largest number of places in a note.
const PLACES: usize = 10;

/// Names the lines that define something at run time.
fn dynamic(index: &Index, paths: &[&str]) -> Option<String> {
    let lines = |path: &&str| -> Vec<String> {
        let text = index.file(path).and_then(|file| index.text(file));
        let lines = text.map(|it| dynamic_definitions(&it)).unwrap_or_default();
        lines.iter().map(|line| format!("{path}:{line}")).collect()
    };
    let all: Vec<String> = paths.iter().flat_map(lines).collect();
    let shown = listed(&all)?;
    Some(format!("names that are made at run time are not in the graph: {shown}"))
}

/// Joins the first places, with the number of the others; `None` if there are none.
fn listed(all: &[String]) -> Option<String> {
    let shown = all.get(..PLACES).unwrap_or(all).join(", ");
    let more = all.len().saturating_sub(PLACES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!all.is_empty()).then(|| shown + &more)
}

/// Definitions by path and name. Several of one name (overloads, a property and its setter,
/// branches) are one node.
#[derive(Default)]
struct Merged<'a> {
    nodes: Vec<Definition<'a>>,
    places: FxHashMap<(&'a str, &'a str), usize>,
}

struct Definition<'a> {
    first: &'a CallNode,
    signature: &'a str,
    docstring: &'a str,
    all: Vec<&'a CallNode>,
}

impl<'a> Merged<'a> {
    fn add(&mut self, it: &'a CallNode) -> usize {
        let next = self.nodes.len();
        let place = *self.places.entry((&it.path, &it.name)).or_insert(next);
        match self.nodes.get_mut(place) {
            Some(known) => known.join(it),
            None => self.nodes.push(Definition {
                first: it,
                signature: &it.signature,
                docstring: &it.docstring,
                all: vec![it],
            }),
        }
        place
    }

    fn note(&self) -> Option<String> {
        let several: Vec<String> = (self.nodes.iter())
            .filter(|it| it.all.len() > 1 && it.first.kind != SymbolKind::Property)
            .map(|it| format!("{}:{}", it.first.path, it.first.name))
            .collect();
        let shown = listed(&several)?;
        Some(format!("defined several times, and one node each: {shown}"))
    }
}

impl<'a> Definition<'a> {
    /// Adds another definition of the name. The last of several overloads has the code; a property
    /// is read by its first.
    fn join(&mut self, it: &'a CallNode) {
        self.all.push(it);
        if self.first.kind != SymbolKind::Property {
            self.signature = &it.signature;
        }
        if self.docstring.is_empty() {
            self.docstring = &it.docstring;
        }
    }

    fn derived(&self) -> DerivedNode<'a> {
        let several = if self.all.len() > 1 { &self.all[..] } else { &[] };
        let part = |it: &&'a CallNode| DerivedPart {
            name: &it.name,
            kind: kind(it.kind),
            signature: &it.signature,
            lines: (it.first, it.last),
        };
        DerivedNode {
            path: &self.first.path,
            name: &self.first.name,
            kind: kind(self.first.kind),
            signature: self.signature,
            docstring: self.docstring,
            lines: (self.first.first, self.first.last),
            definitions: several.iter().map(part).collect(),
            inner: self.all.iter().flat_map(|it| &it.inner).map(inner).collect(),
        }
    }
}

fn inner(it: &InnerDefinition) -> DerivedPart<'_> {
    DerivedPart {
        name: &it.name,
        kind: kind(it.kind),
        signature: &it.signature,
        lines: (it.first, it.last),
    }
}

fn kind(it: SymbolKind) -> Kind {
    match it {
        SymbolKind::Class => Kind::Class,
        SymbolKind::Method | SymbolKind::Property => Kind::Method,
        _ => Kind::Function,
    }
}

/// A leaf of a plan without a docstring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undescribed {
    /// Id of the node.
    pub id: String,
    pub path: String,
    pub name: String,
    /// Text of the definition.
    pub source: String,
}

/// Returns the leaves of a derived plan that have no docstring, in the order of the plan.
pub fn undescribed(index: &Index, graph: &Value) -> Vec<Undescribed> {
    let nodes = graph["nodes"].as_array().into_iter().flatten();
    let leaf = |it: &Value| {
        if it["node_type"] != "leaf" || it.get("docstring").is_some() {
            return None;
        }
        let text = |field: &str| it[field].as_str().map(str::to_owned);
        let path = text("file_path")?;
        let source = lines(&index.text(index.file(&path)?)?, &it["lines"]);
        Some(Undescribed { id: text("id")?, name: text("name")?, path, source })
    };
    nodes.filter_map(leaf).collect()
}

/// Returns the lines of a definition.
fn lines(text: &str, range: &Value) -> String {
    let number = |at: usize| range[at].as_u64().unwrap_or_default() as usize;
    let (first, last) = (number(0).max(1), number(1));
    let all = text.lines().skip(first - 1).take((last + 1).saturating_sub(first));
    all.flat_map(|it| [it, "\n"]).collect()
}

/// Counts certain and possible dependencies of a graph.
fn dependencies(graph: &Value) -> (usize, usize) {
    let edges = graph["edges"].as_array().into_iter().flatten();
    let uses: Vec<&Value> = edges.filter(|it| it["type"] != "hierarchy").collect();
    let possible = uses.iter().filter(|it| it.get("doubt").is_some()).count();
    (uses.len() - possible, possible)
}

/// Names files with syntax errors: definitions around the error are kept.
fn unparsed(index: &Index, paths: &[&str]) -> Vec<String> {
    let error = |path: &&str| {
        let file = index.file(path)?;
        let error = index.outline(file).errors.first()?.to_string();
        Some(format!("{path} does not parse, so parts of it may be missing: {error}"))
    };
    paths.iter().filter_map(error).collect()
}
