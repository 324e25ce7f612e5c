//! Reads rpg-encoder's form: a semantic `hierarchy` above code `entities`, and `edges` between all
//! of them.

use std::borrow::Cow;

use rustc_hash::FxHashSet;
use serde_json::value::RawValue;

use super::rpg::EdgeNames;
use super::{Dialect, check_depth, identity, object_fields, required};
use crate::build::Builder;
use crate::json::{JsonProblem, Object, each_object, texts};
use crate::node::{Kind, Level, Node, NodeIx};
use crate::plan::Plan;

const EDGE: EdgeNames =
    EdgeNames { source: "source", target: "target", kind: "kind", default_kind: "invokes" };

pub(super) fn convert<'a>(whole: &'a RawValue, top: &Object<'a>) -> Result<Plan, JsonProblem<'a>> {
    let mut builder = Builder::default();
    let mut below = Vec::new();
    hierarchy(&mut builder, required(whole, top, Dialect::RpgEncoder, "hierarchy")?, &mut below)?;
    for (_, raw) in Object::parse(required(whole, top, Dialect::RpgEncoder, "entities")?)?.fields {
        entity(&mut builder, &Object::parse(raw)?)?;
    }
    if let Some(edges) = top.get("edges") {
        each_object(edges, "edges", |object| edge(&mut builder, &object))?;
    }
    add_missing(&mut builder, below);
    let metadata = object_fields(top.get("metadata"), "metadata")?;
    let rest = top.rest(&["hierarchy", "entities", "edges", "metadata"]);
    Ok(builder.finish(Dialect::RpgEncoder, metadata, rest))
}

/// A containment stated by the hierarchy; newer files repeat it with `contains` edges.
enum Containment<'a> {
    Node(NodeIx, NodeIx),
    Entity(NodeIx, Cow<'a, str>),
}

fn hierarchy<'a>(
    builder: &mut Builder<'a>,
    raw: &'a RawValue,
    below: &mut Vec<Containment<'a>>,
) -> Result<(), JsonProblem<'a>> {
    let mut open = vec![(None, 1, raw)];
    while let Some((parent, depth, raw)) = open.pop() {
        check_depth(raw, depth)?;
        for (key, raw) in Object::parse(raw)?.fields {
            let object = Object::parse(raw)?;
            let ix = area(builder, &object, &key)?;
            below.extend(parent.map(|parent| Containment::Node(parent, ix)));
            if let Some(entities) = object.get("entities") {
                below.extend(
                    texts(entities, "entities")?
                        .into_iter()
                        .map(|id| Containment::Entity(ix, id.into())),
                );
            }
            open.extend(object.get("children").map(|children| (Some(ix), depth + 1, children)));
        }
    }
    Ok(())
}

fn area<'a>(
    builder: &mut Builder<'a>,
    object: &Object<'a>,
    key: &str,
) -> Result<NodeIx, JsonProblem<'a>> {
    let id = identity(object, "id", "a hierarchy node")?;
    let name = object.text("name")?.unwrap_or(Cow::Owned(key.to_owned()));
    let mut node = Node::new(&id, &name, Kind::Other("feature".into()));
    node.docstring = match object.text("description")? {
        Some(text) => Some(text.into()),
        None => features(object)?,
    };
    node.extra = object.rest(&["id", "name", "children", "entities", "description"]);
    Ok(builder.node(node))
}

fn entity<'a>(builder: &mut Builder<'a>, object: &Object<'a>) -> Result<(), JsonProblem<'a>> {
    let id = identity(object, "id", "an entity")?;
    let name = object.text("name")?.unwrap_or_else(|| id.clone());
    let kind = object.text("kind")?.map_or(Kind::Function, |word| Kind::parse(&word));
    let name = match object.text("parent_class")? {
        Some(class) if kind == Kind::Method && !class.is_empty() => {
            Cow::Owned(format!("{class}.{name}"))
        }
        _ => name,
    };
    let mut node = Node::new(&id, &name, kind);
    // Pages, routes and similar entities are definitions too; only modules contain others.
    node.level = if node.kind == Kind::Module { Level::Composite } else { Level::Leaf };
    node.file_path = object.text("file")?.map(|file| builder.shared(&file));
    node.docstring = features(object)?;
    node.signature = signature(object, node.definition_name())?;
    let known = ["id", "name", "kind", "file", "signature", "parent_class"];
    node.extra = object.rest(&known[..if node.signature.is_some() { 6 } else { 4 }]);
    builder.node(node);
    Ok(())
}

/// Returns the phrases of `semantic_features`, one per line.
fn features<'a>(object: &Object<'a>) -> Result<Option<Box<str>>, JsonProblem<'a>> {
    let Some(raw) = object.get("semantic_features") else { return Ok(None) };
    let phrases = texts(raw, "semantic_features")?;
    Ok(if phrases.is_empty() { None } else { Some(phrases.join("\n").into()) })
}

/// Returns `def name(a: T, b) -> R`, built from the parameters in the file.
fn signature<'a>(object: &Object<'a>, name: &str) -> Result<Option<Box<str>>, JsonProblem<'a>> {
    let Some(raw) = object.get("signature") else { return Ok(None) };
    let signature = Object::parse(raw)?;
    let mut parameters = Vec::new();
    if let Some(list) = signature.get("parameters") {
        each_object(list, "parameters", |parameter| {
            let name = parameter.text("name")?.unwrap_or_default();
            parameters.push(match parameter.text("type_annotation")? {
                Some(annotation) => format!("{name}: {annotation}"),
                None => name.into_owned(),
            });
            Ok(())
        })?;
    }
    let returns = signature.text("return_type")?.map(|ty| format!(" -> {ty}")).unwrap_or_default();
    Ok(Some(format!("def {name}({}){returns}", parameters.join(", ")).into()))
}

/// Adds an edge. `composes` is a dependency in this dialect only, so it is renamed to the kind that
/// the table lists as a dependency.
fn edge<'a>(builder: &mut Builder<'a>, object: &Object<'a>) -> Result<(), JsonProblem<'a>> {
    if object.text(EDGE.kind)?.as_deref() != Some("composes") {
        return super::rpg::edge(builder, object, &EDGE);
    }
    let [source, target] = [EDGE.source, EDGE.target].map(|name| identity(object, name, "an edge"));
    builder.edge(
        &source?,
        &target?,
        "composition",
        object.rest(&[EDGE.source, EDGE.target, EDGE.kind]),
    );
    Ok(())
}

/// Adds the containments that the hierarchy states and no edge repeats.
fn add_missing(builder: &mut Builder<'_>, below: Vec<Containment<'_>>) {
    let stated: FxHashSet<(NodeIx, NodeIx)> = builder.hierarchy_pairs().collect();
    for entry in below {
        let (parent, child) = match entry {
            Containment::Node(parent, child) => (parent, Ok(child)),
            Containment::Entity(parent, id) => (parent, builder.find(&id).ok_or(id)),
        };
        match child {
            Ok(child) if stated.contains(&(parent, child)) => {}
            Ok(child) => builder.link(parent, child, "contains"),
            Err(id) => builder.link_unknown(parent, &id, "contains"),
        }
    }
}
