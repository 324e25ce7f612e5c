//! Checks of the finished tree for the report.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use trellis_engine::assembly::{
    ImportCycle, PlannedCycle, UnrequiredLine, ValidationLine, import_cycles, planned_cycles,
    structure, syntax,
};

use crate::generate::dispatcher::Dispatcher;
use crate::generate::requirements::unrequired;
use crate::generate::summary::Suite;
use trellis_project::sources::of_texts;
use trellis_project::symbols::plan_comparison::{PlanComparison, compare};

/// Names of the checks whose failure has its own wording in the report.
pub(super) const SUITE: &str = "`pytest tests/`";
pub(super) const CIRCLES: &str = "Circular imports";

/// Findings about the finished tree, for the report.
#[derive(Debug)]
pub(super) struct Findings {
    pub import_cycles: Vec<String>,
    /// Third-party modules that no requirement names.
    pub unrequired: Vec<UnrequiredLine>,
    /// Comparison of the plan with the dependencies of the code.
    pub planned: PlanComparison,
    /// Results of the repository's checks.
    pub validation: Vec<ValidationLine>,
}

impl Findings {
    /// Collects the findings about `sources`.
    pub(super) fn of(
        owner: &Dispatcher,
        sources: &BTreeMap<String, String>,
        suite: &Suite,
    ) -> Findings {
        let circular = import_cycles(sources);
        let whole = whole_suite(suite);
        Findings {
            import_cycles: circles(owner, &circular),
            unrequired: unrequired(owner, sources),
            planned: planned(owner, sources),
            validation: vec![whole, syntax(sources), structure(sources), no_circles(&circular)],
        }
    }
}

/// Returns the report line for the whole suite's result on these files.
fn whole_suite(suite: &Suite) -> ValidationLine {
    let Suite { passed, failed, .. } = suite;
    match (passed + failed, failed) {
        (0, _) => ValidationLine::not_run(SUITE, "there are no tests"),
        (all, 0) => ValidationLine::of(SUITE, Ok(format!("{passed} of {all} tests pass"))),
        (all, _) => ValidationLine::of(SUITE, Err(format!("{passed} of {all} tests pass"))),
    }
}

fn no_circles(written: &[ImportCycle]) -> ValidationLine {
    let outcome = match written.len() {
        0 => Ok("none".to_owned()),
        count => Err(format!("{count}, listed below")),
    };
    ValidationLine::of(CIRCLES, outcome)
}

/// Returns import cycles, both those in the code and those in the plan.
fn circles(owner: &Dispatcher, written: &[ImportCycle]) -> Vec<String> {
    // A planned cycle that kept nodes from passing does not appear in the written code.
    let module = |file: &String| owner.run_context.work.layout.module(file);
    let is_written = |it: &PlannedCycle| {
        let planned: BTreeSet<String> = it.files.iter().map(module).collect();
        written.iter().any(|it| it.modules.iter().cloned().collect::<BTreeSet<_>>() == planned)
    };
    let planned =
        planned_cycles(&owner.run_context.work.plan).into_iter().filter(|it| !is_written(it));
    let planned = planned.map(|it| format!("planned: {it}"));
    let reported = |it: &ImportCycle| format!("{}: {}", it.modules.join(" -> "), it.suggestion);
    written.iter().map(reported).chain(planned).collect()
}

/// Compares the plan's dependencies with those of the code.
fn planned(owner: &Dispatcher, sources: &BTreeMap<String, String>) -> PlanComparison {
    let texts: BTreeMap<&str, Arc<str>> = (sources.iter())
        .filter(|(path, _)| path.ends_with(".py"))
        .map(|(path, text)| (path.as_str(), Arc::from(text.as_str())))
        .collect();
    let index = of_texts(texts.iter().map(|(path, text)| (*path, text)));
    compare(&index, &owner.run_context.work.plan)
}
