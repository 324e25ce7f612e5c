//! What a run means before anybody is asked.

use crate::item::Item;
use crate::observation::{Ending, Failure, Frame, TestRun};

/// What the red gate makes of a run with a stub in place of the implementation.
pub(crate) enum Gate {
    /// The tests fail, and for the right reason.
    Open,
    /// They pass without the implementation.
    Meaningless,
    /// They do not run.
    Broken(String),
}

/// The red gate (T2): the tests must fail, and for the right reason.
pub(crate) fn judge_red(item: &Item, run: &TestRun) -> Gate {
    let missing = !run.collection.is_empty() && run.collection.iter().all(|it| misses(item, it));
    match &run.ending {
        Ending::Passed => Gate::Meaningless,
        Ending::CollectionError if missing => Gate::Open,
        Ending::CollectionError => {
            Gate::Broken(format!("they cannot be collected: {}", run.summary()))
        }
        Ending::Failed if run.failed() > 0 => Gate::Open,
        _ => Gate::Broken(format!("they do not fail as tests do: {}", run.summary())),
    }
}

/// Whether a failing test came to the stub, or missed the item.
pub(crate) fn reaches(item: &Item, run: &TestRun) -> bool {
    let inside = |it: &Frame| it.path == item.path && it.function == item.name;
    run.failures().any(|it| misses(item, it) || it.frames.iter().any(inside))
}

/// Whether a collection failed because the item is not there yet.
fn misses(item: &Item, failure: &Failure) -> bool {
    // The stub was called while the test module was loaded.
    if failure.exception == "NotImplementedError" {
        return true;
    }
    let holds_item = |module: &str| is_inside(&item.module, module);
    match (&failure.missing_module, &failure.missing_attribute) {
        (None, None) => false,
        (Some(module), None) => holds_item(module),
        (Some(module), Some(name)) if name == item.import_name() => holds_item(module),
        // `from pkg import stats` before there is a `pkg/stats.py`.
        (Some(module), Some(name)) => holds_item(&format!("{module}.{name}")),
        // `Model.fit` or `pkg.stats`, asked of what is there.
        (None, Some(name)) => {
            let own = name == &item.name || name == item.import_name();
            own || (failure.message.starts_with("module ")
                && item.module.split('.').any(|part| part == name))
        }
    }
}

/// Whether a dotted module is `outer` or stands inside it.
fn is_inside(module: &str, outer: &str) -> bool {
    module.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}
