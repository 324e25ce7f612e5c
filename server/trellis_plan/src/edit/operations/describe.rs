//! Keeps the sentences of a specification in a plan; what nodes serve follows them.

use rustc_hash::FxHashMap;
use serde_json::{Map, Value};

use super::super::EditError;
use super::super::document::Document;
use crate::plan::Plan;
use crate::spec::{Spec, SpecFeature, new_numbers};

/// Replaces `metadata.spec`. `background` keeps its sentences, and gets those of the new one;
/// features keep theirs.
pub(super) fn describe(document: &mut Document, plan: &Plan, spec: &Spec) -> Result<(), EditError> {
    let old = plan.spec()?.unwrap_or_default();
    let mut spec = spec.clone();
    if !old.sentences.is_empty() {
        let numbers = new_numbers(&old.sentences, &spec.sentences);
        spec.background.extend(old.background.iter().filter_map(|it| numbers.get(it)));
        renumber(document, plan, &numbers)?;
        spec.features = renumbered(&old.features, &numbers);
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

/// Returns features with the new numbers of their sentences; one without sentences is left out.
fn renumbered(features: &[SpecFeature], numbers: &FxHashMap<usize, usize>) -> Vec<SpecFeature> {
    let follow = |it: &SpecFeature| SpecFeature {
        name: it.name.clone(),
        sentences: it.sentences.iter().filter_map(|old| numbers.get(old).copied()).collect(),
    };
    features.iter().map(follow).filter(|it| !it.sentences.is_empty()).collect()
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
