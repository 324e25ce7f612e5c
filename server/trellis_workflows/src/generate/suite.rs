//! Runs the whole suite once on the finished tree.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use trellis_engine::{Failure, RunOutcome, TestRun};
use trellis_sandbox::{Report, Request, Tree, junit};

use crate::convert::{Files, test_run};
use crate::fault::Fault;
use crate::generate::coverage;
use crate::generate::dispatcher::Dispatcher;
use crate::generate::summary::Suite;
use crate::generate::worker::WorkerError;
use crate::reporter::Progress;
use trellis_store::disk;
use trellis_store::journal::Event;

/// Runs all tests on the finished tree, unless the journal has that tree's result.
pub(super) async fn suite(
    owner: &mut Dispatcher,
    sources: &BTreeMap<String, String>,
) -> Result<Suite, Fault> {
    // The tree is what plain pytest would see in the folder.
    let tree = owner.run_context.tree(sources);
    let whole = tree.iter().map(|(path, text)| format!("{path}\0{text}\0")).collect::<String>();
    let tree_hash = disk::hash(whole);
    if let Some((hash, outcome, passed, failed)) = &owner.past.suite
        && *hash == tree_hash
        && owner.root.join("test_results.xml").exists()
    {
        return Ok(Suite {
            outcome: outcome.clone(),
            passed: *passed,
            failed: *failed,
            failing: *failed,
        });
    }
    if !tree.keys().any(|path| path.starts_with("tests/")) {
        return Ok(Suite { outcome: "no tests".to_owned(), ..Suite::default() });
    }
    let request = Request {
        test_timeout: owner.run_context.test_timeout,
        // The final verdict comes from a fresh interpreter.
        cold: true,
        coverage: true,
        ..owner.run_context.runner.request(Tree::Files(tree.clone()))
    };
    let report = owner.run_context.runner.run(&request, &owner.run_context.cancel).await;
    let root = &owner.run_context.root;
    // The files contain exactly the accepted text.
    let text_of = Some(SystemTime::now());
    let tests = report.tests.iter();
    tests.for_each(|test| owner.run_context.reporter.emit(Progress::Test { root, test, text_of }));
    let mut run = test_run(&report, &|path| tree.get(path).cloned())
        .map_err(|none| WorkerError::from(none).into_fault())?;
    let flaky = record_results(owner, &request, &mut run, &tree).await?;
    if !flaky.is_empty() {
        owner.warnings.push(format!("flaky, passed when run again: {}", flaky.join(", ")));
    }
    keep_coverage(owner, &report)?;
    mark_broken(owner, sources, &run)?;
    let unfinished = usize::from(!run.is_clean() && run.failed() == 0);
    let suite = Suite {
        outcome: if run.is_clean() { "passed".to_owned() } else { run.summary() },
        passed: run.passed(),
        failed: run.failed() + unfinished,
        failing: failing(&run),
    };
    let cannot = |e: std::io::Error| {
        Fault::internal(format!("cannot write the results of the whole suite: {e}"))
    };
    disk::write(&owner.root, "test_results.xml", &junit(&report, "generated")).map_err(cannot)?;
    let (outcome, passed, failed) = (suite.outcome.clone(), suite.passed, suite.failed);
    owner
        .run_context
        .journal
        .commit(Event::Suite { tree: tree_hash, outcome, passed, failed })
        .map_err(cannot)?;
    Ok(suite)
}

/// Reruns failed tests once, alone, and tests known to be flaky more often. A test that then passes
/// has not failed (V4). Returns the flaky tests.
async fn record_results(
    owner: &mut Dispatcher,
    request: &Request,
    run: &mut TestRun,
    tree: &Files,
) -> Result<Vec<String>, Fault> {
    let known: BTreeSet<String> =
        owner.accepted.values().flat_map(|it| &it.flaky).cloned().collect();
    let mut flaky = Vec::new();
    for _ in 0..owner.run_context.policy.reruns {
        let failing: Vec<String> = failed(run).map(|case| case.id.clone()).collect();
        if run.ending != RunOutcome::Failed || failing.is_empty() {
            break;
        }
        let request = Request { targets: failing.clone(), coverage: false, ..request.clone() };
        let report = owner.run_context.runner.run(&request, &owner.run_context.cancel).await;
        let again = test_run(&report, &|path| tree.get(path).cloned())
            .map_err(|none| WorkerError::from(none).into_fault())?;
        let passed: BTreeSet<&str> =
            again.cases.iter().filter(|it| it.passed).map(|it| it.id.as_str()).collect();
        for case in run.cases.iter_mut().filter(|case| passed.contains(case.id.as_str())) {
            flaky.extend((!case.passed).then(|| case.id.clone()));
            (case.passed, case.failure) = (true, None);
        }
        if passed.is_empty() && !failing.iter().any(|id| known.contains(id)) {
            break;
        }
    }
    if run.ending == RunOutcome::Failed && !flaky.is_empty() && failed(run).next().is_none() {
        run.ending = RunOutcome::Passed;
    }
    Ok(flaky)
}

