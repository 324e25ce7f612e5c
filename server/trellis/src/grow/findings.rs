//! What the finished tree is found to be, by looking at it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cycle::assembly::{ImportCycle, PlannedCycle, UnrequiredLine, import_cycles, planned_cycles};

use crate::grow::owner::Owner;
use crate::grow::requirements::unasked;
use crate::methods::planned::{CheckPlannedResult, check_planned};
use crate::sources::of_texts;

/// What the report tells of the finished tree.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) import_cycles: Vec<String>,
    /// Third-party modules that nothing requires.
    pub(crate) unrequired: Vec<UnrequiredLine>,
    /// The plan beside what the code really uses.
    pub(crate) planned: CheckPlannedResult,
}

impl Findings {
    pub(crate) fn of(owner: &Owner, sources: &BTreeMap<String, String>) -> Findings {
        Findings {
            import_cycles: circles(owner, sources),
            unrequired: unasked(owner, sources),
            planned: planned(owner, sources),
        }
    }
}

/// Imports in a circle, written and planned.
fn circles(owner: &Owner, sources: &BTreeMap<String, String>) -> Vec<String> {
    let written = import_cycles(sources);
    // One that kept nodes from passing is not in what was written.
    let module = |file: &String| owner.shop.work.layout.module(file);
    let is_written = |it: &PlannedCycle| {
        let planned: BTreeSet<String> = it.files.iter().map(module).collect();
        written.iter().any(|it| it.modules.iter().cloned().collect::<BTreeSet<_>>() == planned)
    };
    let planned = planned_cycles(&owner.shop.work.plan).into_iter().filter(|it| !is_written(it));
    let planned = planned.map(|it| format!("planned: {it}"));
    let told = |it: &ImportCycle| format!("{}: {}", it.modules.join(" -> "), it.suggestion);
    written.iter().map(told).chain(planned).collect()
}

/// What the code uses of what was planned.
fn planned(owner: &Owner, sources: &BTreeMap<String, String>) -> CheckPlannedResult {
    let texts: BTreeMap<&str, Arc<str>> = (sources.iter())
        .filter(|(path, _)| path.ends_with(".py"))
        .map(|(path, text)| (path.as_str(), Arc::from(text.as_str())))
        .collect();
    let index = of_texts(texts.iter().map(|(path, text)| (*path, text)));
    check_planned(&index, &owner.shop.work.plan)
}
