//! Reads ZeroRepo's flat form: features in `nodes`, `edges` between them, `data_flow` between
//! functional areas by name.

use rustc_hash::FxHashMap;
use serde_json::value::RawValue;

use super::rpg::{EdgeNames, edge};
use super::{Dialect, feature, identity, required};
use crate::build::Builder;
use crate::json::{JsonProblem, Object, each_object};
use crate::plan::Plan;

const EDGE: EdgeNames =
    EdgeNames { source: "src", target: "dst", kind: "relation", default_kind: "composes" };

pub(super) fn convert<'a>(whole: &'a RawValue, top: &Object<'a>) -> Result<Plan, JsonProblem<'a>> {
    let mut builder = Builder::default();
    each_object(required(whole, top, Dialect::ZeroRepo, "nodes")?, "nodes", |object| {
        feature::node(&mut builder, &object).map(drop)
    })?;
    if let Some(edges) = top.get("edges") {
        each_object(edges, "edges", |object| edge(&mut builder, &object, &EDGE))?;
    }
    feature::settle_levels(&mut builder);
    if let Some(flows) = top.get("data_flow") {
        let areas = builder.composites_by_name();
        each_object(flows, "data_flow", |object| data_flow(&mut builder, &areas, &object))?;
    }
    let (metadata, rest) = feature::about(top, &["nodes", "edges", "data_flow"])?;
    Ok(builder.finish(Dialect::ZeroRepo, metadata, rest))
}

/// Adds a data flow. Its ends are ids or, as ZeroRepo writes them, names of functional areas.
fn data_flow<'a>(
    builder: &mut Builder<'a>,
    areas: &FxHashMap<Box<str>, Box<str>>,
    object: &Object<'a>,
) -> Result<(), JsonProblem<'a>> {
    let [source, target] = ["source", "target"].map(|name| identity(object, name, "a data flow"));
    let (source, target) = (source?, target?);
    let [source, target] =
        [&*source, &*target].map(|end| match (builder.find(end), areas.get(end)) {
            (None, Some(area)) => area,
            _ => end,
        });
    builder.edge(source, target, "data_flow", object.rest(&["source", "target", "type"]));
    Ok(())
}
