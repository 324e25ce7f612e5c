//! Renames definitions and groups; references, methods and examples follow.

use rustc_hash::FxHashMap;
use serde_json::Value;

use super::super::EditError;
use super::super::document::{Document, text};
use super::{MENTIONS, known};
use crate::node::{Kind, NodeIx};
use crate::plan::Plan;

pub(super) fn rename(
    document: &mut Document,
    plan: &Plan,
    id: &str,
    name: &str,
    new_id: Option<&str>,
) -> Result<(), EditError> {
    let ix = known(plan, id)?;
    let node = plan.node(ix);
    let is_leaf = node.is_leaf();
    let old = if is_leaf { node.definition_name() } else { &node.name };
    let name = match node.class_part() {
        Some(class) => name.strip_prefix(&format!("{class}.")).unwrap_or(name),
        None => name,
    };
    let own_id = new_id.map_or_else(|| derived(id, old, name), str::to_owned);
    let ids = new_ids(plan, ix, &own_id)?;
    let class = node.class_part().filter(|_| is_leaf);
    document.set(id, "name", class.map_or(name.to_owned(), |it| format!("{it}.{name}")).into());
    if is_leaf {
        rename_in_signature(document, id, old, name);
        rename_in_examples(document, id, old, name);
    }
    for method in methods(plan, ix) {
        let id = plan.id(method);
        if plan.node(method).class_part().is_some() {
            let method = plan.node(method).definition_name();
            document.set(id, "name", format!("{name}.{method}").into());
        }
        rename_in_examples(document, id, old, name);
    }
    if is_leaf {
        note_mentions(document, plan, ix, old);
    }
    follow(document, &ids);
    Ok(())
}

/// Returns the id after a change of the name at its end; any other id stays.
fn derived(id: &str, old: &str, new: &str) -> String {
    match id.strip_suffix(old) {
        Some("") => new.to_owned(),
        Some(before) if before.ends_with(['.', ':', '/', '#']) => format!("{before}{new}"),
        _ => id.to_owned(),
    }
}

fn methods(plan: &Plan, ix: NodeIx) -> impl Iterator<Item = NodeIx> + '_ {
    let is_class = plan.node(ix).kind == Kind::Class;
    plan.indices().filter(move |&it| is_class && plan.class_of(it) == Some(ix))
}

/// Returns old and new ids of the node, and of its methods whose ids begin with that of the class.
fn new_ids(plan: &Plan, ix: NodeIx, own: &str) -> Result<FxHashMap<String, String>, EditError> {
    let id = plan.id(ix);
    let mut ids = FxHashMap::default();
    ids.insert(id.to_owned(), own.to_owned());
    for method in methods(plan, ix) {
        let old = plan.id(method);
        let rest = old.strip_prefix(id).filter(|it| it.starts_with(['.', ':', '/', '#']));
        rest.into_iter().for_each(|it| drop(ids.insert(old.to_owned(), format!("{own}{it}"))));
    }
    ids.retain(|old, new| old != new);
    match ids.values().find(|new| plan.find(new).is_some()) {
        Some(taken) => Err(EditError::Exists(taken.clone())),
        None if own.is_empty() => Err(EditError::Incomplete("the id is empty")),
        None => Ok(ids),
    }
}

/// Gives nodes their new ids, also where another node names them. A subgraph named like a group
/// follows the group.
fn follow(document: &mut Document, ids: &FxHashMap<String, String>) {
    for node in document.nodes() {
        for field in ["id", "subgraph_id"] {
            if let Some(new) = text(node, field).and_then(|it| ids.get(it)) {
                node[field] = Value::from(new.as_str());
            }
        }
    }
    document.redirect(&|id| ids.get(id).map(|new| vec![new.clone()]));
}

fn rename_in_signature(document: &mut Document, id: &str, old: &str, new: &str) {
    let signature =
        document.node(id).and_then(|it| it.get("signature")?.as_str().map(str::to_owned));
    let Some(signature) = signature else { return };
    let start =
        ["def ", "class "].iter().filter_map(|it| Some(signature.find(it)? + it.len())).min();
    let Some(rest) = start.and_then(|at| signature[at..].strip_prefix(old)) else { return };
    let head = &signature[..signature.len() - rest.len() - old.len()];
    document.set(id, "signature", format!("{head}{new}{rest}").into());
}

fn rename_in_examples(document: &mut Document, id: &str, old: &str, new: &str) {
    let examples = document.node(id).and_then(|it| it.get_mut("examples"));
    match examples {
        Some(Value::Array(list)) => list.iter_mut().for_each(|it| rename_in(it, old, new)),
        Some(one) => rename_in(one, old, new),
        None => {}
    }
}

fn rename_in(it: &mut Value, old: &str, new: &str) {
    if let Value::String(text) = it {
        *text = replaced(text, old, new);
    }
}

/// Replaces whole words.
fn replaced(text: &str, old: &str, new: &str) -> String {
    let mut out = String::new();
    let mut end = 0;
    for at in words(text, old) {
        out.push_str(&text[end..at]);
        out.push_str(new);
        end = at + old.len();
    }
    out + &text[end..]
}

/// Returns the positions of a word.
fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let found = text.match_indices(word).filter(move |_| !word.is_empty());
    found.map(|(at, _)| at).filter(move |at| {
        !is_part(text[..*at].chars().next_back())
            && !is_part(text[at + word.len()..].chars().next())
    })
}

/// Names other nodes whose text mentions the old name: only a person knows whether it is meant.
fn note_mentions(document: &mut Document, plan: &Plan, renamed: NodeIx, old: &str) {
    let mentions = |ix: &NodeIx| {
        let node = plan.node(*ix);
        let texts =
            node.docstring.as_deref().into_iter().chain(node.examples.iter().map(String::as_str));
        texts.into_iter().any(|text| words(text, old).next().is_some())
    };
    let own_examples = |ix: NodeIx| ix == renamed || plan.class_of(ix) == Some(renamed);
    let others = plan.indices().filter(|&ix| !own_examples(ix)).filter(mentions);
    for ix in others.take(MENTIONS) {
        document.notes.push(format!("`{}` mentions `{old}`", plan.id(ix)));
    }
}
