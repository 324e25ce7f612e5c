//! Keeps the sentences of a specification in a plan; what nodes serve follows them.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::super::EditError;
use super::super::document::Document;
use crate::plan::Plan;
use crate::spec::{Spec, new_numbers};

/// Replaces `metadata.spec`. `background` keeps its sentences, and gets those of the new one.
pub(super) fn describe(document: &mut Document, plan: &Plan, spec: &Spec) -> Result<(), EditError> {
    let old = plan.spec()?.unwrap_or_default();
    let mut spec = spec.clone();
    if !old.sentences.is_empty() {
        let numbers = new_numbers(&old.sentences, &spec.sentences);
        spec.background.extend(old.background.iter().filter_map(|it| numbers.get(it)));
        renumber(document, plan, &numbers)?;
    }
    spec.background.sort_unstable();
    spec.background.dedup();
    let metadata = &mut document.root["metadata"];
    if !metadata.is_object() {
        *metadata = Value::Object(Map::new());
    }
    metadata["spec"] = spec.to_json();
    Ok(())
}

/// Gives `serves` of each node the new numbers; sentences that are gone are left out.
fn renumber(
    document: &mut Document,
    plan: &Plan,
    numbers: &FxHashMap<usize, usize>,
) -> Result<(), EditError> {
    for ix in plan.indices() {
        let old = plan.node(ix).serves()?;
        let new: Vec<usize> = old.iter().filter_map(|it| numbers.get(it).copied()).collect();
        if new == old {
            continue;
        }
        let id = plan.id(ix);
        for gone in old.iter().filter(|it| !numbers.contains_key(it)) {
            document.notes.push(format!("`{id}` does not serve sentence {gone} any more"));
        }
        document.set(id, "serves", Value::from(new));
    }
    Ok(())
}
