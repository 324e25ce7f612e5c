//! Plan of an existing repository, derived from its code.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use serde_json::Value;
use trellis_plan::{DerivedEdge, DerivedNode, Kind, repository_plan};
use trellis_python::{CallNode, Index, SymbolKind, belongs_to_tests, definition_graph};

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

/// Derives the plan of all files of an index. Files of tests are left out unless `with_tests`.
pub fn code_plan(index: &Index, project: &str, with_tests: bool) -> CodePlan {
    let is_wanted = |path: &str| with_tests || !belongs_to_tests(path);
    let all: Vec<_> = index.files().collect();
    let mut paths: Vec<&str> =
        all.iter().map(|it| index.path(*it)).filter(|it| it.ends_with(".py")).collect();
    let count = paths.len();
    paths.retain(|it| is_wanted(it));
    paths.sort_unstable();

    let graph = definition_graph(index);
    let mut merged = Merged::default();
    let places: Vec<Option<usize>> = (graph.nodes.iter())
        .map(|it| (it.path.ends_with(".py") && is_wanted(&it.path)).then(|| merged.add(it)))
        .collect();
    let mut edges: BTreeMap<(usize, usize), Option<&'static str>> = BTreeMap::new();
    for it in &graph.edges {
        if let (Some(caller), Some(callee)) = (places[it.caller], places[it.callee]) {
            // One certain use makes the dependency certain.
            let known = edges.entry((caller, callee)).or_insert(it.uncertainty);
            *known = known.and(it.uncertainty);
        }
    }
    let edge = |((caller, callee), uncertainty)| DerivedEdge { caller, callee, uncertainty };
    let edges: Vec<DerivedEdge<'_>> = edges.into_iter().map(edge).collect();
    let nodes: Vec<DerivedNode<'_>> = merged.nodes.iter().map(|it| it.derived()).collect();
    let graph = repository_plan(project, &paths, &nodes, &edges);
    let (certain, possible) = dependencies(&graph);
    let mut notes = unparsed(index, &paths);
    notes.extend(merged.note());
    let (files, definitions) = (paths.len(), nodes.len());
    CodePlan { files, definitions, certain, possible, tests: count - files, notes, graph }
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
    count: usize,
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
                count: 1,
            }),
        }
        place
    }

    fn note(&self) -> Option<String> {
        let several: Vec<String> = (self.nodes.iter())
            .filter(|it| it.count > 1 && it.first.kind != SymbolKind::Property)
            .map(|it| format!("{}:{}", it.first.path, it.first.name))
            .collect();
        (!several.is_empty())
            .then(|| format!("defined several times, and one node each: {}", several.join(", ")))
    }
}

impl<'a> Definition<'a> {
    /// Adds another definition of the name. The last of several overloads has the code; a property
    /// is read by its first.
    fn join(&mut self, it: &'a CallNode) {
        self.count += 1;
        if self.first.kind != SymbolKind::Property {
            self.signature = &it.signature;
        }
        if self.docstring.is_empty() {
            self.docstring = &it.docstring;
        }
    }

    fn derived(&self) -> DerivedNode<'a> {
        let kind = match self.first.kind {
            SymbolKind::Class => Kind::Class,
            SymbolKind::Method | SymbolKind::Property => Kind::Method,
            _ => Kind::Function,
        };
        DerivedNode {
            path: &self.first.path,
            name: &self.first.name,
            kind,
            signature: self.signature,
            docstring: self.docstring,
            lines: (self.first.first, self.first.last),
        }
    }
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
