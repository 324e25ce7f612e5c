//! The planning graph of a finished draft, in the form that `trellis_plan::read` accepts.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use trellis_plan::Spec;

use super::{Draft, Interface, PlannedDefinition, PlannedKind, Sentences, module_of};

/// The specification that a plan was made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecFile<'a> {
    /// Path as written in the plan.
    pub path: &'a str,
    /// SHA-256 of the text, in hexadecimal.
    pub hash: &'a str,
}

/// Returns the plan of a draft. `metadata.spec` has the specification's path, hash and numbered
/// sentences, and `serves` of each node the numbers of its sentences.
pub fn plan_file(draft: &Draft, spec: &SpecFile<'_>, sentences: &Sentences) -> Value {
    let mut plan = PlanFile { draft, nodes: Vec::new(), edges: Vec::new() };
    plan.folders();
    draft.interfaces.iter().for_each(|it| plan.file(it));
    plan.flows();
    let spec = Spec {
        path: Some(spec.path.to_owned()),
        sha256: Some(spec.hash.to_owned()),
        sentences: sentences.kept().to_vec(),
        background: draft.features.background.clone(),
        features: draft.features.groups(),
    };
    json!({
        "metadata": {
            "project_name": draft.features.package,
            "description": draft.features.summary,
            "spec": spec.to_json(),
        },
        "nodes": plan.nodes,
        "edges": plan.edges,
    })
}

struct PlanFile<'a> {
    draft: &'a Draft,
    nodes: Vec<Value>,
    edges: Vec<Value>,
}

impl PlanFile<'_> {
    /// Returns the id of a file: its dotted module with the package.
    fn module_id(&self, path: &str) -> String {
        format!("{}.{}", self.draft.features.package, module_of(path))
    }

    /// Returns the path of a file or folder in the repository.
    fn source_path(&self, path: &str) -> String {
        format!("src/{}/{path}", self.draft.features.package)
    }

    /// Adds a composite for the package and each folder of it.
    fn folders(&mut self) {
        let package = self.draft.features.package.clone();
        let summary = self.draft.features.summary.clone();
        self.composite(&package, "package", &format!("src/{package}"), &summary, None);
        let paths = self.draft.interfaces.iter().filter_map(|it| it.path.rsplit_once('/'));
        let mut folders: BTreeMap<String, String> = BTreeMap::new();
        for (folder, _) in paths {
            let ends = folder.match_indices('/').map(|it| it.0).chain([folder.len()]);
            folders.extend(ends.map(|end| {
                let path = &folder[..end];
                (format!("{package}.{}", path.replace('/', ".")), self.source_path(path))
            }));
        }
        for (id, path) in folders {
            let above = id.rsplit_once('.').map(|it| it.0.to_owned());
            self.composite(&id, "package", &path, "", above.as_deref());
        }
    }

    fn composite(&mut self, id: &str, kind: &str, path: &str, about: &str, above: Option<&str>) {
        let name = id.rsplit('.').next().unwrap_or(id);
        self.nodes.push(json!({
            "id": id, "name": name, "type": kind, "node_type": "composite", "file_path": path,
            "docstring": about, "dependencies": [], "subgraph_id": id,
        }));
        if let Some(above) = above {
            self.edge(above, id, "hierarchy", None);
        }
    }

    fn edge(&mut self, source: &str, target: &str, kind: &str, data: Option<&str>) {
        let mut edge = json!({ "source": source, "target": target, "type": kind });
        if let Some(data) = data {
            edge["data"] = data.into();
        }
        self.edges.push(edge);
    }

    /// Adds a file and its definitions.
    fn file(&mut self, interface: &Interface) {
        let id = self.module_id(&interface.path);
        let path = self.source_path(&interface.path);
        let file = self.draft.layout.file(&interface.path);
        let above = id.rsplit_once('.').map(|it| it.0.to_owned());
        let purpose = file.map(|it| it.purpose.clone()).unwrap_or_default();
        self.composite(&id, "module", &path, &purpose, above.as_deref());
        let others: Vec<&Interface> =
            self.draft.interfaces.iter().filter(|it| it.path != interface.path).collect();
        for it in interface.definitions.iter().filter(|it| it.class_of_special().is_none()) {
            let it = &with_special_methods(it, interface);
            let node = self.definition(interface, it, &others, &id, &path);
            self.edge(&id, node["id"].as_str().unwrap_or_default(), "hierarchy", None);
            self.nodes.push(node);
        }
    }

    fn definition(
        &self,
        file: &Interface,
        it: &PlannedDefinition,
        others: &[&Interface],
        module: &str,
        path: &str,
    ) -> Value {
        let used = it.uses.iter().filter_map(|name| file.used(name, others));
        let id_of = |path: &str, it: &PlannedDefinition| {
            format!("{}.{}", self.module_id(path), it.class_of_special().unwrap_or(&it.name))
        };
        let mut dependencies: Vec<String> = used.map(|(path, it)| id_of(path, it)).collect();
        if let (PlannedKind::Method, Some((class, _))) = (it.kind, it.name.rsplit_once('.')) {
            dependencies.insert(0, format!("{module}.{class}"));
        }
        let mut seen = std::collections::BTreeSet::new();
        let own = format!("{module}.{}", it.name);
        dependencies.retain(|it| *it != own && seen.insert(it.clone()));
        let mut node = json!({
            "id": own, "name": it.name, "type": it.kind.as_str(),
            "node_type": "leaf", "file_path": path, "signature": it.signature,
            "docstring": it.docstring, "dependencies": dependencies, "subgraph_id": module,
            "serves": it.serves,
        });
        if !it.examples.is_empty() {
            node["examples"] = it.examples.clone().into();
        }
        if !self.draft.layout.libraries.is_empty() {
            node["libraries"] = self.draft.layout.libraries.clone().into();
        }
        node
    }

    fn flows(&mut self) {
        for flow in &self.draft.layout.flows {
            let (from, to) = (self.module_id(&flow.from), self.module_id(&flow.to));
            self.edge(&from, &to, "data_flow", Some(&flow.data));
        }
    }
}

/// Returns a class with its special methods, such as `__init__`, which are written together with it;
/// any other definition as it is.
fn with_special_methods(it: &PlannedDefinition, interface: &Interface) -> PlannedDefinition {
    let mut out = it.clone();
    let own = interface.definitions.iter();
    for method in own.filter(|method| method.class_of_special() == Some(&it.name)) {
        let about = method.docstring.replace('\n', "\n    ");
        out.docstring.push_str(&format!("\n\n`{}`: {about}", method.signature));
        out.examples.extend(method.examples.iter().cloned());
        out.serves.extend(&method.serves);
        out.uses.extend(method.uses.iter().cloned());
    }
    out.serves.sort_unstable();
    out.serves.dedup();
    out
}
