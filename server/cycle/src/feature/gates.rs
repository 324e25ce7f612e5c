//! What runs mean for a piece of work.

use std::collections::BTreeSet;

use crate::failures;
use crate::observation::{Ending, Failure, TestRun};
use crate::steady::steady;

/// What a gate makes of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// Why it stays shut, in words for the model.
    Shut(String),
}

/// What is known of the project before there is code.
pub trait Known {
    /// Whether a dotted module is the project's, or would be.
    fn is_own(&self, module: &str) -> bool;

    /// The names of a module that is there.
    fn names(&self, module: &str) -> Option<Vec<String>>;

    /// Whether the words speak of a name.
    fn introduces(&self, name: &str) -> bool;
}

/// The red gate: without the code the new tests fail, and for the right reason.
pub fn red(run: &TestRun, known: &dyn Known) -> Gate {
    if let Some(why) = run.failures().find_map(|it| made_up(it, known)) {
        return Gate::Shut(why);
    }
    let missing = |it: &Failure| {
        it.exception == "NotImplementedError"
            || it.missing_module.as_deref().is_some_and(|it| known.is_own(it))
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

/// Why a test asks a module that is there for a name that nobody has introduced, if it does.
fn made_up(failure: &Failure, known: &dyn Known) -> Option<String> {
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
        return Gate::Shut(told(new, "the new tests do not pass", |_| true));
    }
    all.map_or(Gate::Open, |all| lost(all, before))
}

/// Everything passes, and so do these tests, which passed before: none is gone, and none is set aside now.
pub fn keeps(all: &TestRun, before: &[String]) -> Gate {
    match all.is_clean() {
        true => lost(all, before),
        false => Gate::Shut(told(all, "tests do not pass", |_| true)),
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
            Gate::Shut(told(all, &what, |id| broken.contains(&id)))
        }
    }
}

/// The failure in one line, then those of tests that count: one in full, the others a line each.
fn told(run: &TestRun, what: &str, counts: impl Fn(&str) -> bool) -> String {
    let mut own = run.clone();
    own.cases.retain(|it| counts(&it.id));
    // A test that is gone has no failure of its own.
    let own = if own.failed() > 0 { own } else { run.clone() };
    let out = format!("{what}: {}\n{}", own.summary(), failures::told(&own));
    // Work that is played again has to ask the same questions, or it is paid for twice.
    steady(&out)
}
