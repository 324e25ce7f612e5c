//! Reads a list of tasks: `tasks`, each with its description and the ids of the tasks that must be
//! done before it.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::{Dialect, identity, object_fields, required};
use crate::build::Builder;
use crate::extra_fields::ExtraFields;
use crate::json::{JsonProblem, Object, each, each_object, is_null, text};
use crate::node::{Kind, Level, Node};
use crate::plan::Plan;
use crate::task::{DETAILS, KEYWORDS, POINTS};

pub(super) fn convert<'a>(whole: &'a RawValue, top: &Object<'a>) -> Result<Plan, JsonProblem<'a>> {
    let mut builder = Builder::default();
    each_object(required(whole, top, Dialect::Tasks, "tasks")?, "tasks", |object| {
        task(&mut builder, &object)
    })?;
    let metadata = object_fields(top.get("metadata"), "metadata")?;
    Ok(builder.finish(Dialect::Tasks, metadata, top.rest(&["tasks", "metadata"])))
}

fn task<'a>(builder: &mut Builder<'a>, object: &Object<'a>) -> Result<(), JsonProblem<'a>> {
    let id = identity(object, "id", "a task")?;
    let description = object.text("description")?.unwrap_or(Cow::Borrowed(""));
    let title = description.trim().lines().next().map_or("", str::trim);
    let name = if title.is_empty() { &*id } else { title };
    let mut node = Node::new(&id, name, Kind::Other("task".into()));
    node.level = Level::Leaf;
    node.docstring = Some(description.trim()).filter(|it| !it.is_empty()).map(Into::into);
    node.extra = extra(object)?;
    builder.node(node);
    mistaken(builder, &id, object);
    let Some(raw) = object.get("depends_on") else { return Ok(()) };
    each(raw, "depends_on", |target: &RawValue| {
        builder.dependency(text(target, "depends_on")?);
        Ok(())
    })
}

/// Returns the fields that a node has no field for.
fn extra<'a>(object: &Object<'a>) -> Result<ExtraFields, JsonProblem<'a>> {
    let mut extra = ExtraFields::default();
    for (name, raw) in &object.fields {
        match &**name {
            "id" | "description" | "depends_on" => {}
            DETAILS | POINTS | KEYWORDS if is_null(raw) => {}
            DETAILS => {
                text(raw, DETAILS)?;
                extra.push(name, raw);
            }
            KEYWORDS => {
                each(raw, KEYWORDS, |word: &RawValue| text(word, KEYWORDS).map(drop))?;
                extra.push(name, raw);
            }
            other => extra.push(other, raw),
        }
    }
    Ok(extra)
}

/// Warns about fields that other forms use for `depends_on`: if ignored silently, a task would
/// start too early.
fn mistaken(builder: &mut Builder<'_>, id: &str, object: &Object<'_>) {
    let is_mistaken = |name: &&str| object.get(name).is_some();
    for name in ["dependencies", "dependsOn", "depends"].iter().filter(|it| is_mistaken(it)) {
        builder
            .warn(format!("`{name}` of task `{id}` has no meaning here; tasks have `depends_on`"));
    }
}
