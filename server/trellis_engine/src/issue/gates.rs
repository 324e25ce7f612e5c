//! Gates: conditions on test runs of an issue.

use std::collections::BTreeSet;

use crate::failures;
use crate::normalize::normalize_output;
use crate::observation::{Failure, TestRun};
use crate::red_gate::{RedGate, judge_red};

/// Verdict of a gate on a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateResult {
    Open,
    /// Reason for the model why the gate stays shut.
    Shut(String),
}

/// Facts about the project before the change.
pub trait ProjectBaseline {
    /// Returns whether a dotted module belongs, or would belong, to the project.
    fn is_project_module(&self, module: &str) -> bool;

    /// Returns the names of an existing module.
    fn names(&self, module: &str) -> Option<Vec<String>>;

    /// Returns whether the specification mentions a name.
    fn introduces(&self, name: &str) -> bool;
}

/// The red gate: without the code the new tests fail, and for the right reason.
pub fn red(run: &TestRun, known: &dyn ProjectBaseline) -> GateResult {
    if let Some(why) = run.failures().find_map(|it| made_up(it, known)) {
        return GateResult::Shut(why);
    }
    let is_missing = |it: &Failure| {
        it.exception == "NotImplementedError"
            || it.missing_module.as_deref().is_some_and(|it| known.is_project_module(it))
            || (it.missing_module.is_none() && it.missing_attribute.is_some())
            || (it.path.ends_with(".go") && it.missing_name.is_some())
            || names_no_file(&it.message)
    };
    match judge_red(run, is_missing) {
        RedGate::Open => GateResult::Open,
        RedGate::Meaningless => GateResult::Shut(format!(
            "tests must fail before the implementation, and all {} pass: write tests of what is not there yet",
            run.passed()
        )),
        RedGate::Broken(why) => GateResult::Shut(why),
    }
}

/// Returns a complaint if a test imports a name from an existing module that neither the module nor
/// the specification has.
fn made_up(failure: &Failure, known: &dyn ProjectBaseline) -> Option<String> {
    let (name, module) = (failure.missing_attribute.as_ref()?, failure.missing_module.as_ref()?);
    let names = known.names(module).filter(|it| !it.contains(name) && !known.introduces(name))?;
    let holds = match &names[..] {
        [] => "it defines nothing".to_owned(),
        all => format!(
            "it has {}",
            all.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")
        ),
    };
    Some(format!(
        "they import `{name}` from `{module}`, which exists and has no such name, nor does the specification introduce it; {holds}"
    ))
}

/// Returns whether Node.js did not find a module of the project, which is imported by its path.
fn names_no_file(message: &str) -> bool {
    let words = ["Cannot find module ", "Failed to load url ", "Failed to resolve import "];
    let named = words.iter().find_map(|it| message.split_once(it)).map(|it| it.1);
    let own = ["./", "../", "/", "@/"];
    named
        .is_some_and(|it| own.iter().any(|own| it.trim_start_matches(['\'', '"']).starts_with(own)))
}

/// The green gate: the new tests pass, and no test fails that passed before.
///
/// `before` holds ids of tests that passed without the change.
pub fn green(new: &TestRun, all: Option<&TestRun>, before: &[String]) -> GateResult {
    if !new.proves() {
        return GateResult::Shut(report(new, "the new tests do not pass", |_| true));
    }
    all.map_or(GateResult::Open, |all| lost(all, before))
}

/// Checks that the whole run is clean, and that every test that passed before still passes: none is
/// missing or skipped now.
pub fn check_no_regressions(all: &TestRun, before: &[String]) -> GateResult {
    match all.is_clean() {
        true => lost(all, before),
        false => GateResult::Shut(report(all, "tests do not pass", |_| true)),
    }
}

/// Checks that every test that passed before still passes; other tests may fail.
pub fn lost(all: &TestRun, before: &[String]) -> GateResult {
    let passed: BTreeSet<&str> =
        all.cases.iter().filter(|it| it.passed).map(|it| it.id.as_str()).collect();
    let passes = |id: &String| passed.contains(id.as_str());
    let broken: Vec<&str> = before.iter().filter(|it| !passes(it)).map(String::as_str).collect();
    match broken[..] {
        [] => GateResult::Open,
        _ => {
            let what =
                format!("tests that passed before do not pass any more: {}", broken.join(", "));
            GateResult::Shut(report(all, &what, |id| broken.contains(&id)))
        }
    }
}

/// Describes the failure in one line, then the failures of the tests that count: one in full, the
/// others with one line each.
fn report(run: &TestRun, what: &str, counts: impl Fn(&str) -> bool) -> String {
    let mut own = run.clone();
    own.cases.retain(|it| counts(&it.id));
    // A missing test has no failure of its own.
    let own = if own.failed() > 0 { own } else { run.clone() };
    let out = format!("{what}: {}\n{}", own.summary(), failures::summarize(&own));
    // A replayed run has to produce the same prompts, or the requests are paid for twice.
    normalize_output(&out)
}
