//! The JSON of a plan, with its nodes and references.

use rustc_hash::FxHashSet;
use serde_json::{Map, Value};

/// A plan as JSON, in the dialect `rpg`.
pub(super) struct Document {
    pub(super) root: Value,
    /// Consequences for a person to look at.
    pub(super) notes: Vec<String>,
}

/// Nodes that a reference leads to after an edit; `None` for a reference that stays.
pub(super) type Redirect<'a> = &'a dyn Fn(&str) -> Option<Vec<String>>;

impl Document {
    pub(super) fn nodes(&mut self) -> &mut Vec<Value> {
        list(&mut self.root, "nodes")
    }

    pub(super) fn edges(&mut self) -> &mut Vec<Value> {
        list(&mut self.root, "edges")
    }

    /// Returns the position of the first node with an id.
    pub(super) fn place(&mut self, id: &str) -> Option<usize> {
        self.nodes().iter().position(|it| text(it, "id") == Some(id))
    }

    /// Returns the fields of the first node with an id.
    pub(super) fn node(&mut self, id: &str) -> Option<&mut Map<String, Value>> {
        let place = self.place(id)?;
        self.nodes()[place].as_object_mut()
    }

    /// Sets a field of a node; `null` removes the field.
    pub(super) fn set(&mut self, id: &str, field: &str, value: Value) {
        if let Some(node) = self.node(id) {
            match value {
                Value::Null => drop(node.shift_remove(field)),
                value => drop(node.insert(field.to_owned(), value)),
            }
        }
    }

    /// Replaces references to nodes, in `dependencies` and in edges. A reference that becomes one
    /// of a node to itself, or that exists already, is left out.
    pub(super) fn redirect(&mut self, to: Redirect<'_>) {
        for node in self.nodes() {
            let own = text(node, "id").unwrap_or_default().to_owned();
            if let Some(Value::Array(list)) = node.get_mut("dependencies") {
                redirect_list(list, &own, to);
            }
        }
        if self.root.get("edges").is_some() {
            let edges = std::mem::take(self.edges());
            *self.edges() = redirect_edges(edges, to);
        }
    }
}

fn list<'a>(root: &'a mut Value, name: &str) -> &'a mut Vec<Value> {
    // `read` accepted the plan, so the root is an object and both fields are lists or missing.
    let field = &mut root[name];
    if !field.is_array() {
        *field = Value::Array(Vec::new());
    }
    match field {
        Value::Array(list) => list,
        _ => unreachable!("the field is a list"),
    }
}

/// Returns a field of a node or an edge that is a text.
pub(super) fn text<'a>(it: &'a Value, field: &str) -> Option<&'a str> {
    it.get(field)?.as_str()
}

fn redirect_list(list: &mut Vec<Value>, own: &str, to: Redirect<'_>) {
    let target = |it: &Value| it.as_str().and_then(to);
    if list.iter().all(|it| target(it).is_none()) {
        return;
    }
    let mut seen: FxHashSet<Value> = FxHashSet::default();
    let mut out = Vec::new();
    for it in list.drain(..) {
        let new = target(&it).map(|ids| ids.into_iter().map(Value::from).collect());
        let others = new.unwrap_or_else(|| vec![it]).into_iter().filter(|it| *it != own);
        out.extend(others.filter(|it| seen.insert(it.clone())));
    }
    *list = out;
}

fn redirect_edges(edges: Vec<Value>, to: Redirect<'_>) -> Vec<Value> {
    let mut seen: FxHashSet<[String; 3]> =
        edges.iter().filter(|it| ends(it, to).is_none()).map(key).collect();
    let mut out = Vec::with_capacity(edges.len());
    for edge in edges {
        let Some((sources, targets)) = ends(&edge, to) else {
            out.push(edge);
            continue;
        };
        for (source, target) in sources.iter().flat_map(|s| targets.iter().map(move |t| (s, t))) {
            let mut new = edge.clone();
            new["source"] = Value::from(source.as_str());
            new["target"] = Value::from(target.as_str());
            if source != target && seen.insert(key(&new)) {
                out.push(new);
            }
        }
    }
    out
}

/// Returns the new ends of an edge; `None` if both stay.
fn ends(edge: &Value, to: Redirect<'_>) -> Option<(Vec<String>, Vec<String>)> {
    let [source, target] = ["source", "target"].map(|name| text(edge, name).unwrap_or_default());
    let (new_source, new_target) = (to(source), to(target));
    if new_source.is_none() && new_target.is_none() {
        return None;
    }
    let or = |new: Option<Vec<String>>, old: &str| new.unwrap_or_else(|| vec![old.to_owned()]);
    Some((or(new_source, source), or(new_target, target)))
}

fn key(edge: &Value) -> [String; 3] {
    ["source", "target", "type"].map(|name| text(edge, name).unwrap_or_default().to_owned())
}
