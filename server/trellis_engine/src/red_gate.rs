//! The red gate (T2): without the code, tests must fail, and for the right reason.

use crate::item::Item;
use crate::observation::{Failure, Frame, RunOutcome, TestRun};

/// Verdict of the red gate on a run without the implementation.
pub(crate) enum RedGate {
    /// The tests fail for the right reason.
    Open,
    /// The tests pass without the implementation.
    Meaningless,
    /// The tests do not run.
    Broken(String),
}

/// Evaluates a red run. `is_missing` returns whether a file could not be collected because the code
/// under test does not exist yet.
pub(crate) fn judge_red(run: &TestRun, is_missing: impl Fn(&Failure) -> bool) -> RedGate {
    let foreign = run.collection.iter().find(|it| !is_missing(it));
    match (&run.ending, foreign) {
        (RunOutcome::Passed, _) => RedGate::Meaningless,
        (RunOutcome::NoTests, _) => RedGate::Broken("no test was collected".to_owned()),
        (_, Some(failure)) => {
            RedGate::Broken(format!("they cannot be collected: {}", failure.text()))
        }
        (RunOutcome::CollectionError, None) if !run.collection.is_empty() => RedGate::Open,
        (RunOutcome::Failed, None) if run.failed() > 0 => RedGate::Open,
        _ => RedGate::Broken(format!("they do not fail as tests do: {}", run.summary())),
    }
}

/// Returns whether a failing test reached the stub, or failed because the item is missing.
pub(crate) fn reaches(item: &Item, run: &TestRun) -> bool {
    let inside = |it: &Frame| it.path == item.path && it.function == item.name;
    run.failures().any(|it| misses(item, it) || it.frames.iter().any(inside))
}

/// Returns whether a collection failed because the item does not exist yet.
pub(crate) fn misses(item: &Item, failure: &Failure) -> bool {
    // The stub was called while the test module was loaded.
    if failure.exception == "NotImplementedError" {
        return true;
    }
    let holds_item = |module: &str| is_inside(&item.module, module);
    match (&failure.missing_module, &failure.missing_attribute) {
        (None, None) => false,
        (Some(module), None) => holds_item(module),
        (Some(module), Some(name)) if name == item.import_name() => holds_item(module),
        // `from pkg import stats` while `pkg/stats.py` does not exist.
        (Some(module), Some(name)) => holds_item(&format!("{module}.{name}")),
        // `Model.fit` or `pkg.stats`, where `Model` or `pkg` exists.
        (None, Some(name)) => {
            let own = name == &item.name || name == item.import_name();
            own || (failure.message.starts_with("module ")
                && item.module.split('.').any(|part| part == name))
        }
    }
}

/// Returns whether a dotted module is `outer` or inside it.
fn is_inside(module: &str, outer: &str) -> bool {
    module.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
