//! The edits, each on the JSON of a plan.

use serde_json::{Map, Value, json};

use super::document::{Document, text};
use super::{EditError, PlanEdit};
use crate::edge::{Role, role_of};
use crate::node::{Kind, NodeIx};
use crate::plan::Plan;

mod describe;
mod rename;

/// Largest number of notes on mentions of a name.
const MENTIONS: usize = 5;

pub(super) fn apply(
    document: &mut Document,
    plan: &Plan,
    edit: &PlanEdit,
) -> Result<(), EditError> {
    match edit {
        PlanEdit::Add { fields } => add(document, plan, fields),
        PlanEdit::Remove { id, with_parts } => remove(document, plan, id, *with_parts),
        PlanEdit::Rename { id, name, new_id } => {
            rename::rename(document, plan, id, name, new_id.as_deref())
        }
        PlanEdit::Move { id, file, subgraph } => {
            moved(document, plan, id, file.as_deref(), subgraph.as_deref())
        }
        PlanEdit::Set { id, fields } => {
            known(plan, id)?;
            for (field, value) in fields {
                document.set(id, field, value.clone());
            }
            Ok(())
        }
        PlanEdit::Split { id, parts } => split(document, plan, id, parts),
        PlanEdit::Merge { ids } => merge(document, plan, ids),
        PlanEdit::Link { id, needed } => link(document, plan, id, needed),
        PlanEdit::Describe { spec } => describe::describe(document, plan, spec),
        PlanEdit::Unlink { id, needed } => unlink(document, plan, id, needed),
    }
}

fn known(plan: &Plan, id: &str) -> Result<NodeIx, EditError> {
    plan.find(id).ok_or_else(|| EditError::UnknownNode(id.to_owned()))
}

fn free(plan: &Plan, id: &str) -> Result<(), EditError> {
    match plan.find(id) {
        None if id.is_empty() => Err(EditError::Incomplete("the id is empty")),
        None => Ok(()),
        Some(_) => Err(EditError::Exists(id.to_owned())),
    }
}

