//! Derives a plan from a whole repository: packages, files, definitions, and what each one uses.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value, json};

use crate::from_code::{DerivedEdge, DerivedNode, DerivedPart};
use crate::node::Kind;
use crate::subgraphs::{Grouping, ROOT, Subgraphs, folder};

/// Returns the planning graph of a repository, in the form that [`read`](crate::read) accepts.
///
/// Composites are the folders and the files; leaves are the definitions. `files` has all paths,
/// also those without a definition. Ids of leaves are `path:name`, so names have to be unique in their file. Uses are
/// `function_call` edges, or `uses` for classes and their bases; one that is only possible has its
/// reason in `doubt`. `lines`, `inner` and `definitions` of a leaf are fields beyond those of the
/// dialect.
///
/// # Panics
///
/// Panics if an edge has an index beyond the nodes.
pub fn repository_plan(
    project: &str,
    files: &[&str],
    nodes: &[DerivedNode<'_>],
    edges: &[DerivedEdge<'_>],
    grouping: Grouping,
) -> Value {
    let subgraphs = Subgraphs::new(grouping, nodes, edges);
    let mut made = RepositoryPlan::new(project);
    for path in files {
        made.file(path, files, &subgraphs);
    }
    let classes: FxHashSet<String> =
        nodes.iter().filter(|it| it.kind == Kind::Class).map(id).collect();
    for (number, it) in nodes.iter().enumerate() {
        made.leaf(it, &classes, subgraphs.of_node(number));
    }
    for it in edges {
        let (caller, callee) = (&nodes[it.caller], &nodes[it.callee]);
        made.uses(caller, callee, it.uncertainty);
    }
    let description = format!("Derived from the code of {project}.");
    json!({
        "metadata": { "project_name": project, "description": description, "derived": true },
        "nodes": made.nodes,
        "edges": made.edges,
    })
}

fn id(it: &DerivedNode<'_>) -> String {
    format!("{}:{}", it.path, it.name)
}

struct RepositoryPlan<'a> {
    nodes: Vec<Value>,
    edges: Vec<Value>,
    folders: FxHashSet<&'a str>,
}

impl<'a> RepositoryPlan<'a> {
    fn new(project: &str) -> Self {
        let root = json!({
            "id": ROOT, "name": project, "type": "package", "node_type": "composite",
            "dependencies": [], "subgraph_id": ROOT,
        });
        RepositoryPlan { nodes: vec![root], edges: Vec::new(), folders: FxHashSet::default() }
    }

    fn file(&mut self, path: &'a str, files: &[&str], subgraphs: &Subgraphs) {
        let parent = folder(path);
        self.folder(parent, files);
        self.nodes.push(json!({
            "id": path, "name": path, "type": Kind::Module.name(), "node_type": "composite",
            "file_path": path, "dependencies": [], "subgraph_id": subgraphs.of_file(path),
        }));
        self.edge(parent, path, "hierarchy", None);
    }

    fn folder(&mut self, path: &'a str, files: &[&str]) {
        if path == ROOT || !self.folders.insert(path) {
            return;
        }
        let parent = folder(path);
        self.folder(parent, files);
        let init = format!("{path}/__init__.py");
        let kind = if files.contains(&init.as_str()) { "package" } else { "folder" };
        self.nodes.push(json!({
            "id": path, "name": path, "type": kind, "node_type": "composite",
            "file_path": path, "dependencies": [], "subgraph_id": path,
        }));
        self.edge(parent, path, "hierarchy", None);
    }

    fn leaf(&mut self, it: &DerivedNode<'_>, classes: &FxHashSet<String>, subgraph: &str) {
        let id = id(it);
        let class = it.name.rsplit_once('.').map(|(class, _)| format!("{}:{class}", it.path));
        let parent = class.filter(|it| classes.contains(it));
        self.edge(parent.as_deref().unwrap_or(it.path), &id, "hierarchy", None);
        let fields = [
            ("id", Value::from(id)),
            ("name", it.name.into()),
            ("type", it.kind.name().into()),
            ("node_type", "leaf".into()),
            ("file_path", it.path.into()),
            ("signature", it.signature.into()),
            ("docstring", it.docstring.into()),
            ("dependencies", json!([])),
            ("subgraph_id", subgraph.into()),
            ("lines", json!([it.lines.0, it.lines.1])),
        ];
        let parts = [("definitions", &it.definitions), ("inner", &it.inner)];
        let parts = parts.into_iter().filter(|(_, it)| !it.is_empty());
        let parts = parts.map(|(name, it)| (name, DerivedPart::listed(it)));
        let fields = fields.into_iter().filter(|(_, it)| it != "").chain(parts);
        let node = fields.map(|(name, value)| (name.to_owned(), value));
        self.nodes.push(Value::Object(node.collect()));
    }

    /// Adds a use. A definition that uses itself needs nothing; a class and its methods are one
    /// unit, which the hierarchy says already.
    fn uses(&mut self, caller: &DerivedNode<'_>, callee: &DerivedNode<'_>, doubt: Option<&str>) {
        let (from, to) = (id(caller), id(callee));
        let is_inside = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|it| it.starts_with('.'));
        if from == to || is_inside(&from, &to) || is_inside(&to, &from) {
            return;
        }
        let kind = if callee.kind == Kind::Class { "uses" } else { "function_call" };
        self.edge(&from, &to, kind, doubt);
    }

    fn edge(&mut self, source: &str, target: &str, kind: &str, doubt: Option<&str>) {
        let fields = [
            ("source", Some(source)),
            ("target", Some(target)),
            ("type", Some(kind)),
            ("doubt", doubt),
        ];
        let fields =
            fields.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into())));
        self.edges.push(Value::Object(fields.collect::<Map<String, Value>>()));
    }
}
