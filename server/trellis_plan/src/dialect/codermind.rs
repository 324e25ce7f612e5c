//! Reads CoderMind's nested form: `root` with `children`, and the other `edges` beside it.

use serde_json::value::RawValue;

use super::rpg::EdgeNames;
use super::{Dialect, check_depth, feature, identity, required};
use crate::build::Builder;
use crate::json::{JsonProblem, Object, each_object};
use crate::node::NodeIx;
use crate::plan::Plan;

const EDGE: EdgeNames =
    EdgeNames { source: "src", target: "dst", kind: "relation", default_kind: "contains" };

pub(super) fn convert<'a>(whole: &'a RawValue, top: &Object<'a>) -> Result<Plan, JsonProblem<'a>> {
    let mut builder = Builder::default();
    let root = Object::parse(required(whole, top, Dialect::CoderMind, "root")?)?;
    features(&mut builder, root)?;
    if let Some(edges) = top.get("edges") {
        each_object(edges, "edges", |object| edge(&mut builder, &object))?;
    }
    feature::settle_levels(&mut builder);
    let (metadata, rest) = feature::about(top, &["root", "edges"])?;
    Ok(builder.finish(Dialect::CoderMind, metadata, rest))
}

/// Adds the tree below `root`, parents before children, without recursion.
fn features<'a>(builder: &mut Builder<'a>, root: Object<'a>) -> Result<(), JsonProblem<'a>> {
    let mut open: Vec<(Option<NodeIx>, usize, Object<'a>)> = vec![(None, 1, root)];
    while let Some((parent, depth, object)) = open.pop() {
        let node = feature::node(builder, &object)?;
        if let Some(parent) = parent {
            builder.link(parent, node, "contains");
        }
        if let Some(children) = object.get("children") {
            check_depth(children, depth)?;
            let below = open.len();
            each_object(children, "children", |child| {
                open.push((Some(node), depth + 1, child));
                Ok(())
            })?;
            open[below..].reverse();
        }
    }
    Ok(())
}

/// Adds an edge. CoderMind writes its data flow as `references` edges; `meta.generator`
/// distinguishes them from real references.
fn edge<'a>(builder: &mut Builder<'a>, object: &Object<'a>) -> Result<(), JsonProblem<'a>> {
    let generator = match object.get("meta") {
        Some(meta) => Object::parse(meta)?.text("generator")?,
        None => None,
    };
    if generator.as_deref() != Some("build_data_flow") {
        return super::rpg::edge(builder, object, &EDGE);
    }
    let [source, target] = [EDGE.source, EDGE.target].map(|name| identity(object, name, "an edge"));
    builder.edge(
        &source?,
        &target?,
        "data_flow",
        object.rest(&[EDGE.source, EDGE.target, EDGE.kind]),
    );
    Ok(())
}