/// Returns the nodes in a group, or the methods of a class.
fn parts(plan: &Plan, ix: NodeIx) -> Vec<NodeIx> {
    let methods = plan.indices().filter(|&it| plan.class_of(it) == Some(ix));
    let mut out: Vec<NodeIx> = plan.children(ix).iter().copied().chain(methods).collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn without_parts(plan: &Plan, ix: NodeIx) -> Result<(), EditError> {
    let parts = parts(plan, ix);
    if parts.is_empty() {
        return Ok(());
    }
    let parts = parts.iter().map(|&it| plan.id(it).to_owned()).collect();
    Err(EditError::HasParts { id: plan.id(ix).to_owned(), parts })
}

/// Adds a node after the last one of its file, or else of its subgraph.
fn add(document: &mut Document, plan: &Plan, fields: &Map<String, Value>) -> Result<(), EditError> {
    let field = |name: &str| fields.get(name).and_then(Value::as_str);
    let id = field("id").ok_or(EditError::Incomplete("a node needs an id"))?;
    free(plan, id)?;
    let last = |name: &str| {
        let of = |ix: &NodeIx| match name {
            "file_path" => plan.node(*ix).file_path.clone(),
            _ => plan.node(*ix).subgraph.clone(),
        };
        let wanted = field(name)?;
        plan.indices().rev().find(|ix| of(ix).is_some_and(|it| *it == *wanted))
    };
    let neighbor = last("file_path").or_else(|| last("subgraph_id"));
    let place = neighbor.map_or(plan.nodes().len(), |ix| ix.index() + 1);
    document.nodes().insert(place, Value::Object(fields.clone()));
    if let Some(subgraph) = field("subgraph_id") {
        join_group(document, plan, id, subgraph);
    }
    Ok(())
}

/// Adds an edge from the group of a subgraph, if the group has edges to its nodes.
fn join_group(document: &mut Document, plan: &Plan, id: &str, subgraph: &str) {
    let is_inner = |it: &&crate::Edge| {
        plan.edge_kind(it).role == Role::Hierarchy && plan.id(it.source) == subgraph
    };
    if let Some(edge) = plan.edges().iter().find(is_inner) {
        let kind = &*plan.edge_kind(edge).name;
        document.edges().push(json!({ "source": subgraph, "target": id, "type": kind }));
    }
}

fn remove(
    document: &mut Document,
    plan: &Plan,
    id: &str,
    with_parts: bool,
) -> Result<(), EditError> {
    let ix = known(plan, id)?;
    if !with_parts {
        without_parts(plan, ix)?;
    }
    let mut gone = vec![ix];
    let mut at = 0;
    while at < gone.len() {
        let more: Vec<NodeIx> =
            parts(plan, gone[at]).into_iter().filter(|it| !gone.contains(it)).collect();
        gone.extend(more);
        at += 1;
    }
    for &ix in &gone {
        for &user in plan.dependents(ix).iter().filter(|it| !gone.contains(it)) {
            let (user, id) = (plan.id(user), plan.id(ix));
            document.notes.push(format!("`{user}` does not depend on `{id}` any more"));
        }
    }
    let is_gone = |id: &str| plan.find(id).is_some_and(|it| gone.contains(&it));
    document.nodes().retain(|it| !text(it, "id").is_some_and(is_gone));
    document.redirect(&|id| is_gone(id).then(Vec::new));
    Ok(())
}

fn moved(
    document: &mut Document,
    plan: &Plan,
    id: &str,
    file: Option<&str>,
    subgraph: Option<&str>,
) -> Result<(), EditError> {
    let ix = known(plan, id)?;
    if file.is_none() && subgraph.is_none() {
        return Err(EditError::Incomplete("name a file or a subgraph"));
    }
    let is_class = plan.node(ix).kind == Kind::Class;
    let methods = plan.indices().filter(|&it| is_class && plan.class_of(it) == Some(ix));
    for it in std::iter::once(ix).chain(methods) {
        let id = plan.id(it);
        if let Some(file) = file {
            document.set(id, "file_path", file.into());
        }
        if let Some(subgraph) = subgraph {
            document.set(id, "subgraph_id", subgraph.into());
            regroup(document, plan, it, subgraph);
        }
    }
    Ok(())
}

/// Moves a node from the group of its old subgraph to that of the new one.
fn regroup(document: &mut Document, plan: &Plan, ix: NodeIx, subgraph: &str) {
    let id = plan.id(ix);
    let old = plan.node(ix).subgraph.as_deref().unwrap_or_default();
    let is_group = |group: &str| plan.find(group).is_some_and(|it| !plan.node(it).is_leaf());
    let groups: Vec<&str> = plan.parents(ix).iter().map(|&it| plan.id(it)).collect();
    if old == subgraph || !groups.contains(&old) || document.root.get("edges").is_none() {
        return;
    }
    let is_old = |it: &Value| {
        let role = text(it, "type").and_then(role_of);
        text(it, "source") == Some(old)
            && text(it, "target") == Some(id)
            && role == Some(Role::Hierarchy)
    };
    if is_group(subgraph) {
        let edges = document.edges().iter_mut().filter(|it| is_old(it));
        edges.for_each(|it| it["source"] = subgraph.into());
    } else {
        document.edges().retain(|it| !is_old(it));
    }
}

/// Fields that a part of a split node does not take over: they say how the whole is called.
const OF_THE_WHOLE: [&str; 3] = ["signature", "examples", "status"];

fn split(
    document: &mut Document,
    plan: &Plan,
    id: &str,
    parts: &[String],
) -> Result<(), EditError> {
    let ix = known(plan, id)?;
    without_parts(plan, ix)?;
    if parts.iter().all(|it| it == id) {
        return Err(EditError::Incomplete("name the parts"));
    }
    for part in parts.iter().filter(|it| *it != id) {
        free(plan, part)?;
    }
    let place = document.place(id).ok_or_else(|| EditError::UnknownNode(id.to_owned()))?;
    let whole = document.nodes().remove(place);
    let made: Vec<Value> = parts.iter().map(|part| part_of(plan, ix, &whole, part)).collect();
    document.nodes().splice(place..place, made);
    document.redirect(&|it| (it == id).then(|| parts.to_vec()));
    document.notes.push("each part has the docstring of the whole: set its own".to_owned());
    Ok(())
}

fn part_of(plan: &Plan, ix: NodeIx, whole: &Value, part: &str) -> Value {
    if part == plan.id(ix) {
        return whole.clone();
    }
    let mut node = whole.clone();
    let name = part.rsplit(['.', ':', '/']).next().unwrap_or(part);
    let class = plan.node(ix).class_part().map(|it| format!("{it}."));
    node["id"] = part.into();
    node["name"] = format!("{}{name}", class.unwrap_or_default()).into();
    if let Some(fields) = node.as_object_mut() {
        OF_THE_WHOLE.iter().for_each(|field| drop(fields.shift_remove(*field)));
    }
    node
}

fn merge(document: &mut Document, plan: &Plan, ids: &[String]) -> Result<(), EditError> {
    let Some((into, others)) = ids.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Err(EditError::Incomplete("name at least two nodes"));
    };
    known(plan, into)?;
    for (at, id) in others.iter().enumerate() {
        without_parts(plan, known(plan, id)?)?;
        if id == into || others[..at].contains(id) {
            return Err(EditError::Incomplete("name each node once"));
        }
    }
    for id in others {
        let fields = document.node(id).cloned().unwrap_or_default();
        if let Some(node) = document.node(into) {
            take_over(node, fields);
        }
    }
    if let Some(Value::Array(list)) = document.node(into).and_then(|it| it.get_mut("dependencies"))
    {
        list.retain(|it| it != into);
    }
    document
        .nodes()
        .retain(|it| !text(it, "id").is_some_and(|id| others.iter().any(|it| it == id)));
    document.redirect(&|it| others.iter().any(|other| other == it).then(|| vec![into.clone()]));
    document.notes.push(format!("`{into}` keeps its name and signature: check them"));
    Ok(())
}