fn failed(run: &TestRun) -> impl Iterator<Item = &trellis_engine::TestCase> {
    run.cases.iter().filter(|case| !case.passed && !case.set_aside)
}

/// Returns the number of test functions with a failed case.
fn failing(run: &TestRun) -> usize {
    let function =
        |case: &trellis_engine::TestCase| case.id.split('[').next().unwrap_or_default().to_owned();
    failed(run).map(function).collect::<BTreeSet<String>>().len()
}

/// Stores the coverage of each node in the checkpoint.
fn keep_coverage(owner: &mut Dispatcher, report: &Report) -> Result<(), Fault> {
    let Some(measured) = &report.coverage else { return Ok(()) };
    for ix in owner.run_context.work.leaves.clone() {
        let percent = coverage::percent(&owner.run_context.work.items[&ix], measured);
        let id = owner.id(ix);
        if let Some(entry) = owner.checkpoint.get_mut(&id).filter(|it| it.status == "passed") {
            entry.coverage = percent;
        }
    }
    owner.write_checkpoint()
}

/// Marks nodes as failed whose tests fail in the whole suite, even if they passed alone: another
/// node or a person's edit broke them. The next run does them again.
fn mark_broken(
    owner: &mut Dispatcher,
    sources: &BTreeMap<String, String>,
    run: &TestRun,
) -> Result<(), Fault> {
    let reasons: Vec<(String, String)> = (failed(run)
        .map(|case| (case.id.clone(), reason(case.failure.as_ref()))))
    .chain(run.collection.iter().map(|it| (it.path.clone(), reason(Some(it)))))
    .collect();
    owner.fail_acceptance(&reasons)?;
    let accepted: Vec<(String, Vec<String>)> =
        owner.accepted.values().map(|it| (it.node.clone(), names(&it.tests))).collect();
    for (node, tests) in accepted {
        let Some(item) = owner
            .run_context
            .work
            .plan
            .find(&node)
            .and_then(|ix| owner.run_context.work.items.get(&ix))
        else {
            continue;
        };
        let is_its = |id: &str| match id.split_once("::") {
            Some((path, rest)) => {
                path == item.test_path
                    && tests
                        .iter()
                        .chain([&item.test_class()])
                        .any(|name| is_named(rest, name, &item.suffix()))
            }
            None => id == item.test_path || (id == item.path && sources.contains_key(id)),
        };
        if let Some((_, why)) = reasons.iter().find(|(id, _)| is_its(id)) {
            let reason = format!("passed alone but fails in the whole suite: {why}");
            owner.break_node(&node, reason)?;
        }
    }
    Ok(())
}

fn reason(failure: Option<&Failure>) -> String {
    failure.map_or_else(
        || "failed".to_owned(),
        |it| format!("{}: {}", it.exception, it.message.lines().next().unwrap_or_default()),
    )
}

/// Returns the names of the tests and test classes in a node's test module.
fn names(tests: &str) -> Vec<String> {
    let items = trellis_python::Fragment::parse(tests).map(|it| it.items).unwrap_or_default();
    items.into_iter().filter(trellis_python::Item::is_definition).flat_map(|it| it.names).collect()
}

/// Returns whether a test id (`test_a[1]`, `TestA::test_b`) belongs to `name`. A name collision may
/// have added the node's suffix.
fn is_named(rest: &str, name: &str, suffix: &str) -> bool {
    let first = rest.split(['[', ':']).next().unwrap_or(rest);
    first == name || first == format!("{name}_{suffix}")
}
