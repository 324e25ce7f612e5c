//! A plan of code that nobody planned: its functions, and who uses whom, in the form of appendix A.

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Map, Value, json};

use crate::node::Kind;

/// A function or method that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DerivedNode<'a> {
    /// Its file, relative to the repository, with `/`.
    pub path: &'a str,
    /// `function`, `Class.method`.
    pub name: &'a str,
    /// What it is.
    pub kind: Kind,
    /// From `def` to before the colon.
    pub signature: &'a str,
    /// Empty if there is none.
    pub docstring: &'a str,
    /// Its first and last line, from 1.
    pub lines: (u32, u32),
}

/// A node that uses another one; both by their place in the list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DerivedEdge<'a> {
    /// Who uses.
    pub caller: usize,
    /// What is used.
    pub callee: usize,
    /// Why it is only possible; `None`: it is certain.
    pub uncertainty: Option<&'a str>,
}

/// The planning graph of a project as [`read`](crate::read) takes it: a composite for each file, its
/// functions below it, and `calls` edges, which may close cycles: code does, and [`order`](crate::order)
/// sets them aside. Ids are `path:name`, with a number where a file defines a name again; `lines` of a node
/// and `doubt` of an edge are fields beyond those of the dialect.
///
/// # Panics
///
/// If an edge names a place beyond the nodes.
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
    /// Of the functions, in the order they came.
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
