//! Counts test functions, each once however many cases it has.

use std::collections::BTreeMap;

use trellis_engine::assembly::FunctionsLine;

use crate::generate::dispatcher::Dispatcher;
use crate::generate::failure_reasons::Failed;

/// Returns the number of test functions that a text defines.
pub(super) fn functions(text: &str) -> usize {
    trellis_python::tests(text).unwrap_or_default().iter().map(|it| it.functions).sum()
}

/// Counts the test functions of nodes, of subgraphs and of features. Those of nodes that did not pass count as
/// written, but not as kept.
pub(super) fn by_stage(
    owner: &Dispatcher,
    failed: &BTreeMap<String, Failed>,
) -> [FunctionsLine; 3] {
    let kept: usize = owner.accepted.values().map(|it| functions(&it.tests)).sum();
    let given_up = failed.iter().filter(|(id, _)| !owner.accepted.contains_key(*id));
    let left_out: usize = given_up.map(|(_, it)| functions(&it.tests)).sum();
    let unit = FunctionsLine { stage: "unit", written: kept + left_out, kept };
    let mut flows = FunctionsLine { stage: "integration", written: 0, kept: 0 };
    for it in owner.integrated.values() {
        let kept = functions(&it.text);
        flows.kept += kept;
        flows.written += it.functions.max(kept);
    }
    let mut features = FunctionsLine { stage: "acceptance", written: 0, kept: 0 };
    for it in owner.acceptance.lines() {
        features.written += functions(&it.text);
        features.kept += if it.holds() { functions(&it.text) } else { 0 };
    }
    [unit, flows, features]
}
