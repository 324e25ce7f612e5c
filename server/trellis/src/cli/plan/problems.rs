//! Problems of a graph as lines.

use std::collections::{HashMap, HashSet};

use trellis_server::api::plan::PlanProblem;

use crate::output::Output;

/// Largest number of similar problems that are shown one by one.
const SHOWN: usize = 3;

/// Lists problems besides the result; in JSON they are part of it.
pub(super) fn list(problems: &[PlanProblem], output: &Output) {
    if output.is_json() {
        return;
    }
    for problem in shown(problems) {
        output.note(problem);
    }
}

/// Returns a text for each problem. Many of one kind that are fixed in the same way are one text
/// with their number.
pub(super) fn shown(problems: &[PlanProblem]) -> Vec<String> {
    let key = |it: &PlanProblem| (it.kind, it.hint.clone());
    let mut counts: HashMap<_, usize> = HashMap::new();
    problems.iter().for_each(|it| *counts.entry(key(it)).or_default() += 1);
    let mut said = HashSet::new();
    let text = |it: &PlanProblem| {
        let PlanProblem { kind, node, message, hint } = it;
        let count = counts[&key(it)];
        if count <= SHOWN {
            return Some(format!("problem: [{kind}] {node}: {message}\n  hint: {hint}"));
        }
        let is_first = said.insert(key(it));
        is_first.then(|| {
            let first = format!("{count} nodes, such as {node}: {message}");
            format!("problem: [{kind}] {first}\n  hint: {hint}; `--json` lists all")
        })
    };
    problems.iter().filter_map(text).collect()
}
