//! Acceptance tests: tests of a feature of the specification, written before any code.

use trellis_plan::Sentence;
use trellis_python::Fragment;

use crate::draft::refuse_internals;
use crate::integration::{Integration, described, without};
use crate::item::Item;
use crate::observation::{Failure, RunOutcome, TestRun};
use crate::prompt::template::ACCEPTANCE_TESTS;
use crate::prompt::{Prompt, listed, rank};
use crate::prompt_budget::Section;
use crate::red_gate::{RedGate, judge_red};
use crate::vocabulary::{ModelRequest, Stage};
use crate::{reply, routing};

/// A feature, with the planned parts that a test of it may use.
pub struct AcceptanceTarget<'a> {
    pub feature: &'a str,
    /// The sentences that ask for the feature.
    pub sentences: &'a [&'a Sentence],
    /// Parts that serve these sentences, in the plan's order.
    pub parts: &'a [&'a Item],
    /// All other parts.
    pub others: &'a [&'a Item],
}

/// Builds the request for acceptance tests. `complaint`: the reason why the previous tests were
/// unusable.
pub fn ask_acceptance_tests(
    target: &AcceptanceTarget<'_>,
    conventions: &[String],
    complaint: Option<&str>,
    attempt: u32,
) -> ModelRequest {
    let sentences = target.sentences.iter().map(|it| format!("{}. {}\n", it.number, it.text));
    let title = format!("What the specification says about `{}`", target.feature);
    let mut sections = vec![Section::new(rank::CORE, title, sentences.collect::<String>())];
    let part = |it: &&Item| {
        Section::new(rank::CODE, format!("`{}`", it.qualified_name()), with_examples(it))
    };
    sections.extend(target.parts.iter().map(part));
    let others: Vec<String> = target.others.iter().map(|it| in_one_line(it)).collect();
    sections.extend(listed(rank::CONTEXT, "Other parts", others.iter().map(String::as_str)));
    let conventions = conventions.iter().map(String::as_str);
    sections.extend(listed(rank::CONVENTIONS, "Conventions", conventions));
    if let Some(complaint) = complaint {
        sections.push(Section::new(rank::CORE, "Your last tests could not be used", complaint));
    }
    sections.push(Section::new(rank::TASK, "Task", ACCEPTANCE_TESTS.say("task", &[])));
    let route = routing::of_feature(target.parts.len());
    ModelRequest {
        stage: Stage::AcceptanceTests,
        attempt,
        temperature: 0.0,
        prompt: Prompt::new(&ACCEPTANCE_TESTS, sections),
        prompt_version: ACCEPTANCE_TESTS.version(),
        tier: route.tier,
        why: route.why,
        tools: false,
    }
}

fn with_examples(item: &Item) -> String {
    let examples: String = item.examples.iter().map(|it| format!("\n- `{it}`")).collect();
    described(item) + &examples
}

fn in_one_line(item: &Item) -> String {
    let header = item.signature.as_ref().map(|it| it.header().to_owned());
    let header = header.unwrap_or_else(|| format!("{} {}", item.kind.as_str(), item.name));
    format!("`from {} import {}`: `{header}`", item.module, item.import_name())
}

/// Parses acceptance tests from a reply. `package` is the package that they have to use.
///
/// # Errors
///
/// A reason for the model: no code, invalid Python, no test, nothing of the package, imports of
/// pytest's internals.
pub fn acceptance_tests(package: &str, text: &str) -> Result<Fragment, String> {
    let reply = reply::divide(text)?;
    let code = reply.whole_code()?.ok_or("the reply holds no Python code")?;
    let tests = Fragment::parse(code).map_err(|e| format!("syntax error: {e}"))?;
    refuse_internals(&tests).map_err(|e| e.to_string())?;
    let source = tests.to_source();
    if trellis_python::tests(&source).map_err(|e| e.to_string())?.is_empty() {
        return Err("there is no test in it".to_owned());
    }
    let mut words = source.split(|c: char| !c.is_alphanumeric() && c != '_');
    match words.any(|it| it == package) {
        true => Ok(tests),
        false => Err(format!("nothing of the package `{package}` is used")),
    }
}

/// Returns the reason why tests in the file `path` prove nothing or cannot run, by a run in which
/// every part of the repository is a stub. `is_part` returns whether a file has parts.
pub fn why_not_red(run: &TestRun, path: &str, is_part: impl Fn(&str) -> bool) -> Option<String> {
    let red = match judge_red(run, |_| false) {
        RedGate::Broken(reason) => return Some(reason),
        RedGate::Open | RedGate::Meaningless => without_code(run),
    };
    if !red.is_empty() {
        return Some(format!("these pass although no part has code:{}", lines(red.into_iter())));
    }
    if let Some(misuse) = Integration::misuse(run, path) {
        return Some(misuse);
    }
    let unreached =
        run.cases.iter().filter(|it| !it.failure.as_ref().is_some_and(|it| reaches(it, &is_part)));
    let unreached = lines(unreached.map(|it| it.id.as_str()));
    (!unreached.is_empty()).then(|| {
        format!(
            "these fail without reaching any part (a part without code raises NotImplementedError, \
             and the test has to let it through):{unreached}"
        )
    })
}

/// Returns whether a failure comes from a stub.
fn reaches(failure: &Failure, is_part: &impl Fn(&str) -> bool) -> bool {
    failure.exception == "NotImplementedError" || failure.frames.iter().any(|it| is_part(&it.path))
}

fn lines<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    ids.map(|it| format!("\n- {it}")).collect()
}

/// Removes the tests that pass although every part is a stub; `None` if none of them does, no test
/// is left, or the run did not come to its end.
pub fn only_red(run: &TestRun, tests: &Fragment) -> Option<Fragment> {
    let passing = without_code(run);
    if passing.is_empty() || run.ending != RunOutcome::Failed {
        return None;
    }
    let left = without(tests, passing.into_iter());
    let source = left.to_source();
    (!trellis_python::tests(&source).ok()?.is_empty()).then_some(left)
}

/// Returns the ids of the tests that do not fail.
fn without_code(run: &TestRun) -> Vec<&str> {
    let cases = run.cases.iter().filter(|it| it.passed || it.set_aside);
    cases.map(|it| it.id.as_str()).collect()
}
