//! Derives a plan from existing code: its functions and their calls, in the form of appendix A.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use crate::node::Kind;

/// An existing function or method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedNode<'a> {
    /// File, relative to the repository, with `/`.
    pub path: &'a str,
    /// `function` or `Class.method`.
    pub name: &'a str,
    /// Kind of the node.
    pub kind: Kind,
    /// Text from `def` up to the colon.
    pub signature: &'a str,
    /// Docstring; empty if there is none.
    pub docstring: &'a str,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// All definitions of the name, if the file has several.
    pub definitions: Vec<DerivedPart<'a>>,
    /// Functions and classes inside it.
    pub inner: Vec<DerivedPart<'a>>,
}

/// A definition that is not a node of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedPart<'a> {
    /// `function.inner`, or the name of the node.
    pub name: &'a str,
    /// Kind of the definition.
    pub kind: Kind,
    /// Text from `def` or `class` up to the colon.
    pub signature: &'a str,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

impl DerivedPart<'_> {
    /// Returns definitions as a field of a node.
    pub(crate) fn listed(all: &[DerivedPart<'_>]) -> Value {
        let shown = all.iter().map(|it| {
            json!({
                "name": it.name,
                "type": it.kind.name(),
                "signature": it.signature,
                "lines": [it.lines.0, it.lines.1],
            })
        });
        Value::Array(shown.collect())
    }
}

/// A use of one node by another, as indexes in the list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedEdge<'a> {
    /// Index of the user.
    pub caller: usize,
    /// Index of the used node.
    pub callee: usize,
    /// The reason why the use is only possible; `None` if it is certain.
    pub uncertainty: Option<&'a str>,
}

/// Returns the planning graph of a project in the form that [`read`](crate::read) accepts: a
/// composite for each file, its functions below it, and `calls` edges. The edges may close cycles,
/// as in code; [`order`](crate::order) sets those aside. Ids are `path:name`, with a number if a
/// file defines a name again. `lines` of a node and `doubt` of an edge are fields beyond those of
/// the dialect.
///
/// # Panics
///
/// Panics if an edge has an index beyond the nodes.
pub fn derived<'a>(
    project: &str,
    nodes: impl IntoIterator<Item = DerivedNode<'a>>,
    edges: impl IntoIterator<Item = DerivedEdge<'a>>,
) -> Value {
    let mut made = CodePlan::default();
    nodes.into_iter().for_each(|it| made.node(&it));
    for it in edges {
        let mut edge = edge(&made.ids[it.caller], &made.ids[it.callee], "calls");
        if let Some(uncertainty) = it.uncertainty {
            edge.insert("doubt".to_owned(), uncertainty.into());
        }
        made.edges.push(Value::Object(edge));
    }
    let description = "Derived from the code of the project.";
    json!({
        "metadata": { "project_name": project, "description": description, "derived": true },
        "nodes": made.nodes,
        "edges": made.edges,
    })
}

#[derive(Default)]
struct CodePlan<'a> {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    /// Ids of the functions, in order of arrival.
    ids: Vec<String>,
    files: FxHashSet<&'a str>,
    seen: FxHashMap<(&'a str, &'a str), usize>,
}

impl<'a> CodePlan<'a> {
    fn node(&mut self, it: &DerivedNode<'a>) {
        self.file(it.path);
        let count = self.seen.entry((it.path, it.name)).or_default();
        *count += 1;
        let number = if *count > 1 { format!("[{}]", *count - 1) } else { String::new() };
        let id = format!("{}:{}{number}", it.path, it.name);
        self.edges.push(Value::Object(edge(it.path, &id, "hierarchy")));
        let mut node = json!({
            "id": id,
            "name": it.name,
            "type": it.kind.name(),
            "node_type": "leaf",
            "file_path": it.path,
            "signature": it.signature,
            "dependencies": [],
            "subgraph_id": it.path,
            "lines": [it.lines.0, it.lines.1],
        });
        if !it.docstring.is_empty() {
            node["docstring"] = it.docstring.into();
        }
        self.nodes.push(node);
        self.ids.push(id);
    }

    fn file(&mut self, path: &'a str) {
        if !self.files.insert(path) {
            return;
        }
        self.nodes.push(json!({
            "id": path,
            "name": path,
            "type": Kind::Module.name(),
            "node_type": "composite",
            "file_path": path,
            "dependencies": [],
            "subgraph_id": path,
        }));
    }
}

fn edge(source: &str, target: &str, kind: &str) -> Map<String, Value> {
    [("source", source), ("target", target), ("type", kind)]
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .into_iter()
        .collect()
}
