//! What runs mean for a piece of work.

use std::collections::BTreeSet;

use crate::observation::{Ending, Failure, TestRun};
use crate::steady::steady;

/// What a gate makes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// Why it stays shut, in words for the model.
    Shut(String),
}

/// The red gate: without the code the new tests fail, and for the right reason.
///
/// `own` says of a dotted module whether it is the project's, or would be.
pub fn red(run: &TestRun, own: impl Fn(&str) -> bool) -> Gate {
    let missing = |it: &Failure| {
        it.exception == "NotImplementedError"
            || it.missing_module.as_deref().is_some_and(&own)
            || (it.missing_module.is_none() && it.missing_attribute.is_some())
            || (it.path.ends_with(".go") && it.missing_name.is_some())
            || names_no_file(&it.message)
    };
    let foreign = run.collection.iter().find(|it| !missing(it));
    match (&run.ending, foreign) {
        (Ending::Passed, _) => Gate::Shut(format!(
            "tests must fail before the implementation, and all {} pass: write tests of what is not there yet",
            run.passed()
        )),
        (Ending::NoTests, _) => Gate::Shut("no test was collected".to_owned()),
        (_, Some(failure)) => Gate::Shut(format!(
            "they cannot be collected: {}: {}",
            failure.exception, failure.message
        )),
        (Ending::CollectionError, None) if !run.collection.is_empty() => Gate::Open,
        (Ending::Failed, None) if run.failed() > 0 => Gate::Open,
        _ => Gate::Shut(format!("they do not fail as tests do: {}", run.summary())),
    }
}

/// Whether a program of Node.js did not find a module that would be the project's: one that is named by its place.
fn names_no_file(message: &str) -> bool {
    let words = ["Cannot find module ", "Failed to load url ", "Failed to resolve import "];
    let named = words.iter().find_map(|it| message.split_once(it)).map(|it| it.1);
    let own = ["./", "../", "/", "@/"];
    named
        .is_some_and(|it| own.iter().any(|own| it.trim_start_matches(['\'', '"']).starts_with(own)))
}

/// The green gate: the new tests pass, and of the others none fails that passed before.
///
/// `before` are ids of tests that passed without the change.
pub fn green(new: &TestRun, all: Option<&TestRun>, before: &[String]) -> Gate {
    if !new.proves() {
        return Gate::Shut(told(new, "the new tests do not pass"));
    }
    all.map_or(Gate::Open, |all| lost(all, before))
}

/// Everything passes, and so do these tests, which passed before: none is gone, and none is set aside now.
pub fn keeps(all: &TestRun, before: &[String]) -> Gate {
    match all.is_clean() {
        true => lost(all, before),
        false => Gate::Shut(told(all, "tests do not pass")),
    }
}

fn lost(all: &TestRun, before: &[String]) -> Gate {
    let passed: BTreeSet<&str> =
        all.cases.iter().filter(|it| it.passed).map(|it| it.id.as_str()).collect();
    let passes = |id: &String| passed.contains(id.as_str());
    let broken: Vec<&str> = before.iter().filter(|it| !passes(it)).map(String::as_str).collect();
    match broken[..] {
        [] => Gate::Open,
        _ => {
            let what =
                format!("tests that passed before do not pass any more: {}", broken.join(", "));
            Gate::Shut(told(all, &what))
        }
    }
}

/// The failure in one line, then what the runner printed of each.
fn told(run: &TestRun, what: &str) -> String {
    let mut out = format!("{what}: {}", run.summary());
    for it in run.failures().filter(|it| !it.traceback.trim().is_empty()) {
        out += &format!("\n{}", it.traceback.trim_end());
    }
    if run.failures().next().is_none() && !run.output.trim().is_empty() {
        out += &format!("\n{}", run.output.trim_end());
    }
    // Work that is played again has to ask the same questions, or it is paid for twice.
    steady(&out)
}
