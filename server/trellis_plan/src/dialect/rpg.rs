//! Reads the form of appendix A: `nodes`, `edges`, `metadata`.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Dialect, identity, object_fields, required};
use crate::build::Builder;
use crate::json::{JsonProblem, Object, each, each_object, is_null, text, texts};
use crate::node::{Kind, Level, Node, RedGate};
use crate::plan::Plan;

/// A dialect's field names for the three parts of an edge, and the kind of an edge without one.
pub(super) struct EdgeNames {
    pub(super) source: &'static str,
    pub(super) target: &'static str,
    pub(super) kind: &'static str,
    pub(super) default_kind: &'static str,
}

const EDGE: EdgeNames =
    EdgeNames { source: "source", target: "target", kind: "type", default_kind: "dependency" };

pub(super) fn convert<'a>(whole: &'a RawValue, top: &Object<'a>) -> Result<Plan, JsonProblem<'a>> {
    let mut builder = Builder::default();
    each_object(required(whole, top, Dialect::Rpg, "nodes")?, "nodes", |object| {
        node(&mut builder, &object)
    })?;
    if let Some(edges) = top.get("edges") {
        each_object(edges, "edges", |object| edge(&mut builder, &object, &EDGE))?;
    }
    let metadata = object_fields(top.get("metadata"), "metadata")?;
    Ok(builder.finish(Dialect::Rpg, metadata, top.rest(&["nodes", "edges", "metadata"])))
}

fn node<'a>(builder: &mut Builder<'a>, object: &Object<'a>) -> Result<(), JsonProblem<'a>> {
    let id = identity(object, "id", "a node")?;
    let mut node = Node::new(&id, &id, Kind::Function);
    let mut dependencies = None;
    let mut level = None;
    let mut typed = false;
    for (name, raw) in &object.fields {
        match &**name {
            "id" => {}
            _ if is_null(raw) => keep_unknown_null(&mut node, name, raw),
            "name" => node.name = text(raw, name)?.into(),
            "type" => {
                node.kind = Kind::parse(&text(raw, name)?);
                typed = true;
            }
            "node_type" => level = Some(parse_level(raw)?),
            "file_path" => node.file_path = Some(builder.shared(&text(raw, name)?)),
            "docstring" => node.docstring = Some(text(raw, name)?.into()),
            "signature" => node.signature = Some(text(raw, name)?.into()),
            "subgraph_id" => node.subgraph = Some(builder.shared(&text(raw, name)?)),
            "examples" => node.examples = texts(raw, name)?,
            "libraries" => node.libraries = texts(raw, name)?,
            "red_gate" => node.red_gate = parse_gate(raw)?,
            "dependencies" => dependencies = Some(*raw),
            _ => node.extra.push(name, raw),
        }
    }
    settle_kind(&mut node, typed, level);
    builder.node(node);
    let Some(raw) = dependencies else { return Ok(()) };
    each(raw, "dependencies", |target: &RawValue| {
        builder.dependency(text(target, "dependencies")?);
        Ok(())
    })
}

/// Keeps an unknown field that is `null`; a known field set to `null` counts as missing.
fn keep_unknown_null(node: &mut Node, name: &str, raw: &RawValue) {
    const KNOWN: [&str; 11] = [
        "name",
        "type",
        "node_type",
        "file_path",
        "docstring",
        "signature",
        "subgraph_id",
        "examples",
        "libraries",
        "red_gate",
        "dependencies",
    ];
    if !KNOWN.contains(&name) {
        node.extra.push(name, raw);
    }
}

/// Sets kind and level: without a `type` the level decides, without a `node_type` the kind. A node
/// without both is a function.
fn settle_kind(node: &mut Node, typed: bool, level: Option<Level>) {
    if !typed && level == Some(Level::Composite) {
        node.kind = Kind::Module;
    }
    node.level =
        level.unwrap_or(if node.kind.is_definition() { Level::Leaf } else { Level::Composite });
}

fn parse_level(raw: &RawValue) -> Result<Level, JsonProblem<'_>> {
    match &*text(raw, "node_type")? {
        "leaf" => Ok(Level::Leaf),
        "composite" => Ok(Level::Composite),
        other => {
            let message = format!("`node_type` is `{other}`, expected `leaf` or `composite`");
            Err(JsonProblem::new(raw, message)
                .hint("if this is another dialect, choose it, e.g. `--dialect zerorepo`"))
        }
    }
}

fn parse_gate(raw: &RawValue) -> Result<RedGate, JsonProblem<'_>> {
    match &*text(raw, "red_gate")? {
        "required" => Ok(RedGate::Required),
        "skip" => Ok(RedGate::Skip),
        other => Err(JsonProblem::new(
            raw,
            format_args!("`red_gate` is `{other}`, expected `required` or `skip`"),
        )),
    }
}

pub(super) fn edge<'a>(
    builder: &mut Builder<'a>,
    object: &Object<'a>,
    names: &EdgeNames,
) -> Result<(), JsonProblem<'a>> {
    let source = identity(object, names.source, "an edge")?;
    let target = identity(object, names.target, "an edge")?;
    let kind = object.text(names.kind)?.unwrap_or(Cow::Borrowed(names.default_kind));
    let extra = object.rest(&[names.source, names.target, names.kind]);
    builder.edge(&source, &target, &kind, extra);
    Ok(())
}