/// Adds the docstring of a node, and what its lists have more.
fn take_over(node: &mut Map<String, Value>, other: Map<String, Value>) {
    for name in ["dependencies", "examples", "libraries", "serves"] {
        let Some(Value::Array(more)) = other.get(name) else { continue };
        let own = node.entry(name).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(own) = own {
            let new: Vec<Value> = more.iter().filter(|it| !own.contains(it)).cloned().collect();
            own.extend(new);
        }
    }
    if let Some(more) = other.get("docstring").and_then(Value::as_str) {
        let own = node.get("docstring").and_then(Value::as_str).unwrap_or_default();
        let both = [own.trim_end(), more].join("\n\n");
        node.insert("docstring".to_owned(), both.trim_start().into());
    }
}

fn link(document: &mut Document, plan: &Plan, id: &str, needed: &str) -> Result<(), EditError> {
    let (ix, other) = (known(plan, id)?, known(plan, needed)?);
    if plan.depends_on(ix).contains(&other) {
        document.notes.push(format!("`{id}` depends on `{needed}` already"));
        return Ok(());
    }
    if let Some(node) = document.node(id) {
        let list = node.entry("dependencies").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(needed.into());
        }
    }
    Ok(())
}

fn unlink(document: &mut Document, plan: &Plan, id: &str, needed: &str) -> Result<(), EditError> {
    known(plan, id)?;
    let is_dependency = |it: &Value| {
        let role = text(it, "type").map_or(Some(Role::Dependency), role_of);
        text(it, "source") == Some(id)
            && text(it, "target") == Some(needed)
            && role.unwrap_or(Role::Dependency) == Role::Dependency
    };
    let mut removed = 0;
    if let Some(Value::Array(list)) = document.node(id).and_then(|it| it.get_mut("dependencies")) {
        removed += list.extract_if(.., |it| it == needed).count();
    }
    if document.root.get("edges").is_some() {
        removed += document.edges().extract_if(.., |it| is_dependency(it)).count();
    }
    match removed {
        0 => Err(EditError::NotLinked { id: id.to_owned(), needed: needed.to_owned() }),
        _ => Ok(()),
    }
}
