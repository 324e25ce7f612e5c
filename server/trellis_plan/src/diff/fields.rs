//! Compares the fields of two nodes, and those of two plans.

use std::borrow::Cow;

use serde_json::Value;

use crate::dialect::Dialect;
use crate::extra_fields::ExtraFields;
use crate::node::{Node, NodeIx, RedGate};
use crate::plan::Plan;

/// A field with two values; `None` where a plan has no such field.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    pub name: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// Fields that say where code stands, or what a run made of a node.
const TRACES: [&str; 3] = ["lines", "status", "generation"];

/// Fields of `metadata` that every dialect has.
const COMMON_METADATA: [&str; 4] = ["project_name", "description", "author", "version"];

/// Returns the fields that differ, named as in the dialect `rpg`.
pub(super) fn of_nodes(
    (old_plan, old): (&Plan, NodeIx),
    (new_plan, new): (&Plan, NodeIx),
    same_dialect: bool,
) -> Vec<FieldChange> {
    let (a, b) = (old_plan.node(old), new_plan.node(new));
    let names = [old_plan.qualified_name(old), new_plan.qualified_name(new)];
    let mut out = texts(a, b, &names);
    for (name, old, new) in
        [("examples", &a.examples, &b.examples), ("libraries", &a.libraries, &b.libraries)]
    {
        if old != new {
            let value = |it: &Vec<String>| (!it.is_empty()).then(|| Value::from(it.clone()));
            out.push(FieldChange { name: name.to_owned(), old: value(old), new: value(new) });
        }
    }
    if same_dialect {
        out.extend(of_extra(&a.extra, &b.extra, |name| !TRACES.contains(&name)));
    } else {
        let is_unknown = |it: &FieldChange| {
            lacks((old_plan.dialect(), a), it, (&it.old, &it.new))
                || lacks((new_plan.dialect(), b), it, (&it.new, &it.old))
                || (it.name == "type" && !a.is_leaf() && !b.is_leaf())
        };
        out.retain(|it| !is_unknown(it));
    }
    out
}

/// Fields that only some dialects have, or only some files of a dialect.
const OPTIONAL: [&str; 5] = ["signature", "subgraph_id", "examples", "libraries", "red_gate"];

/// Returns whether a difference comes from what a node's dialect cannot say: it has no such field,
/// or its docstring is the phrase that names the feature, since it has no other.
fn lacks(
    (dialect, node): (Dialect, &Node),
    change: &FieldChange,
    (own, other): (&Option<Value>, &Option<Value>),
) -> bool {
    let is_feature = matches!(dialect, Dialect::ZeroRepo | Dialect::CoderMind);
    let is_optional = OPTIONAL.contains(&change.name.as_str());
    if change.name == "docstring" && is_feature && other.is_none() {
        let phrase = node.extra.get("feature").and_then(|raw| serde_json::from_str(raw.get()).ok());
        return *own == Some(phrase.unwrap_or_else(|| Value::from(&*node.name)));
    }
    if dialect == Dialect::RpgEncoder && change.name == "file_path" {
        return !node.is_leaf() && own.is_none();
    }
    // Without the field, the subgraph comes from the hierarchy.
    let is_absent = own.is_none() || change.name == "subgraph_id";
    (is_feature || dialect == Dialect::RpgEncoder) && is_optional && is_absent
}

fn texts(a: &Node, b: &Node, [old_name, new_name]: &[Cow<'_, str>; 2]) -> Vec<FieldChange> {
    let level = |it: &Node| if it.is_leaf() { "leaf" } else { "composite" };
    let gate = |it: &Node| (it.red_gate == RedGate::Skip).then_some("skip");
    let table = [
        ("id", Some(&*a.id), Some(&*b.id)),
        ("name", Some(&**old_name), Some(&**new_name)),
        ("type", Some(a.kind.name()), Some(b.kind.name())),
        ("node_type", Some(level(a)), Some(level(b))),
        ("file_path", a.file_path.as_deref(), b.file_path.as_deref()),
        ("signature", a.signature.as_deref(), b.signature.as_deref()),
        ("docstring", a.docstring.as_deref(), b.docstring.as_deref()),
        ("subgraph_id", a.subgraph.as_deref(), b.subgraph.as_deref()),
        ("red_gate", gate(a), gate(b)),
    ];
    let differ = table.into_iter().filter(|(_, old, new)| old != new);
    let change = |(name, old, new): (&str, Option<&str>, Option<&str>)| FieldChange {
        name: name.to_owned(),
        old: old.map(Value::from),
        new: new.map(Value::from),
    };
    differ.map(change).collect()
}

/// Returns the fields of `metadata` that differ, then those beside `nodes` and `edges`.
pub(super) fn of_metadata(old: &Plan, new: &Plan, same_dialect: bool) -> Vec<FieldChange> {
    let counts =
        |name: &str| !TRACES.contains(&name) && (same_dialect || COMMON_METADATA.contains(&name));
    let mut out = of_extra(old.metadata(), new.metadata(), counts);
    if same_dialect {
        out.extend(of_extra(old.extra(), new.extra(), |_| true));
    }
    out
}

/// Compares JSON by value, in the order of the old fields; new ones follow.
fn of_extra(
    old: &ExtraFields,
    new: &ExtraFields,
    counts: impl Fn(&str) -> bool,
) -> Vec<FieldChange> {
    if old == new {
        return Vec::new();
    }
    let added = new.iter().filter(|(name, _)| old.get(name).is_none());
    let mut out: Vec<FieldChange> = Vec::new();
    for (name, _) in old.iter().chain(added).filter(|(name, _)| counts(name)) {
        let value = |it: &ExtraFields| {
            it.get(name).and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok()).map(no_lines)
        };
        let (old, new) = (value(old), value(new));
        if old != new && out.iter().all(|it| it.name != name) {
            out.push(FieldChange { name: name.to_owned(), old, new });
        }
    }
    out
}

/// Removes where parts of a node stand.
fn no_lines(mut value: Value) -> Value {
    for part in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        part.remove("lines");
    }
    value
}
